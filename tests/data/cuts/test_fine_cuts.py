"""Intervals so fine that they tell how large a number is."""

from __future__ import annotations

import numpy as np

from bayleaf.data.cuts.fine_cuts import FineCuts


def _cuts(values: list[float], weights: list[float] | None = None) -> np.ndarray:
    column = np.array(values)
    own = np.ones(len(column)) if weights is None else np.array(weights)
    return np.array(FineCuts().cut_points(column, np.zeros(len(column), int), 1, own))


def test_few_values_get_an_interval_each() -> None:
    np.testing.assert_array_equal(_cuts([3.0, 1.0, np.nan, 1.0, 2.0]), [1.5, 2.5])


def test_a_value_without_weight_is_absent() -> None:
    np.testing.assert_array_equal(_cuts([1.0, 2.0, 3.0], [1.0, 0.0, 1.0]), [2.0])


def test_many_values_share_as_many_intervals_as_a_byte_tells_apart() -> None:
    values = np.random.default_rng(0).normal(size=3000)
    cuts = _cuts(values.tolist())
    assert len(cuts) == 253
    rows = np.bincount(np.searchsorted(cuts, values))
    assert rows.max() - rows.min() <= 1


def test_a_column_without_values_is_not_cut() -> None:
    assert len(_cuts([np.nan, np.nan])) == 0
