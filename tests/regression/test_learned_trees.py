"""Sums of trees, compared with those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.models.support.tree_sum import TreeSum, columns_at
from bayleaf.regression.learned_trees import (
    _PRIOR_ROWS,
    Growth,
    _positions,
    _Task,
    flat,
    joined,
)

CARDS = (9, 4, 6)


def grown(seed: int = 0) -> tuple[GradientBoostingRegressor, TreeSum, Codes]:
    """An ensemble, the same as a sum of trees, and rows."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, card, 200).astype(np.uint16) for card in CARDS]
    codes = Codes.from_columns(columns, CARDS)
    positions = tuple(np.arange(card, dtype=float) for card in CARDS)
    table = columns_at(codes, positions)
    target = table[:, 0] * table[:, 1] + rng.normal(size=200)
    ensemble = GradientBoostingRegressor(
        init="zero", n_estimators=20, max_depth=4, random_state=seed
    ).fit(table, target)
    return ensemble, flat(ensemble, positions), codes


def test_a_sum_of_trees_predicts_as_the_ensemble_that_it_was_made_of() -> None:
    ensemble, trees, codes = grown()
    expected = ensemble.predict(columns_at(codes, trees.positions))
    assert trees.sums(codes) == pytest.approx(expected, abs=1e-12)


def test_what_features_add_and_the_start_give_the_sum() -> None:
    _, trees, codes = grown()
    total = trees.start + trees.terms(codes).sum(axis=1)
    assert total == pytest.approx(trees.sums(codes), abs=1e-12)


def test_a_row_of_unknown_states_stays_at_the_roots() -> None:
    _, trees, _ = grown()
    unknown = [np.full(1, card, dtype=np.uint16) for card in CARDS]
    row = Codes.from_columns(unknown, CARDS)
    assert trees.sums(row) == pytest.approx([trees.start], abs=1e-12)
    assert (trees.terms(row) == 0.0).all()


def test_joined_sums_add_up_with_their_weights() -> None:
    one, other = grown()[1], grown()[1]
    codes = grown()[2]
    both = joined([(one, 0.25), (other, 0.5)])
    both.check_content()
    assert both.sums(codes) == pytest.approx(0.75 * one.sums(codes), abs=1e-12)


def test_a_tree_that_runs_in_a_circle_is_refused() -> None:
    _, trees, _ = grown()
    right = trees.right.copy()
    right[trees.features >= 0] = 0
    wrong = TreeSum(
        trees.base,
        trees.positions,
        trees.roots,
        trees.features,
        trees.thresholds,
        right,
        trees.values,
    )
    with pytest.raises(ValueError, match="does not lead to a later one"):
        wrong.check_content()


def test_intervals_are_in_order_and_missing_is_below_all_numbers() -> None:
    variable = Variable("age", ("low", "mid", "high", None), "numeric", (1.0, 2.0))
    column, ones = np.array([0, 3, 1, 2], dtype=np.uint16), np.ones(4)
    found = _positions(variable, column, np.array([5.0, 1.0, 2.0, 0.0]), ones)
    assert found.tolist() == [0.0, 1.0, 2.0, -1.0]


def test_states_are_at_the_mean_target_of_their_rows_by_weight() -> None:
    variable = Variable("colour", ("red", "blue", "rare"), "nominal")
    column = np.array([0, 0, 1, 1, 3], dtype=np.uint16)
    target = np.array([1.0, 4.0, -2.0, 0.0, 7.0])
    weights = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
    middle = float(np.average(target, weights=weights))
    expected = [
        (9.0 + _PRIOR_ROWS * middle) / (3.0 + _PRIOR_ROWS),
        (-1.0 + _PRIOR_ROWS * middle) / (2.0 + _PRIOR_ROWS),
        middle,
    ]
    found = _positions(variable, column, target, weights)
    assert found == pytest.approx(expected, rel=1e-6)


def task(weights: np.ndarray) -> tuple[_Task, np.ndarray]:
    """Rows of two features, and a target that depends on both."""
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 5, len(weights)).astype(np.uint16) for _ in range(2)]
    variables = tuple(
        Variable(name, tuple("vwxyz"), "numeric", (1.0, 2.0, 3.0, 4.0)) for name in "ab"
    )
    codes = Codes.from_columns(columns, (5, 5), weights)
    return _Task(codes, variables, weights), columns[0] * 2.0 - columns[1]


def test_left_out_rows_are_predicted_by_trees_without_them() -> None:
    kind = Growth(20, 0.5, 2, 2, 1.0, 1.0)
    grower, target = task(np.ones(60))
    whole, said = grower.grown([kind], target, np.random.default_rng(0), 1)
    folds = [np.arange(60)[fold::5] for fold in range(5)]
    changed = target.copy()
    changed[folds[0]] += 50.0
    _, again = grower.grown([kind], changed, np.random.default_rng(0), 1)
    assert said[folds[0]] == pytest.approx(again[folds[0]], abs=0)
    assert not np.allclose(said[folds[1]], again[folds[1]])
    assert np.corrcoef(said[:, 0], target)[0, 1] > 0.7
    assert not np.allclose(whole[0].sums(grower.codes), said[:, 0])


def test_rows_of_more_weight_pull_the_trees() -> None:
    kind = Growth(3, 0.5, 1, 2, 1.0, 1.0)
    heavy = np.where(np.arange(60) % 2, 9.0, 1.0)
    grower, _ = task(heavy)
    target = np.where(np.arange(60) % 2, 1.0, -1.0)
    whole, _ = grower.grown([kind], target, np.random.default_rng(0), 1)
    assert np.average(whole[0].sums(grower.codes), weights=heavy) > 0.3
