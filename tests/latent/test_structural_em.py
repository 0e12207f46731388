"""Structural expectation maximisation finds arcs in rows with missing cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetwork, BayesianNetworkEstimator, MEstimate, read_network
from offenders import check_each


def _incomplete(network: BayesianNetwork, n_rows: int, seed: int) -> pd.DataFrame:
    """Rows of a network of which a fifth of the cells is missing."""
    frame = network.sample(n_rows, random_state=seed).to_pandas()
    frame = frame.astype(str).astype(object)
    holes = np.random.default_rng([seed, 1]).random(frame.shape) < 0.2
    return frame.mask(holes)


def _estimator(**options: Any) -> BayesianNetworkEstimator:
    settings = {"random_state": 0, "local_score": "bic", "n_restarts": 1}
    return BayesianNetworkEstimator(**settings, missing="em", **options)


def _pairs(edges: Any) -> set[frozenset[Any]]:
    """Arcs without their direction."""
    return {frozenset(edge) for edge in edges}


def _chain(n_rows: int = 300) -> pd.DataFrame:
    chain = BayesianNetwork.from_tables(
        states={name: ["n", "y"] for name in "abcd"},
        parents={"b": ["a"], "c": ["b"], "d": ["c"]},
        tables={
            "a": [0.5, 0.5],
            **{name: [[0.9, 0.1], [0.15, 0.85]] for name in "bcd"},
        },
    )
    return _incomplete(chain, n_rows, 3)


CHAIN = {frozenset("ab"), frozenset("bc"), frozenset("cd")}


def test_a_chain_is_found_in_incomplete_rows() -> None:
    model = _estimator(structural="edges").fit(_chain(800))
    assert _pairs(model.edges_) == CHAIN


def test_the_score_rises_with_every_network() -> None:
    model = _estimator(structural="edges").fit(_chain())
    scores = model.em_scores_
    assert (np.diff(scores) > 0).all()
    once = _estimator().fit(_chain())
    assert len(once.em_scores_) == 1
    assert scores[0] == once.em_scores_[0]


def test_the_same_seed_gives_the_same_network_whatever_n_jobs() -> None:
    table = _chain()
    one = _estimator(structural="edges", n_jobs=1).fit(table)
    two = _estimator(structural="edges", n_jobs=2).fit(table)
    assert one.edges_ == two.edges_
    for left, right in zip(one.network_.cpds, two.network_.cpds, strict=True):
        np.testing.assert_array_equal(left.probabilities, right.probabilities)


def test_complete_rows_give_the_network_of_the_plain_search() -> None:
    table = _chain().dropna()
    plain = BayesianNetworkEstimator(random_state=0, local_score="bic", n_restarts=1)
    plain.fit(table)
    for model in (_estimator().fit(table), _estimator(structural="edges").fit(table)):
        assert model.edges_ == plain.edges_
        assert model.score_ == pytest.approx(plain.score_)
        assert model.em_scores_ == pytest.approx((plain.score_,), rel=1e-2)
        assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_)


def test_tables_are_those_of_the_exact_fit_of_the_graph() -> None:
    table = _chain()
    model = _estimator(structural="edges").fit(table)
    fitted = model.network_.fit(table, missing="em", tol=1e-12, max_iter=2000)
    for left, right in zip(model.network_.cpds, fitted.cpds, strict=True):
        np.testing.assert_allclose(left.probabilities, right.probabilities, atol=5e-3)


def test_constraints_are_kept() -> None:
    model = _estimator(
        structural="edges", required_edges=[("d", "a")], forbidden_edges=[("a", "b")]
    ).fit(_chain())
    assert ("d", "a") in model.edges_
    assert ("a", "b") not in model.edges_


def test_a_saved_model_answers_as_before(tmp_path: Path) -> None:
    from bayleaf import load

    table = _chain()
    model = _estimator(structural="edges").fit(table)
    model.save(tmp_path / "model.json")
    again: Any = load(tmp_path / "model.json")
    assert (again.missing, again.structural) == ("em", "edges")
    np.testing.assert_array_equal(
        again.score_samples(table), model.score_samples(table)
    )


def test_settings_it_is_not_defined_for_are_refused() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            _estimator(**options).fit(_chain())

    check_each(
        [
            ({"structural": "tables"}, "structural must be one of 'edges'"),
            (
                {"local_structure": "tree"},
                "missing='em' is defined for local_structure",
            ),
            ({"abstraction": "global"}, "missing='em' is defined without abstraction"),
            ({"smoothing": MEstimate()}, "prior of its own"),
        ],
        check,
    )


def test_structural_without_expectation_maximisation_is_refused() -> None:
    with pytest.raises(ValueError, match="structural='edges' needs missing='em'"):
        BayesianNetworkEstimator(structural="edges").fit(_chain())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_rows", "n_found", "n_more"),
    [("asia", 3000, 7, 4), pytest.param("alarm", 500, 29, 12, marks=pytest.mark.long)],
)
def test_arcs_of_known_networks_are_recovered(
    data_folder: Path, name: str, n_rows: int, n_found: int, n_more: int
) -> None:
    network = read_network(data_folder / "networks" / f"{name}.bif")
    table = _incomplete(network, n_rows, 1)
    once = _estimator().fit(table)
    model = _estimator(structural="edges").fit(table)
    known = _pairs(network.edges)
    assert len(_pairs(model.edges_) & known) >= n_found
    assert len(_pairs(model.edges_) - known) <= n_more
    assert len(_pairs(model.edges_) - known) < len(_pairs(once.edges_) - known)
    assert (np.diff(model.em_scores_) > 0).all()
