from __future__ import annotations

import numpy as np
import pytest

from bayleaf.counts.pairs import PairCounts, ranges
from bayleaf.counts.table_counts import RowCounts
from oracles import counting


def test_dense_counts_come_back_as_they_were_given() -> None:
    dense = np.random.default_rng(0).random((2, 3 + 4, 5 + 3 + 4))
    pairs = PairCounts.from_dense((1, 2), (0, 1, 2), (4, 2, 3, 2), dense)
    np.testing.assert_array_equal(pairs.dense(), dense)


def test_tables_of_dense_counts_leave_missing_cells_out() -> None:
    dense = np.random.default_rng(0).random((2, 3 + 4, 5 + 3 + 4))
    pairs = PairCounts.from_dense((1, 2), (0, 1, 2), (4, 2, 3, 2), dense)
    np.testing.assert_array_equal(pairs.table(2, 1), dense[:, 3:6, 5:7])


def test_class_counts_of_dense_counts_include_missing_cells() -> None:
    codes = counting.random_codes([3, 4, 2], 100, missing=0.3, seed=1)
    dense = RowCounts(codes).pair_counts((0, 1), (0, 1)).dense()
    pairs = PairCounts.from_dense((0, 1), (0, 1), codes.cards, dense)
    np.testing.assert_array_equal(
        pairs.class_counts, counting.family_counts(codes, [2])
    )


def test_a_table_turned_round_is_the_transpose(engine: str) -> None:
    codes = counting.random_codes([3, 30, 2, 2], 100, missing=0.1, seed=2)
    pairs = RowCounts(codes).pair_counts((0, 1, 2), (0, 1, 2))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        np.testing.assert_array_equal(
            pairs.table(i, j), pairs.table(j, i).transpose(0, 2, 1)
        )


def test_the_table_of_a_variable_with_itself_is_diagonal(engine: str) -> None:
    codes = counting.random_codes([9, 12, 2, 3], 100, missing=0.1, seed=3)
    pairs = RowCounts(codes).pair_counts((0, 1, 2), (0, 1, 2))
    margin = counting.family_counts(codes, (3, 1))
    np.testing.assert_array_equal(
        pairs.table(1, 1), margin[:, :, None] * np.eye(12)[None]
    )


def test_a_variable_that_was_not_counted_raises_key_error() -> None:
    codes = counting.random_codes([3, 4, 2], 10)
    with pytest.raises(KeyError):
        RowCounts(codes).pair_counts((0,), (1,)).table(1, 0)


def test_ranges_are_laid_end_to_end() -> None:
    starts, lengths = np.array([5, 0, 9]), np.array([2, 0, 3])
    assert ranges(starts, lengths).tolist() == [5, 6, 9, 10, 11]
