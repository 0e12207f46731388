"""Every public classifier in turn, so that a new one is tested without a line more."""

from __future__ import annotations

import inspect
from typing import cast

import pytest

from bayleaf.classifiers import (
    CLASSIFIERS,
    AveragedKDBClassifier,
    BayesianClassifier,
    BayesianNetworkClassifier,
    HierarchicalMixtureNBClassifier,
    HNBClassifier,
    LatentClassNBClassifier,
)
from contract.variants import VARIANTS, WeightedKDB

# Methods whose result depends on `random_state`.
DRAWING = {
    AveragedKDBClassifier,
    BayesianNetworkClassifier,
    HierarchicalMixtureNBClassifier,
    HNBClassifier,
    LatentClassNBClassifier,
}


KINDS = {**CLASSIFIERS, **VARIANTS}


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def kind(request: pytest.FixtureRequest) -> type[BayesianClassifier]:
    """The class of a public classifier."""
    return cast("type[BayesianClassifier]", request.param)


def _default(kind: type[BayesianClassifier], parameter: str) -> object:
    """Default of a parameter."""
    return inspect.signature(kind).parameters[parameter].default


def _is_joint(kind: type[BayesianClassifier]) -> bool:
    """Whether a model tells how likely rows are, and so sums missing features out."""
    # A mixture of posteriors leaves missing features out, but scores classes alone.
    if kind in (HierarchicalMixtureNBClassifier, WeightedKDB):
        return False
    return _default(kind, "missing") == "marginalize"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand out the kinds of classifier that a test's facts hold for."""
    chosen = {
        # Models of the joint distribution, which sum missing features out.
        "joint_kind": _is_joint,
        # Methods that turn counts into probabilities by a rule.
        "smoothed_kind": lambda kind: "smoothing" in inspect.signature(kind).parameters,
        # Methods that draw nothing at random.
        "steady_kind": lambda kind: kind not in DRAWING,
    }
    for name, holds in chosen.items():
        if name in metafunc.fixturenames:
            kinds = {key: kind for key, kind in KINDS.items() if holds(kind)}
            metafunc.parametrize(name, list(kinds.values()), ids=list(kinds))


@pytest.fixture(autouse=True)
def _variants_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files name variants, which loading has to know."""
    for name, variant in VARIANTS.items():
        monkeypatch.setitem(CLASSIFIERS, name, variant)


@pytest.fixture
def missing_rules(kind: type[BayesianClassifier]) -> list[str]:
    """Ways in which a classifier can treat missing cells beside refusing them."""
    joint = _default(kind, "missing") == "marginalize"
    return ["marginalize", "state"] if joint else ["state"]
