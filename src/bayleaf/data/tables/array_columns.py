"""One column of an array or of an Arrow table."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    TextValues,
    TimeColumn,
    ValueColumn,
)
from bayleaf.wording import quoted

# What Arrow raises for a column whose cells have no common type.
NO_ARROW_TYPE = (
    UnicodeEncodeError,
    pa.ArrowInvalid,
    pa.ArrowTypeError,
    pa.ArrowNotImplementedError,
    OverflowError,
)
_TEXT_KINDS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
# Types whose columns are indices into their distinct values.
_DICTIONARY_KINDS = (pa.types.is_boolean, *_TEXT_KINDS)


def array_column(name: Name, values: NDArray[Any]) -> Column:
    """One column of an array."""
    kind = values.dtype.kind
    if kind in "iu":
        # Differences of narrower integers would wrap round.
        wide = np.uint64 if values.dtype == np.uint64 else np.int64
        return NumberColumn(name, np.ascontiguousarray(values, dtype=wide), None)
    if kind == "f":
        return _float_column(name, np.ascontiguousarray(values, dtype=np.float64))
    if kind == "b":
        return ValueColumn(name, values.astype(np.int32), [False, True])
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: column {quoted(name)} holds complex numbers; "
            "split them into real and imaginary parts"
        )
    if kind not in "OUmM":
        raise unsupported(name, str(values.dtype))
    try:
        return arrow_column(name, pa.array(values, from_pandas=True))
    except NO_ARROW_TYPE:
        return object_column(name, values)


def _float_column(name: Name, values: NDArray[np.float64]) -> NumberColumn:
    """A column of floats whose NaN are missing cells."""
    missing = np.isnan(values)
    if np.isinf(values).any():
        raise infinite(name)
    return NumberColumn(name, values, missing if missing.any() else None)


def arrow_column(
    name: Name, array: pa.Array | pa.ChunkedArray, *, ordered: bool = False
) -> Column:
    """One column of an Arrow table."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    kind = array.type
    if pa.types.is_null(kind):
        return ValueColumn(name, np.full(len(array), -1, dtype=np.int32), [])
    if pa.types.is_dictionary(kind):
        column = _dictionary_column(name, array, ordered=ordered or kind.ordered)
        return replace(column, declared=True)
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        array, kind = array.cast(pa.float64()), pa.float64()
    if pa.types.is_integer(kind):
        missing = np.asarray(array.is_null()) if array.null_count else None
        values = np.asarray(array.fill_null(0) if array.null_count else array)
        wide = np.uint64 if values.dtype == np.uint64 else np.int64
        return NumberColumn(name, values.astype(wide, copy=False), missing)
    if pa.types.is_floating(kind):
        floats = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return _float_column(name, floats)
    if any(is_kind(kind) for is_kind in _DICTIONARY_KINDS):
        return _dictionary_column(name, array.dictionary_encode())
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _time_column(name, array)
    if pa.types.is_union(kind):
        return array_column(name, np.array([*array.to_pylist(), None])[:-1])
    raise unsupported(name, str(kind))


def _time_column(name: Name, array: pa.Array) -> TimeColumn:
    """A column of dates, times or durations; instants by the clock of UTC."""
    kind = array.type
    is_duration = pa.types.is_duration(kind) or pa.types.is_time(kind)
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    if pa.types.is_date(kind):
        array = array.cast(pa.timestamp("s"))
    if pa.types.is_time(kind):
        micros = array.cast(pa.time64("us"), safe=False)
    elif is_duration:
        micros = array.cast(pa.duration("us"), safe=False)
    else:
        micros = array.cast(pa.timestamp("us", zone), safe=False)
    missing = np.asarray(array.is_null())
    values = np.asarray(micros.cast(pa.int64()).fill_null(0))
    return TimeColumn(name, values, missing, is_duration, zone=zone)


def _dictionary_column(
    name: Name, array: pa.DictionaryArray, *, ordered: bool = False
) -> ValueColumn:
    """A dictionary-encoded column; nulls in indices or dictionary are missing."""
    texts = None if ordered else text_values(array.dictionary)
    if texts is not None:
        return ValueColumn(name, dictionary_indices(array), texts)
    values = array.dictionary.to_pylist()
    for value in [value for value in values if value is not None][:1]:
        if not isinstance(value, str | bool | numbers.Real):
            raise unsupported(name, type(value).__name__)
    codes = dictionary_indices(array)
    if any(isinstance(value, float) and math.isinf(value) for value in values):
        raise infinite(name)
    absent = [i for i, value in enumerate(values) if value is None or value != value]
    if absent:
        codes = np.where(np.isin(codes, absent), np.int32(-1), codes)
    return ValueColumn(name, codes, values, ordered)


