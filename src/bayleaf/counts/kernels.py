"""The two primitives of counting: products of bit planes, and counting by key.

A *plane* is one bit a row: whether a column holds one certain state. Rows are sorted
by class, tile by tile, before planes are packed, so that one pass over the planes
gives the counts of all classes; eight planes lie side by side in a *panel* of shape
(n_words, 8), whose rows are the vectors that the product works on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled
from bayleaf.counts.intrinsics import (
    HAS_COMPRESS,
    LANES,
    NO_STATE,
    add_product,
    bit_count,
    compress,
    equal_mask,
    lowest_bit,
)

# Rows sorted at a time: a tile of a column, its sorted copy and a tile of one panel
# fit into a first-level cache of 48 kB.
TILE_ROWS = 16_384
# Panels whose tiles stay in the second-level cache while they meet another panel.
_PANEL_BLOCK = 24
# Cells up to which a table is counted in four copies, so that rows of equal index
# need not wait for one another.
_SMALL_TABLE = 1024
# Rows whose places in a table are worked out before their weights are added.
_KEY_ROWS = 1024


@compiled
def class_runs(
    class_codes: NDArray[np.uint8],
    n_classes: int,
    run_rows: NDArray[np.int64],
    run_masks: NDArray[np.uint64],
    run_places: NDArray[np.int64],
    segments: NDArray[np.int64],
    tiles: NDArray[np.int64],
) -> tuple[int, int]:
    """Plan how the rows of each tile are sorted by class.

    `class_codes` is padded to whole words with a code that is no class. A *run* is
    what 64 rows hold of one class: their first row, a mask, and the bit at which they
    begin in the tile's sorted order. A *segment* is one class of one tile:
    (class, first word, end word) of the planes. `tiles` (n_tiles + 1, 3) receives the
    first run, first segment and first word of each tile. Returns the numbers of runs
    and segments.
    """
    n_rows = class_codes.size
    n_runs = n_segments = n_words = tile = 0
    for first in range(0, n_rows, TILE_ROWS):
        last = min(first + TILE_ROWS, n_rows)
        tiles[tile] = n_runs, n_segments, n_words
        tile_word = n_words
        for state in range(n_classes):
            start = place = (n_words - tile_word) * 64
            for row in range(first, last, 64):
                mask = equal_mask(class_codes, row, np.uint8(state))
                if mask:
                    run_rows[n_runs] = row
                    run_masks[n_runs] = mask
                    run_places[n_runs] = place
                    n_runs += 1
                    place += bit_count(mask)
            if place > start:
                end_word = tile_word + (place + 63) // 64
                segments[n_segments] = state, n_words, end_word
                n_segments += 1
                n_words = end_word
        tile += 1
    tiles[tile] = n_runs, n_segments, n_words
    return n_runs, n_segments


@compiled
def _sort_tile(
    codes: NDArray[np.uint8],
    run_rows: NDArray[np.int64],
    run_masks: NDArray[np.uint64],
    run_places: NDArray[np.int64],
    sorted_codes: NDArray[np.uint8],
) -> None:
    """Write a tile of a column in the order of its classes."""
    # Runs come class by class: what compression spills over the end of one class is
    # overwritten by the next.
    sorted_codes[:] = NO_STATE
    for run in range(run_rows.size):
        row, mask, place = run_rows[run], run_masks[run], run_places[run]
        if HAS_COMPRESS and row + 64 <= codes.size:
            compress(codes, row, mask, sorted_codes, place)
        else:
            while mask:
                sorted_codes[place] = codes[row + lowest_bit(mask)]
                mask &= mask - np.uint64(1)
                place += 1


@compiled
def pack_planes(
    block: NDArray[np.uint8],
    slots: NDArray[np.int64],
    first_planes: NDArray[np.int64],
    run_rows: NDArray[np.int64],
    run_masks: NDArray[np.uint64],
    run_places: NDArray[np.int64],
    tiles: NDArray[np.int64],
    panels: NDArray[np.uint64],
) -> None:
    """Set the planes of some columns in the tiles given.

    Row ``slots[k]`` of `block` is column k; state s of it becomes plane
    ``first_planes[k] + s``, as far as the next column's first plane. `tiles` is a
    stretch of what `class_runs` wrote, `panels` (n_panels, n_words, 8) is filled.
    """
    for tile in range(tiles.shape[0] - 1):
        run, word = tiles[tile, 0], tiles[tile, 2]
        end_run, end_word = tiles[tile + 1, 0], tiles[tile + 1, 2]
        rows, masks = run_rows[run:end_run], run_masks[run:end_run]
        places = run_places[run:end_run]
        # Compression writes whole vectors, beyond the last row of the last class.
        sorted_codes = np.empty((end_word - word) * 64 + 64, dtype=np.uint8)
        for k in range(slots.size):
            _sort_tile(block[slots[k]], rows, masks, places, sorted_codes)
            for plane in range(first_planes[k], first_planes[k + 1]):
                state = np.uint8(plane - first_planes[k])
                panel = panels[plane // LANES, word:end_word]
                lane = plane % LANES
                for w in range(end_word - word):
                    panel[w, lane] = equal_mask(sorted_codes, w * 64, state)


@compiled
def plane_counts(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    segments: NDArray[np.int64],
    first_left: int,
    triangle: bool,
    counts: NDArray[np.int32],
) -> None:
    """Add up, class by class, the rows that each two planes have in common.

    `left` (n_left, n_words, 8) and `right` (n_right, n_words, 8) are panels,
    `segments` (n_segments, 3) says which words belong to which class, `counts`
    (n_classes, at least 8 (first_left + n_left), at least 8 n_right) is added to, from
    row ``8 * first_left`` on. With `triangle`, `left` is what `right` holds from panel
    `first_left` on, and only pairs of panels in order are counted.
    """
    n_left, n_right = left.shape[0], right.shape[0]
    for block in range(0, n_right, _PANEL_BLOCK):
        block_end = min(block + _PANEL_BLOCK, n_right)
        for s in range(segments.shape[0]):
            state, start, stop = segments[s]
            for i in range(n_left):
                run = left[i, start:stop]
                begin = max(block, first_left + i) if triangle else block
                row = (first_left + i) * LANES
                rows = counts[state, row : row + LANES]
                for j in range(begin, block_end):
                    cells = rows[:, j * LANES : (j + 1) * LANES]
                    add_product(run, right[j, start:stop], cells)


@compiled
def extend_keys(
    keys: NDArray[np.int32], codes: NDArray[np.uint8], n_states: int
) -> None:
    """Make one more variable the fastest digit of each row's key, in place.

    A key of -1 stays: its row lacks a variable, as does one whose code is `n_states`
    or above.
    """
    for row in range(keys.size):
        key, code = keys[row], np.int32(codes[row])
        lacking = (key < 0) | (code >= n_states)
        keys[row] = np.int32(-1) if lacking else np.int32(key * n_states + code)


@compiled
def key_counts(
    keys: NDArray[np.int32],
    block: NDArray[np.uint8],
    slots: NDArray[np.int64],
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    weights: NDArray[np.float64],
    tables: NDArray[np.float64],
) -> None:
    """Add up the weight of each key and state, for many columns.

    Row ``slots[k]`` of `block` is a column with codes below ``widths[k]``; its counts
    are added to ``tables[key + 1, starts[k]:]``, those of key -1 to the first row.
    `weights` has one entry a row, or a single one for all rows.
    """
    n_keys = tables.shape[0]
    for k in range(slots.size):
        width = widths[k]
        n_cells = n_keys * width
        copy = n_cells if n_cells <= _SMALL_TABLE else 0
        cells = np.zeros(n_cells + 3 * copy)
        _add_rows(keys, block[slots[k]], width, weights, cells, copy)
        for key in range(n_keys):
            for code in range(width):
                cell = key * width + code
                total = cells[cell]
                if copy:
                    total += cells[cell + copy]
                    total += cells[cell + 2 * copy] + cells[cell + 3 * copy]
                tables[key, starts[k] + code] += total


@compiled
def _add_rows(
    keys: NDArray[np.int32],
    codes: NDArray[np.uint8],
    width: int,
    weights: NDArray[np.float64],
    cells: NDArray[np.float64],
    copy: int,
) -> None:
    """Add each row's weight to its cell, four rows to four copies of the table."""
    # Unsigned places spare the test for negative ones; the places of a stretch of
    # rows come from a loop of their own, which runs on vectors.
    places = np.empty(_KEY_ROWS, dtype=np.uint32)
    alike = np.full(_KEY_ROWS, weights[0]) if weights.size else weights
    second, third, fourth = np.uint64(copy), np.uint64(2 * copy), np.uint64(3 * copy)
    for first in range(0, keys.size, _KEY_ROWS):
        last = min(first + _KEY_ROWS, keys.size)
        n_rows = last - first
        key, code = keys[first:last], codes[first:last]
        for row in range(n_rows):
            places[row] = np.uint32((key[row] + 1) * np.int32(width) + code[row])
        weight = alike if weights.size == 1 else weights[first:last]
        n_whole = n_rows // 4 * 4
        for row in range(0, n_whole, 4):
            cells[np.uint64(places[row])] += weight[row]
            cells[np.uint64(places[row + 1]) + second] += weight[row + 1]
            cells[np.uint64(places[row + 2]) + third] += weight[row + 2]
            cells[np.uint64(places[row + 3]) + fourth] += weight[row + 3]
        for row in range(n_whole, n_rows):
            cells[np.uint64(places[row])] += weight[row]


@compiled
def plane_margins(
    panels: NDArray[np.uint64],
    segments: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add up the rows of each plane, class by class.

    Adds to `counts` (n_classes, n_planes).
    """
    for s in range(segments.shape[0]):
        state, start, stop = segments[s]
        for panel in range(panels.shape[0]):
            for word in range(start, stop):
                for lane in range(LANES):
                    n_rows = bit_count(panels[panel, word, lane])
                    counts[state, panel * LANES + lane] += n_rows
