"""Starts from which no step tells the states of a latent variable apart."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bayleaf import BayesianNetwork, learn_parameters
from bayleaf.latent.starts.saddle_points import stalled_latents, with_random_tables

STATES = {"hidden": ["u", "v"], "x": ["n", "y"], "y": ["n", "y"]}
ROWS = {"x": ["n", "y", "y", "n", "y"], "y": ["n", "y", "y", "n", "n"]}


def _network(x: list[list[float]], y: list[list[float]]) -> BayesianNetwork:
    return BayesianNetwork.from_tables(
        states=STATES,
        parents={"x": ["hidden"], "y": ["hidden"]},
        tables={"hidden": [0.3, 0.7], "x": x, "y": y},
    )


BLIND = _network([[0.5, 0.5]] * 2, [[0.2, 0.8]] * 2)
SEEING = _network([[0.5, 0.5]] * 2, [[0.2, 0.8], [0.3, 0.7]])


def test_a_latent_variable_with_blind_children_stalls() -> None:
    with pytest.warns(RuntimeWarning, match="latent hidden apart"):
        learned = learn_parameters(BLIND, ROWS)
    table = learned.network.cpd("x").probabilities
    np.testing.assert_allclose(table[0], table[1], atol=1e-12)


def test_nothing_warns_where_one_child_tells_states_apart() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn_parameters(SEEING, ROWS)


def test_nothing_warns_where_there_are_more_starts() -> None:
    learn_parameters(BLIND, ROWS, n_restarts=2, random_state=0)


def test_nothing_warns_where_the_variable_has_a_column() -> None:
    learn_parameters(BLIND, {**ROWS, "hidden": ["u", "v", None, None, "u"]})


def test_nothing_warns_where_the_children_are_not_learned() -> None:
    network = BLIND.with_experience({"hidden": 1.0})
    learn_parameters(network, ROWS)


def test_another_start_leaves_the_prior_as_it_is() -> None:
    prior = BLIND.with_experience(4.0)
    learned = learn_parameters(prior, ROWS, start=SEEING)
    for cpd in learned.network.cpds:
        assert cpd.experience.sum() == pytest.approx(  # type: ignore[attr-defined]
            4.0 * cpd.experience.size + len(ROWS["x"])  # type: ignore[attr-defined]
        )
    assert (np.diff(learned.objectives) > -1e-9).all()
    assert learned.objectives[-1] > learn_objective(prior)


def learn_objective(network: BayesianNetwork) -> float:
    """Where a start that stalls ends."""
    with pytest.warns(RuntimeWarning, match="apart"):
        return learn_parameters(network, ROWS).objectives[-1]


def test_a_start_of_other_form_is_refused() -> None:
    other = BayesianNetwork.from_tables(
        states=STATES,
        tables={"hidden": [0.5, 0.5], "x": [0.5, 0.5], "y": [0.5, 0.5]},
    )
    with pytest.raises(ValueError, match="start has other variables"):
        learn_parameters(BLIND, ROWS, start=other)


def test_random_tables_are_those_of_the_variable_and_its_children() -> None:
    network = BayesianNetwork.from_tables(
        states={**STATES, "z": ["n", "y"]},
        parents={"x": ["hidden"], "z": ["x"]},
        tables={
            "hidden": [0.5, 0.5],
            "x": [[0.5, 0.5]] * 2,
            "y": [0.5, 0.5],
            "z": [[0.5, 0.5]] * 2,
        },
    )
    rng = np.random.default_rng(0)
    drawn = with_random_tables(network, [0], rng)
    changed = [
        name
        for name in network.domain.names
        if (drawn.cpd(name).probabilities != network.cpd(name).probabilities).any()
    ]
    assert changed == ["hidden", "x"]
    drawn.check_content()
    missing = network.sample_codes(3, random_state=0)
    assert stalled_latents(network, missing, range(4)) == []
