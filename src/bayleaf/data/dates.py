"""Dates as columns of their parts, durations as numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayleaf.data.tables.array_columns import number_array, numpy_of
from bayleaf.data.tables.columns import (
    NumberColumn,
    PlainColumn,
    TimeColumn,
    ValueColumn,
)
from bayleaf.data.tables.date_parts import DAY, HOUR, UNITS
from bayleaf.wording import quoted

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
DAYS = "days"
PARTS = ("year", "month", "weekday", "hour", DAYS)


def clock_of(instants: NDArray[np.int64], zone: int | str) -> NDArray[np.int64]:
    """Microseconds since 1970 by the clock of a zone, of instants by that of UTC.

    A zone is minutes before UTC, or a name such as Europe/Berlin. ValueError if it is
    unknown.
    """
    if isinstance(zone, int):
        return instants + zone * UNITS["minutes"]
    try:
        zoned = number_array(instants).cast(pa.timestamp("us", zone))
        local = pc.local_timestamp(zoned).cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"{quoted(zone)} is not a time zone; name one such as Europe/Berlin"
        ) from error
    return np.asarray(numpy_of(local))


def plain_zone(zone: int | str | None) -> int | str | None:
    """A zone by its minutes before UTC, where these are the same all year."""
    if zone == "UTC":
        return 0
    fixed = isinstance(zone, str) and re.fullmatch(r"([+-])(\d\d):(\d\d)", zone)
    if not fixed:
        return zone
    minutes = int(fixed[2]) * 60 + int(fixed[3])
    return -minutes if fixed[1] == "-" else minutes


def zone_name(zone: int | str) -> str:
    """A zone as Arrow names it."""
    if isinstance(zone, str):
        return zone
    hours, minutes = divmod(abs(zone), 60)
    return f"{'-' if zone < 0 else '+'}{hours:02}:{minutes:02}"


def by_clock(column: TimeColumn, zone: int | str | None) -> TimeColumn:
    """A column of instants by the clock of a zone, by default its own.

    One without a zone stays what it is.
    """
    if column.zone is None:
        return column
    times = clock_of(column.microseconds, column.zone if zone is None else zone)
    return replace(column, microseconds=times, zone=None)


def varying_parts(column: TimeColumn) -> tuple[str, ...]:
    """The parts of dates that differ between rows; days alone where none does."""
    present = column.microseconds
    if column.missing.any():
        present = present[~column.missing]
    parts = []
    for part in PARTS:
        values = part_values(present, part, 0)
        if len(values) and values.min() < values.max():
            parts.append(part)
    return tuple(parts) or (DAYS,)


def first_day(column: TimeColumn) -> int:
    """Start of the first day of a column, in microseconds since 1970."""
    present = column.microseconds[~column.missing]
    return int(present.min() // DAY * DAY) if len(present) else 0


def part_columns(
    column: TimeColumn, parts: tuple[str, ...], origin: int
) -> list[PlainColumn]:
    """Columns of the parts of dates, each called "column: part".

    `parts` are among `PARTS`; days count from `origin`, in microseconds since 1970.
    """
    found: list[PlainColumn] = []
    missing = column.missing if column.missing.any() else None
    for part in parts:
        name = part_name(column.name, part)
        values = part_values(column.microseconds, part, origin)
        words = {"month": MONTHS, "weekday": WEEKDAYS}.get(part)
        if words is None:
            found.append(NumberColumn(name, values, missing))
        else:
            indices = np.where(column.missing, -1, values).astype(np.int32)
            found.append(ValueColumn(name, indices, list(words), ordered=True))
    return found


def part_name(name: str | int, part: str) -> str:
    """Name of the variable that a part of a date becomes."""
    return f"{name}: {part}"


def part_values(
    microseconds: NDArray[np.int64], part: str, origin: int
) -> NDArray[Any]:
    """One part of dates: months and weekdays from 0, days with their fractions."""
    if part == DAYS:
        return (microseconds - origin) / DAY
    if part == "hour":
        return microseconds // HOUR % 24
    days = microseconds // DAY
    if part == "weekday":
        # The first day of 1970 was a Thursday.
        return (days + 3) % 7
    low, high = (days.min(), days.max()) if len(days) else (0, 0)
    if high - low < len(days):
        # A table over the days is several times faster than each day's calendar.
        return _of_calendar(np.arange(low, high + 1), part)[days - low]
    return _of_calendar(days, part)


def _of_calendar(days: NDArray[np.int64], part: str) -> NDArray[Any]:
    """The year, or the month from 0, of days since 1970."""
    months = days.view("datetime64[D]").astype("datetime64[M]").view(np.int64)
    return months // 12 + 1970 if part == "year" else months % 12


def duration_unit(column: TimeColumn) -> str:
    """The largest unit of which all durations are multiples; else seconds."""
    present = column.microseconds[~column.missing]
    for unit, size in UNITS.items():
        if not (present % size).any():
            return unit
    return "seconds"


def duration_numbers(column: TimeColumn, unit: str) -> NumberColumn:
    """Durations as numbers of a unit."""
    missing = column.missing if column.missing.any() else None
    size = UNITS[unit]
    if not (column.microseconds % size).any():
        return NumberColumn(column.name, column.microseconds // size, missing)
    return NumberColumn(column.name, column.microseconds / size, missing)
