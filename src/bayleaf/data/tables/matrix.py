"""The short way for a matrix of whole numbers: all its columns in one pass."""

from __future__ import annotations

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
# Lowest numbers from here on could wrap round in a difference.
_FAR = 1 << 62


def learn_matrix(
    matrix: Matrix, nominal: frozenset[Name] | None, max_nominal: int
) -> list[LearnedColumn | None]:
    """Variables and codes of those columns that are nominal with a small range.

    Parameters
    ----------
    matrix : Matrix
        The training table.
    nominal : frozenset of str or int, or None
        Columns declared nominal; None leaves that to the number of distinct values.
    max_nominal : int
        Most distinct values of a nominal column where none is declared.

    Returns
    -------
    list of (Variable, ndarray of shape (n_rows,)) or None
        None for a column that must be learned on its own.
    """
    values = matrix.values
    n_rows, n_columns = values.shape
    if not n_rows:
        return [None] * n_columns
    # The lowest number of a sample: a column where it is not the lowest of all does
    # not fit and takes the long way.
    low = values[:: max(1, n_rows // 4096)].min(axis=0)
    codes = np.empty((n_columns, n_rows), dtype=np.uint8)
    seen = np.zeros((n_columns, _TABLE), dtype=np.bool_)
    fits = low < _FAR
    low = np.where(fits, low, 0)
    offset_codes(values, low, codes, seen, fits)
    learned: list[LearnedColumn | None] = []
    for j, name in enumerate(matrix.names):
        used = np.flatnonzero(seen[j])
        declared = len(used) <= max_nominal if nominal is None else name in nominal
        if not (fits[j] and declared):
            learned.append(None)
            continue
        column = codes[j]
        if used[-1] >= len(used):
            rank = (np.cumsum(seen[j]) - 1).astype(np.uint8)
            column = rank[column]
        learned.append((Variable(name, tuple((used + low[j]).tolist())), column))
    return learned


def encode_matrix(matrix: Matrix, domain: Domain) -> list[EncodedColumn | None]:
    """Codes and unknown cells of those columns whose states are small whole numbers.

    Returns
    -------
    list of (ndarray of shape (n_rows,) and dtype uint8, int), or None
        None for a column that must be encoded on its own.
    """
    values = matrix.values
    n_rows, n_columns = values.shape
    low = np.zeros(n_columns, dtype=np.int64)
    table = np.zeros((n_columns, _TABLE), dtype=np.uint8)
    short = [_lookup(variable) for variable in domain]
    for j, lookup in enumerate(short):
        if lookup is not None:
            low[j], table[j] = lookup
    codes = np.empty((n_columns, n_rows), dtype=np.uint8)
    table_codes(values, low, table, codes)
    return [
        None
        if lookup is None
        else (own, int(np.count_nonzero(own == variable.n_known_states)))
        for lookup, own, variable in zip(short, codes, domain, strict=True)
    ]


def _lookup(variable: Variable) -> tuple[int, NDArray[np.uint8]] | None:
    """Lowest state and table of codes by offset; None where the short way is closed."""
    states = variable.known_states
    whole = all(type(state) is int for state in states)
    if variable.kind != "nominal" or not states or not whole:
        return None
    numbers = np.array(states)
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= _TABLE - 1 or not -_FAR < low < _FAR:
        return None
    table = np.full(_TABLE, len(states), dtype=np.uint8)
    table[numbers - low] = np.arange(len(states))
    return low, table
