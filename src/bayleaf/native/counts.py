"""Native loops that count: products of bit planes, and counts by key.

Eight planes, of one bit a row, lie side by side in a *panel* of shape (n_words, 8).
Rows are sorted by class before planes are packed. The order is kept in three arrays
of int64: ``runs`` (n_runs, 3) says what 64 rows hold of one class (first row, mask,
place in the order), ``segments`` (n_segments, 4) which words belong to which class
(class, n for weight ``2**n``, first word, end word), and ``tiles`` (n_tiles + 1, 3)
where some thousand rows begin (first run, first segment, first word).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, U1, U2, U8, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, Function

Whole = NDArray[np.int64]
Counts = NDArray[np.float64]

# Planes of a panel.
LANES = 8
_TILE_ROWS = 16_384
_WORD_ROWS = 64
_RUN, _SEGMENT, _TILE = 3, 4, 3
_MOST_CLASSES = 255

_class_order = Function(
    "bl_class_order", *[POINTER, INTEGER] * 2, *[INTEGER] * 2, *[POINTER] * 4
)
_pack_planes = Function(
    "bl_pack_planes",
    *[POINTER, INTEGER, INTEGER, POINTER],
    *[POINTER, INTEGER] * 4,
    INTEGER,
)
_plane_counts = Function(
    "bl_plane_counts",
    *[POINTER, INTEGER] * 2,
    *[INTEGER, POINTER, INTEGER, INTEGER, FLAG, POINTER],
    *[INTEGER] * 3,
)
_plane_margins = Function(
    "bl_plane_margins", POINTER, INTEGER, INTEGER, *[POINTER, INTEGER] * 2
)
_plane_families = Function(
    "bl_plane_families",
    *[POINTER, INTEGER, INTEGER],
    *[POINTER, INTEGER] * 2,
    *[POINTER, POINTER, INTEGER],
    *[POINTER, INTEGER, POINTER, POINTER, INTEGER],
)
_extend_keys = Function("bl_extend_keys", POINTER, INTEGER, POINTER, FLAG, INTEGER)
_key_counts = Function(
    "bl_key_counts",
    *[POINTER, INTEGER, POINTER, FLAG, INTEGER],
    *[POINTER] * 3,
    *[INTEGER, POINTER, INTEGER, POINTER, INTEGER, INTEGER],
)


def class_order(
    class_codes: NDArray[np.uint8], weights: NDArray[np.uint8], n_classes: int
) -> tuple[Whole, Whole, Whole]:
    """Plan how rows are sorted by class, tile by tile.

    Parameters
    ----------
    class_codes : ndarray of shape (n_rows,), dtype uint8
        Class of each row; rows whose code is no class are left out.
    weights : ndarray of shape (n_rows,) or (1,), dtype uint8
        Weight of each row, or of all. Every bit of them makes tiles of its own.
    n_classes : int
        At most 255.

    Returns
    -------
    runs, segments, tiles : ndarray of int64
        See the module.

    Raises
    ------
    ValueError
        If there are more than 255 classes.
    """
    if not 0 <= n_classes <= _MOST_CLASSES:
        raise ValueError(
            f"n_classes must be within 0..{_MOST_CLASSES}, got {n_classes}"
        )
    n_rows = len(class_codes)
    n_weights = 1 if weights.shape == (1,) else n_rows
    address = readable(weights, U1, (n_weights,))
    n_bits = max(1, int(weights.max(initial=0)).bit_length())
    n_words = -(-n_rows // _WORD_ROWS)
    n_tiles = -(-n_rows // _TILE_ROWS) * n_bits
    runs = np.empty((n_words * n_bits * min(n_classes, _WORD_ROWS), _RUN), np.int64)
    segments = np.empty((n_tiles * n_classes, _SEGMENT), np.int64)
    tiles = np.empty((n_tiles + 1, _TILE), np.int64)
    sizes = np.empty(2, np.int64)
    _class_order(
        readable(class_codes, U1, (n_rows,)),
        n_rows,
        address,
        n_weights,
        n_classes,
        n_bits,
        *[array.ctypes.data for array in (runs, segments, tiles, sizes)],
    )
    n_runs, n_segments = sizes
    return runs[:n_runs].copy(), segments[:n_segments].copy(), tiles


def pack_planes(
    block: NDArray[np.uint8],
    slots: Whole,
    first_planes: Whole,
    runs: Whole,
    tiles: Whole,
    panels: NDArray[np.uint64],
) -> None:
    """Set the planes of some columns in a stretch of tiles.

    Parameters
    ----------
    block : ndarray of shape (n_slots, n_rows), dtype uint8
        Codes of all columns.
    slots : ndarray of shape (n_columns,), dtype int64
        Row of `block` in which each column lies.
    first_planes : ndarray of shape (n_columns + 1,), dtype int64
        State s of column k becomes plane ``first_planes[k] + s``, as far as the next
        column's first plane.
    runs : ndarray of shape (n_runs, 3), dtype int64
        See the module.
    tiles : ndarray of shape (n_tiles + 1, 3), dtype int64
        The tiles to pack, a stretch of all.
    panels : ndarray of shape (n_panels, n_words, 8), dtype uint64
        Filled.

    Raises
    ------
    ValueError
        If a slot, a plane or a place of the order is out of range.
    """
    n_slots, n_rows = block.shape
    n_panels, n_words, _ = panels.shape
    n_columns, n_runs, n_tiles = len(slots), len(runs), len(tiles) - 1
    _pack_planes(
        readable(block, U1, (n_slots, n_rows)),
        n_slots,
        n_rows,
        readable(slots, I8, (n_columns,)),
        readable(first_planes, I8, (n_columns + 1,)),
        n_columns,
        readable(runs, I8, (n_runs, _RUN)),
        n_runs,
        readable(tiles, I8, (max(n_tiles, 0) + 1, _TILE)),
        n_tiles,
        writable(panels, U8, (n_panels, n_words, LANES)),
        n_panels,
        n_words,
    )


def plane_counts(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    segments: Whole,
    first_left: int,
    triangle: bool,
    counts: NDArray[np.int32],
) -> None:
    """Add up, class by class, the rows that each two planes have in common.

    Parameters
    ----------
    left : ndarray of shape (n_left, n_words, 8), dtype uint64
        Panels.
    right : ndarray of shape (n_right, n_words, 8), dtype uint64
        Panels.
    segments : ndarray of shape (n_segments, 4), dtype int64
        The words to go through, see the module.
    first_left : int
        What `left` counts is added to `counts` from row ``8 * first_left`` on.
    triangle : bool
        Whether `left` is what `right` holds from panel `first_left` on and only pairs
        of panels in order are counted.
    counts : ndarray of shape (n_classes, n_rows, n_columns), dtype int32
        Added to; at least ``8 * (first_left + n_left)`` by ``8 * n_right``.

    Raises
    ------
    ValueError
        If `counts` is too small, or a segment is out of range.
    """
    n_left, n_words, _ = left.shape
    n_right = len(right)
    n_classes, n_rows, n_columns = counts.shape
    if first_left < 0 or n_rows < LANES * (first_left + n_left):
        raise ValueError(
            f"counts has {n_rows} rows, too few for the planes on the left"
        )
    if n_columns < LANES * n_right:
        raise ValueError(f"counts has {n_columns} columns, too few for the planes")
    _plane_counts(
        readable(left, U8, (n_left, n_words, LANES)),
        n_left,
        readable(right, U8, (n_right, n_words, LANES)),
        n_right,
        n_words,
        readable(segments, I8, (len(segments), _SEGMENT)),
        len(segments),
        first_left,
        triangle,
        writable(counts, I4, (n_classes, n_rows, n_columns)),
        n_classes,
        n_rows,
        n_columns,
    )


def plane_margins(panels: NDArray[np.uint64], segments: Whole, counts: Counts) -> None:
    """Add up the rows of each plane, class by class.

    Parameters
    ----------
    panels : ndarray of shape (n_panels, n_words, 8), dtype uint64
    segments : ndarray of shape (n_segments, 4), dtype int64
        See the module.
    counts : ndarray of shape (n_classes, 8 * n_panels), dtype float64
        Added to.

    Raises
    ------
    ValueError
        If a segment is out of range.
    """
    n_panels, n_words, _ = panels.shape
    n_classes = len(counts)
    _plane_margins(
        readable(panels, U8, (n_panels, n_words, LANES)),
        n_panels,
        n_words,
        readable(segments, I8, (len(segments), _SEGMENT)),
        len(segments),
        writable(counts, F8, (n_classes, LANES * n_panels)),
        n_classes,
    )


def plane_families(
    panels: NDArray[np.uint64],
    segments: Whole,
    starts: Whole,
    margins: Counts,
    class_counts: Counts,
    pairs: Whole,
    first_cells: Whole,
    tables: Counts,
) -> None:
    """Count families of the class and one or two packed columns.

    Parameters
    ----------
    panels : ndarray of shape (n_panels, n_words, 8), dtype uint64
    segments : ndarray of shape (n_segments, 4), dtype int64
        See the module.
    starts : ndarray of shape (n_columns + 1,), dtype int64
        First plane of each column, which has one state more than planes.
    margins : ndarray of shape (n_classes, 8 * n_panels), dtype float64
        What `plane_margins` counts.
    class_counts : ndarray of shape (n_classes,), dtype float64
        Total weight of each class.
    pairs : ndarray of shape (n_families, 2), dtype int64
        Numbers of the columns; -1 in the second place for a single column.
    first_cells : ndarray of shape (n_families,), dtype int64
        Where each family's table begins.
    tables : ndarray of shape (n_cells,), dtype float64
        Filled with a table (n_classes, n_states, n_states), or (n_classes, n_states),
        for each family.

    Raises
    ------
    ValueError
        If a column, a cell or a segment is out of range.
    """
    n_panels, n_words, _ = panels.shape
    n_classes, n_families = len(class_counts), len(pairs)
    _plane_families(
        readable(panels, U8, (n_panels, n_words, LANES)),
        n_panels,
        n_words,
        readable(segments, I8, (len(segments), _SEGMENT)),
        len(segments),
        readable(starts, I8, (max(len(starts), 1),)),
        len(starts) - 1,
        readable(margins, F8, (n_classes, LANES * n_panels)),
        readable(class_counts, F8, (n_classes,)),
        n_classes,
        readable(pairs, I8, (n_families, 2)),
        n_families,
        readable(first_cells, I8, (n_families,)),
        writable(tables, F8, (tables.size,)),
        tables.size,
    )


def extend_keys(
    keys: NDArray[np.int32], codes: NDArray[np.integer[Any]], n_states: int
) -> None:
    """Make one more variable the fastest digit of each row's key, in place.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), dtype int32
        A key of -1 stays: its row lacks a variable.
    codes : ndarray of shape (n_rows,), dtype uint8 or uint16
        Codes of the variable; a row with `n_states` or above gets the key -1.
    n_states : int
        Number of codes that count.
    """
    _extend_keys(
        writable(keys, I4, (keys.size,)),
        keys.size,
        readable(codes, U2 if codes.dtype == U2 else U1, (keys.size,)),
        codes.dtype == U2,
        n_states,
    )


def key_counts(
    keys: NDArray[np.int32],
    block: NDArray[np.integer[Any]],
    slots: Whole,
    starts: Whole,
    widths: Whole,
    weights: Counts,
    tables: Counts,
) -> None:
    """Add up the weight of each key and state, for many columns.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,), dtype int32
        From -1 on.
    block : ndarray of shape (n_slots, n_rows), dtype uint8 or uint16
        Codes of all columns.
    slots : ndarray of shape (n_columns,), dtype int64
        Row of `block` in which each column lies.
    starts : ndarray of shape (n_columns,), dtype int64
        Counts of column k are added to ``tables[key + 1, starts[k]:]``, those of the
        key -1 to the first row.
    widths : ndarray of shape (n_columns,), dtype int64
        Number of codes of each column.
    weights : ndarray of shape (n_rows,) or (1,), dtype float64
        Weight of each row, or of all.
    tables : ndarray of shape (n_keys + 1, n_states), dtype float64
        Added to.

    Raises
    ------
    ValueError
        If a slot, a key or a code is out of range.
    """
    n_rows, n_columns, n_slots = keys.size, len(slots), len(block)
    n_weights = 1 if weights.shape == (1,) else n_rows
    n_keys, n_cells = tables.shape
    _key_counts(
        readable(keys, I4, (n_rows,)),
        n_rows,
        readable(block, U2 if block.dtype == U2 else U1, (n_slots, n_rows)),
        block.dtype == U2,
        n_slots,
        readable(slots, I8, (n_columns,)),
        readable(starts, I8, (n_columns,)),
        readable(widths, I8, (n_columns,)),
        n_columns,
        readable(weights, F8, (n_weights,)),
        n_weights,
        writable(tables, F8, (n_keys, n_cells)),
        n_keys,
        n_cells,
    )
