"""How the texts of a column spell values: decided once, applied to every table.

The decision is made from evidence that adds up over batches, so that a file, a frame
and a stream of the same rows are read alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_letters
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from bayleaf.data.date_texts import (
    DATE_ORDERS,
    TURNED,
    instant,
    iso_clocks,
    moments_of,
    time_of_day,
)
from bayleaf.data.dates import PARTS, clock_of
from bayleaf.data.tables.array_columns import arrow_of, infinite, numpy_of
from bayleaf.data.tables.columns import (
    Column,
    NumberColumn,
    TextValues,
    TimeColumn,
    ValueColumn,
)
from bayleaf.results.result import Shown
from bayleaf.wording import counted, name_list, quoted

Kind = Literal["text", "number", "boolean", "date", "duration"]
# What a column is for; one that is left out becomes no variable.
WRITTEN = "written"
USES = ("nominal", "numeric", "left_out")

# What files write where a value is missing, whatever the column holds; in data frames
# it is text like any other.
MISSING_TEXTS = ("NA", "N/A", "NaN", "nan", "NULL", "None", "#N/A", "n/a", "?")
# What else programs write there; a note names it in a column of other texts.
SUSPECT_TEXTS = (*MISSING_TEXTS, "null", "<NA>", "NaT", "\\N", "#NULL!", "#DIV/0!")
# Errors of spreadsheets in English, German, French, Spanish, Italian, Portuguese,
# Dutch, Polish, Swedish and Russian.
SHEET_ERRORS = (
    "#N/A #NA #NULL! #NUM! #VALUE! #REF! #DIV/0! #NAME? #SPILL! #CALC! #NV #WERT!"
    " #BEZUG! #ZAHL! #VALEUR! #NOMBRE! #NOM? #NUL! #N/D #¡VALOR! #¡REF! #¡NUM!"
    " #¡DIV/0! #¡NULO! #¿NOMBRE? #VALORE! #RIF! #NOME? #NULLO! #VALOR! #NÚM! #NULO!"
    " #N/B #WAARDE! #VERW! #DEEL/0! #GETAL! #NAAM? #LEEG! #N/D! #ARG! #ADR! #LICZBA!"
    " #DZIEL/0! #NAZWA? #ZERO! #SAKNAS! #VÄRDEFEL! #REFERENS! #OGILTIGT! #NAMN?"
    " #SKÄRNING! #DIVISION/0! #Н/Д #ЗНАЧ! #ССЫЛКА! #ДЕЛ/0! #ЧИСЛО! #ИМЯ? #ПУСТО!"
)
# Words for a missing cell among numbers, dates or booleans; in a column of other texts
# they may be values.
MISSING_MARKERS = frozenset(
    {
        "",
        "-",
        "--",
        "---",
        ".",
        "..",
        "...",
        "…",
        ":",
        "?",
        "*",
        "\\N",
        "#N/A N/A",
        "<NA>",
        "N/A",
        "n/a",
        "NA",
        "na",
        "n.a.",
        "N.A.",
        "k.A.",
        "NaN",
        "nan",
        "-nan",
        "NaT",
        "NULL",
        "Null",
        "null",
        "None",
        "none",
        "nil",
        "NIL",
        "missing",
        "Missing",
        "MISSING",
        "unknown",
        "Unknown",
        "UNKNOWN",
        "unbekannt",
        "not available",
        "–",
        "—",
        *(f".{letter}" for letter in f"_{ascii_letters}"),  # of SAS and Stata
        *SHEET_ERRORS.split(),
    }
)


def is_marker(text: str) -> bool:
    """Whether a text can only mean a missing cell among numbers, dates or booleans."""
    return text.strip() in MISSING_MARKERS


def is_infinite(text: str) -> bool:
    """Whether a text spells an infinite number."""
    return text.strip().lower().lstrip("+-") in ("inf", "infinity")


TRUTHS = {
    text: truth
    for word, truth in (("true", True), ("false", False))
    for text in (word, word.title(), word.upper())
}
TRUE_TEXTS, FALSE_TEXTS = frozenset({"true"}), frozenset({"false"})
# Texts that show whether most of a column are distinct.
_HEAD = 1 << 14
# Other words than these are kept apart up to so many; more make a column one of text.
_MAX_LISTED = 64
# A column with a few words among its numbers or dates is one of numbers or dates: so
# many distinct ones at most, and so large a share of the cells.
MAX_WORDS, MAX_WORD_SHARE = 5, 0.05
# Fewer distinct numbers next to words may be codes.
MIN_NUMBERS = 10

_CURRENCY = (
    r"[A-Z]{0,2}\$|[€£¥￥₹₩₽₺₫₪₴฿円元원]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK"
    r"|PLN|CZK|HUF|BRL|RUB|TRY|MXN|ZAR|NZD|SGD|HKD|KRW|kr\.?|zł|Kč|Ft|Fr\.|Rs\.?|руб\.?"
)
_BLANK = r"[ \x{a0}\x{2007}\x{2009}\x{202f}]"
# Prices without cents have a dash in their place, not a minus; in India and East Africa
# a stroke as well. Books have the parentheses of negative ones behind the unit, too.
NUMBER_PARTS = (
    r"^(?P<open>\()?(?P<before>[+\-−])?"
    rf"(?P<unit>{_CURRENCY})?{_BLANK}?(?P<inner>[+\-−(])?"
    r"(?P<body>[\d.,'’\x{a0}\x{2007}\x{2009}\x{202f} ]*\d(?:[.,](?:--?|[–—])?|/[-=])?)"
    r"(?P<exponent>[eE][+-]?\d+)?"
    rf"{_BLANK}?(?P<last_unit>%|{_CURRENCY})?(?P<after>-)?(?P<close>\))?$"
)
# The same for Python, which finds within microseconds that no text of a few is one.
_NUMBER = re.compile(
    re.sub(r"\\x\{(\w+)\}", lambda code: chr(int(code[1], 16)), NUMBER_PARTS), re.ASCII
)
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d)"
_GROUPED = r"[1-9]\d{0,2}(?:%s\d{3})+"


class _Signature(NamedTuple):
    """A way to write a number, and the decimal and thousands signs that allow it."""

    pattern: str
    signs: frozenset[tuple[str, str]]


# Decimal and thousands signs, the plainer before others.
SIGNS: tuple[tuple[str, str], ...] = (
    (".", ""),
    (",", ""),
    (".", ","),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
)


def _signatures() -> dict[str, _Signature]:
    """The ways to write a number, the first that fits being the one of a text."""
    points = frozenset(sign for sign in SIGNS if sign[0] == ".")
    commas = frozenset(SIGNS) - points
    result = {"integer": _Signature(r"^\d+$", frozenset(SIGNS))}
    thousand = r"^[1-9]\d{0,2}%s\d{3}$"
    result["point of three"] = _Signature(thousand % r"\.", points | {(",", ".")})
    result["comma of three"] = _Signature(thousand % ",", commas | {(".", ",")})
    result["point"] = _Signature(r"^(?:\d+\.\d*|\.\d+)$", points)
    result["comma"] = _Signature(r"^(?:\d+,\d*|,\d+)$", commas)
    indian = r"[1-9]\d?(?:,\d{2})+,\d{3}"
    groups = {",": rf"(?:{_GROUPED % ','}|{indian})", ".": _GROUPED % r"\."}
    groups[" "], groups["'"] = _GROUPED % " ", _GROUPED % "'"
    for sign, group in groups.items():
        item = frozenset(signs for signs in SIGNS if signs[1] == sign)
        if sign == ".":
            result["address"] = _Signature(rf"^{_BYTE}(?:\.{_BYTE}){{3}}$", item)
        result[f"groups by {sign}"] = _Signature(f"^{group}$", item)
        for decimal in ".,":
            if decimal != sign:
                name = f"groups by {sign} and {decimal}"
                pattern = rf"^{group}{re.escape(decimal)}\d*$"
                result[name] = _Signature(pattern, item & {(decimal, sign)})
    return result


_SIGNATURES = _signatures()
_PLAIN = (
    r"^(?:[+-]?(?:(?:0|[1-9]\d*)\.\d*|\.\d+)(?:[eE][+-]?\d+)?"
    r"|(?:-?(?:0|[1-9]\d*)|\+(?:0|[1-9]\d{0,6}))(?:e[+-]?\d+|E[+-]\d+)?)$"
)
_DIGIT = re.compile(r"\d")
_FLOAT = r"[eE]|\d{19}"
_LONG = r"^[+-]?\d{19,}$"
_MAX = str((1 << 63) - 1)
# Integers of 64 bits: shorter than the largest one, or smaller from some digit on.
_INTEGER = rf"^[+-]?(?:\d{{1,18}}|{_MAX}|" + "|".join(
    rf"{_MAX[:i]}[0-{int(digit) - 1}]\d{{{18 - i}}}"
    for i, digit in enumerate(_MAX)
    if digit != "0"
)
_INTEGER += ")$"
# Numbers with a sign that programs or people put before them, or a unit behind.
_WITH_SIGNS = re.compile(
    r"(['~≈]|[<>]=?|[≤≥])? ?[+-]?[$€£¥]?\d[\d.,]* ?([^\W\d_]{1,5}\.?|[°µ%‰][^\W\d_]?)?"
)
_ZEROS = re.compile(r"0\d+")
_OTHER_DIGITS = re.compile(r"(?=.*[^\W0-9])[^\w\s]?\d[\d\W]*")
# Codes, such as those of post offices, may begin with zeros that numbers lose; others
# are like 1E10 of the ICD, where programs write 1E+10, or are of telephones.
_CODE = r"^[^\d.,]*0\d|^\d+E\d|^\+\d{8,}$"


@dataclass(frozen=True)
class TextForm(Shown):
    """How the texts of a column are read.

    Parameters
    ----------
    kind : {"text", "number", "boolean", "date", "duration"}
        What the texts spell; a duration may be a time of a day.
    decimal, thousands : str
        Signs of numbers: a point or a comma; and none, the other one, a blank or an
        apostrophe.
    unit : str
        Sign of percent or of a currency, next to each number.
    order : str
        Of a date's parts, such as "y-m-d", "d.m.y", "m/d/y" or "d month y".
    zone : int or str, optional
        Time zone by whose clock dates with a zone are read: minutes before UTC, a name
        such as "Europe/Berlin", or "written" for the clock of each. None for dates
        without a zone. Dates of the other kind are missing cells.
    missing : tuple of str
        Texts that are missing cells, without blanks around them.
    use : {"nominal", "numeric", "left_out"}, optional
        Role of the column; by default its values decide.
    parts : tuple of str, optional
        Parts of a date that become variables; by default those that vary.
    """

    kind: Kind = "text"
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    order: str = ""
    zone: int | str | None = None
    missing: tuple[str, ...] = ()
    use: str | None = None
    parts: tuple[str, ...] | None = None

    @property
    def is_decided(self) -> bool:
        """Whether a column is used so whatever values the rows of a fold have."""
        return self.use is not None or self.parts is not None

    def check_content(self) -> None:
        """Raise ValueError if a sign, role, part or the order of a date is unknown."""
        if self.use not in (None, *USES):
            raise ValueError(f"use must be {name_list(USES)}, got {quoted(self.use)}")
        if self.use == "numeric" and self.kind not in ("number", "duration"):
            raise ValueError(f"a column of kind {quoted(self.kind)} is not numeric")
        for part in self.parts or ():
            if part not in PARTS:
                raise ValueError(
                    f"parts of dates are {name_list(PARTS)}, got {quoted(part)}"
                )
        if (self.decimal, self.thousands) not in SIGNS:
            raise ValueError(
                f"decimal sign {quoted(self.decimal)} and thousands sign "
                f"{quoted(self.thousands)} are not a pair of signs"
            )
        if self.zone not in (None, WRITTEN):
            clock_of(np.zeros(1, np.int64), self.zone)
        if self.kind == "date" and self.order not in DATE_ORDERS:
            raise ValueError(f"dates have no order {quoted(self.order)}")

    def described(self) -> str:
        """What is unusual of the form, in words; empty where nothing is."""
        parts = []
        if self.kind == "number":
            if self.decimal == ",":
                parts.append("decimal commas")
            if self.thousands:
                names = {
                    ",": "commas",
                    ".": "points",
                    " ": "blanks",
                    "'": "apostrophes",
                }
                parts.append(f"{names[self.thousands]} between thousands")
            if self.unit:
                parts.append(f"in {self.unit}")
        if self.kind == "date" and self.order != "y-m-d":
            parts.append(f"dates as {self.order}")
        return ", ".join(parts)


@dataclass(frozen=True)
class FileSigns(Shown):
    """What other columns of a table reveal for ambiguous ones; None where nothing."""

    decimal_comma: bool | None = None
    day_first: bool | None = None


NO_SIGNS = FileSigns()


@dataclass
class TextEvidence:
    """Counts of what the cells of a column may spell; evidence of batches adds up."""

    n_cells: int = 0  # with text
    n_booleans: int = 0
    n_numbers: int = 0
    n_times: int = 0  # of a day
    n_floats: int = 0  # numbers with an exponent, or too long for an integer
    n_long: int = 0  # integers of 19 digits or more
    signatures: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)  # cells, by order
    zones: Counter[int | None] = field(default_factory=Counter)
    n_dates: int = 0  # cells with a date of any order
    numbers: dict[str, None] = field(default_factory=dict)  # the first distinct ones
    words: dict[str, int] = field(default_factory=dict)  # what is not a number: cells
    strange: dict[str, int] = field(default_factory=dict)  # nor boolean, date, time
    n_words: int = 0
    n_strange: int = 0

    @classmethod
    def of(cls, texts: pa.Array | pa.ChunkedArray) -> TextEvidence:
        """That of the cells of a batch; null cells do not count."""
        result = cls()
        present = texts.drop_null()
        if not len(present):
            return result
        trimmed = pc.utf8_trim_whitespace(present)
        if isinstance(trimmed, pa.ChunkedArray):
            trimmed = trimmed.combine_chunks()
        head = trimmed.slice(0, _HEAD)
        # To count the cells of each of many texts takes longer than to look at all.
        are_many = 2 * pc.count_distinct(head).as_py() > len(head)
        if are_many and result._add_plain(trimmed, np.ones(len(trimmed), np.int64)):
            result.n_cells = len(trimmed)
            return result
        counts = pc.value_counts(trimmed)
        result.add(counts.field("values"), numpy_of(counts.field("counts")))
        return result

    def add(self, texts: pa.Array, cells: NDArray[np.int64]) -> None:
        """Count distinct texts, trimmed, each with its number of cells."""
        self.n_cells += int(cells.sum())
        few = texts.to_pylist() if len(texts) <= _MAX_LISTED else []
        if few and not any(map(_NUMBER.match, few)):
            self.add_words(few, cells)
            return
        if self._add_plain(texts, cells) or self._add_iso(texts, cells):
            return
        if not pc.any(pc.match_substring_regex(texts, r"\d")).as_py():
            self.add_words(texts.to_pylist(), cells)
            return
        signature = _signature_of(texts)
        is_number = signature.codes >= 0
        self.n_numbers += int(cells[is_number].sum())
        self._add_floats(texts, cells, is_number)
        for code, name in enumerate(signature.names):
            n_own = int(cells[signature.codes == code].sum())
            if n_own:
                self.signatures[name] += n_own
        for unit, item in signature.units.items():
            self.units[unit] += int(cells[item].sum())
        self._list_numbers(texts.filter(arrow_of(is_number)))
        others = np.flatnonzero(~is_number)
        self.add_words(texts.take(arrow_of(others)).to_pylist(), cells[others])

    def _add_plain(self, texts: pa.Array, cells: NDArray[np.int64]) -> bool:
        """Count texts that are all plain numbers, in a few passes; False if not."""
        if not len(texts):
            return False
        decimal = "."
        with_points = _with_points(texts, ".")
        if with_points is None:
            decimal, with_points = ",", _with_points(texts, ",")
        if with_points is None:
            return False
        n_all = int(cells.sum())
        self._add_floats(with_points, cells)
        whole = ~numpy_of(pc.match_substring(with_points, "."))
        pattern = r"^[+-]?[1-9]\d{0,2}\.\d{3}(?:[eE]|$)"
        n_whole, n_three = int(cells[whole].sum()), 0
        if n_whole < n_all:
            three = numpy_of(pc.match_substring_regex(with_points, pattern))
            n_three = int(cells[three].sum())
        sign = "point" if decimal == "." else "comma"
        result = {"integer": n_whole, f"{sign} of three": n_three}
        result[sign] = n_all - n_whole - n_three
        self.signatures.update({name: n for name, n in result.items() if n})
        self.n_numbers += n_all
        self.units[""] += n_all
        self._list_numbers(texts)
        return True

    def _add_floats(
        self, texts: pa.Array, cells: NDArray[np.int64], requested: ArrayLike = True
    ) -> None:
        """Count numbers that have an exponent or many digits, among those requested."""
        unusual = numpy_of(pc.match_substring_regex(texts, _FLOAT)) & requested
        if unusual.any():
            whole = numpy_of(pc.match_substring_regex(texts, _INTEGER))
            self.n_floats += int(cells[unusual & ~whole].sum())
            long = numpy_of(pc.match_substring_regex(texts, _LONG))
            self.n_long += int(cells[unusual & long].sum())

    def _add_iso(self, texts: pa.Array, cells: NDArray[np.int64]) -> bool:
        """Count texts that are all ISO dates without a zone; False if not."""
        if iso_clocks(texts) is None:
            return False
        n_all = int(cells.sum())
        self.n_dates += n_all
        self.n_words += n_all
        self.dates["y-m-d"] += n_all
        self.zones[None] += n_all
        for text, n_cells in zip(
            texts[:_MAX_LISTED].to_pylist(), cells.tolist(), strict=False
        ):
            _count(self.words, text, n_cells)
        return True

    def _list_numbers(self, numbers: pa.Array) -> None:
        """Note the first distinct numbers."""
        n_seen = 1 << 5
        while len(self.numbers) <= MIN_NUMBERS:
            for text in pc.unique(numbers.slice(0, n_seen)).to_pylist():
                if len(self.numbers) <= MIN_NUMBERS:
                    self.numbers.setdefault(text)
            if n_seen >= len(numbers):
                break
            n_seen *= 16

    def add_words(self, texts: Sequence[str], cells: NDArray[Any]) -> None:
        """Count distinct texts that are not numbers, each with its number of cells."""
        for text, n_cells in zip(texts, cells.tolist(), strict=True):
            self._add_word(text, int(n_cells))

    def _add_word(self, text: str, n_cells: int) -> None:
        """Count a text that is not a number."""
        self.n_words += n_cells
        _count(self.words, text, n_cells)
        if text.lower() in TRUE_TEXTS | FALSE_TEXTS:
            self.n_booleans += n_cells
            return
        moments = moments_of(text)
        if moments:
            self.n_dates += n_cells
            self.dates.update({moment.order: n_cells for moment in moments})
            self.zones[moments[0].zone] += n_cells
        elif time_of_day(text) is not None:
            self.n_times += n_cells
        else:
            self.n_strange += n_cells
            _count(self.strange, text, n_cells)

    def are_integers(self, form: TextForm) -> bool:
        """Whether all numbers of the column are integers, as a form reads them."""
        names = ["integer", f"groups by {form.thousands}"]
        names += {",": ["comma of three"], ".": ["point of three", "address"]}.get(
            form.thousands, []
        )
        n_integers = sum(self.signatures[name] for name in names)
        return n_integers == self.n_numbers and not self.n_floats

    def plus(self, other: TextEvidence) -> TextEvidence:
        """The evidence of these cells and of others that come after."""
        result = TextEvidence()
        for name in ("n_cells", "n_booleans", "n_numbers", "n_times", "n_floats"):
            setattr(result, name, getattr(self, name) + getattr(other, name))
        for name in ("n_long", "n_dates", "n_words", "n_strange"):
            setattr(result, name, getattr(self, name) + getattr(other, name))
        for name in ("signatures", "units", "dates", "zones"):
            setattr(result, name, getattr(self, name) + getattr(other, name))
        result.numbers = dict([*self.numbers.items(), *other.numbers.items()])
        for name in ("words", "strange"):
            item: dict[str, int] = getattr(result, name)
            for part in (self, other):
                for text, n_cells in getattr(part, name).items():
                    _count(item, text, n_cells)
        return result


def _count(counts: dict[str, int], text: str, n_cells: int) -> None:
    """Add cells to the count of a text, as long as there is room for it."""
    if text in counts or len(counts) < _MAX_LISTED:
        counts[text] = counts.get(text, 0) + n_cells


class _Numbers(NamedTuple):
    """How each of some texts writes a number; code -1 where it writes none."""

    codes: NDArray[np.int64]  # (n_texts,), indices of `names`
    names: list[str]
    parts: pa.StructArray  # null where no number is written
    units: dict[str, NDArray[np.intp]]  # the texts of each


def _signature_of(texts: pa.Array) -> _Numbers:
    """The way in which each text writes a number."""
    codes = np.full(len(texts), -1, np.int64)
    parts = pc.extract_regex(texts, NUMBER_PARTS)
    names = list(_SIGNATURES)
    rows = np.flatnonzero(numpy_of(parts.is_valid()))
    if not len(rows):
        return _Numbers(codes, names, parts, {})
    rows = rows[_one_sign(parts)[rows]]
    are_codes = numpy_of(pc.match_substring_regex(texts, _CODE))
    rows = rows[~are_codes[rows]]
    bodies = _bodies(parts.take(arrow_of(rows)))
    for code, signature in enumerate(_SIGNATURES.values()):
        if not len(rows):
            break
        fits = numpy_of(pc.match_substring_regex(bodies, signature.pattern))
        codes[rows[fits]] = code
        rows, bodies = rows[~fits], bodies.filter(arrow_of(~fits))
    units: dict[str, NDArray[np.intp]] = {}
    numbers = np.flatnonzero(codes >= 0)
    if len(numbers):
        item = _units(parts.take(arrow_of(numbers))).dictionary_encode()
        indices = numpy_of(item.indices)
        for code, unit in enumerate(item.dictionary.to_pylist()):
            units[unit] = numbers[indices == code]
    return _Numbers(codes, names, parts, units)


def _one_sign(parts: pa.StructArray) -> NDArray[np.bool_]:
    """Whether a number has at most one sign, one unit, and both parentheses or none."""
    has: dict[str, NDArray[np.bool_]] = {
        name: numpy_of(pc.binary_length(parts.field(name))) > 0
        for name in ("open", "close", "before", "inner", "after", "unit", "last_unit")
    }
    signs = sum(has[name].astype(int) for name in ("before", "inner", "after", "open"))
    is_open = has["open"] | numpy_of(pc.equal(parts.field("inner"), "("))
    alone = (signs <= 1) & (is_open == has["close"])
    alone &= ~(has["unit"] & has["last_unit"])
    return np.asarray(alone)


def _bodies(parts: pa.StructArray) -> pa.Array:
    """Digits and the signs between them; all blanks as one, apostrophes too."""
    bodies = pc.utf8_rtrim(parts.field("body"), "/=-–—")
    bodies = pc.replace_substring_regex(bodies, _BLANK, " ")
    return pc.replace_substring(pc.utf8_rtrim_whitespace(bodies), "’", "'")


def _units(parts: pa.StructArray) -> pa.Array:
    """The unit of each number, "" where it has none."""
    return pc.binary_join_element_wise(
        parts.field("unit"), parts.field("last_unit"), ""
    )


class TextDecision(NamedTuple):
    """The form of a column's texts, and what a person should check."""

    form: TextForm
    notes: tuple[str, ...] = ()


