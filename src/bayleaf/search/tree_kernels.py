"""Loops over the rows of a tree's leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Rows = NDArray[np.int32]
Table = NDArray[np.unsignedinteger[Any]]
Counts = NDArray[np.float64]


@compiled
def count_rows(
    table: Table,
    offsets: NDArray[np.int64],
    weights: Counts,
    rows: Rows,
    child: int,
    counts: Counts,
) -> None:
    """Add the weight of each state of every variable with each state of the child.

    Parameters
    ----------
    table : ndarray of shape (all rows, n_variables), dtype uint8 or uint16
        Codes, a row's cells side by side.
    offsets : ndarray of shape (n_variables,), dtype int64
        Where the states of each variable start in `counts`.
    weights : ndarray of shape (all rows,), dtype float64
        Weight of each row; empty if all are one.
    rows : ndarray of shape (n_rows,), dtype int32
        The rows to count.
    child : int
        The variable of the tree.
    counts : ndarray of shape (child card, all states), dtype float64
        Where to add.
    """
    n_variables = table.shape[1]
    has_weights = weights.shape[0] > 0
    for i in range(rows.shape[0]):
        row = rows[i]
        cells = table[row]
        line = counts[cells[child]]
        weight = weights[row] if has_weights else 1.0
        for variable in range(n_variables):
            line[offsets[variable] + cells[variable]] += weight


@compiled
def partition_rows(
    table: Table,
    rows: Rows,
    variable: int,
    branch_of: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> None:
    """Order rows by branch, keeping their order within each.

    Parameters
    ----------
    table : ndarray of shape (all rows, n_variables), dtype uint8 or uint16
        Codes, a row's cells side by side.
    rows : ndarray of shape (n_rows,), dtype int32
        The rows of a leaf, ordered in place.
    variable : int
        The variable that is split on.
    branch_of : ndarray of shape (card,), dtype int64
        Branch of each state that is possible there.
    starts : ndarray of shape (n_branches + 1,), dtype int64
        Filled with where each branch starts, and the number of rows.
    """
    n_branches = starts.shape[0] - 1
    starts[:] = 0
    for i in range(rows.shape[0]):
        starts[branch_of[table[rows[i], variable]] + 1] += 1
    for branch in range(n_branches):
        starts[branch + 1] += starts[branch]
    places = starts.copy()
    before = rows.copy()
    for i in range(before.shape[0]):
        branch = branch_of[table[before[i], variable]]
        rows[places[branch]] = before[i]
        places[branch] += 1
