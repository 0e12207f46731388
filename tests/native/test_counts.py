"""Planes, products and keys equal counting in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.native import counts
from oracles import counting


def _order_of(
    classes: NDArray[np.uint8], weights: NDArray[np.uint8], n_classes: int
) -> tuple[NDArray[np.int64], ...]:
    return counts.class_order(classes, weights, n_classes)


def _packed(
    block: NDArray[np.uint8],
    n_states: list[int],
    order: tuple[NDArray[np.int64], ...],
) -> NDArray[np.uint64]:
    """Planes of all states of some columns, packed tightly."""
    runs, _, tiles = order
    starts = np.concatenate([[0], np.cumsum(n_states)])
    panels = np.zeros((-(-int(starts[-1]) // 8), int(tiles[-1, 2]), 8), np.uint64)
    counts.pack_planes(block, np.arange(len(block)), starts, runs, tiles, panels)
    return panels


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 1000, 16_385])
@pytest.mark.parametrize("weighted", [False, True])
def test_runs_hold_every_row_as_often_as_its_weight_says(
    n_rows: int, weighted: bool
) -> None:
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 6, n_rows).astype(np.uint8)
    weights = rng.integers(0, 12, n_rows if weighted else 1).astype(np.uint8)
    runs, segments, tiles = _order_of(classes, weights, 5)
    held = np.zeros((5, n_rows), np.int64)
    for k, (first, first_segment, first_word) in enumerate(tiles[:-1]):
        end, end_segment, end_word = tiles[k + 1]
        spans = segments[first_segment:end_segment]
        assert spans[:, 2].tolist() == [first_word, *spans[:-1, 3]][: len(spans)]
        assert end_word == max(spans[:, 3], default=first_word)
        for row, mask, place in runs[first:end]:
            word = first_word + place // 64
            ((state, shift, *_),) = (s for s in spans if s[2] <= word < s[3])
            bits = np.unpackbits(np.array([mask]).view(np.uint8), bitorder="little")
            held[state, row + np.flatnonzero(bits)] += 1 << shift
    expected = np.where(classes == np.arange(5)[:, None], weights, 0)
    np.testing.assert_array_equal(held, expected)


@pytest.mark.parametrize("n_classes", [1, 2, 7, 255])
@pytest.mark.parametrize("n_rows", [1, 130, 16_400])
def test_products_of_planes_equal_counting(n_rows: int, n_classes: int) -> None:
    rng = np.random.default_rng([n_rows, n_classes])
    classes = rng.integers(0, n_classes, n_rows).astype(np.uint8)
    weights = rng.integers(0, 6, n_rows).astype(np.uint8)
    n_states = [1, 4, 2, 7]
    block = rng.integers(0, 8, (4, n_rows)).astype(np.uint8)
    order = _order_of(classes, weights, n_classes)
    panels = _packed(block, n_states, order)
    ones = [column == s for column, n in zip(block, n_states) for s in range(n)]
    rows = np.array([*ones, *np.zeros((2, n_rows))], dtype=np.float64)
    expected = [
        (rows * (weights * (classes == state))) @ rows.T for state in range(n_classes)
    ]
    full = np.zeros((n_classes, 16, 16), np.int32)
    counts.plane_counts(panels, panels, order[1], 0, False, full)
    np.testing.assert_array_equal(full, expected)
    upper = np.zeros((n_classes, 16, 16), np.int32)
    counts.plane_counts(panels[:1], panels, order[1], 0, True, upper)
    counts.plane_counts(panels[1:], panels, order[1], 1, True, upper)
    assert not upper[:, 8:, :8].any()
    np.testing.assert_array_equal(upper[:, 8:, 8:], full[:, 8:, 8:])
    np.testing.assert_array_equal(upper[:, :8], full[:, :8])
    margins = np.zeros((n_classes, 16))
    counts.plane_margins(panels, order[1], margins)
    np.testing.assert_array_equal(margins, np.einsum("cii->ci", full))


def test_counts_of_a_plane_go_beyond_what_a_byte_holds() -> None:
    n_rows = 300_000
    order = _order_of(np.zeros(n_rows, np.uint8), np.array([200], np.uint8), 1)
    panels = _packed(np.zeros((2, n_rows), np.uint8), [1, 1], order)
    cells = np.zeros((1, 8, 8), np.int32)
    counts.plane_counts(panels, panels, order[1], 0, False, cells)
    assert cells[0, :2, :2].tolist() == [[n_rows * 200] * 2] * 2
    assert cells.sum() == 4 * n_rows * 200


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_keys_equal_those_of_numpy(dtype: type) -> None:
    rng = np.random.default_rng(0)
    keys = np.zeros(999, np.int32)
    expected = keys.copy()
    for card in (3, 5, 2):
        column = rng.integers(0, card + 1, 999).astype(dtype)
        counts.extend_keys(keys, column, card)
        expected = counting.extended_keys(expected, column, card)
        np.testing.assert_array_equal(keys, expected)
    assert keys.min() == -1
    assert keys.max() == 29


@pytest.mark.parametrize("n_keys", [3, 2000])
@pytest.mark.parametrize("n_rows", [0, 1, 1023, 1025, 5000])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_counts_by_key_equal_those_of_numpy(
    n_keys: int, n_rows: int, dtype: type
) -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(-1, n_keys, n_rows).astype(np.int32)
    block = rng.integers(0, 4, (3, n_rows)).astype(dtype)
    places = np.array([2, 0]), np.array([0, 4]), np.array([4, 4])
    for weights in (rng.integers(1, 9, n_rows) * 1.0, np.full(1, 3.0)):
        tables = np.ones((n_keys + 1, 8))
        counts.key_counts(keys, block, *places, weights, tables)
        of_rows = np.broadcast_to(weights, n_rows)
        expected = counting.key_counts(keys, block[[2, 0]], [4, 4], of_rows, n_keys)
        np.testing.assert_array_equal(tables, 1 + np.hstack(expected))


@pytest.mark.parametrize(("key", "code"), [(5, 0), (4, 3), (-3, 0), (2**31 - 1, 0)])
def test_keys_and_codes_out_of_range_are_refused(key: int, code: int) -> None:
    keys = np.array([0, key], np.int32)
    block = np.array([[0, code]], np.uint8)
    one = np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="a key or a code is out of its range"):
        counts.key_counts(
            keys, block, one, one, np.array([3]), np.ones(1), np.zeros((6, 3))
        )


@pytest.mark.parametrize(
    ("slot", "start", "width"),
    [(-1, 0, 3), (2, 0, 3), (0, -1, 3), (0, 5, 3), (0, 0, -1)],
)
def test_columns_out_of_range_are_refused(slot: int, start: int, width: int) -> None:
    block = np.zeros((2, 9), np.uint8)
    places = (np.array([place]) for place in (slot, start, width))
    with pytest.raises(ValueError, match="a column or its counts are out of range"):
        counts.key_counts(
            np.zeros(9, np.int32), block, *places, np.ones(1), np.zeros((2, 7))
        )


def test_orders_of_other_rows_and_planes_of_other_columns_are_refused() -> None:
    classes = np.zeros(1000, np.uint8)
    runs, _, tiles = _order_of(classes, np.ones(1, np.uint8), 1)
    panels = np.zeros((1, 16, 8), np.uint64)
    slots, starts = np.zeros(1, np.int64), np.array([0, 3])
    short = np.zeros((1, 500), np.uint8)
    with pytest.raises(ValueError, match="the runs are not those of these rows"):
        counts.pack_planes(short, slots, starts, runs, tiles, panels)
    with pytest.raises(ValueError, match="the tiles are not those of these planes"):
        counts.pack_planes(
            classes[None], slots, starts, runs, tiles, panels[:, :9].copy()
        )
    for bad in (np.array([0, 9]), np.array([-1, 3]), np.array([3, 0])):
        with pytest.raises(ValueError, match="a column or its planes"):
            counts.pack_planes(classes[None], slots, bad, runs, tiles, panels)
    segments = np.array([[1, 0, 0, 16]])
    with pytest.raises(ValueError, match="the segments are not those"):
        counts.plane_margins(panels, segments, np.zeros((1, 8)))


def test_tables_too_small_for_their_planes_are_refused() -> None:
    panels, segments = np.zeros((2, 4, 8), np.uint64), np.zeros((0, 4), np.int64)
    for shape, first in (((1, 15, 16), 0), ((1, 16, 15), 0), ((1, 16, 16), 1)):
        with pytest.raises(ValueError, match="too few"):
            counts.plane_counts(
                panels, panels, segments, first, False, np.zeros(shape, np.int32)
            )


def test_more_classes_than_a_byte_holds_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_classes must be within 0\.\.255, got 256"):
        counts.class_order(np.zeros(9, np.uint8), np.ones(1, np.uint8), 256)
