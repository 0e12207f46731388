"""Averaged one-dependence models: skipped super-parents, missing cells, weights."""

from __future__ import annotations

import itertools
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.inference.log_sums import logarithmic_mean_weights
from bayleaf.models import one_dependence_model
from bayleaf.native.inference import add_children
from offenders import check_each
from oracles.joint import one_dependence_contributions, one_dependence_scores
from property.networks import (
    codes_of,
    complete_codes,
    random_one_dependence,
    rows_of,
)

CARDS = [2, 3, 2]


def _model(
    usable: list[int] | None = None,
) -> one_dependence_model.AveragedOneDependenceModel:
    """A random model; of the ten positions, only some may be usable."""
    model = random_one_dependence(np.random.default_rng(0), CARDS, 2)
    if usable is None:
        return model
    flags = np.zeros(10, dtype=bool)
    flags[usable] = True
    return replace(model, usable=flags)


def test_rare_super_parents_are_skipped() -> None:
    def check(case: Any) -> None:
        row, usable = case
        model = _model(usable)
        found = model.class_log_scores(codes_of([row], CARDS))[0]
        np.testing.assert_allclose(
            np.exp(found), one_dependence_scores(model, row), rtol=1e-12
        )

    check_each(
        itertools.product(
            [[0, 1, 1], [1, 2, 0], [None, 1, 0], [None, None, None]],
            [[], [0, 4], [1], list(range(10))],
        ),
        check,
    )


def test_naive_bayes_takes_over_where_no_super_parent_is_left() -> None:
    model = _model([])
    found = np.exp(model.class_log_scores(codes_of([[1, 2, 0], [1, 0, 1]], CARDS)))
    p = model.parent_probabilities
    np.testing.assert_allclose(
        found,
        [
            model.prior * p[:, 1] * p[:, 3 + 2] * p[:, 7 + 0],
            model.prior * p[:, 1] * p[:, 3 + 0] * p[:, 7 + 1],
        ],
        rtol=1e-14,
    )


@pytest.mark.parametrize("usable", [None, [0, 3, 8], []])
def test_contributions_are_those_of_the_networks(usable: list[int] | None) -> None:
    model = _model(usable)
    states = [[*range(card), None] for card in CARDS]
    rows = list(itertools.product(*states))
    codes = codes_of(rows, CARDS)
    target = np.zeros(len(rows), dtype=np.intp)
    prior, terms = model.contributions(codes, target, target + 1)
    for number, row in enumerate(rows):
        expected = one_dependence_contributions(model, row, 0, 1)
        assert prior[number] == pytest.approx(expected[0], abs=1e-12)
        np.testing.assert_allclose(terms[number], expected[1], atol=1e-12)


def test_the_fallback_is_chosen_row_by_row() -> None:
    model = _model([0])
    rows: list[list[int | None]] = [[0, 1, 1], [1, 1, 1]]
    together = model.class_log_scores(codes_of(rows, CARDS))
    for row, found in zip(rows, together, strict=True):
        np.testing.assert_allclose(
            np.exp(found), one_dependence_scores(model, row), rtol=1e-12
        )


@pytest.mark.parametrize("n_features", [3, 9, 30])
def test_rows_alone_and_together_give_the_same_bits(n_features: int) -> None:
    model = random_one_dependence(np.random.default_rng(0), [3] * n_features, 2, 0.9)
    codes = complete_codes(np.random.default_rng(1), model, 40)
    alone = [model.class_log_scores(codes.rows(slice(i, i + 1)))[0] for i in range(40)]
    np.testing.assert_array_equal(model.class_log_scores(codes), alone)


def test_children_are_added_in_their_order() -> None:
    rng = np.random.default_rng(0)
    tables, scores = rng.normal(size=(3, 11, 11)), rng.normal(size=(3, 1500))
    parents = rng.integers(11, size=1500)
    positions = rng.integers(11, size=(5, 1500)).astype(np.int32)
    expected = scores.copy()
    for row in positions:
        expected += tables[:, parents, row]
    add_children(tables, parents, positions, scores)
    np.testing.assert_array_equal(scores, expected)


