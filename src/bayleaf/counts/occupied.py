"""Counts of those joint states of a family and the class that occur at all.

The table of a feature with four parents may have millions of cells, of which training
fills at most one a row. What is kept here is the filled ones, each with its states
written out, so that memory is bounded by the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import kernel_for
from bayleaf.counts.occupied_kernels import count_families
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


def count_occupied(
    codes: Codes,
    families: Sequence[Sequence[int]],
    maps: Sequence[NDArray[np.uint16]],
    work: float = math.inf,
) -> list[OccupiedCounts]:
    """Count the joint states of families of variables and the class that occur.

    Parameters
    ----------
    codes : Codes
        The training table, class last.
    families : sequence of sequence of int
        The variables of each family; the numbers of states that their maps lead to
        multiply to at most `MAX_CELLS`.
    maps : sequence of ndarray of dtype uint16
        For each variable but the class, the state that each of its codes stands for,
        the highest last.
    work : float, optional
        Estimate of the steps that all counting takes, see `kernel_for`; much by
        default.
    """
    places = np.full((len(families), max(map(len, families))), -1, dtype=np.int64)
    for row, family in zip(places, families, strict=True):
        row[: len(family)] = family
    states, classes, weights, starts = kernel_for(count_families, work)(
        codes.narrow,
        codes.wide,
        np.array(codes.slots, dtype=np.int64),
        np.ascontiguousarray(codes.weights),
        places,
        np.concatenate(maps),
        np.cumsum([0, *map(len, maps)], dtype=np.int64),
        codes.cards[-1],
        max(_SMALL_TABLE, _CELLS_A_ROW * codes.n_rows),
    )
    return [
        OccupiedCounts(
            states[: len(family), first:last],
            classes[first:last],
            weights[first:last],
        )
        for family, (first, last) in zip(families, pairwise(starts), strict=True)
    ]


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
