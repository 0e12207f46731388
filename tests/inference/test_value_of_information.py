"""The value of an observation equals the entropy that it takes away on average."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import settings
from hypothesis import strategies as st

from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import entropy, joint_table, marginal
from property.queried_networks import queries


@settings(deadline=None, max_examples=50)
@given_cases(queries(max_variables=7), st.integers(0, 100))
def test_values_equal_the_definition(case: Any, choice: int) -> None:
    network, evidence, likelihoods = case
    names = network.domain.names
    target = choice % len(names)
    found = Inference(network).value_of_information(names[target], evidence, names)
    joint = joint_table(network, likelihoods)
    joint /= joint.sum()
    for candidate, name in enumerate(names):
        if candidate == target:
            continue
        both = marginal(joint, candidate, target)
        after = sum(row.sum() * entropy(row) for row in both if row.sum() > 0)
        expected = entropy(both.sum(axis=0)) - after
        assert found[name] == pytest.approx(expected, abs=1e-12)
    assert list(found.values()) == sorted(found.values(), reverse=True)


def alarm() -> BayesianNetwork:
    """A burglar or a quake sets off the alarm; a neighbour may hear it."""
    return BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in ("burglar", "quake", "alarm", "call")},
        parents={"alarm": ["burglar", "quake"], "call": ["alarm"]},
        tables={
            "burglar": [0.9, 0.1],
            "quake": [0.8, 0.2],
            "alarm": [[[0.99, 0.01], [0.7, 0.3]], [[0.1, 0.9], [0.05, 0.95]]],
            "call": [[0.95, 0.05], [0.2, 0.8]],
        },
    )


def test_candidates_are_by_default_all_whose_state_is_open() -> None:
    found = Inference(alarm()).value_of_information("burglar", {"call": "yes"})
    assert list(found) == ["alarm", "quake"]


def test_an_independent_variable_tells_nothing_before_the_effect_is_seen() -> None:
    inference = Inference(alarm())
    found = inference.value_of_information("burglar", candidates=["quake"])
    assert found == {"quake": pytest.approx(0.0, abs=1e-15)}
    seen = inference.value_of_information("burglar", {"alarm": "yes"}, ["quake"])
    assert seen["quake"] > 0.01


def test_a_known_variable_tells_nothing() -> None:
    found = Inference(alarm()).value_of_information(
        "burglar", {"call": "yes"}, ["call"]
    )
    assert found == {"call": pytest.approx(0.0, abs=1e-15)}


def test_the_target_tells_its_own_entropy() -> None:
    inference = Inference(alarm())
    found = inference.value_of_information("burglar", {"call": "yes"}, ["burglar"])
    expected = inference.query({"call": "yes"}, "burglar")["burglar"].entropy
    assert found["burglar"] == pytest.approx(expected, abs=1e-12)
    assert 0 < expected < np.log(2)
