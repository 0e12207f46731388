"""Rows merged and shuffled by what they hold, not by where they stand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import merged_rows, shuffled_distinct_rows
from oracles.coded_tables import random_codes

ROWS = random_codes((3, 3, 3, 3), 200)


def _contents(codes: Codes, seed: int = 0) -> list[tuple[int, ...]]:
    rows, weights = shuffled_distinct_rows(codes, np.random.default_rng(seed))
    columns = [codes.column(i)[rows].tolist() for i in range(codes.n_variables)]
    return [
        (*row, weight) for *row, weight in zip(*columns, weights.tolist(), strict=True)
    ]


def test_each_kind_of_row_comes_once_with_its_weight() -> None:
    found = _contents(ROWS)
    kinds, counts = np.unique(ROWS.narrow, axis=1, return_counts=True)
    expected = {(*row, count) for *row, count in zip(*kinds, counts, strict=True)}
    assert set(found) == expected
    assert len(found) == len(expected)


def test_sorting_and_repeating_rows_changes_nothing() -> None:
    order = np.random.default_rng(4).permutation(200)
    assert _contents(ROWS.rows(order)) == _contents(ROWS)
    twice = _contents(ROWS.rows(np.tile(np.arange(200), 2)))
    assert twice == [(*row, 2 * weight) for *row, weight in _contents(ROWS)]


def test_another_seed_gives_another_order() -> None:
    one, other = _contents(ROWS), _contents(ROWS, seed=1)
    assert one != other
    assert sorted(one) == sorted(other)


def test_a_column_in_which_all_rows_agree_changes_no_order() -> None:
    codes = ROWS
    wider = Codes.from_columns(
        [
            np.zeros(codes.n_rows, dtype=int),
            *map(codes.column, range(codes.n_variables)),
        ],
        (1, *codes.cards),
        codes.weights,
    )
    rows, wide_rows = merged_rows(codes)[1], merged_rows(wider)[1]
    np.testing.assert_array_equal(rows, wide_rows)
    assert len(rows) < codes.n_rows


def test_weights_of_equal_rows_are_added_without_error() -> None:
    rng = np.random.default_rng(0)
    codes = Codes.from_columns([rng.integers(0, 7, 5000)], [7])
    weights = rng.choice([0.1, 0.3, 0.7, 1e-3], 5000)
    codes = replace(codes, weights=weights, unit_weights=False)
    rows, sums = shuffled_distinct_rows(codes, np.random.default_rng(1))
    column = codes.column(0)
    exact = [math.fsum(weights[column == column[row]]) for row in rows]
    np.testing.assert_array_equal(sums, exact)
