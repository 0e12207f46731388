"""Cells written into a table, which comes back as the kind of table that it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.tables.columns import Name
from bayleaf.data.tables.frames import column_names
from bayleaf.wording import quoted


class Filled(NamedTuple):
    """New cells of one column."""

    rows: NDArray[np.intp]  # (n_cells,)
    values: list[Any]  # in the same order


def with_cells(
    table: Any, cells: Mapping[int, Filled], added: Mapping[Name, list[Any]]
) -> Any:
    """A copy of a table, of the same kind, with other cells and with more columns.

    `cells` are by the column's place; `added` columns come last, in tables with names.
    TypeError if the kind of table cannot be copied so, or a column's type does not fit.
    """
    if isinstance(table, Mapping):
        names = list(table)
        changed = {
            names[j]: _column(names[j], table[names[j]], f) for j, f in cells.items()
        }
        return {name: changed.get(name, table[name]) for name in names} | dict(added)
    if column_names(table) is None:
        return _array(table, cells)
    if isinstance(table, pa.Table | pa.RecordBatch):
        for place, filled in cells.items():
            field = table.schema.field(place)
            column = _arrow_column(field.name, table.column(place), filled)
            table = table.set_column(place, field.with_type(column.type), column)
        for name, values in added.items():
            table = table.append_column(str(name), pa.array(values))
        return table
    if hasattr(table, "isetitem"):
        frame = table.copy()
        for place, filled in cells.items():
            series = _pandas_series(frame.columns[place], frame.iloc[:, place], filled)
            frame.isetitem(place, series)
        for name, values in added.items():
            frame[name] = values
        return frame
    if hasattr(table, "with_columns") and hasattr(table, "get_columns"):
        import polars as pl

        columns = table.get_columns()
        own = [_polars_series(columns[j].name, columns[j], f) for j, f in cells.items()]
        new = [pl.Series(str(name), values) for name, values in added.items()]
        return table.with_columns(*own, *new)
    raise TypeError(
        f"cells of a {type(table).__module__}.{type(table).__name__} cannot be filled; "
        "convert it to pandas, polars or Arrow"
    )


def _array(table: Any, cells: Mapping[int, Filled]) -> Any:
    """An array of two axes, or a list of rows."""
    if isinstance(table, list | tuple):
        rows = [list(row) for row in table]
        for place, filled in cells.items():
            for row, value in zip(filled.rows.tolist(), filled.values, strict=True):
                rows[row][place] = value
        return rows
    array = np.array(table)
    for place, filled in cells.items():
        array[:, place] = _numpy_cells(f"x{place}", array[:, place], filled)
    return array


def _column(name: Name, column: Any, filled: Filled) -> Any:
    """One column of a mapping."""
    if isinstance(column, list | tuple):
        cells = list(column)
        for row, value in zip(filled.rows.tolist(), filled.values, strict=True):
            cells[row] = value
        return cells
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return _arrow_column(name, column, filled)
    if hasattr(column, "iloc"):
        return _pandas_series(name, column, filled)
    if hasattr(column, "zip_with"):
        return _polars_series(name, column, filled)
    return _numpy_cells(name, np.asarray(column), filled)


def _numpy_cells(name: Name, cells: NDArray[Any], filled: Filled) -> NDArray[Any]:
    """One column of an array."""
    if cells.dtype.kind not in "Of" or (
        cells.dtype.kind == "f" and not _are_numbers(filled.values)
    ):
        raise _no_place(name, str(cells.dtype), filled)
    own = cells.copy()
    values = np.empty(len(filled.values), dtype=cells.dtype)
    values[:] = filled.values
    own[filled.rows] = values
    return own


def _pandas_series(name: Name, series: Any, filled: Filled) -> Any:
    """One column of pandas; categories that it lacks are added."""
    own = series.copy()
    categories = getattr(series.dtype, "categories", None)
    if categories is not None and hasattr(own, "cat"):
        known = set(categories.tolist())
        more = [v for v in dict.fromkeys(filled.values) if v not in known]
        own = own.cat.add_categories(more) if more else own
    elif own.dtype.kind == "f" and not _are_numbers(filled.values):
        # A column without any value has no type of its own.
        if own.notna().any():
            raise _no_place(name, str(series.dtype), filled)
        own = own.astype(object)
    try:
        own.iloc[filled.rows] = filled.values
    except (TypeError, ValueError) as error:
        raise _no_place(name, str(series.dtype), filled) from error
    return own


def _polars_series(name: Name, series: Any, filled: Filled) -> Any:
    """One column of polars; categories that a category column lacks are added."""
    import polars as pl

    places = np.zeros(len(series), dtype=np.int64)
    places[filled.rows] = np.arange(len(filled.values))
    is_new = np.zeros(len(series), dtype=np.bool_)
    is_new[filled.rows] = True
    try:
        values = pl.Series(series.name, filled.values)
        if series.dtype == pl.Null:
            series = series.cast(values.dtype)
        values = values.cast(series.dtype)
        return values.gather(places).zip_with(pl.Series(is_new), series)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise _no_place(name, str(series.dtype), filled) from error


def _arrow_column(name: Name, column: Any, filled: Filled) -> Any:
    """One column of Arrow, in one chunk where it had several."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    places = np.arange(len(whole), dtype=np.int64)
    places[filled.rows] = len(whole) + np.arange(len(filled.values))
    try:
        done = _joined(whole, filled.values).take(pa.array(places))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _no_place(name, str(whole.type), filled) from error
    return pa.chunked_array([done]) if isinstance(column, pa.ChunkedArray) else done


def _joined(whole: pa.Array, values: list[Any]) -> pa.Array:
    """The cells of a column, then others of the same type."""
    if pa.types.is_null(whole.type):
        new = pa.array(values)
        return pa.concat_arrays([whole.cast(new.type), new])
    if not pa.types.is_dictionary(whole.type):
        return pa.concat_arrays([whole, pa.array(values).cast(whole.type)])
    kind = whole.type
    known = whole.dictionary.to_pylist()
    place = {value: i for i, value in enumerate(known)}
    for value in values:
        place.setdefault(value, len(place))
    more = list(place)[len(set(known)) :]
    dictionary = pa.concat_arrays(
        [whole.dictionary, pa.array(more).cast(kind.value_type)]
        if more
        else [whole.dictionary]
    )
    new = pa.array([place[value] for value in values]).cast(kind.index_type)
    indices = pa.concat_arrays([whole.indices, new])
    return pa.DictionaryArray.from_arrays(indices, dictionary, ordered=kind.ordered)


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether all values are numbers."""
    return all(isinstance(value, int | float | np.number) for value in values)


def _no_place(name: Name, kind: str, filled: Filled) -> TypeError:
    """The error for a column whose type has no place for a value."""
    example = filled.values[0] if filled.values else None
    return TypeError(
        f"column {quoted(name)} of type {kind} has no place for values such as "
        f"{quoted(example)}; convert the column to a type that holds them"
    )