def file_signs(evidence: Iterable[TextEvidence], default: FileSigns) -> FileSigns:
    """What the columns of a table reveal; `default` where they do not or disagree."""
    commas = points = days = months = 0
    for item in evidence:
        for name, n_cells in item.signatures.items():
            decimals = {decimal for decimal, _ in _SIGNATURES[name].signs}
            if n_cells and len(decimals) == 1:
                commas += decimals == {","}
                points += decimals == {"."}
        for day_first, month_first in TURNED.items():
            difference = item.dates[day_first] - item.dates[month_first]
            days += difference > 0
            months += difference < 0
    comma, first = default.decimal_comma, default.day_first
    if bool(commas) != bool(points):
        comma = bool(commas)
    if bool(days) != bool(months):
        first = bool(days)
    return FileSigns(comma, first)


def decide(evidence: TextEvidence, signs: FileSigns = NO_SIGNS) -> TextDecision:
    """The form of the texts of a column, by the evidence of all of them."""
    n_cells = evidence.n_cells
    markers = {t: n for t, n in evidence.strange.items() if t in MISSING_MARKERS}
    n_values = n_cells - sum(markers.values())
    if not n_values:
        return TextDecision(TextForm())
    if evidence.n_booleans == n_values:
        return _decided(TextForm("boolean", missing=tuple(markers)), markers, n_cells)
    for decision in (
        _numbers_decided(evidence, markers, signs),
        _dates_decided(evidence, markers, signs),
    ):
        if decision is not None:
            return decision
    return TextDecision(TextForm(), _note_on_text(evidence, markers))


