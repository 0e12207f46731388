"""A network as a classifier: its scores, its limits, and its terms by hand."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from bayleaf.cpds.distribution import TableCPD
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.networks.network_model import NetworkModel
from oracles.joint import class_scores
from property.networks import (
    codes_of,
    complete_codes,
    domain_of,
    random_network,
    rows_of,
)


def _model(parents: tuple[tuple[int, ...], ...], card: int = 3) -> NetworkModel:
    """A random model over a graph whose last node is the class."""
    cards = [card] * (len(parents) - 1) + [2]
    return NetworkModel(random_network(np.random.default_rng(1), cards, DAG(parents)))


def _chain(n_features: int, card: int = 3) -> NetworkModel:
    """Feature after feature, the class a parent of all."""
    parents = [(n_features,), *((n_features, i) for i in range(n_features - 1)), ()]
    return _model(tuple(parents), card)


def test_scores_by_hand() -> None:
    tables = (
        TableCPD((1, 0), np.array([[0.9, 0.1], [0.2, 0.8]])),
        TableCPD((1,), np.array([0.25, 0.75])),
    )
    model = NetworkModel(BayesianNetwork(domain_of([2, 2]), DAG(((1,), ())), tables))
    found = np.exp(model.class_log_scores(codes_of([[1], [None]], [2])))
    np.testing.assert_allclose(found, [[0.025, 0.6], [0.25, 0.75]], rtol=1e-15)
    prior, terms = model.contributions(
        codes_of([[1], [None]], [2]), np.array([1, 1]), np.array([0, 0])
    )
    np.testing.assert_allclose(prior, math.log(3), rtol=1e-15)
    np.testing.assert_allclose(terms, [[math.log(8)], [0.0]], rtol=1e-14)


def test_terms_are_differences_of_log_tables_where_no_parent_is_missing() -> None:
    model = _chain(4)
    codes = complete_codes(np.random.default_rng(2), model, 20)
    target, against = np.ones(20, dtype=np.intp), np.zeros(20, dtype=np.intp)
    _, terms = model.contributions(codes, target, against)
    for feature, cpd in enumerate(model.network.cpds[:-1]):
        above = [codes.column(parent) for parent in cpd.parents[1:]]
        tables = [cpd.probabilities[c][(*above, codes.column(feature))] for c in (1, 0)]
        np.testing.assert_allclose(terms[:, feature], np.log(tables[0] / tables[1]))


def test_rows_alone_and_together_give_the_same_bits() -> None:
    model = _chain(12)
    codes = complete_codes(np.random.default_rng(2), model, 30)
    alone = [model.class_log_scores(codes.rows(slice(i, i + 1)))[0] for i in range(30)]
    np.testing.assert_array_equal(model.class_log_scores(codes), alone)


def test_missing_cells_leave_other_rows_alone() -> None:
    model = _chain(6)
    codes = complete_codes(np.random.default_rng(2), model, 10)
    rows = rows_of(codes)
    before = model.class_log_scores(codes)
    rows[4] = [None, 1, None, None, 2, None]
    after = model.class_log_scores(codes_of(rows, model.domain.cards[:-1]))
    others = [i for i in range(10) if i != 4]
    np.testing.assert_array_equal(after[others], before[others])
    np.testing.assert_allclose(
        np.exp(after[4]), class_scores(model.network, rows[4]), rtol=1e-12
    )


def test_blocks_of_rows_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    from bayleaf.inference import factors

    model = _chain(5)
    rows = [[i % 3, None, (i // 3) % 3, None, 1] for i in range(50)]
    codes = codes_of(rows, model.domain.cards[:-1])
    whole = model.class_log_scores(codes)
    monkeypatch.setattr(factors, "_BLOCK_CELLS", 60)
    np.testing.assert_array_equal(model.class_log_scores(codes), whole)


def test_features_that_do_not_hear_the_class_are_summed_out() -> None:
    # v0 -> v1 -> v2 <- class: v0 and v1 hear nothing of the class themselves.
    model = _model(((), (0,), (1, 3), ()))
    for row in ([None, None, 1], [2, None, 0], [None, 1, 2], [1, 0, None]):
        found = model.class_log_scores(codes_of([row], [3, 3, 3]))[0]
        np.testing.assert_allclose(
            np.exp(found), class_scores(model.network, row), rtol=1e-12
        )


def test_a_table_above_the_limit_is_refused_with_row_and_features() -> None:
    # Summing out v0, parent of all others, links five features of four states.
    star = _model(((5,), (0, 5), (0, 5), (0, 5), (0, 1, 2, 3, 5), ()), card=4)
    model = NetworkModel(star.network, max_table_cells=100)
    rows = [[0, 1, 2, 3, 0], [None, 1, 2, 3, 0], [None, None, None, None, 0]]
    codes = codes_of(rows, [4] * 5)
    with pytest.raises(
        ValueError,
        match=r"^row 2: summing out its missing features v0, v1, v2, v3 needs a table "
        r"of 512 cells, more than max_table_cells=100; raise it, fill some of them",
    ):
        model.class_log_scores(codes)
    assert model.class_log_scores(codes.rows(slice(0, 2))).shape == (2, 2)


def test_the_limit_itself_is_allowed() -> None:
    star = _model(((3,), (0, 3), (0, 1, 3), ()), card=4)
    codes = codes_of([[None, None, 0]], [4] * 3)
    allowed = NetworkModel(star.network, max_table_cells=4 * 4 * 2)
    np.testing.assert_array_equal(
        allowed.class_log_scores(codes), star.class_log_scores(codes)
    )
    with pytest.raises(ValueError, match="needs a table of 32 cells"):
        NetworkModel(star.network, max_table_cells=31).class_log_scores(codes)


def test_missing_leaves_never_need_a_table() -> None:
    naive = NetworkModel(_model(((3,), (3,), (3,), ())).network, max_table_cells=1)
    found = naive.class_log_scores(codes_of([[None, None, None]], [3] * 3))
    np.testing.assert_array_equal(found[0], np.log(naive.class_prior))


def test_a_long_chain_of_missing_features_is_summed_out() -> None:
    model = _chain(300, card=2)
    row: list[int | None] = [None] * 299 + [1]
    found = np.exp(model.class_log_scores(codes_of([row], [2] * 300))[0])
    expected = []
    for c in (0, 1):
        forward = model.network.cpds[0].probabilities[c]
        for cpd in model.network.cpds[1:-1]:
            forward = forward @ cpd.probabilities[c]
        expected.append(model.class_prior[c] * forward[1])
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_zero_probabilities_are_summed_without_warnings() -> None:
    tables = (
        TableCPD((2, 0), np.array([[1.0, 0.0], [0.5, 0.5]])),
        TableCPD((2, 0, 1), np.array([[[1, 0], [0.5, 0.5]], [[0, 1], [0, 1]]], float)),
        TableCPD((2,), np.array([0.5, 0.5])),
    )
    model = NetworkModel(
        BayesianNetwork(domain_of([2, 2, 2]), DAG(((2,), (2, 0), ())), tables)
    )
    found = model.class_log_scores(codes_of([[None, 1], [None, 0]], [2, 2]))
    assert np.exp(found).tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_a_model_whose_class_has_parents_is_refused() -> None:
    network = random_network(np.random.default_rng(0), [2, 2], DAG(((), (0,))))
    with pytest.raises(ValueError, match="class 'v1' has parents v0; turn those arcs"):
        NetworkModel(network)


def test_another_prior_leaves_the_model_as_it_was() -> None:
    model = _chain(2)
    before = model.class_prior.copy()
    other = model.with_class_prior(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(model.class_prior, before)
    assert other.class_prior.tolist() == [0.0, 1.0]
    assert other.class_log_scores(codes_of([[0, 0]], [3, 3]))[0, 0] == -math.inf


def test_derived_tables_are_not_pickled() -> None:
    model = _chain(8)
    fresh = len(pickle.dumps(model))
    model.class_log_scores(codes_of([[None] * 7 + [0]], [3] * 8))
    assert len(pickle.dumps(model)) == fresh


def test_structure_is_told_by_indices() -> None:
    model = _chain(3)
    assert model.arcs == [(3, 0), (3, 1), (0, 1), (3, 2), (1, 2)]
    assert [list(model.feature_parents(i)) for i in range(3)] == [[], [0], [1]]
    assert model.n_parameters == model.network.n_parameters
