"""Stated probabilities as evidence: Jeffrey's rule equals sums over the joint."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import (
    BayesianNetwork,
    ImpossibleEvidenceError,
    Inference,
    Probabilities,
)
from bayleaf.datasets import load_network
from bayleaf.inference.evidence import read_evidence

NETWORK = load_network("asia")
NAMES = list(NETWORK.domain.names)


def joint(network: BayesianNetwork) -> np.ndarray:
    """The joint distribution, an axis a variable."""
    table = network.joint(list(network.domain.names))
    return np.asarray(table.probabilities)


def rescaled(table: np.ndarray, axis: int, wanted: list[float]) -> np.ndarray:
    """A joint distribution with other probabilities along an axis."""
    others = tuple(a for a in range(table.ndim) if a != axis)
    shape = [-1 if a == axis else 1 for a in range(table.ndim)]
    return table * (np.array(wanted) / table.sum(axis=others)).reshape(shape)


def marginal(table: np.ndarray, name: str) -> np.ndarray:
    """The distribution of one variable."""
    axis = NAMES.index(name)
    return table.sum(axis=tuple(a for a in range(table.ndim) if a != axis))


def test_one_variable_has_its_probabilities_afterwards_and_others_follow() -> None:
    given = {"dysp": "yes", "xray": Probabilities({"no": 0.3, "yes": 0.7})}
    table = joint(NETWORK).take([0], axis=NAMES.index("dysp"))
    table = table / table.sum()
    wanted = rescaled(table, NAMES.index("xray"), [0.7, 0.3])
    found = NETWORK.query(given)
    for name in ("xray", "lung", "smoke"):
        assert found[name].probabilities == pytest.approx(marginal(wanted, name))
    known = NETWORK.probability_of_evidence({"dysp": "yes"})
    assert NETWORK.probability_of_evidence(given) == pytest.approx(known)
    event = NETWORK.probability("lung = yes or tub = yes", given)
    assert event == pytest.approx(
        NETWORK.probability("lung = yes or tub = yes", {"dysp": "yes", "xray": "yes"})
        * 0.7
        + 0.3
        * NETWORK.probability("lung = yes or tub = yes", {"dysp": "yes", "xray": "no"})
    )


def test_several_hold_together_as_fitted_in_turn() -> None:
    soft = {"xray": [0.6, 0.4], "bronc": [0.2, 0.8], "lung": [0.4, 0.6]}
    table = joint(NETWORK)
    for _ in range(300):
        for name, wanted in soft.items():
            table = rescaled(table, NAMES.index(name), wanted)
    found = NETWORK.query({name: Probabilities(q) for name, q in soft.items()})
    for name in NAMES:
        assert found[name].probabilities == pytest.approx(marginal(table, name))


def test_under_a_condition_on_several_variables_they_hold_too() -> None:
    given = ["lung = yes or bronc = yes", {"xray": Probabilities([0.1, 0.9])}]
    found = NETWORK.joint(["xray"], given)
    assert np.asarray(found.probabilities) == pytest.approx([0.1, 0.9])


def test_probabilities_that_cannot_hold_are_refused() -> None:
    cases = [
        ({"xray": Probabilities([0.5, 0.4])}, ValueError, "must sum to 1, got 0.9"),
        ({"xray": Probabilities([1.0])}, ValueError, "must be 2 numbers, one for each"),
        ({"xray": Probabilities({"yes": 1.0})}, ValueError, "gives no likelihood for"),
        (
            {"lung": "yes", "either": Probabilities([0.5, 0.5])},
            ImpossibleEvidenceError,
            "cannot hold together",
        ),
    ]
    for evidence, kind, message in cases:
        with pytest.raises(kind, match=message):
            Inference(NETWORK).query(evidence)
    evidence = read_evidence(NETWORK.domain, {"asia": Probabilities([0.5, 0.5])})
    with pytest.raises(ValueError, match="cannot be used here"):
        evidence.findings  # noqa: B018