def _decided(
    form: TextForm, missing: dict[str, int], n_cells: int, *notes: str
) -> TextDecision:
    """A form that takes some words as missing cells."""
    result = [note for note in notes if note]
    if missing:
        n_missing = sum(missing.values())
        listed = ", ".join("blank" if not t else quoted(t) for t in missing)
        are = "is" if n_missing == 1 else "are"
        result.append(
            f"{n_missing:,} of {n_cells:,} cells {are} {listed}, taken as missing"
        )
    unusual = form.described()
    return TextDecision(form, (*((unusual,) if unusual else ()), *result))


def _few(words: dict[str, int], n_words: int, n_cells: int) -> bool:
    """Whether words are so few that the column is still of what its other cells are."""
    all_listed = sum(words.values()) == n_words
    few = n_words <= max(1, MAX_WORD_SHARE * n_cells)
    return all_listed and few and len(words) <= MAX_WORDS


def _numbers_decided(
    evidence: TextEvidence, markers: dict[str, int], signs: FileSigns
) -> TextDecision | None:
    """The form of a column of numbers; None if it is none."""
    # Numbers of four groups each may be addresses of computers; floats round long
    # integers, most of which are codes, so that some become equal.
    if evidence.n_numbers == evidence.signatures["address"] or _are_long(evidence):
        return None
    n_markers = sum(markers.values())
    words = {t: n for t, n in evidence.words.items() if t not in markers}
    # However many, infinite numbers are an error of the column.
    others = {text: n for text, n in words.items() if not is_infinite(text)}
    n_words = evidence.n_words - n_markers - sum(words.values()) + sum(others.values())
    many = len(evidence.numbers) > MIN_NUMBERS
    if words and not (many and _few(others, n_words, evidence.n_cells)):
        return None
    units = [unit for unit in evidence.units if unit]
    is_mixed = len(units) > 1 or (units == ["%"] and evidence.units[""])
    fitting = [
        pair for pair in SIGNS if _n_fitting(evidence, pair) == evidence.n_numbers
    ]
    if is_mixed or not fitting:
        return None
    decimal, thousands = _chosen_signs(fitting, signs)
    note = ""
    is_open = len({item for item, _ in fitting}) > 1 and (
        evidence.signatures["comma of three"] or evidence.signatures["point of three"]
    )
    # A point before the decimals is what most files mean.
    if is_open and (decimal, thousands) != (".", ""):
        sign = thousands or decimal
        role = "is between thousands" if thousands else "is the decimal sign"
        note = f"ambiguous: {quoted(sign)} {role}, as far as can be seen"
    missing = {**markers, **words}
    unit = units[0] if units else ""
    form = TextForm("number", decimal, thousands, unit, missing=tuple(missing))
    return _decided(form, missing, evidence.n_cells, note)


