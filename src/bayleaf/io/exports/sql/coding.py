"""Cells of the user's table as codes of the model's variables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from bayleaf.data.dates import UNITS
from bayleaf.io.exports.cells import FeatureCells
from bayleaf.io.exports.characters import check_characters, check_integers
from bayleaf.io.exports.sql.naming import free_name
from bayleaf.io.exports.sql.words import (
    case,
    cast,
    either,
    is_nan,
    literal,
    name,
    num,
    text,
)
from bayleaf.wording import name_list, quoted

# Dialects in which parts of dates and durations are written.
_DATED = ("duckdb", "postgres", "sqlite")
# Functions of a row, which PostgreSQL calls where such a column of a table is missing.
_ROW_FUNCTIONS = {
    "concat",
    "count",
    "hash_record",
    "num_nonnulls",
    "num_nulls",
    "pg_column_compression",
    "pg_column_size",
    "pg_typeof",
    "quote_literal",
    "quote_nullable",
    "record_send",
}


class Source:
    """The user's table under an alias, which all of its columns get.

    A column that the table lacks is then an error: SQLite would read its quoted name as
    a text, and others as an alias of the same select.
    """

    def __init__(
        self, table: Sequence[str], columns: Iterable[str], dialect: str
    ) -> None:
        names = sorted({*columns})
        self._alias = name(free_name("source", {each.casefold() for each in names}))
        self._dialect = dialect
        source = ".".join(map(name, table))
        if dialect == "postgres" and _ROW_FUNCTIONS & {*names}:
            source = f"(SELECT {', '.join(map(name, names))} FROM {source})"
        self.table = f"{source} AS {self._alias}"

    def column(self, column: str) -> str:
        """A column of the table."""
        return f"{self._alias}.{name(column)}"

    def as_text(self, cells: FeatureCells) -> str:
        """The text of a cell."""
        return cast(self.column(str(cells.column)), "TEXT")

    def code(self, cells: FeatureCells) -> str:
        """The code of a cell; missing where the model refuses it."""
        missing, unknown = (
            "NULL" if code is None else num(code)
            for code in (cells.missing, cells.unknown)
        )
        cell = self.column(str(cells.column))
        absent, value = [f"{cell} IS NULL"], cell
        if cells.reading.form in ("date", "duration"):
            value = _part(cells, cell, self._dialect)
        elif cells.kind == "intervals" or {*map(_type_name, cells.codes)} == {
            "numbers"
        }:
            number = cast(cell, "DOUBLE")
            nan = is_nan(number, self._dialect)
            absent += [nan] if nan else []
            value = number if cells.kind == "intervals" else cell
        cases = [(either(*absent), missing)]
        if cells.kind == "intervals":
            for code, cut in enumerate(cells.cut_points):
                cases.append((f"{value} <= {num(cut)}", num(code)))
            return case(cases, num(len(cells.cut_points)))
        _check_states(cells, self._dialect)
        groups: dict[int, list[Hashable]] = {}
        for state, code in cells.codes.items():
            groups.setdefault(code, []).append(state)
        for code, states in groups.items():
            cases.append((_is_one_of(value, states, self._dialect), num(code)))
        return case(cases, unknown)


def check_labels(labels: Sequence[Any], dialect: str) -> None:
    """Raise ValueError unless a column of a database can hold all class labels."""
    check_characters(labels, "a class label holds", "SQL")
    check_integers(labels, "the class labels hold", "SQL")
    # Columns of SQLite have no type, so that 1 and '1' differ there.
    if dialect != "sqlite":
        _check_types(labels, f"the class labels ({name_list(labels)}) are")


def _check_states(cells: FeatureCells, dialect: str) -> None:
    """Raise ValueError unless the values have one type that SQL has."""
    where = f"column {quoted(cells.column)} holds"
    _check_types(cells.codes, where)
    check_characters(cells.codes, f"{where} a text with", "SQL")
    if dialect == "sqlite":
        check_integers(cells.codes, where, "SQLite")


def _check_types(values: Iterable[Any], where: str) -> None:
    """Raise ValueError where values are of several types."""
    types = set(map(_type_name, values))
    if len(types) > 1:
        raise ValueError(
            f"{where} {name_list(sorted(types))}, but a column of a database has one "
            "type; convert all to text and fit again"
        )


def _type_name(value: Any) -> str:
    if isinstance(value, str | bool | np.bool_):
        return "text" if isinstance(value, str) else "truth values"
    return "numbers"


def _is_one_of(value: str, states: Sequence[Any], dialect: str) -> str:
    """Whether a value is one of some states: texts only if all their bytes are."""
    forms = {"mysql": "CAST({} AS BINARY)", "sqlite": "{} COLLATE BINARY"}
    form = forms.get(dialect, "{}") if isinstance(states[0], str) else "{}"
    value, *others = (form.format(each) for each in (value, *map(literal, states)))
    return f"{value} IN ({', '.join(others)})"


def _part(cells: FeatureCells, cell: str, dialect: str) -> str:
    """A part of a date, or a duration in its unit."""
    form, part = cells.reading.form, cells.part
    if dialect not in _DATED or (form == "duration" and dialect == "sqlite"):
        raise ValueError(
            f"column {quoted(cells.column)} holds {form}s, whose parts are not written "
            f"for {dialect}; make columns of numbers of them and fit again"
        )
    if part in ("year", "month"):
        field = f"EXTRACT({part.upper()} FROM CAST({cell} AS TIMESTAMP))"
        value = cast(field, "DOUBLE")
        if dialect == "sqlite":
            sign = "%Y" if part == "year" else "%m"
            value = f"CAST(STRFTIME({text(sign)}, {cell}) AS INTEGER)"
        return f"({value} - 1)" if part == "month" else value
    # Seconds since 1970.
    kind = "INTERVAL" if form == "duration" else "TIMESTAMP"
    seconds = cast(f"EXTRACT(EPOCH FROM CAST({cell} AS {kind}))", "DOUBLE")
    if dialect == "sqlite":
        # Julian days, of which 1970 began at 2440587.5.
        days = f"(JULIANDAY({cell}) - 2440587.5e0)"
        seconds = f"(ROUND({days} * 86400000e0, 0) / 1000e0)"
    if form == "duration":
        return f"({seconds} / {num(UNITS[str(cells.reading.unit)] / 1e6)})"
    if part == "days":
        origin = num((cells.reading.origin or 0) / 1e6)
        return f"(({seconds} - {origin}) / 86400e0)"
    unit, shift, size = (3600, 0, 24) if part == "hour" else (86400, 3, 7)
    whole = f"(FLOOR({seconds} / {unit}e0) + {shift})"
    return f"({whole} - FLOOR({whole} / {size}e0) * {size})"
