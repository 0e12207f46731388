"""The values of a row as codes of the model's variables."""

from __future__ import annotations

import datetime
import math
import re
from bisect import bisect_left
from typing import Any

_TRUTHS = {
    word: word.lower() == "true"
    for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
NUMBER = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
)
# Codes, such as those of post offices, may begin with zeros that numbers lose.
_PADDED = re.compile(r"[+-]?0\d")
_LARGEST = 1 << 63
_CLOCK = r"(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ]" + _CLOCK + r"(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d))?", re.ASCII)
_START = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAY = 86_400_000_000
_HOUR = 3_600_000_000
_UNITS = {"days": _DAY, "hours": _HOUR, "minutes": 60_000_000, "seconds": 1_000_000}


class Cell:
    """How a column of the row becomes the code of a variable."""

    def __init__(self, shipped: Any) -> None:
        self.column: Any = shipped["column"]
        self.form: str = shipped["form"]
        self.part: Any = shipped.get("part")
        self.origin: int = shipped.get("origin", 0)
        self.unit: int = _UNITS.get(shipped.get("unit"), 1)
        self.cuts: Any = shipped.get("cuts")
        self.sort: str = shipped.get("sort", "")
        self.codes = dict(zip(shipped.get("values", ()), shipped.get("codes", ())))
        self.missing: Any = shipped["missing"]
        self.unknown: Any = shipped["unknown"]

    def code(self, value: Any, is_text: bool = False) -> int:
        """Code of a value; `is_text` says that numbers come as text, as in files."""
        if _is_missing(value):
            return self._allowed(self.missing, "is missing, which the model refuses")
        if self.form in ("date", "duration"):
            value = self._of_time(value)
        elif isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
            raise self._differs("dates or times", self._sort())
        else:
            value = self._plain(value, is_text)
        if self.cuts is not None:
            return bisect_left(self.cuts, float(value))
        code = self.codes.get(value, self.unknown)
        return self._allowed(code, "holds a value that training did not contain")

    def _allowed(self, code: Any, what: str) -> int:
        """A code, unless there is none for such a value."""
        if code is None:
            raise ValueError(f"column {self.column!r} {what}; give another value")
        return int(code)

    def _sort(self) -> str:
        """What the column held in training."""
        return "numbers" if self.cuts is not None else self.sort or "text"

    def _differs(self, held: str, was: str) -> ValueError:
        """The error for a value of another kind than those of training."""
        return ValueError(
            f"column {self.column!r} held {was} in training but holds {held} now; "
            f"convert it to {was}"
        )

    def _plain(self, value: Any, is_text: bool) -> Any:
        """A value as text, a number or a boolean, whichever training saw."""
        was = self._sort() if self.cuts is not None else self.sort
        if not isinstance(value, str):
            self._check_number(value)
        elif self.form == "truths":
            value = _TRUTHS.get(value.strip(), value)
        elif self.form == "numbers" or (is_text and was == "numbers"):
            value = _number(value)
            if not isinstance(value, str):
                self._check_number(value)
        now = "text" if isinstance(value, str) else "numbers"
        if was and now != was:
            raise self._differs(now, was)
        return value

    def _check_number(self, value: Any) -> None:
        """Raise ValueError unless a value is a finite number or a boolean."""
        try:
            is_infinite = math.isinf(value)
        except TypeError:
            raise ValueError(
                f"column {self.column!r} holds a {type(value).__name__}; give text, a "
                "number or None"
            ) from None
        except OverflowError:
            raise ValueError(
                f"column {self.column!r} holds a number too large for a float; pass "
                "such identifiers as text"
            ) from None
        if is_infinite:
            raise ValueError(
                f"column {self.column!r} holds infinity; replace it by a number or None"
            )

    def _of_time(self, value: Any) -> Any:
        """A part of a date, or a duration as a number of its unit."""
        was = "dates" if self.form == "date" else "durations"
        found = _duration(value) if self.form == "duration" else _moment(value)
        if found is None:
            other = _moment(value) if self.form == "duration" else _duration(value)
            held = "text" if isinstance(value, str) else "numbers"
            if other is not None:
                held = "dates" if self.form == "duration" else "durations"
            raise self._differs(held, was)
        if self.form == "duration":
            return found // self.unit if found % self.unit == 0 else found / self.unit
        if self.part == "days":
            return (found - self.origin) / _DAY
        if self.part == "hour":
            return found // _HOUR % 24
        if self.part == "weekday":
            # The first day of 1970 was a Thursday.
            return (found // _DAY + 3) % 7
        moment = _START + datetime.timedelta(microseconds=found)
        return moment.year if self.part == "year" else moment.month - 1


def _is_missing(value: Any) -> bool:
    """Whether a value stands for an empty cell: None, or not a number."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def _number(text: str) -> Any:
    """The number that a text spells, else the text."""
    word = text.strip()
    if NUMBER.fullmatch(word) is None or _PADDED.match(word):
        return text
    try:
        whole = int(word)
    except ValueError:
        return float(word)
    return whole if -_LARGEST <= whole < _LARGEST else float(word)


def _moment(value: Any) -> Any:
    """Microseconds since 1970 by the clock that a date shows; None for no date."""
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - _START) // _MICROSECOND
    if isinstance(value, datetime.date):
        return (value - _START.date()) // _MICROSECOND
    found = _MOMENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    parts: Any = [int(part or 0) for part in found.groups()[:6]]
    fraction = (found.group(7) or "").ljust(6, "0")[:6]
    try:
        moment = datetime.datetime(*parts) + int(fraction) * _MICROSECOND
    except ValueError:
        return None
    return (moment - _START) // _MICROSECOND


def _duration(value: Any) -> Any:
    """Microseconds of a duration or since midnight; None for neither."""
    if isinstance(value, datetime.timedelta):
        return value // _MICROSECOND
    if isinstance(value, datetime.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1_000_000 + value.microsecond
    found = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    hours, minutes, seconds = [int(part or 0) for part in found.groups()]
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