def text_values(array: pa.Array) -> TextValues | None:
    """Texts of Arrow as the values of a column; None for others, or where some lack."""
    if array.null_count or not any(is_kind(array.type) for is_kind in _TEXT_KINDS):
        return None
    try:
        return TextValues(array.cast(pa.string()))
    except pa.ArrowInvalid:  # more than 2 GiB
        return None


def dictionary_indices(array: pa.DictionaryArray) -> NDArray[np.int32]:
    """The index of each cell's value, -1 where it is missing."""
    indices = array.indices
    if not indices.null_count:
        return numpy_of(indices).astype(np.int32, copy=False)
    codes = numpy_of(indices).astype(np.int32)
    codes[~numpy_of(indices.is_valid())] = -1
    return codes


def numpy_of(array: pa.Array) -> NDArray[Any]:
    """Numbers or booleans of Arrow; any number where they are null.

    Arrow's own conversion loads pandas wherever it is installed, which takes longer
    than most commands do.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    rows, (_, values) = slice(array.offset, array.offset + len(array)), array.buffers()
    if pa.types.is_boolean(array.type):
        bits = np.frombuffer(values or b"", np.uint8)
        return np.unpackbits(bits, bitorder="little")[rows].astype(bool)
    numbers: NDArray[Any] = np.frombuffer(values or b"", array.type.to_pandas_dtype())
    return numbers[rows]


def number_array(values: NDArray[np.int64] | NDArray[np.float64]) -> pa.Array:
    """Numbers as an Arrow array of the same type, without nulls."""
    kind = pa.int64() if values.dtype == np.int64 else pa.float64()
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def text_array(texts: Sequence[str], codes: NDArray[np.integer]) -> pa.Array:
    """The text of each row, by code, as an Arrow array; ValueError from 2 GiB on."""
    encoded = [text.encode() for text in texts]
    sizes = np.array([len(text) for text in encoded], dtype=np.int64)
    ends = np.cumsum(sizes[codes])
    if len(ends) and ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(
            "labels are too long to be written; shorten those of the model"
        )
    offsets = np.zeros(len(codes) + 1, dtype=np.int32)
    offsets[1:] = ends
    content = b"".join([encoded[code] for code in codes.tolist()])
    return pa.StringArray.from_buffers(
        len(codes), pa.py_buffer(offsets), pa.py_buffer(content)
    )


def arrow_of(values: NDArray[Any] | Sequence[str]) -> pa.Array:
    """Integers, booleans or texts as an array of Arrow; see `numpy_of`."""
    if not isinstance(values, np.ndarray):
        return text_array(values, np.arange(len(values)))
    if values.dtype.kind == "b":
        bits = pa.py_buffer(np.packbits(values, bitorder="little"))
        return pa.BooleanArray.from_buffers(pa.bool_(), len(values), [None, bits])
    return number_array(values.astype(np.int64, copy=False))


def object_column(name: Name, values: NDArray[Any]) -> Column:
    """A column of Python objects that Arrow finds no common type for."""
    index: dict[Hashable, int] = {}
    indices = np.empty(len(values), dtype=np.int32)
    for row, value in enumerate(values.tolist()):
        if is_missing_cell(value):
            indices[row] = -1
            continue
        if type(value).__name__ == "Interval":
            # A bin of pandas, in a row that was taken out of a frame.
            value = str(value)
        if not isinstance(value, str | bool | np.bool_ | numbers.Real):
            raise unsupported(name, type(value).__name__)
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and math.isinf(value):
            raise infinite(name)
        indices[row] = index.setdefault(value, len(index))
    if index and all(isinstance(value, numbers.Real) for value in index):
        known: Any = [*index, np.nan]
        try:
            floats = np.array([float(value) for value in known])
        except OverflowError as error:
            raise ValueError(
                f"column {quoted(name)} holds a number too large for a float; "
                "pass such identifiers as text"
            ) from error
        if not all(isinstance(value, bool | np.bool_) for value in index):
            return _float_column(name, floats[indices])
    return ValueColumn(name, indices, list(index))


def is_missing_cell(value: Any) -> bool:
    """Whether a Python object stands for an empty cell."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA refuses to be compared; it is the only scalar that does.
        return type(value).__name__ == "NAType"


def infinite(name: Name) -> ValueError:
    """The error for a column with an infinite number."""
    return ValueError(
        f"column {quoted(name)} holds infinity; replace infinite values by numbers "
        "or leave the cells empty"
    )


def unsupported(name: Name, what: str) -> TypeError:
    """The error for a cell that is neither text nor number."""
    return TypeError(
        f"column {quoted(name)} holds {what}, but every argument must be a string or a "
        "real number; convert the column to text or numbers"
    )
