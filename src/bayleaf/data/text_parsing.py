"""Columns of text that spells numbers, booleans, dates or times."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np

from bayleaf.data.tables.array_columns import infinite
from bayleaf.data.tables.columns import (
    Column,
    NumberColumn,
    PlainColumn,
    TimeColumn,
    ValueColumn,
)

# What files write where a value is missing; in data frames it is text like any other.
MISSING_TEXTS = ("NA", "N/A", "NaN", "nan", "NULL", "None", "#N/A", "n/a", "?")
TRUTHS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}

_NUMBER = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
)
# How numbers, dates and times begin.
_BEGINNING = re.compile(r"[+-]?[.\diI]")
# Codes, such as those of post offices, may begin with zeros that numbers lose.
_PADDED = re.compile(r"[+-]?0\d")
_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d(:\d\d([.,]\d{1,9})?)?"
_DATE = re.compile(_DAY)
_MOMENT = re.compile(rf"{_DAY}[T ]{_CLOCK}(Z|[+-]\d\d(:?\d\d)?)?")
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?")
_START = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_LARGEST = 1 << 63


def spelled_out(column: ValueColumn) -> Column | None:
    """A column of text as what all its texts spell; None if some spell nothing.

    Values that occur in no row do not count.
    """
    if not _may_spell(column):
        return None
    used = np.unique(column.indices[column.indices >= 0]).tolist()
    texts = [column.values[place] for place in used]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    words = [str(text).strip() for text in texts]
    numbers = read_numbers(words)
    if numbers is not None:
        return _number_column(column, used, numbers)
    if all(word in TRUTHS for word in words):
        values: list[Hashable] = [False] * len(column.values)
        for place, word in zip(used, words, strict=True):
            values[place] = TRUTHS[word]
        return merged_values(replace(column, values=values))
    for pattern, parse in ((_DATE, _moment), (_MOMENT, _moment), (_TIME, _time_of_day)):
        times = _times(words, pattern, parse)
        if times is not None:
            table = np.zeros(len(column.values) + 1, dtype=np.int64)
            table[used] = times
            return TimeColumn(
                column.name,
                table[column.indices],
                column.indices < 0,
                parse is _time_of_day,
                column.repeats,
            )
    return None


def _may_spell(column: ValueColumn) -> bool:
    """Whether the first text of a column spells something; most columns end here."""
    first = int(column.indices[0]) if len(column.indices) else -1
    if first < 0:
        first = int(column.indices.max(initial=-1))
    text = column.values[first] if first >= 0 else None
    if not isinstance(text, str):
        return False
    word = text.strip()
    return word in TRUTHS or _BEGINNING.match(word) is not None


def read_numbers(texts: Sequence[str]) -> list[int | float] | None:
    """The numbers that texts spell; None if one spells none or has leading zeros."""
    for text in texts:
        if _NUMBER.fullmatch(text) is None or _PADDED.match(text):
            return None
    try:
        whole = [int(text) for text in texts]
        if all(-_LARGEST <= number < _LARGEST for number in whole):
            return list(whole)
    except ValueError:
        pass
    return [float(text) for text in texts]


def _times(
    texts: Sequence[str], pattern: re.Pattern[str], parse: Callable[[str], int]
) -> list[int] | None:
    """Texts of a form as microseconds; None if one has another form."""
    if not all(pattern.fullmatch(text) for text in texts):
        return None
    try:
        return [parse(text) for text in texts]
    except ValueError:
        return None


def _moment(text: str) -> int:
    """Microseconds since 1970 by the clock that a text shows, its zone left out."""
    moment = datetime.datetime.fromisoformat(text.replace(",", "."))
    return (moment.replace(tzinfo=None) - _START) // _MICROSECOND


def _time_of_day(text: str) -> int:
    """Microseconds since midnight."""
    time = datetime.time.fromisoformat(text)
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return seconds * 1_000_000


def _number_column(
    column: ValueColumn, used: list[int], numbers: Sequence[int | float]
) -> PlainColumn:
    """A column of numbers, whole ones as such."""
    whole = all(isinstance(number, int) for number in numbers)
    table = np.zeros(len(column.values) + 1, dtype=np.int64 if whole else np.float64)
    table[used] = numbers
    if not np.isfinite(table).all():
        raise infinite(column.name)
    missing = column.indices < 0
    return NumberColumn(
        column.name,
        table[column.indices],
        missing if missing.any() else None,
        column.repeats,
    )


def merged_values(column: ValueColumn) -> ValueColumn:
    """The same column with each value listed once."""
    index: dict[Hashable, int] = {}
    places = [index.setdefault(value, len(index)) for value in column.values]
    table = np.array([*places, -1], dtype=np.int32)
    return replace(column, indices=table[column.indices], values=list(index))
