"""Cells of a table as codes of the model's variables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from sqlglot import exp

from bayleaf.data.reading.dates import UNITS
from bayleaf.io.exports.cells import FeatureCells
from bayleaf.io.exports.characters import check_characters, check_integers
from bayleaf.io.exports.sql.words import (
    Expression,
    at_most,
    case,
    col,
    double,
    either,
    equal,
    is_nan,
    is_null,
    literal,
    minus,
    null,
    num,
    over,
    plus,
    text,
)
from bayleaf.wording import name_list, quoted

# Dialects in which parts of dates and durations are written.
_DATED = ("duckdb", "postgres", "sqlite")
_DAY_SECONDS = 86_400


def code_of(cells: FeatureCells, dialect: str) -> Expression:
    """The code of a cell of the source table; missing where the model refuses it."""
    missing, unknown = (
        null() if code is None else num(code) for code in (cells.missing, cells.unknown)
    )
    value, absent = _value(cells, dialect)
    if cells.kind == "intervals":
        last = num(len(cells.cut_points))
        found = [
            (at_most(value.copy(), num(cut)), num(code))
            for code, cut in enumerate(cells.cut_points)
        ]
        return case([(either(*absent), missing), *found], last)
    groups: dict[int, list[Hashable]] = {}
    for state, code in cells.codes.items():
        groups.setdefault(code, []).append(state)
    _check_states(cells, dialect)
    found = [
        (_is_one_of(value, states, dialect), num(code))
        for code, states in groups.items()
    ]
    return case([(either(*absent), missing), *found], unknown)


def check_labels(labels: Sequence[Any], dialect: str) -> None:
    """Raise ValueError unless a column of a database can hold all class labels."""
    check_characters(labels, "a class label holds", "SQL")
    check_integers(labels, "the class labels hold", "SQL")
    # Columns of SQLite have no type, so that 1 and '1' differ there.
    if dialect != "sqlite":
        _check_sorts(labels, f"the class labels ({name_list(labels)}) are")


def _check_states(cells: FeatureCells, dialect: str) -> None:
    """Raise ValueError unless the values have one type that SQL has."""
    where = f"column {quoted(cells.column)} holds"
    _check_sorts(list(cells.codes), where)
    check_characters(cells.codes, f"{where} a text with", "SQL")
    if dialect == "sqlite":
        check_integers(cells.codes, where, "SQLite")


def _check_sorts(values: Sequence[Any], where: str) -> None:
    """Raise ValueError where values are of several types."""
    sorts = {_sort(value) for value in values}
    if len(sorts) > 1:
        raise ValueError(
            f"{where} {name_list(sorted(sorts))}, but a column of a database has one "
            "type; convert all to text and fit again"
        )


def _sort(state: Any) -> str:
    """Whether a value is text, a truth value or a number."""
    if isinstance(state, str):
        return "text"
    return "truth values" if isinstance(state, bool) else "numbers"


def _is_one_of(value: Expression, states: list[Any], dialect: str) -> Expression:
    """Whether a value is one of some states."""
    own = [_comparable(literal(state), state, dialect) for state in states]
    value = _comparable(value.copy(), states[0], dialect)
    if len(own) == 1:
        return equal(value, own[0])
    return exp.In(this=value, expressions=own)


def _comparable(value: Expression, state: Any, dialect: str) -> Expression:
    """A value so that texts are equal only if all their bytes are."""
    if not isinstance(state, str):
        return value
    if dialect == "mysql":
        return exp.cast(value, exp.DataType.build("binary"))
    if dialect == "sqlite":
        return exp.Collate(this=value, expression=exp.var("BINARY"))
    return value


def _value(cells: FeatureCells, dialect: str) -> tuple[Expression, list[Expression]]:
    """The value that has a code, and when it is missing."""
    cell = col(str(cells.column))
    absent = [is_null(cell.copy())]
    if cells.reading.form in ("date", "duration"):
        return _part(cells, dialect), absent
    is_numeric = cells.kind == "intervals" or _holds_numbers(cells)
    nan = is_nan(double(cell.copy()), dialect) if is_numeric else None
    if nan is not None:
        absent.append(nan)
    if cells.kind == "intervals":
        return double(cell), absent
    return cell, absent


def _holds_numbers(cells: FeatureCells) -> bool:
    """Whether values are numbers that may be none."""
    return bool(cells.codes) and all(
        isinstance(state, int | float) and not isinstance(state, bool)
        for state in cells.codes
    )


def _part(cells: FeatureCells, dialect: str) -> Expression:
    """A part of a date, or a duration in its unit."""
    form = cells.reading.form
    if dialect not in _DATED or (form == "duration" and dialect == "sqlite"):
        raise ValueError(
            f"column {quoted(cells.column)} holds {form}s, whose parts are not written "
            f"for {dialect}; make columns of numbers of them and fit again"
        )
    seconds = _seconds(col(str(cells.column)), form, dialect)
    if form == "duration":
        unit = UNITS[str(cells.reading.unit)] / 1e6
        return over(seconds, num(unit))
    if cells.part == "days":
        origin = (cells.reading.origin or 0) / 1e6
        return over(minus(seconds, num(origin)), num(float(_DAY_SECONDS)))
    if cells.part in ("year", "month"):
        found = _calendar(cells, dialect)
        return minus(found, num(1)) if cells.part == "month" else found
    if cells.part == "hour":
        return _whole_modulo(over(seconds, num(3600.0)), 0, 24)
    return _whole_modulo(over(seconds, num(float(_DAY_SECONDS))), 3, 7)


def _seconds(cell: Expression, form: str, dialect: str) -> Expression:
    """Seconds since 1970 of a date, or of a duration."""
    if dialect == "sqlite":
        # Julian days, of which 1970 began at 2440587.5.
        days = exp.Anonymous(this="JULIANDAY", expressions=[cell])
        micros = exp.Round(
            this=exp.Mul(
                this=minus(days, num(2440587.5)), expression=num(_DAY_SECONDS * 1e3)
            ),
            decimals=num(0),
        )
        return over(micros, num(1e3))
    kind = "interval" if form == "duration" else "timestamp"
    epoch = exp.Extract(this=exp.var("EPOCH"), expression=exp.cast(cell, kind))
    return double(epoch)


def _calendar(cells: FeatureCells, dialect: str) -> Expression:
    """Year or month of a date."""
    cell = col(str(cells.column))
    if dialect == "sqlite":
        form = "%Y" if cells.part == "year" else "%m"
        found = exp.Anonymous(this="STRFTIME", expressions=[text(form), cell])
        return exp.cast(found, "int")
    unit = exp.var(str(cells.part).upper())
    return double(exp.Extract(this=unit, expression=exp.cast(cell, "timestamp")))


def _whole_modulo(value: Expression, shift: int, size: int) -> Expression:
    """The remainder of a number rounded down, from 0 on."""
    whole = plus(exp.Floor(this=value), num(float(shift)))
    parts = exp.Floor(this=over(whole.copy(), num(float(size))))
    return minus(whole, exp.Paren(this=exp.Mul(this=parts, expression=num(size))))
