"""Tables of any make, taken apart into columns of numbers or of distinct values."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.dependencies import is_pandas_dataframe
from numpy.typing import NDArray

from bayleaf.data.tables.array_columns import (
    NO_ARROW_TYPE,
    array_column,
    arrow_column,
    is_missing_cell,
    object_column,
    unsupported,
)
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    NumberColumn,
    PlainColumn,
    TimeColumn,
    ValueColumn,
)
from bayleaf.wording import name_list, quoted

# Of frames with so many rows, columns of one type are taken out together.
_FEW_ROWS = 64
PREDICT_FILES = (
    'predict files of any size by bayleaf.predict_to_folder(model, path, "predictions")'
)


def whole_table(table: Any) -> Any:
    """A batch, or all that a source of batches has left, as a table of Arrow.

    A source is a reader, a dataset, a relation of DuckDB, an expression of ibis, or any
    other stream. Frames of narwhals are unwrapped, other tables returned as given;
    TypeError for paths.
    """
    table = nw.to_native(table, pass_through=True)
    kind = type(table)
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if kind.__module__ == "pyarrow._dataset":
        return table.to_table()
    if hasattr(kind, "to_pyarrow"):
        return table.to_pyarrow()
    in_memory = hasattr(kind, "__len__") or hasattr(kind, "shape")
    if kind.__name__ == "DuckDBPyRelation" or (
        hasattr(kind, "__arrow_c_stream__") and not in_memory
    ):
        return pa.RecordBatchReader.from_stream(table).read_all()
    paths = table if isinstance(table, list | tuple) else [table]
    if len(paths) and isinstance(paths[0], os.PathLike):
        raise TypeError(
            f"a path, {quoted(os.fspath(paths[0]))}, was passed for a table; read its "
            f"rows first, or {PREDICT_FILES}"
        )
    return table


# What `as_frame` may be where a table is returned.
Library = Literal["arrow", "pandas", "polars"]


def as_frame(table: pa.Table, library: str) -> Any:
    """A table as a data frame of "pandas" or "polars", or as it is for "arrow".

    ValueError for another library, ImportError if it is not installed.
    """
    makers = {"arrow": "to_native", "pandas": "to_pandas", "polars": "to_polars"}
    if library not in makers:
        raise ValueError(
            f"as_frame must be one of {name_list(list(makers))}, got {quoted(library)}"
        )
    try:
        return getattr(nw.from_native(table, eager_only=True), makers[library])()
    except ModuleNotFoundError as error:
        raise ImportError(
            f"as_frame={quoted(library)} needs the library {library}; install it"
        ) from error


def take_rows(table: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array, a data frame or a list of rows, in the same form."""
    if isinstance(table, np.ndarray):
        return table[rows]
    if isinstance(table, list | tuple):
        return [table[row] for row in rows.tolist()]
    frame = nw.from_native(table, eager_only=True)
    return frame[rows.tolist()].to_native()


def to_columns(table: Any) -> Matrix | list[Column]:
    """Split a data frame, array or list of rows into its columns.

    An array of integers becomes a `Matrix`; columns of arrays are called ``x0`` and so
    on. Frames go through narwhals. TypeError if the table is sparse, lazy or not a
    table, or a column's type is not supported; ValueError if it has no rows or columns,
    two columns share a name, or a number is infinite or complex.
    """
    table = whole_table(table)
    # In this order: pandas visits every column before it reports a missing `sparse`.
    if hasattr(table, "tocsr") or (hasattr(table, "nnz") and hasattr(table, "sparse")):
        raise TypeError(
            "a sparse matrix was passed, but dense data is required; use X.toarray() "
            "to convert it, or pass sparse_output=False to the encoder that made it"
        )
    if hasattr(table, "map_partitions"):
        raise TypeError(
            "a data frame of Dask is read only where classifiers are fitted with "
            "target=; call .compute() on it, or hand the method to .map_partitions()"
        )
    if hasattr(table, "iloc") or isinstance(table, pa.Table):
        # pandas and Arrow allow what narwhals refuses with an error of its own.
        _check_names(table)
    if is_pandas_dataframe(table):
        _check_shape(table.shape)
        return _pandas_columns(table)
    frame = _wrapped(table, eager_only=False)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("the table is lazy; call .collect() on it first")
    _check_names(table)
    if isinstance(frame, nw.DataFrame):
        _check_shape(frame.shape)
        return [_series_column(series) for series in frame.iter_columns()]
    array = _as_array(table)
    _check_shape(array.shape)
    names = tuple(f"x{j}" for j in range(array.shape[1]))
    if array.dtype.kind in "iub" and array.dtype != np.uint64:
        return Matrix(array, names)
    if array.dtype.kind == "f" and _is_finite(array):
        return [
            NumberColumn(name, np.ascontiguousarray(array[:, j], np.float64), None)
            for j, name in enumerate(names)
        ]
    return [array_column(name, array[:, j]) for j, name in enumerate(names)]