def _are_long(evidence: TextEvidence) -> bool:
    """Whether most numbers are long integers, some of which 64 bits do not hold."""
    return 2 * evidence.n_long > evidence.n_numbers and evidence.n_floats > 0


def _n_fitting(evidence: TextEvidence, pair: tuple[str, str]) -> int:
    """Cells with a number that a decimal and a thousands sign allow."""
    return sum(
        n for name, n in evidence.signatures.items() if pair in _SIGNATURES[name].signs
    )


def _chosen_signs(
    fitting: Sequence[tuple[str, str]], signs: FileSigns
) -> tuple[str, str]:
    """The decimal and thousands sign, of those that fit, that a table suggests."""
    requested = "," if signs.decimal_comma else "."
    suggested = [pair for pair in fitting if pair[0] == requested] or list(fitting)
    return suggested[0]


def _dates_decided(
    evidence: TextEvidence, markers: dict[str, int], signs: FileSigns
) -> TextDecision | None:
    """The form of a column of dates or of times of a day; None if it is none."""
    n_values = evidence.n_cells - sum(markers.values())
    words = {t: n for t, n in evidence.strange.items() if t not in markers}
    missing = {**markers, **words}
    if evidence.n_times:
        if n_values - evidence.n_times == sum(words.values()) and (
            not words or _few(words, sum(words.values()), evidence.n_cells)
        ):
            form = TextForm("duration", missing=tuple(missing))
            return _decided(form, missing, evidence.n_cells)
        return None
    if not evidence.n_dates:
        return None
    best = max(evidence.dates.values())
    orders = [order for order, n in evidence.dates.items() if n == best]
    n_other = n_values - best
    if n_other > max(1, MAX_WORD_SHARE * n_values) or best < 2 * n_other:
        return None
    order, note = orders[0], ""
    for day_first, month_first in TURNED.items():
        if day_first in orders and month_first in orders:
            days = signs.day_first
            if days is None:
                days = bool(signs.decimal_comma) or day_first == "d-m-y"
            order = day_first if days else month_first
            other = month_first if days else day_first
            note = f"ambiguous: read as {order}, but may be {other}"
    bad = n_other - sum(words.values())
    other = f"{counted(bad, 'cell')} of another form" if bad else ""
    zone, remark = _common_zone(evidence)
    form = TextForm("date", order=order, zone=zone, missing=tuple(missing))
    return _decided(form, missing, evidence.n_cells, note, other, remark)


