"""Dates and times that texts spell, in the orders that people write them."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayleaf.data.tables.array_columns import numpy_of
from bayleaf.data.tables.date_parts import (
    MICROSECOND,
    START,
    UNITS,
    clock_and_zone,
    time_of,
)

# Names of months, in full or in their first letters, of the languages of most files.
_MONTH_NAMES = {
    1: "january januar janvier enero gennaio janeiro januari jan ene gen janv",
    2: "february februar fevrier février febrero febbraio fevereiro februari feb fev"
    " fév févr",
    3: "march märz maerz mars marzo março marco maart mar mär mrz mrt",
    4: "april avril abril aprile apr avr abr",
    5: "may mai mayo maggio maio mei mag",
    6: "june juni juin junio giugno junho jun giu",
    7: "july juli juillet julio luglio julho jul juil lug",
    8: "august août aout agosto augustus aug aoû ago",
    9: "september septembre septiembre settembre setembro sep sept set",
    10: "october oktober octobre octubre ottobre outubro oct okt ott out",
    11: "november novembre noviembre novembro nov",
    12: "december dezember décembre decembre diciembre dicembre dezembro dec dez déc"
    " dic",
}
MONTHS = {
    word: month for month, words in _MONTH_NAMES.items() for word in words.split()
}

# The year before the first of each Japanese era.
ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}

_CLOCK = (
    r"(?:(?:[T,:]?\s*|\s+)(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s*(?P<zone>Z|(?:UTC|GMT)(?:[+-]\d\d?(?::?\d\d)?)?|[+-]\d\d(?::?\d\d)?)?)?"
)
_YEAR, _SHORT_YEAR = r"(?P<y>\d{4})", r"(?P<y>\d{4}|\d\d)"
_DAY, _MONTH = r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})"
_WORD = r"(?P<b>[^\W\d_]{3,10})\.?"
_ORDINAL = r"(?:st|nd|rd|th|\.)?"
# As in "Mon, 6 Jan 2020" and "6 de enero de 2020".
_WEEKDAY, _OF = r"(?:[^\W\d_]{3,10},? )?", r"(?:de )?"
_PATTERNS = {
    **{f"y{s}m{s}d": f"{_YEAR}{s}{_MONTH}{s}{_DAY}" for s in "-/"},
    **{f"d{s}m{s}y": f"{_DAY}{s}{_MONTH}{s}{_SHORT_YEAR}" for s in "/-"},
    # Hungary and Korea write blanks and a last point, Czechia and Croatia one of them,
    # Poland and Bulgaria a letter for the year.
    "y.m.d": rf"{_YEAR}\. ?{_MONTH}\. ?{_DAY}\.?",
    "d.m.y": rf"{_DAY}\. ?{_MONTH}\. ?{_SHORT_YEAR}(?: ?[rг]?\.)?",
    "y年m月d日": rf"{_YEAR} ?[年년] ?{_MONTH} ?[月월] ?{_DAY} ?[日일]",
    **{f"m{s}d{s}y": f"{_MONTH}{s}{_DAY}{s}{_SHORT_YEAR}" for s in "/-"},
    "d month y": rf"{_WEEKDAY}{_DAY}{_ORDINAL}[ /-]?"
    rf"{_OF}{_WORD},?[ /-]?{_OF}{_SHORT_YEAR}",
    "month d y": rf"{_WEEKDAY}{_WORD} {_DAY}{_ORDINAL},? {_YEAR}",
    "month y": rf"{_WORD}[ -]{_YEAR}",
    # Only where a plan requests it: without signs between they are numbers.
    "ymd": r"(?P<y>(?:1[89]|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)",
    # Of seasons and financial years, before the months that some of them may be.
    "y/y": r"(?P<y>(?:1[89]|20)\d\d)[/–-](?P<e>\d{4}|\d\d)",
    "y-m": rf"{_YEAR}-{_MONTH}",
    "y/m": rf"{_YEAR}/{_MONTH}",
    "m/y": rf"{_MONTH}/{_YEAR}",
    "yMm": rf"{_YEAR}[ -]?[Mm]{_MONTH}",
    "y half": rf"{_YEAR}[ -]?[HhSs](?P<s>[12])",
    "half y": r"(?=[HhSs]|\d(?:[Hh]|\. ?H|(?:st|nd) [Hh]))[HhSs]?(?P<s>[12])"
    rf"(?:[Hh]|\. ?Halbjahr|(?:st|nd) [Hh]alf)?[ /-]?{_YEAR}",
    "fiscal y": rf"[Ff][Yy][ -]?'?{_SHORT_YEAR}(?:[/–-](?P<e>\d{{4}}|\d\d))?"
    r"(?:[ -]?[Qq](?P<q>[1-4]))?",
    "y quarter": rf"{_YEAR}[ -]?[Qq](?P<q>[1-4])",
    "quarter y": r"(?=[Qq]|\d(?:\.|st|nd|rd|th) ?[Qq])[Qq]?(?P<q>[1-4])"
    rf"(?:\. ?Quartal|(?:st|nd|rd|th) [Qq]uarter)?[ /-]{_YEAR}",
    # Of ISO 8601, with or without the day of the week.
    "y week": rf"{_YEAR}-?W(?P<w>\d\d)(?:-(?P<k>[1-7]))?",
    "era年m月d日": rf"(?P<era>{'|'.join(ERAS)}) ?(?P<n>\d{{1,2}}|元)年 ?"
    rf"{_MONTH}月 ?{_DAY}日",
}
_FORMS = {order: re.compile(pattern + _CLOCK) for order, pattern in _PATTERNS.items()}
DATE_ORDERS = frozenset(_FORMS)
# Orders of months, quarters, years and so on, which are dates by their first day.
PERIODS = frozenset(
    order
    for order, pattern in _PATTERNS.items()
    if not re.search(r"\(\?P<[dk]>", pattern)
)
# Orders that one text may have both of.
TURNED = {"d/m/y": "m/d/y", "d-m-y": "m-d-y"}
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?")
# Such dates as Arrow reads them to the same moments: real hours, no year zero.
_PLAIN_ISO = (
    r"^[1-9]\d{3}-\d\d-\d\d(?:[T ](?:[01]\d|2[0-3]):[0-5]\d"
    r"(?::[0-5]\d(?:\.\d{1,6})?)?)?$"
)
_DIGIT = re.compile(r"\d")
_BEGINNING = re.compile(rf"\d|[^\W\d_]{{3}}|[QqHhSs]\d|[Ff][Yy]|{'|'.join(ERAS)}")
TIME = re.compile(
    r"(?:(?P<days>-?\d{1,6}) days?,? \+?)?(?P<hour>\d{1,4}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
)


class Moment(NamedTuple):
    """A date that a text spells in one order."""

    order: str
    clock: int  # microseconds since the start of 1970, by the clock of the text
    zone: int | None  # minutes of that clock before UTC; None where it has no zone


def date_pattern(order: str) -> str:
    """The pattern of dates of an order, with a name for each part."""
    return _FORMS[order].pattern


def moments_of(text: str, only: str | None = None) -> list[Moment]:
    """The dates that a text spells, by order; `only` that order, where it is given."""
    if _BEGINNING.match(text) is None or _DIGIT.search(text) is None:
        return []
    if only in (None, "y-m-d") and _ISO.fullmatch(text):
        try:
            day = datetime.datetime.fromisoformat(text)
        except ValueError:
            return []
        return [Moment("y-m-d", (day - START) // MICROSECOND, None)]
    found = []
    for order in _FORMS if only is None else (only,):
        match = _FORMS[order].fullmatch(text)
        moment = match and clock_and_zone(match.groupdict(), MONTHS, ERAS)
        if moment:
            found.append(Moment(order, *moment))
    return found


def iso_clocks(texts: pa.Array) -> NDArray[np.int64] | None:
    """Microseconds since 1970 of ISO dates without a zone, a thousand times faster.

    None unless every text is one.
    """
    if (
        not len(texts)
        or not pc.all(pc.match_substring_regex(texts, _PLAIN_ISO)).as_py()
    ):
        return None
    try:
        return numpy_of(texts.cast(pa.timestamp("us")).cast(pa.int64()))
    except pa.ArrowInvalid:  # a day that does not exist
        return None


def time_of_day(text: str) -> int | None:
    """Microseconds of a time of a day or a duration; None if a text spells neither."""
    match = TIME.fullmatch(text)
    return None if match is None else time_of(match.groupdict())


def instant(moment: Moment) -> int:
    """Microseconds since 1970 by the clock of UTC; as written without a zone."""
    return moment.clock - (moment.zone or 0) * UNITS["minutes"]
