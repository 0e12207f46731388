"""Native counting of the joint states that occur at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native._handles import Handle
from bayleaf.native.arrays import (
    F8,
    I8,
    U1,
    U2,
    code_arguments,
    readable,
    strided,
    writable,
)
from bayleaf.native.library import INTEGER, POINTER, REAL, Function

# Rows, their weights, families, what codes stand for, and what to count.
_FAMILIES = (
    *[POINTER, INTEGER, POINTER, INTEGER, POINTER, INTEGER, INTEGER],
    *[POINTER, INTEGER],
    *[POINTER, INTEGER, INTEGER],
    *[POINTER, INTEGER, POINTER],
    *[INTEGER, REAL],
)
_count_families = Function("bl_count_families", *_FAMILIES, POINTER, POINTER)
_family_sizes = Function("bl_family_sizes", *_FAMILIES, POINTER)
_take_families = Function("bl_take_families", *[POINTER] * 4)
_unpack_cells = Function(
    "bl_unpack_cells",
    *[POINTER, INTEGER, POINTER, INTEGER, INTEGER, POINTER, INTEGER, POINTER, INTEGER],
    *[POINTER, INTEGER, POINTER, POINTER],
)


def count_families(
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
    slots: NDArray[np.int64],
    weights: NDArray[np.float64],
    families: NDArray[np.int64],
    values: NDArray[np.uint16],
    value_starts: NDArray[np.int64],
    n_classes: int,
    min_rows: float,
) -> tuple[
    NDArray[np.uint16], NDArray[np.uint16], NDArray[np.float64], NDArray[np.int64]
]:
    """Count the joint states of families of variables and the class that occur.

    Parameters
    ----------
    narrow : ndarray of shape (n_narrow, n_rows), dtype uint8
        Codes of narrow variables, see `bayleaf.data.codes.Codes`.
    wide : ndarray of shape (n_wide, n_rows), dtype uint16
        Codes of wide variables.
    slots : ndarray of shape (n_variables + 1,), dtype int64
        Where each variable lies, the class last.
    weights : ndarray of shape (n_rows,), dtype float64
        Weight of each row, in any layout.
    families : ndarray of shape (n_families, n_places), dtype int64
        The variables of each family, -1 after the last.
    values : ndarray of shape (n_values,), dtype uint16
        For each variable, one after the other, the state that each of its codes stands
        for; the last is the highest.
    value_starts : ndarray of shape (n_variables + 1,), dtype int64
        Where the states of each variable begin.
    n_classes : int
        Number of classes.
    min_rows : float
        Weight of the rows that a configuration of parents needs. Below it the states of
        its last parent, and of those behind, are the reserved code.

    Returns
    -------
    states : ndarray of shape (n_places, n_cells), dtype uint16
        State of each variable in each cell, family after family, in the order of the
        parents' states; zero beyond a family's last variable.
    classes : ndarray of shape (n_cells,), dtype uint16
        Class of each cell.
    weights : ndarray of shape (n_cells,), dtype float64
        Total weight of the rows in each cell.
    starts : ndarray of shape (n_families + 1,), dtype int64
        Where the cells of each family begin.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be.
    """
    (n_rows,), (n_families, n_places) = weights.shape, families.shape
    address, (step,) = strided(weights, F8)
    starts = np.zeros(n_families + 1, dtype=np.int64)
    found = Handle(
        _count_families,
        "bl_free_families",
        *code_arguments(narrow, wide, slots, n_rows),
        address,
        step,
        readable(families, I8, (n_families, n_places)),
        n_families,
        n_places,
        readable(values, U2, (len(values),)),
        len(values),
        readable(value_starts, I8, slots.shape),
        n_classes,
        min_rows,
        writable(starts, I8, starts.shape),
    )
    n_cells = int(starts[-1])
    states = np.empty((n_places, n_cells), dtype=np.uint16)
    classes = np.empty(n_cells, dtype=np.uint16)
    sums = np.empty(n_cells)
    _take_families(
        found.address,
        writable(states, U2, states.shape),
        writable(classes, U2, classes.shape),
        writable(sums, F8, sums.shape),
    )
    return states, classes, sums, starts


def family_sizes(
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
    slots: NDArray[np.int64],
    weights: NDArray[np.float64],
    families: NDArray[np.int64],
    values: NDArray[np.uint16],
    value_starts: NDArray[np.int64],
    n_classes: int,
    min_rows: float,
) -> NDArray[np.int64]:
    """Measure what `count_families` would give, and what trees of it would take.

    Returns
    -------
    ndarray of shape (5,), dtype int64
        Cells, and of all trees the nodes, counts, labels of classes, and links.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be.
    """
    (n_rows,), (n_families, n_places) = weights.shape, families.shape
    address, (step,) = strided(weights, F8)
    sizes = np.zeros(5, dtype=np.int64)
    _family_sizes(
        *code_arguments(narrow, wide, slots, n_rows),
        address,
        step,
        readable(families, I8, (n_families, n_places)),
        n_families,
        n_places,
        readable(values, U2, (len(values),)),
        len(values),
        readable(value_starts, I8, slots.shape),
        n_classes,
        min_rows,
        writable(sizes, I8, sizes.shape),
    )
    return sizes


def unpack_cells(
    steps: NDArray[np.uint8],
    families: NDArray[np.int64],
    radices: NDArray[np.int64],
    n_cells: NDArray[np.int64],
    n_classes: int,
) -> tuple[NDArray[np.uint16], NDArray[np.uint16], int]:
    """Restore the cells of families from differences of their keys.

    Parameters
    ----------
    steps : ndarray of shape (n_bytes,), dtype uint8
        Packed differences, see `bayleaf.io.native.networks`, and perhaps more.
    families : ndarray of shape (n_families, n_places), dtype int64
        The variables of each family, -1 after the last.
    radices : ndarray of shape (n_variables,), dtype int64
        Number of codes of each variable.
    n_cells : ndarray of shape (n_families,), dtype int64
        Cells of each family.
    n_classes : int
        Number of classes.

    Returns
    -------
    states : ndarray of shape (n_places, n_cells), dtype uint16
        State of each variable in each cell, zero beyond a family's last variable.
    classes : ndarray of shape (n_cells,), dtype uint16
        Class of each cell.
    n_read : int
        Bytes that the cells took.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be, or a cell has an unknown state.
    """
    n_families, n_places = families.shape
    n_all = int(n_cells.sum())
    if not 0 <= n_all <= len(steps):
        raise ValueError("packed numbers end too early")
    states = np.empty((n_places, n_all), dtype=np.uint16)
    classes = np.empty(n_all, dtype=np.uint16)
    n_read = np.zeros(1, dtype=np.int64)
    _unpack_cells(
        readable(steps, U1, (len(steps),)),
        len(steps),
        readable(families, I8, (n_families, n_places)),
        n_families,
        n_places,
        readable(radices, I8, (len(radices),)),
        len(radices),
        readable(n_cells, I8, (n_families,)),
        n_classes,
        writable(states, U2, states.shape),
        n_all,
        writable(classes, U2, classes.shape),
        writable(n_read, I8, (1,)),
    )
    return states, classes, int(n_read[0])