def _common_zone(evidence: TextEvidence) -> tuple[int | str | None, str]:
    """The zone of a column's dates, UTC where they are of several, and a remark."""
    zones = [zone for zone in evidence.zones if zone is not None]
    n_without = evidence.zones[None]
    n_with = evidence.n_dates - n_without
    fewer = min(n_with, n_without)
    if fewer > max(1, MAX_WORD_SHARE * evidence.n_dates) or 2 * fewer > max(
        n_with, n_without
    ):
        cells = counted(n_with, "cell")
        return WRITTEN, f"{cells} with a time zone, all read by the clocks they show"
    lost = "without" if n_with > n_without else "with"
    remark = f"{counted(fewer, 'cell')} {lost} a time zone, taken as missing"
    remark = remark if fewer else ""
    if n_with < n_without:
        return None, remark
    if len(zones) == 1:
        return zones[0], remark
    return 0, "; ".join(filter(None, ("times of several zones, read in UTC", remark)))


def _note_on_text(evidence: TextEvidence, markers: dict[str, int]) -> tuple[str, ...]:
    """A note on a column of text most cells of which are numbers, or all are dates."""
    n_values = evidence.n_cells - sum(markers.values())
    if evidence.n_dates == n_values:
        return ("dates written in several ways, kept as text",)
    words = [text for text in evidence.words if text not in markers]
    are_few = 2 * evidence.n_numbers <= n_values
    are_written = are_few and words and all(map(_WITH_SIGNS.fullmatch, words))
    if are_written and (note := _signs_of(words, evidence)):
        return (f"numbers with {note}, kept as text",)
    if words and all(map(_OTHER_DIGITS.fullmatch, words)):
        return ("numbers in digits other than 0 to 9, kept as text",)
    if _are_long(evidence):
        return ("integers beyond 64 bits, kept as text",)
    if any(map(_ZEROS.fullmatch, words)) and all(map(str.isdecimal, words)):
        return ("numbers with leading zeros, kept as text",)
    if are_few or len(evidence.numbers) <= MIN_NUMBERS:
        return ()
    units = [unit for unit in evidence.units if unit]
    if evidence.n_numbers == n_values and len(units) > 1:
        return (f"numbers in several units ({', '.join(units)}), kept as text",)
    if evidence.n_numbers == n_values:
        return ("numbers written in several ways, kept as text",)
    others = [quoted(text) for text in evidence.words if text not in markers][:3]
    return (
        f"{evidence.n_numbers:,} of {evidence.n_cells:,} cells are numbers, others are "
        f"text such as {', '.join(others)}; kept as text",
    )


