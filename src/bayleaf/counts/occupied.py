"""Counts of those joint states of a family and the class that occur at all.

The table of a feature with four parents may have millions of cells, of which training
fills at most one a row. What is kept here is the filled ones, each with its states
written out, so that memory is bounded by the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes

# Larger keys than this would overflow when the class is appended.
MAX_CELLS = 1 << 46
# Cells a row up to which a table with a place for every cell is quicker than hashing.
_CELLS_A_ROW = 2
_SMALL_TABLE = 1 << 16


@dataclass(frozen=True, eq=False)
class OccupiedCounts:
    """Weights of the joint states of some variables and the class that occur.

    Parameters
    ----------
    states : ndarray of shape (n_variables, n_cells), dtype uint16
        Code of each variable in each occupied cell.
    classes : ndarray of shape (n_cells,), dtype uint16
        Class of each cell.
    weights : ndarray of shape (n_cells,), dtype float64
        Total weight of the rows in the cell, above zero.
    """

    states: NDArray[np.uint16]
    classes: NDArray[np.uint16]
    weights: NDArray[np.float64]


def joint_keys(
    codes: Codes,
    variables: Sequence[int],
    maps: Sequence[NDArray[np.uint16]],
    radices: Sequence[int],
) -> NDArray[np.int64]:
    """One whole number for the joint state of some variables, for each row.

    Parameters
    ----------
    codes : Codes
        The rows.
    variables : sequence of int
        The variables, the most significant first.
    maps : sequence of ndarray of dtype uint16
        For each variable, the state that each of its codes stands for.
    radices : sequence of int
        For each variable, the number of states that its map leads to.
    """
    from bayleaf.counts.occupied_kernels import append_digit

    keys = np.zeros(codes.n_rows, dtype=np.int64)
    for variable, values, radix in zip(variables, maps, radices, strict=True):
        append_digit(keys, codes.column(variable), values, radix)
    return keys


def count_occupied(
    codes: Codes,
    variables: Sequence[int],
    maps: Sequence[NDArray[np.uint16]],
    radices: Sequence[int],
) -> OccupiedCounts:
    """Count the joint states of some variables and the class that occur.

    Parameters
    ----------
    codes : Codes
        The training table, class last.
    variables, maps, radices
        See `joint_keys`; the product of the radices is at most `MAX_CELLS`.
    """
    from bayleaf.counts.occupied_kernels import (
        add_weights,
        number_cells,
        number_distinct,
    )

    class_index = codes.n_variables - 1
    n_classes = codes.cards[class_index]
    as_is = np.arange(n_classes + 1, dtype=np.uint16)
    keys = joint_keys(
        codes, [*variables, class_index], [*maps, as_is], [*radices, n_classes]
    )
    n_cells = prod(radices) * n_classes
    if n_cells <= max(_SMALL_TABLE, _CELLS_A_ROW * codes.n_rows):
        numbers, first = number_cells(keys, n_cells)
    else:
        numbers, first, _, _ = number_distinct(keys)
    weights = add_weights(numbers, np.ascontiguousarray(codes.weights), len(first))
    columns: list[Any] = [np.take(codes.column(v), first) for v in variables]
    states = mapped_states(columns, maps)
    classes = np.take(codes.column(class_index), first).astype(np.uint16)
    return OccupiedCounts(states, classes, weights)


def mapped_states(
    columns: Sequence[NDArray[np.unsignedinteger[Any]]],
    maps: Sequence[NDArray[np.uint16]],
) -> NDArray[np.uint16]:
    """State of each variable in each row, shape (n_variables, n_rows).

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        Codes of each variable.
    maps : sequence of ndarray of dtype uint16
        For each variable, the state that each of its codes stands for.
    """
    states = np.empty((len(columns), len(columns[0])), dtype=np.uint16)
    for row, column, values in zip(states, columns, maps, strict=True):
        # Unlike indexing, this lets other threads go on.
        np.take(values, column, out=row, mode="clip")
    return states
