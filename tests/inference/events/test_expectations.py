"""Decisions by expected loss, and expected numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.data.state_numbers import number_deviation
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each
from oracles.joint_table import joint_table, marginal
from oracles.small_networks import smoking
from property.for_all import for_all
from property.networks import seeded_generators
from property.queried_networks import possible_evidence, sparse_networks

LOSS = {"treat": {"no": 1.0}, "wait": {"yes": 10.0}}


@for_all(sparse_networks(max_variables=5), seeded_generators(), few=20, many=60)
def test_losses_and_values_equal_enumeration(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    evidence, likelihoods = possible_evidence(rng, network)
    joint = joint_table(network, likelihoods)
    joint /= joint.sum()
    costs = rng.normal(size=(3, network.domain.cards[0]))
    others = list(network.domain.names)
    found = network.expected_loss("v0", costs, evidence, observe=others)
    losses = costs @ marginal(joint, 0)
    np.testing.assert_allclose(found.losses, losses, atol=1e-12)
    assert found.best == found.decisions[int(losses.argmin())]
    perfect = losses.min() - (costs.min(axis=0) * marginal(joint, 0)).sum()
    assert found.perfect_information == pytest.approx(perfect, abs=1e-12)
    for place, name in enumerate(others):
        seen = marginal(joint, 0, place) if place else np.diag(marginal(joint, 0))
        value = losses.min() - (costs @ seen).min(axis=0).sum()
        assert found.observing[name] == pytest.approx(value, abs=1e-12)


def test_a_loss_may_be_a_mapping_a_frame_or_an_array() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(LOSS).T.fillna(0.0)
    found = [
        smoking().expected_loss("cancer", loss, "smoker = yes")
        for loss in (LOSS, frame, [[1.0, 0.0], [0.0, 10.0]])
    ]
    assert [one.to_dict() for one in found[:2]] == [{"treat": 0.5, "wait": 5.0}] * 2
    # A square array has the states as decisions.
    assert found[2].to_dict() == {"no": 0.5, "yes": 5.0}
    assert found[0].best == "treat"
    assert found[0].least == found[0].perfect_information == 0.5


def test_the_first_of_equally_good_decisions_is_best() -> None:
    found = smoking().expected_loss("cancer", [[1, 1], [1, 1], [1, 1]])
    assert found.best == 0
    assert found.perfect_information == 0.0


def test_observations_are_ranked_by_what_they_save() -> None:
    found = smoking().expected_loss("cancer", LOSS, observe=["cough", "smoker"])
    assert found.observing == pytest.approx({"smoker": 0.75, "cough": 0.5625})
    assert list(found.observing) == ["smoker", "cough"]
    assert found.perfect_information == 0.875
    assert str(found).splitlines()[-1] == "best: treat"


def test_losses_that_do_not_fit_are_refused() -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "at least one decision"),
        ({"a": {"perhaps": 1}}, "variable 'cancer' has no state 'perhaps'"),
        ({"a": {"yes": np.nan}}, "finite numbers only"),
        ({"a": {"yes": "much"}}, "loss must hold numbers"),
        ([[1, 2, 3]], "a column for each of the 2 states of variable 'cancer'"),
        ([1, 2], "got shape (2,)"),
    ]

    def check(case: tuple[Any, str]) -> None:
        loss, sentence = case
        with pytest.raises(ValueError, match=re.escape(sentence)):
            smoking().expected_loss("cancer", loss)

    check_each(cases, check)


def numbers() -> BayesianNetwork:
    """Incomes by sex, in two intervals."""
    spread = tuple(np.linspace(20.0, 80.0, 17)), tuple(np.linspace(100.0, 400.0, 17))
    income = Variable(
        "income",
        ("<= 90", "> 90"),
        "numeric",
        (90.0,),
        numbers=IntervalNumbers((50.0, 250.0), spread),
    )
    plain = BayesianNetwork.from_tables(
        states={"sex": ["f", "m"], "income": ["<= 90", "> 90"], "n": [1, 2]},
        parents={"income": ["sex"], "n": ["sex"]},
        tables={
            "sex": [0.5, 0.5],
            "income": [[0.5, 0.5], [0.25, 0.75]],
            "n": [[0.5, 0.5], [0.25, 0.75]],
        },
    )
    sex, _, n = plain.domain
    return BayesianNetwork(Domain((sex, income, n)), plain.dag, plain.cpds)


def test_expected_numbers_are_means_of_intervals() -> None:
    found = numbers().expected("income", "sex = m or sex = f and income > 90")
    chances = np.array([0.125, 0.375 + 0.25]) / 0.75
    assert float(found) == found.mean == pytest.approx(chances @ [50.0, 250.0])
    # Evenly spread numbers have a twelfth of the squared width as variance.
    inside = np.array([60.0**2, 300.0**2]) / 12
    between = (np.array([50.0, 250.0]) - found.mean) ** 2
    assert found.standard_deviation == pytest.approx(
        np.sqrt(chances @ (inside + between))
    )
    assert found.quantiles(0.0) == 20.0
    assert "income: mean" in str(found)


def test_expected_numbers_of_plain_states_are_exact() -> None:
    found = numbers().expected("n", "sex = m")
    assert found.mean == 1.75
    assert found.standard_deviation == pytest.approx(np.sqrt(0.25 * 0.75))
    with pytest.raises(ValueError, match="are no numbers"):
        numbers().expected("sex")


def test_the_deviation_of_one_number_is_zero() -> None:
    one = Variable("one", (3,))
    assert number_deviation(one, np.array([1.0])) == 0.0