def _signs_of(words: Sequence[str], evidence: TextEvidence) -> str:
    """Signs before the numbers of a column, or units behind; empty if it may be codes.

    A letter behind each of several numbers, as in 12A and 7B, belongs to a code unless
    numbers have decimals.
    """
    pairs = [match.groups("") for match in map(_WITH_SIGNS.fullmatch, words) if match]
    before, units = (sorted({*part} - {""}) for part in zip(*pairs, strict=True))
    if before:
        return f"{quoted(*before[:1])} before them"
    are_all = not evidence.n_numbers and all(unit for _, unit in pairs)
    have_decimals = any("." in word or "," in word for word in words)
    if not are_all or len(units) > (3 if have_decimals else 1):
        return ""
    return f"the unit{'s' * (len(units) > 1)} {', '.join(map(quoted, units))}"


class ReadTexts(NamedTuple):
    """Texts as values; those that failed spell nothing of the column's kind."""

    values: NDArray[Any]  # (n_texts,), int64, float64 or bool; microseconds of times
    missing: NDArray[np.bool_]  # (n_texts,), those that failed included
    failed: NDArray[np.bool_]  # (n_texts,)


def read_texts(form: TextForm, texts: pa.Array) -> ReadTexts:
    """Texts as a form reads them, which is not one of text; null ones are missing."""
    trimmed = pc.utf8_trim_whitespace(texts)
    missing = numpy_of(texts.is_null())
    if form.missing:
        missing |= numpy_of(pc.is_in(trimmed, arrow_of(form.missing)))
    if form.kind == "number":
        values, valid = _read_numbers(form, trimmed, ~missing)
    else:
        values, valid = _read_others(form, trimmed, ~missing)
    return ReadTexts(values, missing | ~valid, ~(missing | valid))


