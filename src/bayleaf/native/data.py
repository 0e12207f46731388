"""Native loops that turn tables into codes and find cut points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import BOOL, F8, I8, U1, U4, readable, strided, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, Function

_OFFSETS = 256

_offset_codes = Function("bl_offset_codes", POINTER, *[INTEGER] * 4, *[POINTER] * 4)
_table_codes = Function("bl_table_codes", POINTER, *[INTEGER] * 4, *[POINTER] * 3)
_look_up = Function(
    "bl_look_up",
    POINTER,
    *[INTEGER] * 2,
    FLAG,
    INTEGER,
    POINTER,
    INTEGER,
    POINTER,
    INTEGER,
    POINTER,
)
_mdlp_cuts = Function("bl_mdlp_cuts", *[POINTER] * 3, *[INTEGER] * 3, *[POINTER] * 2)


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


def look_up(
    numbers: NDArray[np.integer[Any]],
    low: int,
    table: NDArray[np.uint32],
    codes: NDArray[np.unsignedinteger[Any]],
) -> int:
    """Look whole numbers up in one table.

    Parameters
    ----------
    numbers : ndarray of shape (n_numbers,)
        Of any type of integers but uint64.
    low : int
        What the table's first entry is for.
    table : ndarray of shape (n_entries,), dtype uint32
        The code of ``number - low``; 0 is that of numbers outside.
    codes : ndarray of shape (n_numbers,), dtype uint8, uint16 or uint32
        Filled; must hold every entry of the table.

    Returns
    -------
    int
        How many codes are 0.

    Raises
    ------
    ValueError
        If numbers or codes are of another type, or an entry does not fit.
    """
    n_zero = np.zeros(1, np.int64)
    kind = numbers.dtype
    if kind.kind not in "iu" or codes.dtype.kind != "u":
        raise ValueError(f"whole numbers are looked up, not {kind}, as codes >= 0")
    if len(table) and int(table.max()) > np.iinfo(codes.dtype).max:
        raise ValueError(f"an entry of the table does not fit {codes.dtype}")
    _look_up(
        readable(numbers, kind.newbyteorder("="), (numbers.size,)),
        numbers.size,
        kind.itemsize,
        kind.kind == "i",
        low,
        readable(table, U4, (table.size,)),
        table.size,
        writable(codes, codes.dtype.newbyteorder("="), (numbers.size,)),
        codes.dtype.itemsize,
        writable(n_zero, I8, (1,)),
    )
    return int(n_zero[0])


def mdlp_cuts(
    values: NDArray[np.float64],
    classes: NDArray[np.int64],
    weights: NDArray[np.float64],
    n_classes: int,
    most_counts: int,
) -> NDArray[np.int64]:
    """Cut a sorted column where the classes change, as long as a cut pays.

    Parameters
    ----------
    values : ndarray of shape (n_rows,), dtype float64
        The column in increasing order, without NaN.
    classes : ndarray of shape (n_rows,), dtype int64
        Class of each row.
    weights : ndarray of shape (n_rows,), dtype float64
        Weight of each row, above zero; their sums must be exact.
    n_classes : int
        Number of classes.
    most_counts : int
        Class counts that may be kept on the way, at least 1.

    Returns
    -------
    ndarray of shape (n_cuts,), dtype int64
        The rows before which the column is cut, in order.

    Raises
    ------
    ValueError
        If a class is not below `n_classes`.
    """
    n_rows = values.size
    cuts, n_cuts = np.empty(n_rows, np.int64), np.zeros(1, np.int64)
    _mdlp_cuts(
        readable(values, F8, (n_rows,)),
        readable(classes, I8, (n_rows,)),
        readable(weights, F8, (n_rows,)),
        n_rows,
        n_classes,
        max(1, most_counts),
        cuts.ctypes.data,
        n_cuts.ctypes.data,
    )
    return cuts[: int(n_cuts[0])]
