"""Compiled loops that turn a matrix of whole numbers into codes in one pass.

Rows are worked off in tiles that are first copied as they lie in memory, which runs at
the memory's full speed; the strided reads of single columns then hit the first cache.
Differences are taken without a sign, because compiled code may take it for granted that
signed ones never wrap round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

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

    `values` (n_rows, n_columns), `low` (n_columns,), each below 2**62 so that no
    difference wraps round into the bytes; fills `codes` (n_columns, n_rows), `seen`
    (n_columns, 256) with the offsets that occur, and clears `fits` (n_columns,) where
    an offset is outside 0..254.
    """
    n_rows, n_columns = values.shape
    tile = np.empty((_TILE, n_columns), dtype=np.int64)
    column = np.empty(_TILE, dtype=np.int64)
    for start in range(0, n_rows, _TILE):
        size = min(_TILE, n_rows - start)
        for i in range(size):
            for j in range(n_columns):
                tile[i, j] = values[start + i, j]
        for j in range(n_columns):
            for i in range(size):
                column[i] = tile[i, j]
            out = codes[j, start : start + size]
            lowest = np.uint64(low[j])
            spread = np.uint64(0)
            for i in range(size):
                offset = np.uint64(column[i]) - lowest
                # Every bit above the lowest eight survives in `spread`.
                spread |= offset
                out[i] = np.uint8(offset & np.uint64(255))
            if spread > np.uint64(255):
                fits[j] = False
            _mark_seen(out, spread, seen[j])
        # A byte of 255 is no code: it is kept for numbers outside a table.
    for j in range(n_columns):
        if seen[j, 255]:
            fits[j] = False


@compiled
def _mark_seen(
    out: NDArray[np.uint8], spread: np.uint64, seen: NDArray[np.bool_]
) -> None:
    """Mark the bytes that occur; below 64 by one vectorised OR."""
    if spread > np.uint64(63):
        for i in range(out.size):
            seen[out[i]] = True
        return
    bits = np.uint64(0)
    for i in range(out.size):
        bits |= np.uint64(1) << np.uint64(out[i])
    for value in range(64):
        if (bits >> np.uint64(value)) & np.uint64(1):
            seen[value] = True


@compiled
def table_codes(
    values: NDArray[np.int64],
    low: NDArray[np.int64],
    table: NDArray[np.uint8],
    codes: NDArray[np.uint8],
) -> None:
    """Look every number up in its column's table of codes.

    `table` (n_columns, 256) gives the code of ``values - low``; its last entry is for
    numbers outside the table. `low` is as in `offset_codes`. Fills `codes`
    (n_columns, n_rows).
    """
    n_rows, n_columns = values.shape
    tile = np.empty((_TILE, n_columns), dtype=np.int64)
    offsets = np.empty(_TILE, dtype=np.uint8)
    for start in range(0, n_rows, _TILE):
        size = min(_TILE, n_rows - start)
        for i in range(size):
            for j in range(n_columns):
                tile[i, j] = values[start + i, j]
        for j in range(n_columns):
            lowest = np.uint64(low[j])
            for i in range(size):
                offset = np.uint64(tile[i, j]) - lowest
                offsets[i] = np.uint8(min(offset, np.uint64(255)))
            lookup = table[j]
            out = codes[j, start : start + size]
            for i in range(size):
                out[i] = lookup[offsets[i]]
