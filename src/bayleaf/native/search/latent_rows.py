"""Native passes over the rows, for searches for latent variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, U2, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, Function

Counts = NDArray[np.float64]
Column = NDArray[np.uint16]
Places = NDArray[np.int64]
Runs = NDArray[np.int32]

STATES = POINTER, POINTER, INTEGER
RUNS = POINTER, INTEGER, POINTER, FLAG
_deal = Function(
    "bl_deal", POINTER, POINTER, INTEGER, POINTER, FLAG, INTEGER, INTEGER, POINTER
)
_count_cells = Function("bl_count_cells", *STATES, *RUNS, POINTER, INTEGER)
_with_missing = Function("bl_with_missing", POINTER, INTEGER, INTEGER, POINTER)
_latent_codes = Function(
    "bl_latent_codes", *STATES, INTEGER, POINTER, INTEGER, INTEGER, POINTER
)


class PackedColumns:
    """States of nodes in every row, and where they lie in memory.

    Addresses are found once: a search passes over the rows for every candidate.

    Parameters
    ----------
    columns : ndarray of shape (n_nodes, n_rows), dtype uint16
        A node's codes side by side.
    n_codes : list of int
        Number of codes of each node, the missing state included; zero for those not
        made yet, which `latent_codes` makes.

    Raises
    ------
    TypeError
        If it holds something else.
    ValueError
        If it is laid out in another way, or has other nodes.
    """

    __slots__ = ("columns", "n_codes", "n_rows", "places")

    def __init__(self, columns: Column, n_codes: list[int]) -> None:
        n_nodes, self.n_rows = columns.shape
        if len(n_codes) != n_nodes:
            raise ValueError(f"{n_nodes} columns and {len(n_codes)} nodes do not fit")
        self.n_codes = n_codes
        # Kept alive, and used as long as this is.
        self.columns = columns
        first = writable(columns, U2, (n_nodes, self.n_rows))
        step = self.n_rows * U2.itemsize
        #: Address of each node's column.
        self.places = [first + step * node for node in range(n_nodes)]

    def __reduce__(self) -> tuple[object, ...]:
        return PackedColumns, (self.columns, self.n_codes)


class PackedRuns:
    """A run of every row: its part of the rows times the number of classes, plus class.

    Parameters
    ----------
    packed : PackedColumns
        The rows.
    runs : ndarray of shape (n_rows,), dtype int32
        Run of each row.
    n_runs : int
        Number of runs.
    weights : ndarray of shape (n_rows,) or (1,), dtype float64
        Weight of each row, or of all.

    Raises
    ------
    TypeError
        If an array holds something else.
    ValueError
        If shapes or layouts do not fit, or there are other runs.
    """

    __slots__ = ("_weights", "head", "n_runs", "packed", "runs")

    def __init__(
        self, packed: PackedColumns, runs: Runs, n_runs: int, weights: Counts
    ) -> None:
        n_rows = packed.n_rows
        address = readable(runs, I4, (n_rows,))
        if n_rows and (int(runs.min()) < 0 or int(runs.max()) >= n_runs):
            raise ValueError(
                f"runs must be from 0 to {n_runs - 1}, got {int(runs.min())} to "
                f"{int(runs.max())}"
            )
        # Kept alive, and read from as long as this is.
        self.packed, self.runs, self.n_runs = packed, runs, n_runs
        self._weights = weights
        are_alike = weights.shape == (1,)
        weight = readable(weights, F8, (1,) if are_alike else (n_rows,))
        self.head = address, n_rows, weight, are_alike

    def __reduce__(self) -> tuple[object, ...]:
        return PackedRuns, (self.packed, self.runs, self.n_runs, self._weights)

    def n_folds(self, n_classes: int) -> int:
        """Number of parts, if there are so many classes.

        Raises
        ------
        ValueError
            If they do not make up the runs.
        """
        n_folds, rest = divmod(self.n_runs, max(n_classes, 1))
        if rest:
            raise ValueError(f"{n_classes} classes do not make up {self.n_runs} runs")
        return n_folds


def deal(
    order: Places,
    classes: Column,
    weights: Counts,
    n_classes: int,
    n_parts: int,
    parts: Runs,
) -> None:
    """Deal rows, in an order, to the parts with least weight of their class.

    Among those the part with the least weight in all takes the row, and then the first.

    Parameters
    ----------
    order : ndarray of shape (n_rows,), dtype int64
        The rows.
    classes : ndarray of shape (n_rows,), dtype uint16
        Class of each row.
    weights : ndarray of shape (n_rows,) or (1,), dtype float64
        Weight of each row, or of all.
    n_classes, n_parts : int
        Number of classes and of parts, at least one.
    parts : ndarray of shape (n_rows,), dtype int32
        Filled with the part of each row.

    Raises
    ------
    ValueError
        If a row or a class is none, or there are no parts.
    """
    n_rows, are_alike = len(order), weights.shape == (1,)
    if n_parts < 1 or n_classes < 0:
        raise ValueError(f"rows need parts, got n_parts = {n_parts}")
    _deal(
        readable(order, I8, (n_rows,)),
        readable(classes, U2, (n_rows,)),
        n_rows,
        readable(weights, F8, (1,) if are_alike else (n_rows,)),
        are_alike,
        n_classes,
        n_parts,
        writable(parts, I4, (n_rows,)),
    )


def count_cells(rows: PackedRuns, left: int, right: int, counts: Counts) -> None:
    """Add each row's weight to ``counts[run, left code, right code]``.

    Parameters
    ----------
    rows : PackedRuns
        The rows.
    left, right : int
        Two nodes.
    counts : ndarray of shape (n_runs, n_left_codes, n_right_codes), dtype float64
        Where to add.
    """
    places, n_codes = rows.packed.places, rows.packed.n_codes
    n_left, n_right = n_codes[left], n_codes[right]
    _count_cells(
        places[left],
        places[right],
        n_right,
        *rows.head,
        writable(counts, F8, (rows.n_runs, n_left, n_right)),
        n_left * n_right,
    )


def with_missing(states: Places, padded: Places) -> None:
    """Add a row and a column for missing children to a latent variable's map.

    Where a child is missing, the latent variable is known only if it is the same for
    all states of that child.

    Parameters
    ----------
    states : ndarray of shape (n_left, n_right), dtype int64
        State of the latent variable in each cell.
    padded : ndarray of shape (n_left + 1, n_right + 1), dtype int64
        Filled; the number of states stands for an unknown one.

    Raises
    ------
    ValueError
        If there are no cells.
    """
    n_left, n_right = states.shape
    if not states.size:
        raise ValueError("a latent variable needs cells, got none")
    _with_missing(
        readable(states, I8, (n_left, n_right)),
        n_left,
        n_right,
        writable(padded, I8, (n_left + 1, n_right + 1)),
    )


def latent_codes(
    packed: PackedColumns,
    left: int,
    right: int,
    padded: Places,
    node: int,
    n_codes: int,
) -> None:
    """Make a latent variable: write its codes in every row.

    Parameters
    ----------
    packed : PackedColumns
        The rows.
    left, right : int
        The nodes that it joins.
    padded : ndarray of shape (n_left_codes, n_right_codes), dtype int64
        Code of each joint state, as `with_missing` gives it.
    node : int
        The latent variable, whose column is filled.
    n_codes : int
        Number of its codes.

    Raises
    ------
    ValueError
        If the map leads to another code.
    """
    n_left, n_right = packed.n_codes[left], packed.n_codes[right]
    address = readable(padded, I8, (n_left, n_right))
    _latent_codes(
        packed.places[left],
        packed.places[right],
        n_right,
        packed.n_rows,
        address,
        n_left * n_right,
        n_codes,
        packed.places[node],
    )
    packed.n_codes[node] = n_codes
