"""The public classifiers, and tests that check a fact of each of them in turn."""

from __future__ import annotations

import functools
import inspect
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import pytest

from bayleaf.classifiers import (
    CLASSIFIERS,
    BayesianClassifier,
    HierarchicalMixtureNBClassifier,
)
from contract.tables import mixed_frame
from contract.variants import VARIANTS, WeightedKDB
from covering import pairwise
from offenders import check_each

Kind = type[BayesianClassifier]

# As they come, these take longer to fit than all others; variants of them are quick.
COSTLY = ("auto", "network", "latent_class")
KINDS: dict[str, Kind] = {**CLASSIFIERS, **VARIANTS}
# Those that leave missing cells out as others do, but score no joint probabilities.
NOT_JOINT: tuple[Kind, ...] = (HierarchicalMixtureNBClassifier, WeightedKDB)
# Those with numbers as numbers take turns: every test runs one of them.
NUMERIC = ("gaussian_nb", "gaussian_tan", "gaussian_kdb", "weighted_kdb")
# A test of every classifier is split in so many, so that each stays short.
N_GROUPS = 3


def is_joint(kind: Kind) -> bool:
    """Return whether a model gives probabilities of rows: it sums missing cells out."""
    return kind not in NOT_JOINT and _default(kind, "missing") == "marginalize"


def has_smoothing(kind: Kind) -> bool:
    """Return whether a method turns counts into probabilities by a rule."""
    return "smoothing" in inspect.signature(kind).parameters


def draws_nothing(kind: Kind) -> bool:
    """Return whether a method gives the same model for every `random_state`."""
    # A method that draws declares the parameter, which others only accept.
    below = kind.__mro__[: kind.__mro__.index(BayesianClassifier)]
    return not any("random_state" in inspect.get_annotations(base) for base in below)


def missing_rules(kind: Kind) -> list[str]:
    """List the ways in which a classifier can treat missing cells but refuse them."""
    joint = _default(kind, "missing") == "marginalize"
    return ["marginalize", "state"] if joint else ["state"]


@functools.cache
def fitted(kind: Kind) -> tuple[Any, pd.DataFrame]:
    """Fit a classifier to `mixed_frame()`, once for all tests that only read it."""
    frame, y = mixed_frame()
    return kind(random_state=0).fit(frame, y), frame


def each_kind(
    holds: Callable[[Kind], bool] = lambda kind: True,
    *,
    costly: Sequence[str] = COSTLY,
    **factors: Sequence[Any],
) -> Callable[[Callable[..., None]], Any]:
    """Run a test on every public classifier, some of them in each run.

    Of the classifiers with numbers as numbers every test runs one in turn, the others
    before a release; so also of the costly ones.

    Parameters
    ----------
    holds : callable
        Whether the fact holds for a classifier.
    costly : sequence of str, default=COSTLY
        Names of classifiers that take too long for a quick test.
    **factors : sequence
        The settings of further arguments; every pair of a classifier and a setting,
        and of settings of two factors, is tested.
    """

    def decorate(test: Callable[..., None]) -> Any:
        @functools.wraps(test)
        def in_turn(names: list[str], **fixtures: Any) -> None:
            rows = pairwise(names, *factors.values()) if factors else zip(names)

            def check(row: tuple[Any, ...]) -> None:
                settings = dict(zip(factors, row[1:], strict=True))
                test(kind=KINDS[row[0]], **settings, **fixtures)

            check_each(rows, check, _row_name)

        signature = inspect.signature(test)
        names = inspect.Parameter("names", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        kept = [
            parameter
            for name, parameter in signature.parameters.items()
            if name != "kind" and name not in factors
        ]
        in_turn.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[names, *kept]
        )
        groups = _groups(holds, costly, zlib.crc32(test.__name__.encode()))
        return pytest.mark.parametrize("names", groups, ids="-".join)(in_turn)

    return decorate


def _groups(
    holds: Callable[[Kind], bool], costly: Sequence[str], turn: int
) -> list[Any]:
    """Deal out the names of classifiers; the costly ones are slow."""
    names = [name for name, kind in KINDS.items() if holds(kind)]
    slow = [name for name in names if name in costly]
    numeric = [name for name in names if name in NUMERIC and name not in costly]
    later = [
        name
        for takers in (slow, numeric)
        for place, name in enumerate(takers)
        if place != turn % len(takers)
    ]
    quick = [name for name in names if name not in {*slow, *later}]
    groups: list[Any] = [quick[start::N_GROUPS] for start in range(N_GROUPS)]
    for group, marks in (
        ([name for name in slow if name not in later], [pytest.mark.slow]),
        (later, [pytest.mark.slow, pytest.mark.long]),
    ):
        groups.append(pytest.param(group, marks=marks) if group else [])
    return [group for group in groups if group]


def _row_name(row: tuple[Any, ...]) -> str:
    settings = [getattr(value, "__name__", str(value))[:60] for value in row]
    return ", ".join(settings)


def _default(kind: Kind, parameter: str) -> object:
    return inspect.signature(kind).parameters[parameter].default