def test_blocks_of_rows_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model()
    rows = rows_of(complete_codes(np.random.default_rng(1), model, 50))
    rows[7], rows[31] = [None, 1, None], [None, None, 0]
    codes = codes_of(rows, CARDS)
    whole = model.class_log_scores(codes)
    monkeypatch.setattr(one_dependence_model, "_BLOCK_CELLS", 42)
    np.testing.assert_array_equal(model.class_log_scores(codes), whole)


def test_zero_probabilities_need_no_warning() -> None:
    model = _model()
    tables = model.parent_probabilities.copy()
    tables[0, :2] = [0.0, 1.0]
    zero = replace(model, parent_probabilities=tables)
    for row in ([0, 1, 1], [None, 1, 1], [0, None, None]):
        found = zero.class_log_scores(codes_of([row], CARDS))[0]
        np.testing.assert_allclose(
            np.exp(found), one_dependence_scores(zero, row), rtol=1e-12
        )


def test_parameters_are_those_of_all_networks() -> None:
    # One prior, then for each super-parent its own and its children's tables.
    expected = 0
    for parent in range(3):
        others = sum(CARDS[i] - 1 for i in range(3) if i != parent)
        expected += 1 + 2 * (CARDS[parent] - 1) + 2 * CARDS[parent] * others
    assert _model().n_parameters == expected


def test_arcs_are_those_of_all_networks() -> None:
    arcs = _model().arcs
    assert len(arcs) == len(set(arcs)) == 3 + 3 * 2
    assert {(3, 0), (1, 0), (2, 0)} == {arc for arc in arcs if arc[1] == 0}
    assert list(_model().feature_parents(0)) == []


def test_derived_tables_are_not_pickled() -> None:
    model = _model()
    fresh = len(pickle.dumps(model))
    model.class_log_scores(codes_of([[0, 1, 1]], CARDS))
    assert len(pickle.dumps(model)) == fresh


LOGS = st.floats(-700.0, 700.0)


@given(st.lists(st.tuples(LOGS, LOGS), min_size=1, max_size=6))
def test_logarithmic_mean_weights_split_the_ratio_of_sums(
    pairs: list[tuple[float, float]],
) -> None:
    log_a, log_b = np.array(pairs).T
    weights = logarithmic_mean_weights(log_a, log_b)
    total = np.logaddexp.reduce(log_a) - np.logaddexp.reduce(log_b)
    assert (weights >= 0).all()
    assert math.fsum(weights * (log_a - log_b)) == pytest.approx(
        total, rel=1e-9, abs=1e-9
    )


def test_equal_members_weigh_their_share() -> None:
    log_a = np.log([0.1, 0.3])
    np.testing.assert_allclose(
        logarithmic_mean_weights(log_a, log_a), [0.25, 0.75], rtol=1e-14
    )


def test_members_with_one_ratio_weigh_one_together() -> None:
    log_b = np.log([0.1, 0.2, 0.7])
    weights = logarithmic_mean_weights(log_b + 3.0, log_b)
    np.testing.assert_allclose(weights, [0.1, 0.2, 0.7], rtol=1e-13)


def test_members_left_out_weigh_nothing() -> None:
    weights = logarithmic_mean_weights(
        np.array([-1.0, -np.inf]), np.array([-2.0, -np.inf])
    )
    assert weights.tolist() == [1.0, 0.0]


def test_members_that_hardly_differ_weigh_their_share() -> None:
    def check(gap: float) -> None:
        log_b = np.array([0.0, -1.0])
        weights = logarithmic_mean_weights(log_b + np.array([0.0, gap]), log_b)
        share = 1 / (1 + math.exp(-1))
        np.testing.assert_allclose(weights, [share, 1 - share], rtol=1e-7)

    check_each([5e-324, 1e-300, 1e-17, 1e-12, 1e-8], check)
