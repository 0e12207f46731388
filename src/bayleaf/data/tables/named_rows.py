"""Tables whose cells have names, matched with the columns of training."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from bayleaf.data.tables.array_columns import NO_ARROW_TYPE, array_column
from bayleaf.data.tables.columns import Column, Matrix, Name, ValueColumn, iterate_names
from bayleaf.data.tables.frames import (
    PREDICT_FILES,
    column_names,
    to_columns,
    whole_table,
)
from bayleaf.typing import RowNotes
from bayleaf.wording import near_names, quoted

# Names so similar, of 1, are taken for one and the same, mistyped.
_MISTYPED = 0.8
# What pandas calls the column without a name, by its position.
_UNNAMED = re.compile(r"(Unnamed: \d+)?")


def columns_as_named(
    table: Any, names: tuple[Name, ...], optional: Collection[Name] = ()
) -> tuple[Matrix | list[Column], bool]:
    """Split a table into the columns `names`, those `optional` missing if absent.

    Cells of rows with names, such as a mapping, a series, a list of mappings or their
    text in JSON, may have any order, and those that a row lacks are missing; others are
    left out. ValueError if a row has none of these names, or one that seems mistyped.
    Any other table is split as it is, unless it has these columns in this order under
    other names for the same position. With the columns whether they were matched so.
    A table that has no names is read by position, if it has as many columns.
    """
    table = whole_table(table)
    records = records_of(table, names)
    if records is not None:
        return _record_columns(records, names), True
    parts = to_columns(table)
    given = tuple(iterate_names(parts))
    if given == names:
        # The names of a batch of Arrow are not known to scikit-learn.
        return parts, isinstance(table, pa.RecordBatch)
    if column_names(table) in (None, tuple(range(len(names)))):
        counted = tuple(names_as_in(given, names))
        if counted != names and len(given) == len(names):
            return _renamed(parts, names), False
    called = names_as_in(given, names)
    if called != tuple(n for n in names if n in set(called) or n not in optional):
        return parts, False
    if isinstance(parts, Matrix) and len(called) == len(names):
        return _renamed(parts, names), True
    columns = parts.columns() if isinstance(parts, Matrix) else parts
    present: dict[Name, Column] = {
        name: replace(column, name=name)
        for name, column in zip(called, columns, strict=True)
    }
    absent = np.full(columns[0].n_rows, -1, dtype=np.int32)
    return [present.get(name) or ValueColumn(name, absent, []) for name in names], True


def named_table(table: Any, mixed: Collection[str] = ()) -> Any:
    """Rows with names, or columns by name, as a table of Arrow; see `whole_table`.

    Cells that a row lacks are missing. `mixed` columns may contain text next to other
    values. ValueError for a single row, TypeError if another column has values of
    several types.
    """
    table = whole_table(table)
    columns: Mapping[Any, Any] | None = None
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        columns = {name: table[name] for name in table.dtype.names}
    elif isinstance(table, list | tuple) and len(table) and _record(table[0]):
        rows = list(_each_record(table))
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: [row.get(name) for row in rows] for name in names}
    elif isinstance(table, Mapping) and not hasattr(table, "tocsr") and table:
        if not all(map(is_column, table.values())):
            raise ValueError(
                "the table is a single row; pass a list of dicts, or a dict of columns"
            )
        _check_lengths(table)
        columns = table
    if columns is None:
        return table
    return pa.table(
        {str(n): _arrow_cells(n, cells, mixed) for n, cells in columns.items()}
    )


def _arrow_cells(name: Name, cells: Any, mixed: Collection[str]) -> Any:
    """The cells of a column as Arrow has them."""
    try:
        if str(name) not in mixed:
            try:
                return pa.array(cells, from_pandas=True)
            except OverflowError:
                # Integers are signed ones for Arrow, unless it is given their type.
                return pa.array(cells, pa.uint64(), from_pandas=True)
        is_text = [isinstance(cell, str) for cell in cells]
        if len(set(is_text)) < 2:
            return pa.array(cells, from_pandas=True)
        others, texts = (
            pa.array(
                [cell if text == kind else None for cell, text in zip(cells, is_text)],
                from_pandas=True,
            )
            for kind in (False, True)
        )
        return pa.UnionArray.from_sparse(
            pa.array(is_text).cast(pa.int8()), [others, texts]
        )
    except NO_ARROW_TYPE as error:
        raise TypeError(
            f"column {quoted(name)} has values of several types ({error}); give all of "
            "its cells one type"
        ) from error


def notes_on_other_cells(table: Any, names: tuple[Name, ...]) -> RowNotes | None:
    """Notes on cells of rows with names that no column has; None for other tables."""
    records = records_of(table, names)
    if records is None:
        return None
    known = set(map(str, names))
    return [
        [
            {"column": name, "cell": cell, "note": "not in training"}
            for name, cell in zip(
                names_as_in(list(row), names), row.values(), strict=True
            )
            if str(name) not in known
        ]
        for row in records
    ]


def _renamed(
    parts: Matrix | list[Column], names: tuple[Name, ...]
) -> Matrix | list[Column]:
    """Columns under other names."""
    if isinstance(parts, Matrix):
        return Matrix(parts.values, names)
    return [replace(column, name=n) for n, column in zip(names, parts, strict=True)]


def _parsed(text: str | bytes) -> Any:
    """Rows that a text in JSON contains; ValueError if it contains none."""
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise ValueError(
            f"a table was passed as text that is not JSON ({error}); pass a frame, "
            f"dicts, or a JSON object, or {PREDICT_FILES}"
        ) from error
    if isinstance(rows, dict) or (isinstance(rows, list) and rows):
        return rows
    raise ValueError("rows in JSON must be an object, or an array of objects")


def names_as_in(given: Sequence[Name], names: Sequence[Name]) -> tuple[Name, ...]:
    """Names of columns, those that only state a position as in another table.

    These are a single column without a name, and the numbers of the columns of arrays.
    """
    counted = {str(j): f"x{j}" for j in range(len(names))}
    if tuple(names) == tuple(range(len(names))) and [*given] == [*counted.values()]:
        return tuple(names)
    if [*names] == [*counted.values()] and {*map(str, given)} <= {*counted}:
        return tuple(counted[str(name)] for name in given)
    ours, theirs = (
        [n for n in these if isinstance(n, str) and _UNNAMED.fullmatch(n)]
        for these in (names, given)
    )
    if len(ours) != 1 or len(theirs) != 1:
        return tuple(given)
    return tuple(ours[0] if name == theirs[0] else name for name in given)


def _record_columns(
    records: Sequence[Mapping[Any, Any]], names: Sequence[Name]
) -> list[Column]:
    """The columns of rows with names."""
    index = {str(name): j for j, name in enumerate(names)}
    cells = np.full((len(names), len(records)), None, dtype=object)
    for row, record in enumerate(records):
        called = names_as_in(list(record), names)
        _check_names(row, [str(name) for name in called], index)
        for name, value in zip(called, record.values(), strict=True):
            if str(name) in index:
                cells[index[str(name)], row] = value
    return [array_column(n, column) for n, column in zip(names, cells, strict=True)]


def _check_names(row: int, given: Sequence[str], known: Collection[str]) -> None:
    """Raise if no name of a row is known, or one seems that of a column it lacks."""
    others = [name for name in given if name not in known]
    absent = {name.lower(): name for name in known if name not in given}
    for name in others:
        near = get_close_matches(name.lower(), absent, n=1, cutoff=_MISTYPED)
        if near or len(others) == len(given):
            raise ValueError(
                f"row {row} has {quoted(name)}, which is not a column of training; "
                f"{near_names(name, absent.values())}"
            )


def records_of(table: Any, names: Sequence[Name]) -> list[Mapping[Any, Any]] | None:
    """Rows with names, or None for a table of another kind."""
    if isinstance(table, str | bytes):
        table = _parsed(table)
    if isinstance(table, list | tuple):
        has_names = len(table) > 0 and _record(table[0]) is not None
        return list(_each_record(table)) if has_names else None
    if isinstance(table, np.ndarray | np.void):
        keys = table.dtype.names
        if keys is None:
            return None
        rows = np.atleast_1d(table).tolist()
        return [dict(zip(keys, cells, strict=True)) for cells in rows]
    if isinstance(table, Mapping) and table and all(map(is_column, table.values())):
        _check_lengths(table)
        transposed = zip(*table.values(), strict=True)
        return [dict(zip(table, cells, strict=True)) for cells in transposed]
    record = _record(table)
    if record is not None:
        column = getattr(table, "name", None)
        if isinstance(column, str) and column in names and not {*names} & {*record}:
            raise ValueError(
                f"one column, {column!r}, was passed for a table; pass a data frame: "
                f"X[[{column!r}]]"
            )
        return [record]
    if not hasattr(table, "to_list"):
        return None
    series = nw.from_native(table, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return None
    if isinstance(series.dtype, nw.Struct):
        return list(_each_record(series.to_list()))
    if len(series) != len(names) or names_as_in(range(len(names)), names) != names:
        raise ValueError(
            "a series without names cannot be matched with the columns of training; "
            "pass a dict, such as frame.row(0, named=True)"
        )
    return [dict(zip(names, series.to_list(), strict=True))]


def _check_lengths(columns: Mapping[Any, Any]) -> None:
    """Raise unless all columns have as many cells."""
    lengths = {str(name): len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"the columns of the table have different lengths ({lengths}); give every "
            "column as many cells"
        )


def _each_record(rows: Sequence[Any]) -> Iterator[Mapping[Any, Any]]:
    """Rows that all have names; TypeError if one has none."""
    for number, row in enumerate(rows):
        record = _record(row)
        if record is None:
            raise TypeError(
                f"row {number} is a {type(row).__name__}, but the first row has names; "
                "pass a dict for every row"
            )
        yield record


def _record(row: Any) -> Mapping[Any, Any] | None:
    """One row by name, from a mapping or a series with an index; None for others."""
    if isinstance(row, Mapping):
        return row
    if getattr(row, "ndim", 0) == 1 and hasattr(row, "to_dict"):
        record: Mapping[Any, Any] = row.to_dict()
        return record
    return None


def is_column(cells: Any) -> bool:
    """Whether the value of a mapping is a column of cells."""
    return isinstance(cells, list | tuple) or getattr(cells, "ndim", 0) == 1
