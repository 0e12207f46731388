"""Texts and times of a row as numbers; texts as those that training had.

Like the engine, it stays with what the standard library of Python 3.8 offers.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

from bayleaf.data.tables.date_parts import (
    DAY,
    HOUR,
    MICROSECOND,
    START,
    UNITS,
    clock_and_zone,
    time_of,
)

# Codes, such as those of post offices, may begin with zeros that numbers lose; others
# are like 1E10, where programs write 1E+10, or are of telephones.
_CODE = re.compile(r"[^\d.,]*0\d|\d+E\d|\+\d{8,}$", re.ASCII)
# Digits in groups, whose sign is the first or second group, or with decimals alone.
_GROUPED = re.compile(
    r"[1-9]\d?\d?([., '])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d*)?"
    r"|[1-9]\d?(?:(,)\d\d)+,\d{3}(?:\.\d*)?|\d+(?:[.,]\d*)?|[.,]\d+",
    re.ASCII,
)
_BLANKS = str.maketrans("\xa0\u2007\u2009\u202f\u2019", "    '")


class Numbers:
    """Reads texts that spell numbers."""

    def __init__(self, patterns: Any) -> None:
        self.pattern = re.compile(patterns["number"], re.ASCII)

    def value(self, value: str, cell: Any) -> Any:
        """The number that a text spells as a column's texts do; None if none."""
        text, form = value.strip().translate(_BLANKS), cell.text
        match = self.pattern.fullmatch(text)
        if match is None or _CODE.match(text):
            return None
        parts = match.groupdict("")
        signs = "".join([parts[name] for name in ("open", "before", "inner", "after")])
        is_odd = len(signs) > 1 or ("(" in signs) != bool(parts["close"])
        is_odd |= bool(parts["unit"] and parts["last_unit"])
        body = _GROUPED.fullmatch(parts["body"].rstrip("/=-\u2013\u2014"))
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
        number: Any = int(digits) if digits.isdigit() else float(digits)
        if number >= 1 << 63:
            number = float(digits)
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
            unit = UNITS[cell.unit]
            return found // unit if found % unit == 0 else found / unit
        if cell.part == "days":
            return (found - cell.origin) / DAY
        if cell.part == "hour":
            return found // HOUR % 24
        if cell.part == "weekday":
            # The first day of 1970 was a Thursday.
            return (found // DAY + 3) % 7
        moment = START + datetime.timedelta(microseconds=found)
        return moment.year if cell.part == "year" else moment.month - 1

    def _moment(self, value: Any, text: Any) -> Any:
        """Microseconds since 1970 by the clock of training; None for no such date."""
        if isinstance(value, datetime.datetime):
            moment = (value.replace(tzinfo=None) - START) // MICROSECOND
            ahead = value.utcoffset()
            offset = None if ahead is None else ahead // MICROSECOND
            return _by_clock(moment, offset, text.get("zone"))
        if isinstance(value, datetime.date):
            return (value - START.date()) // MICROSECOND
        order = text.get("order", "y-m-d")
        found = isinstance(value, str) and self.patterns[order].fullmatch(value.strip())
        months, eras = text.get("months"), text.get("eras")
        time = found and clock_and_zone(found.groupdict(), months, eras)
        if not time:
            return None
        minutes = time[1]
        offset = None if minutes is None else minutes * UNITS["minutes"]
        return _by_clock(time[0], offset, text.get("zone"))

    def _duration(self, value: Any) -> Any:
        """Microseconds of a duration or since midnight; None for neither."""
        if isinstance(value, datetime.timedelta):
            return value // MICROSECOND
        if isinstance(value, datetime.time):
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * 1_000_000 + value.microsecond
        found = isinstance(value, str) and self.patterns["time"].fullmatch(
            value.strip()
        )
        return time_of(found.groupdict()) if found else None


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
        return moment + zone * UNITS["minutes"]
    from zoneinfo import ZoneInfo

    instant = START + datetime.timedelta(microseconds=moment)
    instant = instant.replace(tzinfo=ZoneInfo("UTC"))
    local = instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return (local - START) // MICROSECOND
