"""Growth and sums of trees, compared with those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.models.interval_target import TreeSum, columns_at
from bayleaf.native.target_trees import Growth, grow_target_trees
from bayleaf.regression.learned_trees import _ranks, _Task, joined

CARDS = (9, 4, 6)


def grown(
    growth: Growth, n_fitted: int = 200
) -> tuple[np.ndarray, TreeSum, Codes, np.ndarray]:
    """The target of 200 rows, trees of the first of them, all rows, their sums."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, card, 200).astype(np.uint16) for card in CARDS]
    target = columns[0] * 1.0 * columns[1] + rng.normal(size=200)
    nodes, sums = grow_target_trees(
        np.array(columns),
        np.array(CARDS),
        target[:n_fitted],
        np.ones(n_fitted),
        growth,
        seed=0,
    )
    positions = tuple(np.arange(card, dtype=float) for card in CARDS)
    trees = TreeSum(0.0, positions, *nodes)
    trees.check_content()
    return target, trees, Codes.from_columns(columns, CARDS), sums


SAMPLED = Growth(20, 4, 0.2, 4, 3, 0.5, 0.6)


@pytest.mark.parametrize(("max_depth", "min_rows"), [(2, 1), (4, 5), (30, 1)])
def test_without_samples_trees_are_those_of_scikit_learn(
    max_depth: int, min_rows: int
) -> None:
    growth = Growth(20, 1, 0.1, max_depth, min_rows, 1.0, 1.0)
    target, trees, codes, _ = grown(growth)
    ensemble = GradientBoostingRegressor(
        init="zero",
        n_estimators=20,
        max_depth=max_depth,
        min_samples_leaf=min_rows,
        random_state=0,
    )
    table = columns_at(codes, trees.positions)
    expected = ensemble.fit(table, target).predict(table)
    assert trees.sums(codes) == pytest.approx(expected, abs=1e-9)


def test_sums_of_fitted_and_held_out_rows_are_those_of_the_trees() -> None:
    _, trees, codes, sums = grown(SAMPLED, n_fitted=150)
    assert sums[-1] == pytest.approx(trees.sums(codes), abs=1e-12)


def test_the_sums_of_a_stage_are_those_of_the_first_trees() -> None:
    _, _, _, sums = grown(SAMPLED)
    for n_trees, stage in zip((5, 10, 15), sums[:-1], strict=True):
        _, trees, codes, _ = grown(SAMPLED._replace(n_trees=n_trees))
        assert stage == pytest.approx(trees.sums(codes), abs=1e-12)


def test_samples_of_rows_and_features_leave_few_errors() -> None:
    target, _, _, sums = grown(SAMPLED, n_fitted=150)
    assert np.corrcoef(sums[-1, 150:], target[150:])[0, 1] > 0.95


def test_the_seed_decides_on_the_samples() -> None:
    arguments = (
        np.array([[0, 1, 2, 3] * 9, [0, 1, 1, 0, 2, 2] * 6], dtype=np.uint16),
        np.array([4, 3]),
        np.arange(36.0) % 7,
        np.ones(36),
        SAMPLED,
    )
    one, again, other = (grow_target_trees(*arguments, s)[1] for s in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


@pytest.mark.parametrize(
    "changed", [{"max_depth": 0}, {"max_depth": 65}, {"min_rows": 0}, {"row_share": 2}]
)
def test_settings_out_of_range_are_refused(changed: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="cannot be grown like this"):
        grown(SAMPLED._replace(**changed))


def test_what_features_add_and_the_start_give_the_sum() -> None:
    _, trees, codes, _ = grown(SAMPLED)
    total = trees.start + trees.terms(codes).sum(axis=1)
    assert total == pytest.approx(trees.sums(codes), abs=1e-12)


def test_a_row_of_unknown_states_stays_at_the_roots() -> None:
    trees = grown(SAMPLED)[1]
    unknown = [np.full(1, card, dtype=np.uint16) for card in CARDS]
    row = Codes.from_columns(unknown, CARDS)
    assert trees.sums(row) == pytest.approx([trees.start], abs=1e-12)
    assert (trees.terms(row) == 0.0).all()


def test_joined_sums_add_up_with_their_weights() -> None:
    _, one, codes, _ = grown(SAMPLED)
    both = joined([(one, 0.25), (one, 0.5)])
    both.check_content()
    assert both.sums(codes) == pytest.approx(0.75 * one.sums(codes), abs=1e-12)


def test_a_tree_that_runs_in_a_circle_is_refused() -> None:
    trees = grown(SAMPLED)[1]
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
    ranks = _ranks(variable, column, np.array([5.0, 1.0, 2.0, 0.0]), ones)
    assert ranks.tolist() == [1, 2, 3, 0]


def test_states_are_in_the_order_of_the_mean_target_of_their_rows_by_weight() -> None:
    variable = Variable("colour", ("red", "blue", "rare", "new"), "nominal")
    column = np.array([0, 0, 1, 1, 3, 3], dtype=np.uint16)
    target = np.array([1.0, 4.0, -2.0, 0.0, 5.0, -3.0])
    weights = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0])
    # Means 3, -.5 and -1, drawn to .5, where the state without rows is.
    assert _ranks(variable, column, target, weights).tolist() == [3, 1, 2, 0]


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
    kind = Growth(20, 1, 0.5, 2, 2, 1.0, 1.0)
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
    kind = Growth(3, 1, 0.5, 1, 2, 1.0, 1.0)
    heavy = np.where(np.arange(60) % 2, 9.0, 1.0)
    grower, _ = task(heavy)
    target = np.where(np.arange(60) % 2, 1.0, -1.0)
    whole, _ = grower.grown([kind], target, np.random.default_rng(0), 1)
    assert np.average(whole[0].sums(grower.codes), weights=heavy) > 0.3


def test_trees_that_raise_the_error_of_left_out_rows_are_dropped() -> None:
    kind = Growth(100, 10, 0.05, 5, 1, 1.0, 1.0)
    grower, signal = task(np.ones(60))
    noise = np.random.default_rng(1).normal(size=60)
    of_noise, left_out = grower.grown([kind], noise, np.random.default_rng(0), 1)
    of_signal, _ = grower.grown([kind], signal, np.random.default_rng(0), 1)
    assert len(of_noise[0].roots) == 10
    assert len(of_signal[0].roots) == 100
    first = kind._replace(n_trees=10, n_stages=1)
    _, expected = grower.grown([first], noise, np.random.default_rng(0), 1)
    assert (left_out == expected).all()
