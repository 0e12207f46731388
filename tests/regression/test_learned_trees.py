"""Sums of trees, compared with those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from bayleaf.data.codes import Codes
from bayleaf.models.support.tree_sum import TreeSum, columns_at
from bayleaf.regression.learned_trees import flat, joined

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
