"""Native loops that turn tables into codes and find cut points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import I8, U4, Floats, Integers, readable, writable
from bayleaf.native.signatures import native

_NUMBERS = """strided values i8[n_rows, n_columns], n_rows, n_columns,
    values.strides[0] // 8, values.strides[1] // 8, in low i8[n_columns]"""
# Writes ``values - low`` as bytes, column by column; `low` is below 2**62, so that no
# difference wraps round into them. Sets `seen` where an offset occurs, and clears
# `fits` where one is outside 0..254.
offset_codes = native(
    f"""bl_offset_codes({_NUMBERS}, out codes u1[n_columns, n_rows],
    out seen b1[n_columns, 256], out fits b1[n_columns])"""
)
# Looks every number up in its column's table: the code of ``values - low``, or the last
# one for numbers outside; `low` is below 2**62.
table_codes = native(
    f"""bl_table_codes({_NUMBERS}, in table u1[n_columns, 256],
    out codes u1[n_columns, n_rows])"""
)
_look_up = native(
    """bl_look_up(address numbers, int n_numbers, int number_bytes, flag is_signed,
    int low, address table, int n_entries, address codes, int code_bytes,
    address n_zero)"""
)
_mdlp_cuts = native(
    """bl_mdlp_cuts(in values f8[n_rows], in classes i8[n_rows], in weights f8[n_rows],
    n_rows, int n_classes, int most_counts, out cuts i8[n_rows], out n_cuts i8[1])"""
)


def look_up(
    numbers: NDArray[np.integer[Any]],
    low: int,
    table: NDArray[np.uint32],
    codes: NDArray[np.unsignedinteger[Any]],
) -> int:
    """Look integers, of any type but uint64, up in one table; how many codes are 0.

    The table has the code of ``number - low``, 0 for numbers outside; `codes`, of one
    to four bytes, must hold every entry of it.
    """
    kind = numbers.dtype
    entries = readable(table, U4, (table.size,))
    if kind.kind not in "iu" or codes.dtype.kind != "u":
        raise ValueError(f"integers are looked up, not {kind}, as codes >= 0")
    if len(table) and int(table.max()) > np.iinfo(codes.dtype).max:
        raise ValueError(f"an entry of the table does not fit {codes.dtype}")
    n_zero = np.zeros(1, np.int64)
    _look_up(
        readable(numbers, np.dtype(kind.type), (numbers.size,)),
        numbers.size,
        kind.itemsize,
        kind.kind == "i",
        low,
        entries,
        table.size,
        writable(codes, np.dtype(codes.dtype.type), (numbers.size,)),
        codes.dtype.itemsize,
        writable(n_zero, I8, (1,)),
    )
    return int(n_zero[0])


def mdlp_cuts(
    values: Floats, classes: Integers, weights: Floats, n_classes: int, most_counts: int
) -> Integers:
    """Cut a sorted column before the rows where classes change and a cut pays.

    `values` have no NaN, weights exact sums; `most_counts` class counts may be kept.
    """
    cuts, n_cuts = np.empty(values.size, np.int64), np.zeros(1, np.int64)
    _mdlp_cuts(values, classes, weights, n_classes, max(1, most_counts), cuts, n_cuts)
    return cuts[: int(n_cuts[0])]
