"""The short way for a matrix of integers: all its columns in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.data.tables.columns import Matrix, Name
from bayleaf.native.data import offset_codes, table_codes

ColumnCodes = NDArray[np.integer[Any]]
LearnedColumn = tuple[Variable, ColumnCodes]
# With the number of unknown cells.
EncodedColumn = tuple[ColumnCodes, int]

_TABLE = 256
# Cells that are widened at a time, and columns of these.
_BLOCK_CELLS, _BLOCK_COLUMNS = 1 << 16, 1 << 8
# Lowest numbers from here on could wrap round in a difference.
_FAR = 1 << 62


def learn_matrix(
    matrix: Matrix, nominal: frozenset[Name] | None, max_nominal: int
) -> tuple[list[LearnedColumn | None], NDArray[np.uint8]]:
    """Variables and codes (n_rows,) of columns that are nominal with a small range.

    None for a column that must be learned on its own. The array (n_columns + 1, n_rows)
    contains the codes, for `Codes.from_columns`, with room for a class. If `nominal` is
    None, columns of at most `max_nominal` distinct values are nominal.
    """
    n_rows, n_columns = matrix.values.shape
    room = np.empty((n_columns + 1, n_rows), dtype=np.uint8)
    if not n_rows:
        return [None] * n_columns, room
    learned: list[LearnedColumn | None] = []
    for own in _column_blocks(matrix):
        # The lowest number of a sample: a column where it is not the lowest of all does
        # not fit and takes the long way.
        sample = matrix.values[:: max(1, n_rows // 4096), own]
        low = sample.min(axis=0).astype(np.int64)
        fits = low < _FAR
        low = np.where(fits, low, 0)
        seen = np.zeros((len(low), _TABLE), dtype=np.bool_)
        for values, codes in _row_blocks(matrix, own, room):
            offset_codes(values, low, codes, seen, fits)
        for j, name in enumerate(matrix.names[own]):
            used = np.flatnonzero(seen[j])
            declared = len(used) <= max_nominal if nominal is None else name in nominal
            if not (fits[j] and declared):
                learned.append(None)
                continue
            column = room[own.start + j]
            if used[-1] >= len(used):
                rank = (np.cumsum(seen[j]) - 1).astype(np.uint8)
                column[:] = rank[column]
            states = (used + low[j]).tolist()
            if matrix.is_truth:
                states = [bool(state) for state in states]
            learned.append((Variable(name, tuple(states)), column))
    return learned, room


def _column_blocks(matrix: Matrix) -> Iterator[slice]:
    """Some columns at a time; all of them where none must be widened."""
    n_columns = len(matrix.names)
    step = n_columns if matrix.values.dtype == np.int64 else _BLOCK_COLUMNS
    for first in range(0, n_columns, step):
        yield slice(first, min(first + step, n_columns))


def _row_blocks(
    matrix: Matrix, own: slice, room: NDArray[np.uint8]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
    """Some rows of some columns at a time as int64, and where their codes go.

    A wide copy of all could take several times the memory of the codes.
    """
    n_rows, n_columns = len(matrix.values), own.stop - own.start
    step = max(1, _BLOCK_CELLS // n_columns)
    if matrix.values.dtype == np.int64 or n_rows <= step:
        yield matrix.values[:, own].astype(np.int64, copy=False), room[own]
        return
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        codes = np.empty((n_columns, rows.stop - first), dtype=np.uint8)
        yield matrix.values[rows, own].astype(np.int64), codes
        room[own, rows] = codes


def encode_matrix(
    matrix: Matrix, domain: Domain
) -> tuple[list[EncodedColumn | None], NDArray[np.uint8]]:
    """Codes and unknown cells of those columns whose states are small integers.

    None for a column that must be encoded on its own. The array (n_columns, n_rows)
    contains the codes, for `Codes.from_columns`.
    """
    room = np.empty(matrix.values.shape[::-1], dtype=np.uint8)
    encoded: list[EncodedColumn | None] = []
    for own in _column_blocks(matrix):
        variables = domain.variables[own]
        low = np.zeros(len(variables), dtype=np.int64)
        table = np.zeros((len(variables), _TABLE), dtype=np.uint8)
        lookups = [_lookup(variable) for variable in variables]
        for j, lookup in enumerate(lookups):
            if lookup is not None:
                low[j], table[j] = lookup
        for values, block in _row_blocks(matrix, own, room):
            table_codes(values, low, table, block)
        for j, lookup in enumerate(lookups):
            codes, unknown = room[own.start + j], variables[j].n_known_states
            encoded.append(lookup and (codes, int(np.count_nonzero(codes == unknown))))
    return encoded, room


def _lookup(variable: Variable) -> tuple[int, NDArray[np.uint8]] | None:
    """Lowest state and table of codes by offset; None where the short way is closed."""
    states = variable.known_states
    whole = all(type(state) in (int, bool) for state in states)
    if variable.kind != "nominal" or not states or not whole:
        return None
    numbers = np.array(states)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= _TABLE - 1 or not -_FAR < low < _FAR:
        return None
    table = np.full(_TABLE, len(states), dtype=np.uint8)
    table[numbers - low] = np.arange(len(states))
    return low, table
