"""Native loops that turn tables into codes and find cut points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import BOOL, I8, U1, readable, strided, writable
from bayleaf.native.library import INTEGER, POINTER, Function

_OFFSETS = 256

_offset_codes = Function("bl_offset_codes", POINTER, *[INTEGER] * 4, *[POINTER] * 4)
_table_codes = Function("bl_table_codes", POINTER, *[INTEGER] * 4, *[POINTER] * 3)


def offset_codes(
    values: NDArray[np.int64],
    low: NDArray[np.int64],
    codes: NDArray[np.uint8],
    seen: NDArray[np.bool_],
    fits: NDArray[np.bool_],
) -> None:
    """Write ``values - low`` as bytes, column by column.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns), dtype int64
        The numbers, in any layout.
    low : ndarray of shape (n_columns,), dtype int64
        Each below 2**62, so that no difference wraps round into the bytes.
    codes : ndarray of shape (n_columns, n_rows), dtype uint8
        Filled.
    seen : ndarray of shape (n_columns, 256), dtype bool
        Set where an offset occurs.
    fits : ndarray of shape (n_columns,), dtype bool
        Cleared where an offset is outside 0..254.
    """
    n_rows, n_columns = values.shape
    address, steps = strided(values, I8)
    _offset_codes(
        address,
        n_rows,
        n_columns,
        *steps,
        readable(low, I8, (n_columns,)),
        writable(codes, U1, (n_columns, n_rows)),
        writable(seen, BOOL, (n_columns, _OFFSETS)),
        writable(fits, BOOL, (n_columns,)),
    )


def table_codes(
    values: NDArray[np.int64],
    low: NDArray[np.int64],
    table: NDArray[np.uint8],
    codes: NDArray[np.uint8],
) -> None:
    """Look every number up in its column's table of codes.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns), dtype int64
        The numbers, in any layout.
    low : ndarray of shape (n_columns,), dtype int64
        Each below 2**62.
    table : ndarray of shape (n_columns, 256), dtype uint8
        The code of ``values - low``; the last entry is for numbers outside.
    codes : ndarray of shape (n_columns, n_rows), dtype uint8
        Filled.
    """
    n_rows, n_columns = values.shape
    address, steps = strided(values, I8)
    _table_codes(
        address,
        n_rows,
        n_columns,
        *steps,
        readable(low, I8, (n_columns,)),
        readable(table, U1, (n_columns, _OFFSETS)),
        writable(codes, U1, (n_columns, n_rows)),
    )
