"""Texts and times of a row as numbers; texts as those that training had.

Like the engine, it stays with what the standard library of Python 3.8 offers.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

# Codes, such as those of post offices, may begin with zeros that numbers lose.
_PADDED = re.compile(r"[^\d.,]*0\d", re.ASCII)
# Digits in groups, whose sign is the first or second group, or with decimals alone.
_GROUPED = re.compile(
    r"[1-9]\d?\d?([., '])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d*)?"
    r"|[1-9]\d?(?:(,)\d\d)+,\d{3}(?:\.\d*)?|\d+(?:[.,]\d*)?|[.,]\d+",
    re.ASCII,
)
_BLANKS = str.maketrans("\xa0\u2007\u2009\u202f\u2019", "    '")

_START = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DAY = 86_400_000_000
_HOUR = 3_600_000_000
_UNITS = {"days": _DAY, "hours": _HOUR, "minutes": 60_000_000, "seconds": 1_000_000}


class Numbers:
    """Reads texts that spell numbers."""

    def __init__(self, patterns: Any) -> None:
        self.pattern = re.compile(patterns["number"], re.ASCII)

    def value(self, value: str, cell: Any) -> Any:
        """The number that a text spells as a column's texts do; None if none."""
        text, form = value.strip().translate(_BLANKS), cell.text
        match = self.pattern.fullmatch(text)
        if match is None or _PADDED.match(text):
            return None
        parts = match.groupdict("")
        signs = "".join([parts[name] for name in ("open", "before", "inner", "after")])
        is_odd = len(signs) > 1 or bool(parts["open"]) != bool(parts["close"])
        is_odd |= bool(parts["unit"] and parts["last_unit"])
        body = _GROUPED.fullmatch(parts["body"].rstrip("-\u2013\u2014"))
        if not body or is_odd:
            return None
        if parts["last_unit"] == "%" and form.get("unit") != "%":
            return None
        digits, group = body.group(), body.group(1) or body.group(2)
        if group and group in ".," and digits.count(group) == 1 and digits[-4] == group:
            # Decimals or thousands, as the form has it.
            if group == form.get("decimal", "."):
                group = None
            elif group != form.get("thousands"):
                return None
        digits = digits.replace(group or " ", "").replace(",", ".") + parts["exponent"]
        number: Any = (
            int(digits) if digits.isdigit() and len(digits) < 19 else float(digits)
        )
        return -number if signs and signs != "+" else number


class Times:
    """Reads dates and durations."""

    def __init__(self, patterns: Any) -> None:
        # Numbers have ASCII digits alone, which their own reader compiles so.
        self.patterns = {name: re.compile(text) for name, text in patterns.items()}

    def value(self, value: Any, cell: Any) -> Any:
        """A part of a date, or a duration in its unit; else what the value holds."""
        times = self._moment(value, cell.text), self._duration(value)
        found, other = times if cell.form == "date" else times[::-1]
        if found is None and other is None:
            return "text" if isinstance(value, str) else "numbers"
        if found is None:
            return "durations" if cell.form == "date" else "dates"
        if cell.form == "duration":
            unit = _UNITS[cell.unit]
            return found // unit if found % unit == 0 else found / unit
        if cell.part == "days":
            return (found - cell.origin) / _DAY
        if cell.part == "hour":
            return found // _HOUR % 24
        if cell.part == "weekday":
            # The first day of 1970 was a Thursday.
            return (found // _DAY + 3) % 7
        moment = _START + datetime.timedelta(microseconds=found)
        return moment.year if cell.part == "year" else moment.month - 1

    def _moment(self, value: Any, text: Any) -> Any:
        """Microseconds since 1970 by the clock of training; None for no such date."""
        if isinstance(value, datetime.datetime):
            moment = (value.replace(tzinfo=None) - _START) // _MICROSECOND
            ahead = value.utcoffset()
            offset = None if ahead is None else ahead // _MICROSECOND
            return _by_clock(moment, offset, text.get("zone"))
        if isinstance(value, datetime.date):
            return (value - _START.date()) // _MICROSECOND
        order = text.get("order", "y-m-d")
        found = isinstance(value, str) and self.patterns[order].fullmatch(value.strip())
        return _of_calendar(found.groupdict(), text) if found else None

    def _duration(self, value: Any) -> Any:
        """Microseconds of a duration or since midnight; None for neither."""
        if isinstance(value, datetime.timedelta):
            return value // _MICROSECOND
        if isinstance(value, datetime.time):
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * 1_000_000 + value.microsecond
        found = isinstance(value, str) and self.patterns["time"].fullmatch(
            value.strip()
        )
        return _of_clock(found.groupdict()) if found else None


def _of_calendar(parts: Any, text: Any) -> Any:
    """Microseconds since 1970 of the parts of a date, by the clock of a zone."""
    word, quarter, week = parts.get("b"), parts.get("q"), parts.get("w")
    half, end = parts.get("s"), parts.get("e")
    era, digits = parts.get("era"), parts.get("y") or parts["n"].replace("\u5143", "1")
    year = int(digits) + (text["eras"][era] if era else 0)
    if len(digits) == 2 and not era:
        year += 1900 if year > 68 else 2000
    month = text["months"].get(word.lower(), 0) if word else int(parts.get("m") or 1)
    if quarter:
        month = 3 * int(quarter) - 2
    if half:
        month = 6 * int(half) - 5
    if end and (year + 1) % 10 ** len(end) != int(end):
        return None
    try:
        if week:
            weekday = int(parts["k"] or 1)
            day = datetime.datetime.fromisocalendar(year, int(week), weekday)
        else:
            day = datetime.datetime(year, month, int(parts.get("d") or 1))
    except ValueError:
        return None
    time, zone = _of_clock(parts), parts["zone"]
    if time is None:
        return None
    offset = None
    if zone:
        digits = zone[1:].replace(":", "").ljust(4, "0") if zone[0] in "+-" else "0000"
        minutes = int(digits[:2]) * 60 + int(digits[2:])
        offset = (-minutes if zone[0] == "-" else minutes) * 60_000_000
    moment = (day - _START) // _MICROSECOND + time
    return _by_clock(moment, offset, text.get("zone"))


def _by_clock(moment: Any, offset: Any, zone: Any) -> Any:
    """A moment by the clock of a zone; None if only one of both has a zone.

    `moment` and `offset`, of its own clock before UTC, are microseconds.
    """
    if zone == "written":
        return moment
    if zone is None or offset is None:
        return moment if zone is None and offset is None else None
    moment -= offset
    if isinstance(zone, int):
        return moment + zone * 60_000_000
    from zoneinfo import ZoneInfo

    instant = _START + datetime.timedelta(microseconds=moment)
    instant = instant.replace(tzinfo=ZoneInfo("UTC"))
    local = instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return (local - _START) // _MICROSECOND


def _of_clock(parts: Any) -> Any:
    """Microseconds since midnight of the parts of a text; None for no such time."""
    names = ("hour", "minute", "second")
    hour, minute, second = [int(parts[name] or 0) for name in names]
    half = parts["half"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    is_long = "days" in parts and parts["second"] and not (half or parts["days"])
    if (hour > 23 and not is_long) or minute > 59 or second > 59:
        return None
    hour += 24 * int(parts.get("days") or 0)
    fraction = int((parts["part"] or "").ljust(6, "0")[:6])
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
