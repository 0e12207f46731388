"""Estimated posteriors are as close to the exact ones as they say."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from bayleaf import (
    ApproximationWarning,
    ImpossibleEvidenceError,
    Inference,
    TooWideError,
    read_network,
)
from bayleaf.graph import triangulation
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.context_networks import random_context_network
from oracles.grid_networks import cell, grid_network, grid_posteriors
from oracles.joint_table import joint_table, marginal
from property.networks import seeded_generators
from property.queried_networks import random_evidence, sparse_networks


def drawn_evidence(network: BayesianNetwork, n: int, seed: int) -> dict[Any, Any]:
    """States of some variables in a row drawn from the network."""
    rng = np.random.default_rng(seed)
    row = network.sample_codes(1, None, rng)
    chosen = rng.choice(len(network.domain), n, replace=False)
    return {
        network.domain[v].name: network.domain[v].states[int(row.column(v)[0])]
        for v in chosen
    }


def split_inference(width: int = 6, seed: int = 0) -> Inference:
    """A grid whose buckets must be split."""
    return Inference(grid_network(width, seed), max_table_cells=8)


def z_scores(found: Any, exact: Any, skipped: Any = ()) -> np.ndarray:
    """Errors in standard errors, of all states of variables that are not skipped."""
    return np.concatenate(
        [
            (found[name].probabilities - np.asarray(exact[name]))
            / found.standard_errors[name]
            for name in found
            if name not in skipped
        ]
    )


@settings(deadline=None, max_examples=25)
@given(sparse_networks(), seeded_generators())
def test_estimates_lie_within_their_errors_of_enumeration(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    evidence, likelihoods = random_evidence(rng, network, 0.3)
    joint = joint_table(network, likelihoods)
    widest = max(int(np.prod(cpd.cards)) for cpd in network.cpds)
    inference = Inference(network, max_table_cells=widest)
    if not joint.sum():
        with pytest.raises(ValueError, match=r"under this network|none of"):
            inference.query(
                evidence, method="approximate", max_samples=500, random_state=1
            )
        return
    found = inference.query(
        evidence, method="approximate", tolerance=0.02, random_state=1
    )
    exact = {
        variable.name: marginal(joint, place) / joint.sum()
        for place, variable in enumerate(network.domain)
    }
    for name, probabilities in exact.items():
        error = np.abs(found[name].probabilities - probabilities)
        assert (error <= 5 * found.standard_errors[name] + 1e-12).all()
    error = abs(found.log_evidence - np.log(joint.sum()))
    assert error <= 5 * found.log_evidence_error + 1e-9


def test_estimates_of_split_buckets_lie_within_their_errors_of_exact_ones() -> None:
    network = grid_network(6, 0)
    inference = Inference(network, max_table_cells=8)
    scores = []
    for seed in range(4):
        evidence = drawn_evidence(network, 6, seed)
        found = inference.query(evidence, method="approximate", random_state=seed)
        expected = network.query(evidence)
        scores.append(z_scores(found, expected, evidence)[::2])
        log_error = found.log_evidence - expected.log_evidence
        assert abs(log_error) < 4 * found.log_evidence_error
        assert found.log_evidence_error > 0
    assert 0.75 < np.concatenate(scores).std() < 1.25


def test_estimates_of_trees_and_grouped_tables_lie_within_their_errors() -> None:
    for seed in range(5):
        network = random_context_network(np.random.default_rng(seed), 6)
        evidence = drawn_evidence(network, 2, seed)
        found = network.query(evidence, method="approximate", random_state=0)
        assert np.abs(z_scores(found, network.query(evidence), evidence)).max() < 4.5


def test_the_same_seed_gives_the_same_estimates() -> None:
    evidence = {cell(5, 5): 1}
    first, again, other = (
        split_inference().query(evidence, method="approximate", random_state=seed)
        for seed in (3, 3, 4)
    )
    assert first.to_dict() == again.to_dict()
    assert first.log_evidence == again.log_evidence
    assert first.to_dict() != other.to_dict()


def test_auto_is_exact_where_exact_answers_fit() -> None:
    network = grid_network(4, 0)
    found = network.query({cell(3, 3): 1}, method="auto")
    assert found.is_exact
    assert found.to_dict() == network.query({cell(3, 3): 1}).to_dict()
    assert not any(error.any() for error in found.standard_errors.values())


def test_auto_estimates_where_exact_answers_do_not_fit() -> None:
    inference = split_inference()
    found = inference.query(method="auto", random_state=0)
    assert not found.is_exact
    assert max(error.max() for error in found.standard_errors.values()) <= 0.005


def test_a_refusal_offers_estimates() -> None:
    with pytest.raises(TooWideError, match=r'more than .* method="auto"'):
        split_inference().query({cell(5, 5): 1})


def test_samples_end_once_the_tolerance_is_reached() -> None:
    sizes = []
    for tolerance in (0.02, 0.003):
        found = split_inference().query(
            method="approximate", tolerance=tolerance, random_state=0
        )
        largest = max(error.max() for error in found.standard_errors.values())
        assert largest <= tolerance
        sizes.append(found.n_samples)
    assert sizes[0] < sizes[1]


def test_a_tolerance_that_is_not_reached_is_said() -> None:
    with pytest.warns(ApproximationWarning, match="0.0001 is not reached within 500"):
        found = split_inference().query(
            {cell(5, 5): 1},
            method="approximate",
            tolerance=1e-4,
            max_samples=500,
            random_state=0,
        )
    assert found.n_samples == 500


def test_what_is_given_has_no_standard_error() -> None:
    found = split_inference().query(
        {cell(2, 2): 1}, method="approximate", random_state=0
    )
    given = found[cell(2, 2)]
    assert given.probabilities.tolist() == [0.0, 1.0]
    assert not found.standard_errors[cell(2, 2)].any()


def test_a_state_that_was_never_drawn_has_a_standard_error() -> None:
    network = BayesianNetwork.from_tables({"a": [0, 1]}, {"a": [1 - 1e-9, 1e-9]})
    found = network.query(method="approximate", random_state=0)
    assert found["a"][1] == 0.0
    assert found.standard_errors["a"][1] == pytest.approx(1 / found.n_samples)


def test_impossible_evidence_names_its_items() -> None:
    network = BayesianNetwork.from_tables(
        {"a": [0, 1], "b": [0, 1]},
        {"a": [0.5, 0.5], "b": [[1, 0], [0, 1]]},
        {"b": ["a"]},
    )
    with pytest.raises(ImpossibleEvidenceError, match="a = 0 and b = 1"):
        network.query({"a": 0, "b": 1}, method="approximate")


def test_likelihoods_of_one_state_count_in_the_probability_of_evidence() -> None:
    network = grid_network(3, 0)
    evidence = {cell(2, 2): np.array([0.0, 0.3]), cell(0, 0): np.array([3.0, 1.0])}
    found = network.query(evidence, (), method="approximate", random_state=0)
    exact = network.log_probability_of_evidence(evidence)
    assert found.log_evidence == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"method": "sampling"}, "method must be one of"),
        ({"tolerance": 0}, "tolerance must be a number above 0"),
        ({"max_samples": 0.5}, "max_samples must be an integer"),
    ],
)
def test_an_option_out_of_range_is_refused(option: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        grid_network(2, 0).query(**option)


def test_estimates_show_their_errors_and_survive_pickling() -> None:
    found = split_inference().query(
        {cell(5, 5): 1}, cell(0, 0), method="approximate", random_state=0
    )
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert "±" in str(found)
    assert "±" in found._repr_html_()
    assert f"{found.n_samples} weighted samples" in repr(found)
    assert found.effective_sample_size[cell(0, 0)] > 1000


def test_rows_of_a_grid_give_its_posteriors() -> None:
    network = grid_network(4, 1)
    evidence = {cell(3, 3): 1, cell(1, 2): 0}
    posteriors, log_evidence = grid_posteriors(network, evidence)
    exact = network.query(evidence)
    assert log_evidence == pytest.approx(exact.log_evidence)
    for name, probabilities in posteriors.items():
        assert exact[name].probabilities == pytest.approx(probabilities)


@pytest.mark.slow
def test_a_wide_grid_is_refused_before_a_thorough_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = grid_network(40, 0)
    evidence = drawn_evidence(network, 5, 0)
    lengths: list[int] = []
    eliminate = triangulation.eliminate

    def counting(*given: Any, **options: Any) -> tuple[list[int], list[int]]:
        order, later = eliminate(*given, **options)
        lengths.append(len(order))
        return order, later

    monkeypatch.setattr(triangulation, "eliminate", counting)
    with pytest.raises(TooWideError):
        network.query(evidence)
    # Two priorities for the network and two for the part that matters, none to its end:
    # a thorough search would eliminate all 1600 nodes dozens of times.
    assert len(lengths) == 4
    assert max(lengths) < len(network.domain) - 100


@pytest.mark.slow
def test_errors_on_a_wide_grid_and_on_link_are_honest(data_folder: Any) -> None:
    grid = grid_network(14, 0)
    link = read_network(data_folder / "networks" / "link.bif")
    scores = []
    for network, max_cells, n_given in ((grid, 256, 20), (link, 2048, 40)):
        evidence = drawn_evidence(network, n_given, 1)
        estimates = Inference(network, max_table_cells=max_cells)
        found = estimates.query(
            evidence, method="approximate", tolerance=0.01, random_state=1
        )
        scores.append(z_scores(found, network.query(evidence), evidence))
    everything = np.concatenate(scores)
    assert np.mean(np.abs(everything) < 3) > 0.99
    assert 0.8 < scores[0][::2].std() < 1.2