def _is_finite(array: NDArray[np.floating[Any]]) -> bool:
    """Whether no cell is missing or infinite; False as well if their sum is too large.

    One look at all columns, each of which would take four.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array.sum(dtype=np.float64)))


def plain_columns(table: Any) -> list[PlainColumn]:
    """The columns of a table in which nothing may be a date; see `to_columns`."""
    parts = to_columns(table)
    if isinstance(parts, Matrix):
        return parts.columns()
    found: list[PlainColumn] = []
    for column in parts:
        if isinstance(column, TimeColumn):
            raise unsupported(column.name, "dates or times")
        found.append(column)
    return found


def column_names(table: Any) -> tuple[Name, ...] | None:
    """Names of a frame's columns; None for arrays and lists, which have none."""
    if hasattr(table, "column_names"):
        return tuple(table.column_names)
    if hasattr(table, "columns") and not callable(table.columns):
        return tuple(_plain_name(name) for name in table.columns)
    return None


def row_labels(table: Any) -> list[Any] | None:
    """What pandas calls the rows of a frame, or a row; None where they are counted."""
    if getattr(table, "ndim", 2) == 1 and hasattr(table, "to_dict"):
        # The index of a single row has the names of its cells.
        return None if table.name is None else [table.name]
    index = getattr(table, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return list(index)


def _plain_name(name: Any) -> Any:
    """A column's name, NumPy's integers as Python's."""
    return int(name) if isinstance(name, np.integer) else name


def value_column(values: Any, name: Name) -> ValueColumn:
    """Take one column (series, array or list), such as a target, as distinct values."""
    if hasattr(values, "iloc") and values.dtype == object:
        # Before its version 3 pandas ended texts at their first NUL.
        values = np.asarray(values)
    column = single_column(values, name)
    if isinstance(column, TimeColumn):
        raise unsupported(name, "dates or times")
    return column.distinct()


def single_column(values: Any, name: Name) -> Column:
    """Take one column (series, array or list) as a table's are taken."""
    series = _wrapped(values, series_only=True)
    if isinstance(series, nw.Series):
        return _series_column(series.alias(str(name)))
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return arrow_column(name, values)
    return array_column(name, _as_array(values))


def _wrapped(native: Any, **options: bool) -> Any:
    """A frame or series of narwhals; what it does not know as it is.

    It searches all installed packages for one that knows an array, which takes longer
    than to fit a small table.
    """
    if isinstance(native, np.ndarray | list | tuple):
        return native
    return nw.from_native(native, pass_through=True, **options)


def _check_names(table: Any) -> None:
    """Raise unless the column names are strings or integers, each used once."""
    names = column_names(table)
    if names is None:
        return
    strange = [
        n for n in names if not isinstance(n, str | int) or n is True or n is False
    ]
    if strange:
        raise TypeError(
            f"column names must be strings or integers, got {name_list(strange)}; "
            "rename the columns"
        )
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise ValueError(
            f"several columns are called {name_list(twice)}; "
            "give every column a name of its own"
        )


def _check_shape(shape: tuple[int, ...]) -> None:
    """Raise unless there is at least one row and one column."""
    if len(shape) != 2:
        hint = (
            "Reshape your data either using array.reshape(-1, 1) if it has a single "
            "feature or array.reshape(1, -1) if it contains a single sample."
        )
        raise ValueError(f"Expected 2D array, got {len(shape)}D array instead. {hint}")
    for count, thing in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {thing}(s) (shape={shape}) while a minimum of 1 "
                f"is required."
            )


