"""Conflict is the log of what items are worth alone, over what they are together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import settings

from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import joint_table
from property.queried_networks import queries


@settings(deadline=None, max_examples=50)
@given_cases(queries())
def test_conflict_equals_the_definition(case: Any) -> None:
    network, evidence, likelihoods = case
    inference = Inference(network)
    together = np.log(joint_table(network, likelihoods).sum())
    alone = {
        variable: np.log(joint_table(network, {variable: likelihood}).sum())
        for variable, likelihood in likelihoods.items()
    }
    expected = sum(alone.values()) - together
    assert inference.conflict(evidence) == pytest.approx(expected, abs=1e-11)
    by_item = inference.conflict_by_item(evidence)
    for variable, likelihood in likelihoods.items():
        if (likelihood == 1).all():
            continue
        others = {v: other for v, other in likelihoods.items() if v != variable}
        log_others = np.log(joint_table(network, others).sum())
        assert by_item[f"v{variable}"] == pytest.approx(
            alone[variable] + log_others - together, abs=1e-11
        )


def copies() -> BayesianNetwork:
    """Two faithful witnesses of one coin, and one that knows nothing."""
    return BayesianNetwork.from_tables(
        states={name: ["no", "yes"] for name in ("coin", "first", "second", "other")},
        parents={"first": ["coin"], "second": ["coin"]},
        tables={
            "coin": [0.5, 0.5],
            "first": [[0.9, 0.1], [0.1, 0.9]],
            "second": [[0.9, 0.1], [0.1, 0.9]],
            "other": [0.5, 0.5],
        },
    )


def test_witnesses_that_contradict_each_other_are_in_conflict() -> None:
    inference = Inference(copies())
    assert inference.conflict({"first": "yes", "second": "no"}) == pytest.approx(
        np.log(0.25 / 0.09), abs=1e-12
    )
    assert inference.conflict({"first": "yes", "second": "yes"}) < 0


def test_the_item_most_in_conflict_comes_first() -> None:
    split = Inference(copies()).conflict_by_item(
        {"other": "yes", "coin": "yes", "first": "yes", "second": "no"}
    )
    assert next(iter(split)) == "second"
    assert split["other"] == pytest.approx(0.0, abs=1e-12)


def test_evidence_on_one_variable_is_not_in_conflict() -> None:
    assert Inference(copies()).conflict({"first": "yes"}) == pytest.approx(
        0.0, abs=1e-12
    )
    assert Inference(copies()).conflict({}) == pytest.approx(0.0, abs=1e-12)