def _read_numbers(
    form: TextForm, texts: pa.Array, requested: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers, and which texts spell one in the form."""
    rows = np.flatnonzero(requested)
    chosen = texts if requested.all() else texts.take(arrow_of(rows))
    if not (form.thousands or form.unit):
        plain = _plain_numbers(chosen, form.decimal)
        if plain is not None:
            values = np.zeros(len(texts), plain.dtype)
            values[rows] = plain
            return values, requested.copy()
    result = _signature_of(chosen)
    # A cell of another country's file is read where it cannot mean anything else.
    decimals = [_decimal_of(item, form) for item in _SIGNATURES.values()] + [""]
    decimal = np.array(decimals)[result.codes]
    if form.unit != "%" and "%" in result.units:
        decimal[result.units["%"]] = ""
    is_valid = np.zeros(len(texts), bool)
    read = []
    for sign in (".", ","):
        indices = np.flatnonzero(decimal == sign)
        numbers = _as_numbers(result.parts.take(arrow_of(indices)), sign)
        read.append((rows[indices], numbers))
    # Floats would round integers from 2**53 on.
    kind = np.result_type(*[numbers for _, numbers in read if len(numbers)], np.int64)
    values = np.zeros(len(texts), kind)
    for positions, numbers in read:
        values[positions] = numbers
        is_valid[positions] = True
    return values, is_valid


def _decimal_of(signature: _Signature, form: TextForm) -> str:
    """The decimal sign by which numbers written in one way are read; "" if by none."""
    if (form.decimal, form.thousands) in signature.signs:
        return form.decimal
    decimals = {decimal for decimal, _ in signature.signs}
    if len({thousands for _, thousands in signature.signs}) == 1:
        # Digits in groups are the same number whatever the decimal sign.
        return min(decimals)
    return decimals.pop() if len(decimals) == 1 else ""


def _plain_numbers(texts: pa.Array, decimal: str = ".") -> NDArray[Any] | None:
    """Texts as Arrow reads numbers; None if one is written in another way."""
    with_points = _with_points(texts, decimal)
    return None if with_points is None else _cast(with_points)


def _with_points(texts: pa.Array, decimal: str) -> pa.Array | None:
    """Plain numbers, none of them led by zeros, with points; None if some are not."""
    # Most columns of other texts begin with one.
    for some in (texts.slice(0, _MAX_LISTED), texts):
        if decimal == ",":
            if pc.any(pc.match_substring(some, ".")).as_py():
                return None
            some = pc.replace_substring(some, ",", ".")
        if not pc.all(pc.match_substring_regex(some, _PLAIN)).as_py():
            return None
    return some


def _cast(texts: pa.Array) -> NDArray[Any]:
    """Plain texts of numbers as integers where all are, else as floats."""
    if pc.any(pc.starts_with(texts, "+")).as_py():
        texts = pc.replace_substring_regex(texts, r"^\+", "")
    whole = not pc.any(pc.match_substring(texts, ".")).as_py()
    whole = whole and pc.all(pc.match_substring_regex(texts, _INTEGER)).as_py()
    return numpy_of(texts.cast(pa.int64() if whole else pa.float64()))


def _as_numbers(parts: pa.StructArray, decimal: str) -> NDArray[Any]:
    """Numbers taken apart as such; signs that are not the decimal one group digits."""
    bodies = pc.replace_substring_regex(_bodies(parts), rf"[^\d{decimal}]", "")
    bodies = pc.replace_substring(bodies, ",", ".")
    texts = pc.binary_join_element_wise(bodies, parts.field("exponent"), "")
    signs = ("open", "before", "inner", "after")
    negative = pc.match_substring_regex(
        pc.binary_join_element_wise(*[parts.field(name) for name in signs], ""),
        r"[(\-−]",
    )
    texts = pc.if_else(negative, pc.binary_join_element_wise("-", texts, ""), texts)
    return _cast(texts)


def _read_others(
    form: TextForm, texts: pa.Array, requested: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Booleans, or microseconds of dates and times; and which texts spell one."""
    is_plain = form.kind == "date" and form.zone in (None, WRITTEN)
    if is_plain and form.order == "y-m-d" and requested.all():
        clocks = iso_clocks(texts)
        if clocks is not None:
            return clocks, requested.copy()
    encoded = texts.dictionary_encode()
    table = [_read_one(form, text) for text in encoded.dictionary.to_pylist()]
    known = np.array([value is not None for value in table] + [False])
    values = np.array([value or 0 for value in table] + [0], dtype=np.int64)
    if form.kind == "date" and form.zone not in (None, WRITTEN):
        values = clock_of(values, form.zone)
    indices = np.where(~requested, len(table), numpy_of(encoded.indices))
    result: NDArray[Any] = values[indices]
    valid = known[indices] & requested
    return result.astype(bool) if form.kind == "boolean" else result, valid


def _read_one(form: TextForm, text: str) -> int | None:
    """One text as a boolean or in microseconds; None if it spells no such value.

    Dates with a zone count by the clock of UTC.
    """
    if form.kind == "boolean":
        word = text.lower()
        return int(word in TRUE_TEXTS) if word in TRUE_TEXTS | FALSE_TEXTS else None
    if form.kind == "duration":
        return time_of_day(text)
    moment = next(iter(moments_of(text, form.order)), None)
    if moment is None or form.zone == WRITTEN:
        return None if moment is None else moment.clock
    return instant(moment) if (moment.zone is None) == (form.zone is None) else None


def read_numbers(texts: Sequence[str]) -> list[int | float] | None:
    """The numbers that texts spell with points; None if one spells none."""
    result = _plain_numbers(arrow_of(texts))
    return None if result is None else result.tolist()


def evidence_of(column: ValueColumn) -> TextEvidence:
    """What the cells of a column of texts may spell."""
    counts = None if column.repeats is None else column.repeats.counts
    cells = np.bincount(column.indices + 1, counts, len(column.values) + 1)[1:]
    used = np.flatnonzero(cells)
    if isinstance(column.values, TextValues):
        texts = column.values.texts
        texts = texts if len(used) == len(texts) else texts.take(arrow_of(used))
    else:
        values: list[Any] = [column.values[index] for index in used.tolist()]
        if not any(_DIGIT.search(value) for value in values):
            # Most columns of text end here: numbers and dates have digits.
            result = TextEvidence(n_cells=int(cells.sum()))
            result.add_words([value.strip() for value in values], cells[used])
            return result
        texts = _as_texts(values)
    trimmed = pc.utf8_trim_whitespace(texts)
    result = TextEvidence()
    result.add(trimmed, cells[used].astype(np.int64))
    return result


def without_texts(column: Column, missing: Collection[str]) -> Column:
    """A column in which cells with some texts are missing."""
    if not isinstance(column, ValueColumn) or not missing:
        return column
    if isinstance(column.values, TextValues):
        is_missing = numpy_of(pc.is_in(column.values.texts, arrow_of([*missing])))
    else:
        is_missing = np.array([value in missing for value in column.values], bool)
    if not is_missing.any():
        return column
    indices = np.where(np.append(is_missing, False)[column.indices], -1, column.indices)
    return replace(column, indices=indices.astype(np.int32))


def _as_texts(values: list[Any]) -> pa.Array:
    """Texts of Python as Arrow's, in which half a character is replaced."""
    try:
        return arrow_of(values)
    except UnicodeEncodeError:
        plain = [value.encode("utf-8", "replace").decode() for value in values]
        return arrow_of(plain)


class SpelledColumn(NamedTuple):
    """A column as its texts spell it, and the values of it that spell nothing."""

    column: Column
    failed: list[int]  # indices of values, in the order of their list


def spelled_column(column: ValueColumn, form: TextForm) -> SpelledColumn:
    """A column whose texts are read by a form; other values stay what they are.

    What spells nothing is missing. ValueError if a number is infinite.
    """
    if isinstance(column.values, TextValues):
        texts = column.values.texts
        indices, others = np.arange(len(texts)), []
    else:
        values = column.values
        indices = np.array([p for p, v in enumerate(values) if isinstance(v, str)], int)
        texts = _as_texts([values[index] for index in indices.tolist()])
        others = [p for p, v in enumerate(values) if isinstance(v, int | float)]
    read = read_texts(form, texts)
    failed: list[int] = []
    if read.failed.any():
        counts = np.bincount(column.indices + 1, minlength=len(column.values) + 1)
        strange = indices[read.failed]
        failed = strange[counts[1:][strange] > 0].tolist()
    if form.kind == "boolean":
        result = list(column.values)
        for index, value, lacks in zip(
            indices.tolist(), read.values, read.missing, strict=True
        ):
            result[index] = None if lacks else bool(value)
        return SpelledColumn(merged_values(replace(column, values=result)), failed)
    numbers: Any = [column.values[index] for index in others]
    table = np.zeros(len(column.values) + 1, np.result_type(read.values, *numbers))
    table[indices] = read.values
    table[others] = numbers
    absent = np.ones(len(column.values) + 1, dtype=bool)
    absent[indices] = read.missing
    absent[others] = [number != number for number in numbers]
    missing = absent[column.indices]
    cells, repeats = table[column.indices], column.repeats
    if form.kind == "number":
        if not np.isfinite(cells[~missing]).all():
            raise infinite(column.name)
        lacks = missing if missing.any() else None
        return SpelledColumn(NumberColumn(column.name, cells, lacks, repeats), failed)
    is_duration = form.kind == "duration"
    times = TimeColumn(column.name, cells, missing, is_duration, repeats)
    return SpelledColumn(times, failed)


def merged_values(column: ValueColumn) -> ValueColumn:
    """The same column with each value listed once, and None nowhere."""
    index: dict[Hashable, int] = {}
    indices = [
        -1 if value is None else index.setdefault(value, len(index))
        for value in column.values
    ]
    table = np.array([*indices, -1], dtype=np.int32)
    return replace(column, indices=table[column.indices], values=list(index))


def labels_by_text(labels: Sequence[Hashable]) -> dict[str, Hashable]:
    """Labels by the texts that spell them; files write booleans in several ways."""
    texts = {str(label): label for label in labels}
    for label in labels:
        if isinstance(label, bool):
            texts |= {text: label for text, truth in TRUTHS.items() if truth == label}
    return texts
