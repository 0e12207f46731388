"""Native loops over the rows of trees against NumPy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bayleaf.native.search import (
    PackedRows,
    count_rows,
    join_values,
    partition_rows,
)
from native.cases.search import CARDS, CASES


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_leaf_is_counted_as_adding_one_row_after_another(
    dtype: type, is_weighted: bool
) -> None:
    rng = np.random.default_rng(0)
    cards = (3, 300, 2) if dtype is np.uint16 else (3, 200, 2)
    table = rng.integers(cards, size=(500, 3)).astype(dtype)
    offsets = np.cumsum([0, *cards])
    weights = rng.random(500) if is_weighted else np.empty(0)
    rows = rng.permutation(500)[:300].astype(np.int32)
    packed = PackedRows(table, offsets, weights)
    for child in range(3):
        counts = np.full((cards[child], offsets[-1]), 0.5)
        expected = counts.copy()
        for row in rows:
            weight = weights[row] if is_weighted else 1.0
            for v in range(3):
                expected[table[row, child], offsets[v] + table[row, v]] += weight
        count_rows(packed, rows, child, counts)
        np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_rows_are_parted_as_a_stable_sort_by_branch_parts_them(dtype: type) -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(CARDS, size=(5000, len(CARDS))).astype(dtype)
    packed = PackedRows(table, np.cumsum([0, *CARDS]), np.empty(0))
    for variable, card in enumerate(CARDS):
        branch_of, starts = rng.integers(3, size=card), np.empty(4, dtype=np.int64)
        rows = rng.permutation(5000)[:4000].astype(np.int32)
        before = rows.copy()
        partition_rows(packed, rows, variable, branch_of, starts)
        branches = branch_of[table[before, variable]]
        order = np.argsort(branches, kind="stable")
        np.testing.assert_array_equal(rows, before[order])
        ends = np.cumsum(np.bincount(branches, minlength=3))
        np.testing.assert_array_equal(starts, [0, *ends])


def test_rows_and_branches_that_are_none_are_refused_before_anything_is_written() -> (
    None
):
    packed = PackedRows(np.zeros((4, 2), np.uint8), np.array([0, 2, 4]), np.empty(0))
    counts, starts = np.zeros((2, 4)), np.full(3, 7)
    for row in (4, -1):
        rows = np.array([0, row], dtype=np.int32)
        with pytest.raises(ValueError, match="rows that its table lacks"):
            count_rows(packed, rows, 0, counts)
        with pytest.raises(ValueError, match="rows that its table lacks"):
            partition_rows(packed, rows, 0, np.array([0, 1]), starts)
    good = np.array([0, 1], dtype=np.int32)
    for branch in (2, -1):
        with pytest.raises(ValueError, match="a branch that a split lacks"):
            partition_rows(packed, good, 0, np.array([0, branch]), starts)
    assert not counts.any()
    assert starts.tolist() == [7, 7, 7]


def test_offsets_must_grow_from_zero() -> None:
    table = np.zeros((4, 2), dtype=np.uint8)
    for offsets in ([1, 2, 3], [0, 3, 2]):
        with pytest.raises(ValueError, match=r"must grow from 0 on, got \["):
            PackedRows(table, np.array(offsets), np.empty(0))


def test_packed_rows_find_their_addresses_anew_when_unpickled() -> None:
    arguments = CASES["count_rows"](np.random.default_rng(0))
    other = pickle.loads(pickle.dumps(arguments))
    assert other[0].address != arguments[0].address
    count_rows(*arguments)
    count_rows(*other)
    np.testing.assert_array_equal(arguments[-1], other[-1])


@pytest.mark.parametrize("starts", [[0, 2, 2, 3], [0, 2, 4], [1, 3], [0]])
def test_cells_of_context_variables_must_be_all_cells(starts: list[int]) -> None:
    parents = np.empty(3, dtype=np.int64)
    with pytest.raises(ValueError, match="must grow from 0 to the number of cells"):
        join_values(np.ones((2, 3)) / 6, np.array(starts), False, 0.0, -1.0, parents)
