"""Native look-up of log-probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, code_arguments, readable, writable
from bayleaf.native.library import INTEGER, POINTER, Function

_CODES = (POINTER, INTEGER, POINTER, INTEGER, POINTER, INTEGER, INTEGER)

_add_looked_up = Function(
    "bl_add_looked_up",
    *_CODES,
    *[POINTER] * 3,
    INTEGER,
    POINTER,
    INTEGER,
    POINTER,
    INTEGER,
)
_add_children = Function(
    "bl_add_children",
    POINTER,
    INTEGER,
    INTEGER,
    POINTER,
    POINTER,
    INTEGER,
    INTEGER,
    POINTER,
)


def add_looked_up(
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
    slots: NDArray[np.int64],
    strides: NDArray[np.int64],
    bounds: NDArray[np.int64],
    tables: NDArray[np.float64],
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:
    """Add each group's table entry to the scores, group after group.

    Parameters
    ----------
    narrow : ndarray of shape (n_narrow, n_rows), dtype uint8
        Codes of narrow variables, see `bayleaf.data.codes.Codes`.
    wide : ndarray of shape (n_wide, n_rows), dtype uint16
        Codes of wide variables.
    slots : ndarray of shape (n_places,), dtype int64
        Where the variables of all groups lie, one group after the other.
    strides : ndarray of shape (n_places,), dtype int64
        What a code of each adds to the cell of its group's table.
    bounds : ndarray of shape (n_groups + 1,), dtype int64
        Where each group's variables begin.
    tables : ndarray of shape (n_values,), dtype float64
        Tables of shape (n_classes, n_cells), one a group.
    starts : ndarray of shape (n_groups + 1,), dtype int64
        Where each group's table begins.
    scores : ndarray of shape (n_classes, n_rows), dtype float64
        Added to.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be.
    """
    n_classes, n_rows = scores.shape
    n_groups = len(bounds) - 1
    if n_groups < 0 or n_classes < 1:
        raise ValueError("at least one bound and one class are needed")
    _add_looked_up(
        *code_arguments(narrow, wide, slots, n_rows),
        n_rows,
        readable(strides, I8, slots.shape),
        readable(bounds, I8, (n_groups + 1,)),
        readable(starts, I8, (n_groups + 1,)),
        n_groups,
        readable(tables, F8, (tables.size,)),
        tables.size,
        writable(scores, F8, (n_classes, n_rows)),
        n_classes,
    )


def add_children(
    tables: NDArray[np.float64],
    parent_positions: NDArray[np.int64],
    positions: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> None:
    """Add log P(child | class, super-parent) of all children to the scores.

    Parameters
    ----------
    tables : ndarray of shape (n_classes, n_positions, n_positions), dtype float64
        Log-probability of the state at the last position given that at the one before.
    parent_positions : ndarray of shape (n_rows,), dtype int64
        Position of the super-parent's state in each row.
    positions : ndarray of shape (n_features, n_rows), dtype int32
        Position of each child's state.
    scores : ndarray of shape (n_classes, n_rows), dtype float64
        Added to.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be.
    """
    n_classes, n_positions, _ = tables.shape
    n_features, n_rows = positions.shape
    _add_children(
        readable(tables, F8, (n_classes, n_positions, n_positions)),
        n_classes,
        n_positions,
        readable(parent_positions, I8, (n_rows,)),
        readable(positions, I4, (n_features, n_rows)),
        n_features,
        n_rows,
        writable(scores, F8, (n_classes, n_rows)),
    )