def _as_array(values: Any) -> NDArray[Any]:
    """An array in which mixed lists keep the types of their cells."""
    if isinstance(values, np.ma.MaskedArray):
        cells: NDArray[Any] = np.array(values.data, dtype=object)
        cells[np.ma.getmaskarray(values)] = None
        return cells
    if hasattr(values, "__array__"):
        # Slices of np.matrix would keep two dimensions; this is a plain array.
        return np.asarray(values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(
            "the rows of the table differ in length; give every row the same columns"
        ) from error
    return np.array(values, dtype=object) if array.dtype.kind in "USO" else array


def _pandas_columns(table: Any) -> list[Column]:
    """The columns of a data frame of pandas.

    Of few rows, columns of one type are taken out together: each by itself takes pandas
    longer than to predict the rows.
    """
    if len(table) > _FEW_ROWS:
        return [_pandas_column(name, column) for name, column in table.items()]
    by_type: dict[Any, list[int]] = {}
    for j, dtype in enumerate(table.dtypes):
        by_type.setdefault(dtype, []).append(j)
    names = column_names(table) or ()
    columns: dict[int, Column] = {}
    for dtype, indices in by_type.items():
        names_of_type = [names[j] for j in indices]
        made = _columns_of_type(names_of_type, table.iloc[:, indices], dtype)
        columns.update(zip(indices, made, strict=True))
    return [columns[j] for j in range(len(names))]


def _columns_of_type(names: Sequence[Name], table: Any, dtype: Any) -> Iterator[Column]:
    """The columns of a short data frame of pandas that all have one type."""
    is_number = isinstance(dtype, np.dtype) and dtype.kind in "iuf"
    is_text = _is_of_arrow(dtype) and dtype.type is str
    if not (is_number or is_text or dtype == "object"):
        yield from (
            _pandas_column(name, table.iloc[:, j]) for j, name in enumerate(names)
        )
        return
    cells = table.to_numpy(dtype if is_number else object).T
    for j, (name, values) in enumerate(zip(names, cells, strict=True)):
        if is_number:
            yield array_column(name, values)
        elif is_text or _are_texts(values):
            yield object_column(name, values)
        else:
            yield _pandas_column(name, table.iloc[:, j])


def _are_texts(cells: NDArray[Any]) -> bool:
    """Whether the first cell is a text, and others are texts or missing."""
    return isinstance(cells[0], str) and all(
        isinstance(cell, str) or is_missing_cell(cell) for cell in cells
    )


def _is_of_arrow(dtype: Any) -> bool:
    """Whether cells of a type of pandas are stored by Arrow."""
    return bool(getattr(dtype, "storage", "") == "pyarrow")


def _pandas_column(name: Any, column: Any) -> Column:
    """A column of a data frame of pandas.

    narwhals is asked only about types that are not the most frequent ones: that takes
    longer than to read a small column.
    """
    name, dtype = _plain_name(name), column.dtype
    if _is_of_arrow(dtype):
        return arrow_column(name, column.array.__arrow_array__())
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return array_column(name, column.to_numpy())
    if dtype == np.bool_:
        return arrow_column(name, pa.array(column.to_numpy()))
    return _series_column(nw.from_native(column, series_only=True))


def _numbered_column(name: Name, column: Any, dtype: nw.dtypes.DType) -> Column | None:
    """A column of pandas whose texts it numbers itself; None for others.

    The way through Arrow would take twice as long.
    """
    if isinstance(dtype, nw.String):
        if _is_of_arrow(column.dtype):
            return arrow_column(name, column.array.__arrow_array__())
        codes, values = column.factorize()
        return ValueColumn(name, codes.astype(np.int32), values.tolist())
    is_interval = str(column.dtype).startswith("interval")
    if is_interval:
        column = column.astype("category")
    if is_interval or isinstance(dtype, nw.Categorical | nw.Enum):
        numbered = column.array
        values = numbered.categories.tolist()
        if is_interval or str(numbered.categories.dtype).startswith("interval"):
            values = [str(value) for value in values]
        if all(isinstance(value, str) for value in values):
            codes = np.array(numbered.codes, dtype=np.int32)
            is_ordered = is_interval or isinstance(dtype, nw.Enum)
            return ValueColumn(name, codes, values, is_ordered, declared=True)
    return None


def _series_column(series: nw.Series[Any]) -> Column:
    """One column of a data frame."""
    name = _plain_name(series.name)
    dtype = series.dtype
    if series.implementation.is_pandas():
        numbered = _numbered_column(name, series.to_native(), dtype)
        if numbered is not None:
            return numbered
    if isinstance(dtype, nw.Int128 | nw.UInt128):
        # Neither NumPy nor Arrow has integers that wide.
        series, dtype = series.cast(nw.Float64), nw.Float64()
    # What polars has no type for, such as a column of nulls, Arrow may know.
    unknown = isinstance(dtype, nw.Unknown) and not series.implementation.is_polars()
    if series.implementation.is_pyarrow() and unknown:
        return arrow_column(name, series.to_native())
    if isinstance(dtype, nw.Object) or unknown:
        return array_column(name, series.to_numpy())
    if dtype.is_numeric() and not dtype.is_decimal() and series.null_count() == 0:
        return array_column(name, series.to_numpy())
    try:
        return arrow_column(name, series.to_arrow(), ordered=isinstance(dtype, nw.Enum))
    except NO_ARROW_TYPE:
        return array_column(name, series.to_numpy())
