"""Dates and times of the parts that patterns find in texts.

Scorers contain this, so it stays with the standard library of Python 3.8.
"""

from __future__ import annotations

import datetime
from typing import Any

# Units of durations, the largest first, in microseconds.
DAY = 86_400_000_000
HOUR = 3_600_000_000
UNITS = {"days": DAY, "hours": HOUR, "minutes": 60_000_000, "seconds": 1_000_000}
START = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)
# Years of two digits from here on are of the last century, as POSIX has it.
_LAST_CENTURY = 69


def clock_and_zone(parts: Any, months: Any, eras: Any) -> Any:
    """Microseconds since 1970 by the clock of a text, and minutes of it before UTC.

    The minutes are None without a zone. None for a day or time that does not exist;
    years, quarters and weeks are their first days.
    """
    word, quarter, week = parts.get("b"), parts.get("q"), parts.get("w")
    half, end = parts.get("s"), parts.get("e")
    era, digits = parts.get("era"), parts.get("y") or parts["n"].replace("\u5143", "1")
    year = int(digits) + (eras[era] if era else 0)
    if len(digits) == 2 and not era:
        year += 1900 if year >= _LAST_CENTURY else 2000
    month = months.get(word.lower(), 0) if word else int(parts.get("m") or 1)
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
    time, zone = time_of(parts), parts["zone"]
    if time is None:
        return None
    minutes = None
    if zone:
        ahead = zone.lstrip("UTCGMZ").replace(":", "")
        hours, rest = int(ahead[:3] or 0), int(ahead[3:] or 0)
        minutes = hours * 60 + (-rest if ahead.startswith("-") else rest)
    return (day - START) // MICROSECOND + time, minutes


def time_of(parts: Any) -> Any:
    """Microseconds since midnight; None if a clock does not show that time."""
    names = ("hour", "minute", "second")
    hour, minute, second = [int(parts[name] or 0) for name in names]
    half = parts["half"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    # A duration with seconds may take more than a day; of a text such as 45:30 it is
    # open whether these are hours.
    is_long = "days" in parts and parts["second"] and not (half or parts["days"])
    if (hour > 23 and not is_long) or minute > 59 or second > 59:
        return None
    hour += 24 * int(parts.get("days") or 0)
    fraction = int((parts["part"] or "").ljust(6, "0")[:6])
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
