"""Native counting: products of bit planes, counts by key and of occupied joint states.

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

from bayleaf.native.arrays import I8, U1, Floats, Integers, readable
from bayleaf.native.library import Handle
from bayleaf.native.signatures import native

Bytes = NDArray[np.uint8]
Codes = NDArray[np.uint16]
Planes = NDArray[np.uint64]

# Planes of a panel.
LANES = 8
_TILE_ROWS, _WORD_ROWS = 16_384, 64

# Sets the planes of some columns of a block in a stretch of tiles: state s of column k,
# which lies in row ``slots[k]``, is plane ``first_planes[k] + s``, as far as the next
# column's first plane.
pack_planes = native(
    """bl_pack_planes(in block u1[n_slots, n_rows], n_slots, n_rows,
    in slots i8[n_columns], in first_planes i8[n_columns + 1], n_columns,
    in runs i8[n_runs, 3], n_runs, in tiles i8[n_tiles + 1, 3], n_tiles,
    out panels u8[n_panels, n_words, 8], n_panels, n_words)"""
)
# Adds up the rows of each plane, class by class.
plane_margins = native(
    """bl_plane_margins(in panels u8[n_panels, n_words, 8], n_panels, n_words,
    in segments i8[n_segments, 4], n_segments,
    out counts f8[n_classes, 8 * n_panels], n_classes)"""
)
# Counts families of the class and one or two packed columns. Column k, which has one
# state more than planes, begins at plane ``starts[k]``; `margins` are those of
# `plane_margins`, and `class_counts` the weight of each class. `pairs` are numbers of
# columns, -1 in the second place for a single one. The table of each family,
# (n_classes, n_states, n_states) or (n_classes, n_states), is written from its first
# cell on.
plane_families = native(
    """bl_plane_families(in panels u8[n_panels, n_words, 8], n_panels, n_words,
    in segments i8[n_segments, 4], n_segments, in starts i8[n_columns + 1], n_columns,
    in margins f8[n_classes, 8 * n_panels], in class_counts f8[n_classes], n_classes,
    in pairs i8[n_families, 2], n_families, in first_cells i8[n_families],
    out tables f8[n_cells], n_cells)"""
)
# Makes one more variable the fastest digit of each row's key, in place. A key of -1
# stays, and a row with a code of `n_states` or above gets it: it lacks a variable.
extend_keys = native(
    """bl_extend_keys(out keys i4[n_rows], n_rows,
    in codes u1|u2[n_rows], flag codes.dtype == u2, int n_states)"""
)
# Adds up the weight of each key, from -1 on, and state, for many columns of a block.
# Column k lies in row ``slots[k]`` and has ``widths[k]`` codes; its counts are added to
# ``tables[key + 1, starts[k]:]``. There is one weight for each row, or for all.
key_counts = native(
    """bl_key_counts(in keys i4[n_rows], n_rows,
    in block u1|u2[n_slots, n_rows], flag block.dtype == u2, n_slots,
    in slots i8[n_columns], in starts i8[n_columns], in widths i8[n_columns], n_columns,
    in weights f8[1 if weights.size == 1 else n_rows], len(weights),
    out tables f8[n_keys, n_cells], n_keys, n_cells)"""
)
# Measures the conditional mutual information of left variables `first` to `end` and all
# right ones; where `triangle`, of pairs only that are stored in order. Of a variable is
# given where its first state is stored, the numbers of stored codes, of all codes and
# of states, whether it is whole (lacks no cell, and its last state is not stored), and
# the sum of its terms over class and state. `terms` are n ln n of n = 0, 1, 2, ...,
# `scale` units a nat. Each pair is written twice, in nats per unit of weight, so that
# the matrix is symmetric: from `first_row` on for left and `first_column` on for right
# variables.
pair_information = native(
    """bl_pair_information(in stored i4|f8[n_classes, n_rows, n_columns],
    flag stored.dtype == f8, flag triangle, n_classes, n_rows, n_columns,
    in class_counts f8[n_classes], in left i8[n_left, 6], n_left,
    in right i8[n_right, 6], n_right, in left_margins f8[n_classes, n_rows],
    in right_margins f8[n_classes, n_columns], in terms i8[n_terms], n_terms,
    real scale, int first, int end, out information f8[n_variables, n_variables],
    n_variables, int first_row, int first_column)"""
)
_class_order = native(
    """bl_class_order(in class_codes u1[n_rows], n_rows, address weights, int n_weights,
    int n_classes, int n_bits, out runs i8[n_runs, 3], out segments i8[n_segments, 4],
    out tiles i8[n_tiles, 3], out sizes i8[2])"""
)
# Adds up, class by class, the rows that each two planes have in common. Panels on the
# left count from row ``8 * first_left`` of `counts` on. Where `triangle`, they are what
# `right` holds from `first_left` on, and only pairs of panels in order are counted.
plane_counts = native(
    """bl_plane_counts([n_rows, n_columns] = _room(left, right, first_left, counts),
    in left u8[n_left, n_words, 8], n_left, in right u8[n_right, n_words, 8], n_right,
    n_words, in segments i8[n_segments, 4], n_segments, int first_left, flag triangle,
    out counts i4[n_classes, n_rows, n_columns], n_classes, n_rows, n_columns)""",
    "left, right, segments, first_left, triangle, counts",
)
# Rows, whose slots have the class last, and families of variables, -1 after the last of
# each. `values` are the state of each code, variable after variable, the last the
# highest. In configurations of parents of rows that weigh less than `min_rows` the
# states of the last parent, and of those behind, are the reserved code.
_COUNTED = """codes, n_rows, strided weights f8[n_rows],
    weights.strides[0] // 8, in families i8[n_families, n_places], n_families, n_places,
    in values u2[n_values], n_values, in value_starts i8[len(slots)],
    int n_classes, real min_rows"""
_count_families = native(
    f"bl_count_families({_COUNTED}, out starts i8[n_families + 1], address cells)"
)
_family_sizes = native(f"bl_family_sizes({_COUNTED}, out sizes i8[5])")
_take_families = native(
    """bl_take_families(handle cells, out states u2[n_places, n_cells],
    out classes u2[n_cells], out weights f8[n_cells])"""
)
_unpack_cells = native(
    """bl_unpack_cells(in steps u1[n_bytes], n_bytes,
    in families i8[n_families, n_places], n_families, n_places,
    in radices i8[n_variables], n_variables, address n_cells, int n_classes,
    out states u2[n_places, n_all], n_all, out classes u2[n_all], out n_read i8[1])"""
)


def class_order(
    class_codes: Bytes, weights: Bytes, n_classes: int
) -> tuple[Integers, Integers, Integers]:
    """Plan how rows are sorted by class, tile by tile: runs, segments and tiles.

    Rows without a class are left out; every bit of the weights, one for each row or for
    all, makes tiles of its own.
    """
    if not 0 <= n_classes <= 255:
        raise ValueError(f"n_classes must be within 0..255, got {n_classes}")
    n_rows = len(class_codes)
    n_weights = 1 if weights.shape == (1,) else n_rows
    address = readable(weights, U1, (n_weights,))
    n_bits = max(1, int(weights.max(initial=0)).bit_length())
    n_words = -(-n_rows // _WORD_ROWS)
    n_tiles = -(-n_rows // _TILE_ROWS) * n_bits
    runs = np.empty((n_words * n_bits * min(n_classes, _WORD_ROWS), 3), np.int64)
    segments = np.empty((n_tiles * n_classes, 4), np.int64)
    tiles, sizes = np.empty((n_tiles + 1, 3), np.int64), np.empty(2, np.int64)
    plan = runs, segments, tiles, sizes
    _class_order(class_codes, address, n_weights, n_classes, n_bits, *plan)
    n_runs, n_segments = sizes
    return runs[:n_runs].copy(), segments[:n_segments].copy(), tiles


def _room(
    left: Planes, right: Planes, first_left: int, counts: NDArray[np.int32]
) -> tuple[int, int]:
    """Rows and columns of counts, if they are enough for the planes."""
    _, n_rows, n_columns = counts.shape
    if first_left < 0 or n_rows < LANES * (first_left + len(left)):
        raise ValueError(
            f"counts has {n_rows} rows, too few for the planes on the left"
        )
    if n_columns < LANES * len(right):
        raise ValueError(f"counts has {n_columns} columns, too few for the planes")
    return n_rows, n_columns


def count_families(*arguments: Any) -> tuple[Codes, Codes, Floats, Integers]:
    """Count occupied joint states: states, classes, weights, and each family's start.

    States, (n_places, n_cells), are zero beyond a family's last variable, and in the
    order of the parents' states, family after family.
    """
    n_families, n_places = arguments[4].shape
    starts = np.zeros(n_families + 1, dtype=np.int64)
    cells = Handle(_count_families, "bl_free_families", *arguments, starts)
    n_cells = int(starts[-1])
    states = np.empty((n_places, n_cells), dtype=np.uint16)
    classes, sums = np.empty(n_cells, dtype=np.uint16), np.empty(n_cells)
    _take_families(cells, states, classes, sums)
    return states, classes, sums, starts


def family_sizes(*arguments: Any) -> Integers:
    """Cells of `count_families`, and all trees' nodes, counts, labels and links."""
    sizes = np.zeros(5, dtype=np.int64)
    _family_sizes(*arguments, sizes)
    return sizes


def unpack_cells(
    steps: Bytes, families: Integers, radices: Integers, sizes: Integers, n_classes: int
) -> tuple[Codes, Codes, int]:
    """Restore states and classes of cells from packed differences of their keys.

    `radices` are the variables' numbers of codes; `steps` may be longer than the bytes
    that are read, whose number comes last; see `bayleaf.io.native.networks`.
    """
    n_families, n_places = families.shape
    address, n_all = readable(sizes, I8, (n_families,)), int(sizes.sum())
    if not 0 <= n_all <= len(steps):
        raise ValueError("packed numbers end too early")
    states = np.empty((n_places, n_all), dtype=np.uint16)
    classes, n_read = np.empty(n_all, dtype=np.uint16), np.zeros(1, dtype=np.int64)
    _unpack_cells(steps, families, radices, address, n_classes, states, classes, n_read)
    return states, classes, int(n_read[0])
