"""Native loops of searches for trees, and of the joining of values."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, U1, U2, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

Counts = NDArray[np.float64]
Places = NDArray[np.int64]
Rows = NDArray[np.int32]

_count_rows = Function("bl_count_rows", *[POINTER] * 2, *[INTEGER] * 2, POINTER)
_partition_rows = Function(
    "bl_partition_rows", *[POINTER] * 2, *[INTEGER] * 2, *[POINTER, INTEGER] * 2
)
_join_values = Function(
    "bl_join_values",
    *[POINTER, INTEGER, INTEGER, POINTER, INTEGER, FLAG, REAL, POINTER],
)


class _Table(ctypes.Structure):
    """A table as the native loops take it: one argument instead of six."""

    _fields_ = (
        ("cells", POINTER),
        ("offsets", POINTER),
        ("weights", POINTER),
        ("n_rows", INTEGER),
        ("n_variables", INTEGER),
        ("is_wide", INTEGER),
    )


class PackedRows:
    """Rows of a table with their weights, and where they lie in memory.

    Addresses are found once: a search asks for the counts of thousands of leaves.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_variables), dtype uint8 or uint16
        Codes, a row's cells side by side.
    offsets : ndarray of shape (n_variables + 1,), dtype int64
        Where the states of each variable start in a table of counts, from 0 on, and
        the number of all states.
    weights : ndarray of shape (n_rows,), dtype float64
        Weight of each row; empty if all are one.

    Raises
    ------
    TypeError
        If an array holds something else.
    ValueError
        If shapes or layouts do not fit, or offsets decrease.
    """

    __slots__ = ("_arrays", "_table", "address", "n_rows", "shapes", "variables")

    def __init__(
        self,
        table: NDArray[np.unsignedinteger[Any]],
        offsets: Places,
        weights: Counts,
    ) -> None:
        n_rows, n_variables = table.shape
        is_wide = table.dtype == U2
        # Kept alive, and read from as long as this is.
        self._arrays = table, offsets, weights
        self._table = _Table(
            readable(table, U2 if is_wide else U1, (n_rows, n_variables)),
            readable(offsets, I8, (n_variables + 1,)),
            # An empty array tells that all rows weigh one.
            readable(weights, F8, (n_rows,)) if weights.shape != (0,) else None,
            n_rows,
            n_variables,
            is_wide,
        )
        self.address = ctypes.addressof(self._table)
        self.n_rows = n_rows
        starts: list[int] = offsets.tolist()
        if starts[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must grow from 0 on, got {starts}")
        self.variables = range(n_variables)
        # Shape of the counts of each variable with all.
        self.shapes = [(b - a, starts[-1]) for a, b in pairwise(starts)]

    def __reduce__(self) -> tuple[object, ...]:
        return PackedRows, self._arrays


def count_rows(packed: PackedRows, rows: Rows, child: int, counts: Counts) -> None:
    """Add the weight of each state of every variable with each state of the child.

    Parameters
    ----------
    packed : PackedRows
        The table.
    rows : ndarray of shape (n_counted,), dtype int32
        The rows to count.
    child : int
        A variable.
    counts : ndarray of shape (child card, all states), dtype float64
        Where to add.

    Raises
    ------
    ValueError
        If the table lacks a row.
    """
    child = packed.variables[child]
    _count_rows(
        packed.address,
        readable(rows, I4, rows.shape[:1]),
        len(rows),
        child,
        writable(counts, F8, packed.shapes[child]),
    )


def partition_rows(
    packed: PackedRows, rows: Rows, variable: int, branch_of: Places, starts: Places
) -> None:
    """Order rows by branch, keeping their order within each.

    Parameters
    ----------
    packed : PackedRows
        The table.
    rows : ndarray of shape (n_ordered,), dtype int32
        The rows of a leaf, ordered in place.
    variable : int
        The variable that is split on.
    branch_of : ndarray of shape (card,), dtype int64
        Branch of each state.
    starts : ndarray of shape (n_branches + 1,), dtype int64
        Filled with where each branch starts, and the number of rows.

    Raises
    ------
    ValueError
        If the table lacks a row, or the split a branch.
    """
    variable = packed.variables[variable]
    card = packed.shapes[variable][0]
    _partition_rows(
        packed.address,
        writable(rows, I4, rows.shape[:1]),
        len(rows),
        variable,
        readable(branch_of, I8, (card,)),
        card,
        writable(starts, I8, (max(len(starts), 1),)),
        len(starts) - 1,
    )


def join_values(
    shares: Counts, starts: Places, by_modes: bool, margin: float, parents: Places
) -> None:
    """Join values until one cluster is left.

    Parameters
    ----------
    shares : ndarray of shape (n_values, n_cells), dtype float64
        Share of the rows with each value in each state of the context variables,
        which stand side by side; overwritten.
    starts : ndarray of shape (n_contexts + 1,), dtype int64
        First cell of each context variable, and the number of cells.
    by_modes : bool
        Whether clusters differ by their modes, not by information.
    margin : float
        Share of the least loss by which a loss may exceed it to be joined in the same
        step; negative where only pairs are joined.
    parents : ndarray of shape (2 * n_values - 1,), dtype int64
        Filled with the cluster that each value and cluster went into, -1 for the last
        cluster and what is beyond.

    Raises
    ------
    ValueError
        If there are no values, or a context variable has no cells.
    """
    n_values, n_cells = shares.shape
    _join_values(
        writable(shares, F8, (n_values, n_cells)),
        n_values,
        n_cells,
        readable(starts, I8, (max(len(starts), 1),)),
        len(starts) - 1,
        by_modes,
        margin,
        writable(parents, I8, (max(2 * n_values - 1, 0),)),
    )
