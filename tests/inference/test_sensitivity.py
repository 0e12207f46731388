"""The constants of a posterior equal what changed tables give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.queries import Inference
from bayleaf.inference.sensitivity import Sensitivity
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.joint_table import joint_table, marginal
from property.queried_networks import LIMITS, queries, within_limit


def changed(
    network: BayesianNetwork, node: int, row: tuple[int, ...], state: int, x: float
) -> BayesianNetwork:
    """The network with one entry set, the others of its row in proportion."""
    table = np.array(network.cpds[node].probabilities)
    others = table[row].copy()
    others[state] = 0.0
    if others.sum() == 0.0:
        others[:] = 1.0
        others[state] = 0.0
    table[row] = others / others.sum() * (1.0 - x)
    table[(*row, state)] = x
    return network.with_table(node, table)


def posterior(
    network: BayesianNetwork, likelihoods: dict[int, Any], target: int
) -> NDArray[np.float64] | None:
    """Posterior by enumeration; None under impossible evidence."""
    joint = marginal(joint_table(network, likelihoods), target)
    return joint / joint.sum() if joint.sum() > 0 else None


def weather() -> BayesianNetwork:
    """Rain wets the lawn; without rain it is always dry."""
    return BayesianNetwork.from_tables(
        states={"rain": ["no", "yes"], "lawn": ["dry", "damp", "wet"]},
        parents={"lawn": ["rain"]},
        tables={"rain": [0.8, 0.2], "lawn": [[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]},
    )


@settings(deadline=None, max_examples=50)
@given_cases(queries(), st.integers(0, 2**32 - 1), LIMITS)
def test_the_function_equals_inference_in_changed_networks(
    case: Any, seed: int, limit: int
) -> None:
    network, evidence, likelihoods = case
    rng = np.random.default_rng(seed)
    wide = [v for v, card in enumerate(network.domain.cards) if card > 1]
    if not wide:
        return
    node, target = int(rng.choice(wide)), int(rng.integers(len(network.domain)))
    *row, state = (int(rng.integers(card)) for card in network.cpds[node].cards)
    wanted = int(rng.integers(network.domain.cards[target]))
    names, domain = network.domain.names, network.domain
    given = {
        names[parent]: domain[parent].states[code]
        for parent, code in zip(network.cpds[node].parents, row, strict=True)
    }
    inference = Inference(network, max_table_cells=limit)
    found = within_limit(
        lambda: inference.sensitivity(
            {names[target]: domain[target].states[wanted]},
            names[node],
            domain[node].states[state],
            given,
            evidence,
        ),
        limit,
    )
    if found is None:
        return
    present = network.cpds[node].probabilities[(*row, state)]
    assert found.entry == pytest.approx(present, abs=1e-15)
    for x in (present, 0.0, 0.3, 0.9, 1.0):
        other = changed(network, node, tuple(row), state, x)
        expected = posterior(other, likelihoods, target)
        if expected is not None:
            assert found(x) == pytest.approx(expected[wanted], abs=1e-12)
    assert found.gamma * present + found.delta == pytest.approx(1.0, abs=1e-12)


def test_the_constants_of_a_small_network_are_those_worked_out_by_hand() -> None:
    # For x = P(damp | rain), dry keeps 2/7 of 1 - x, so that
    # P(rain, not wet) = .2 x + .2 * 2/7 (1 - x), which is .1 at x = .3.
    found = Inference(weather()).sensitivity(
        {"rain": "yes"}, "lawn", "damp", {"rain": "yes"}, {"lawn": ["dry", "damp"]}
    )
    slope, intercept = 0.2 - 0.4 / 7, 0.4 / 7
    constants = (found.alpha, found.beta, found.gamma, found.delta)
    expected = np.array([slope, intercept, slope, intercept + 0.8]) / 0.9
    np.testing.assert_allclose(constants, expected, rtol=0, atol=1e-12)


def test_the_derivative_is_the_slope_of_the_function() -> None:
    found = Inference(weather()).sensitivity(
        {"rain": "yes"}, "lawn", "wet", {"rain": "yes"}, {"lawn": ["dry", "damp"]}
    )
    step = 1e-6
    slope = (found(0.5 + step) - found(0.5 - step)) / (2 * step)
    assert found.derivative == pytest.approx(slope, rel=1e-8)
    assert found.value == found(0.5)


def test_a_certain_row_shares_evenly_what_the_entry_gives_up() -> None:
    found = Inference(weather()).sensitivity(
        {"lawn": "wet"}, "lawn", "dry", {"rain": "no"}
    )
    assert found(0.5) == pytest.approx(0.2 * 0.5 + 0.8 * 0.25, abs=1e-12)


def test_an_entry_whose_row_is_ruled_out_has_no_influence() -> None:
    found = Inference(weather()).sensitivity(
        {"lawn": "wet"}, "lawn", "wet", {"rain": "no"}, {"rain": "yes"}
    )
    assert (found.alpha, found.gamma, found.derivative) == (0.0, 0.0, 0.0)


def test_a_long_chain_does_not_underflow() -> None:
    n = 400
    names = [f"x{i:04d}" for i in range(n)]
    network = BayesianNetwork.from_tables(
        states={name: ["a", "b"] for name in names},
        parents={names[i]: [names[i - 1]] for i in range(1, n)},
        tables={
            names[0]: [0.5, 0.5],
            **{name: [[0.06, 0.94], [0.09, 0.91]] for name in names[1:]},
        },
    )
    inference = Inference(network)
    evidence = dict.fromkeys(names[1:], "a")
    assert inference.log_probability_of_evidence(evidence) < -750
    found = inference.sensitivity({names[0]: "a"}, names[0], "a", {}, evidence)
    assert found(0.5) == pytest.approx(0.4, abs=1e-12)
    assert found(0.25) == pytest.approx(0.06 / 0.33, abs=1e-12)


def test_wrong_questions_are_refused_in_a_sentence() -> None:
    cases: list[tuple[Any, str, str, Any, str]] = [
        ("rain", "lawn", "wet", {"rain": "no"}, "target must name one variable"),
        ({"rain": "yes"}, "lawn", "wet", {}, "each parent of 'lawn': rain"),
        ({"rain": "yes"}, "rain", "no", {"lawn": "dry"}, "'rain', which has none"),
        ({"rain": "yes"}, "lawn", "icy", {"rain": "no"}, "has no state 'icy'"),
        ({"rain": "maybe"}, "lawn", "wet", {"rain": "no"}, "no state 'maybe'"),
    ]

    def check(case: tuple[Any, str, str, Any, str]) -> None:
        target, node, state, given, message = case
        with pytest.raises(ValueError, match=message):
            Inference(weather()).sensitivity(target, node, state, given)

    check_each(cases, check)


def test_impossible_evidence_is_refused() -> None:
    with pytest.raises(ImpossibleEvidenceError, match="cannot be together"):
        Inference(weather()).sensitivity(
            {"rain": "yes"}, "rain", "yes", {}, {"rain": "no", "lawn": "wet"}
        )


def test_a_variable_with_one_state_has_no_entry_to_change() -> None:
    network = BayesianNetwork.from_tables(states={"a": ["only"]}, tables={"a": [1.0]})
    with pytest.raises(ValueError, match="'a' has one state only"):
        Inference(network).sensitivity({"a": "only"}, "a", "only")


def test_an_entry_that_is_no_probability_is_refused() -> None:
    line = Sensitivity(alpha=1.0, beta=0.0, gamma=1.0, delta=0.0, entry=0.5)
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1\.5"):
        line(1.5)
    with pytest.raises(ValueError, match=r"between 0 and 1, got 'x'"):
        line("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="probability 0 if the entry is 0"):
        line(0.0)


def test_the_printed_form_shows_function_value_and_slope() -> None:
    line = Sensitivity(alpha=0.5, beta=0.25, gamma=0.0, delta=1.0, entry=0.5)
    assert str(line) == (
        "P(target | evidence) = (0.5 x + 0.25) / (0 x + 1)\nat x = 0.5: 0.5, slope 0.5"
    )
