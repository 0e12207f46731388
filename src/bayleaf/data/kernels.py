"""Compiled loops that turn a matrix of whole numbers into codes in one pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

# Rows a tile: small enough that the tile of a row-major matrix stays in the first
# cache while its columns are read one after the other.
_TILE = 128


@compiled
def offset_codes(
    values: NDArray[np.int64],
    low: NDArray[np.int64],
    codes: NDArray[np.uint8],
    seen: NDArray[np.bool_],
    fits: NDArray[np.bool_],
) -> None:
    """Write ``values - low`` as bytes, column by column.

    `values` (n_rows, n_columns), `low` (n_columns,); fills `codes`
    (n_columns, n_rows), `seen` (n_columns, 256) with the offsets that occur, and
    clears `fits` (n_columns,) where an offset is outside 0..254.
    """
    n_rows, n_columns = values.shape
    for start in range(0, n_rows, _TILE):
        stop = min(start + _TILE, n_rows)
        for j in range(n_columns):
            lowest = low[j]
            outside = False
            out = codes[j]
            for i in range(start, stop):
                offset = values[i, j] - lowest
                outside |= (values[i, j] < lowest) | (offset < 0) | (offset > 254)
                out[i] = np.uint8(offset & 255)
            if outside:
                fits[j] = False
            for i in range(start, stop):
                seen[j, out[i]] = True


@compiled
def table_codes(
    values: NDArray[np.int64],
    low: NDArray[np.int64],
    table: NDArray[np.uint8],
    codes: NDArray[np.uint8],
) -> None:
    """Look every number up in its column's table of codes.

    `table` (n_columns, 256) gives the code of ``values - low``; its last entry is for
    numbers outside the table. Fills `codes` (n_columns, n_rows).
    """
    n_rows, n_columns = values.shape
    for start in range(0, n_rows, _TILE):
        stop = min(start + _TILE, n_rows)
        for j in range(n_columns):
            lowest = low[j]
            lookup = table[j]
            out = codes[j]
            for i in range(start, stop):
                offset = values[i, j] - lowest
                inside = (values[i, j] >= lowest) & (offset >= 0) & (offset < 255)
                out[i] = lookup[offset if inside else 255]
