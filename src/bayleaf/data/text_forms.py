"""How the texts of a column spell values: decided once, applied to every table.

The decision is made from evidence that adds up over batches, so that a file, a frame
and a stream of the same rows are read alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bayleaf.data.date_texts import (
    DATE_ORDERS,
    TURNED,
    in_zone,
    moments_of,
    time_of_day,
)
from bayleaf.data.tables.array_columns import infinite
from bayleaf.data.tables.columns import (
    Column,
    NumberColumn,
    TextValues,
    TimeColumn,
    ValueColumn,
)
from bayleaf.wording import counted, quoted

Kind = Literal["text", "number", "boolean", "date", "duration"]

# What files write where a value is missing, whatever the column holds; in data frames
# it is text like any other.
MISSING_TEXTS = ("NA", "N/A", "NaN", "nan", "NULL", "None", "#N/A", "n/a", "?")
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
        "?",
        "*",
        "\\N",
        "#N/A",
        "#NA",
        "#N/A N/A",
        "#NULL!",
        "#NUM!",
        "#VALUE!",
        "#REF!",
        "#DIV/0!",
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
    }
)
TRUTHS = {
    text: truth
    for word, truth in (("true", True), ("false", False))
    for text in (word, word.title(), word.upper())
}
TRUE_TEXTS, FALSE_TEXTS = frozenset({"true"}), frozenset({"false"})
# Other words than these are kept apart up to so many; more make a column one of text.
_MAX_LISTED = 64
# A column with a few words among its numbers or dates is one of numbers or dates: so
# many distinct ones at most, and so large a share of the cells.
MAX_WORDS, MAX_WORD_SHARE = 5, 0.05
# Fewer distinct numbers next to words may be codes.
MIN_NUMBERS = 10

_CURRENCY = (
    r"R\$|US\$|A\$|C\$|[$€£¥₹₩₽₺₫₪₴฿]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK"
    r"|PLN|CZK|HUF|BRL|kr\.?|zł|Kč|Ft|Fr\.|Rs\.?"
)
_BLANK = r"[ \x{a0}\x{2007}\x{2009}\x{202f}]"
_NUMBER_PARTS = (
    r"^(?P<open>\()?(?P<before>[+\-−])?"
    rf"(?P<unit>{_CURRENCY})?{_BLANK}?(?P<inner>[+\-−])?"
    rf"(?P<body>[\d.,'’\x{{a0}}\x{{2007}}\x{{2009}}\x{{202f}} ]*\d[.,]?)"
    r"(?P<exponent>[eE][+-]?\d+)?"
    rf"{_BLANK}?(?P<last_unit>%|{_CURRENCY})?(?P<after>-)?(?P<close>\))?$"
)
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
    found = {"integer": _Signature(r"^\d+$", frozenset(SIGNS))}
    thousand = r"^[1-9]\d{0,2}%s\d{3}$"
    found["point of three"] = _Signature(thousand % r"\.", points | {(",", ".")})
    found["comma of three"] = _Signature(thousand % ",", commas | {(".", ",")})
    found["point"] = _Signature(r"^(?:\d+\.\d*|\.\d+)$", points)
    found["comma"] = _Signature(r"^(?:\d+,\d*|,\d+)$", commas)
    indian = r"[1-9]\d?(?:,\d{2})+,\d{3}"
    groups = {",": rf"(?:{_GROUPED % ','}|{indian})", ".": _GROUPED % r"\."}
    groups[" "], groups["'"] = _GROUPED % " ", _GROUPED % "'"
    for sign, group in groups.items():
        own = frozenset(signs for signs in SIGNS if signs[1] == sign)
        found[f"groups by {sign}"] = _Signature(f"^{group}$", own)
        for decimal in ".,":
            if decimal != sign:
                name = f"groups by {sign} and {decimal}"
                pattern = rf"^{group}{re.escape(decimal)}\d+$"
                found[name] = _Signature(pattern, own & {(decimal, sign)})
    return found


_SIGNATURES = _signatures()
_PLAIN = r"^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$"
_FLOAT = r"[eE]|\d{19}"
_EXACT = 1 << 53
# Codes, such as those of post offices, may begin with zeros that numbers lose.
_PADDED = r"^\D*0\d"


@dataclass(frozen=True)
class TextForm:
    """How the texts of a column are read; those in `missing` are no value."""

    kind: Kind = "text"
    decimal: str = "."
    thousands: str = ""
    unit: str = ""  # sign of percent or of a currency
    order: str = ""  # of a date's parts, such as "d.m.y"
    zone: int | None = None  # minutes before UTC of the clock of dates; as written
    missing: tuple[str, ...] = ()

    def check_content(self) -> None:
        """Raise ValueError if a sign or the order of a date is unknown."""
        if (self.decimal, self.thousands) not in SIGNS:
            raise ValueError(
                f"decimal sign {quoted(self.decimal)} and thousands sign "
                f"{quoted(self.thousands)} are not a pair of signs"
            )
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
class FileSigns:
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
    signatures: Counter[str] = field(default_factory=Counter)
    units: Counter[str] = field(default_factory=Counter)
    dates: Counter[str] = field(default_factory=Counter)  # cells, by order
    zones: Counter[int | None] = field(default_factory=Counter)
    n_dates: int = 0  # cells with a date of any order
    numbers: dict[str, None] = field(default_factory=dict)  # the first distinct ones
    words: dict[str, int] = field(default_factory=dict)  # what is no number: cells
    strange: dict[str, int] = field(default_factory=dict)  # nor boolean, date, time
    n_words: int = 0
    n_strange: int = 0

    @classmethod
    def of(cls, texts: pa.Array | pa.ChunkedArray) -> TextEvidence:
        """That of the cells of a batch; null cells do not count."""
        found = cls()
        present = texts.drop_null()
        if not len(present):
            return found
        trimmed = pc.utf8_trim_whitespace(present)
        if isinstance(trimmed, pa.ChunkedArray):
            trimmed = trimmed.combine_chunks()
        if found._add_plain(trimmed, np.ones(len(trimmed), np.int64)):
            found.n_cells = len(trimmed)
            return found
        counts = pc.value_counts(trimmed)
        found.add(counts.field("values"), np.asarray(counts.field("counts")))
        return found

    def add(self, texts: pa.Array, cells: NDArray[np.int64]) -> None:
        """Count distinct texts, trimmed, each with its number of cells."""
        self.n_cells += int(cells.sum())
        if self._add_plain(texts, cells):
            return
        signature = _signature_of(texts)
        is_number = signature.codes >= 0
        self.n_numbers += int(cells[is_number].sum())
        floats = np.asarray(pc.match_substring_regex(texts, _FLOAT)) & is_number
        self.n_floats += int(cells[floats].sum())
        for code, name in enumerate(signature.names):
            n_own = int(cells[signature.codes == code].sum())
            if n_own:
                self.signatures[name] += n_own
        for unit, own in signature.units.items():
            self.units[unit] += int(cells[own].sum())
        self._list_numbers(texts.filter(pa.array(is_number)))
        others = np.flatnonzero(~is_number)
        words = texts.take(pa.array(others)).to_pylist()
        for text, n_cells in zip(words, cells[others].tolist(), strict=True):
            self._add_word(text, n_cells)

    def _add_plain(self, texts: pa.Array, cells: NDArray[np.int64]) -> bool:
        """Count texts that are all plain numbers, in a few passes; False if not."""
        if not len(texts) or not _are_plain(texts):
            return False
        n_all = int(cells.sum())
        floats = np.asarray(pc.match_substring_regex(texts, _FLOAT))
        self.n_floats += int(cells[floats].sum())
        whole = np.asarray(pc.match_substring_regex(texts, r"^[+-]?\d+(?:[eE]|$)"))
        pattern = r"^[+-]?[1-9]\d{0,2}\.\d{3}(?:[eE]|$)"
        n_whole, n_three = int(cells[whole].sum()), 0
        if n_whole < n_all:
            three = np.asarray(pc.match_substring_regex(texts, pattern))
            n_three = int(cells[three].sum())
        found = {"integer": n_whole, "point of three": n_three}
        found["point"] = n_all - n_whole - n_three
        self.signatures.update({name: n for name, n in found.items() if n})
        self.n_numbers += n_all
        self.units[""] += n_all
        self._list_numbers(texts)
        return True

    def _list_numbers(self, numbers: pa.Array) -> None:
        """Note the first distinct numbers."""
        n_seen = 1 << 10
        while len(self.numbers) <= MIN_NUMBERS:
            for text in pc.unique(numbers.slice(0, n_seen)).to_pylist():
                if len(self.numbers) <= MIN_NUMBERS:
                    self.numbers.setdefault(text)
            if n_seen >= len(numbers):
                break
            n_seen *= 16

    def _add_word(self, text: str, n_cells: int) -> None:
        """Count a text that is no number."""
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
        names += {",": ["comma of three"], ".": ["point of three"]}.get(
            form.thousands, []
        )
        n_integers = sum(self.signatures[name] for name in names)
        return n_integers == self.n_numbers and not self.n_floats

    def plus(self, other: TextEvidence) -> TextEvidence:
        """The evidence of these cells and of others that come after."""
        found = TextEvidence()
        for name in ("n_cells", "n_booleans", "n_numbers", "n_times", "n_floats"):
            setattr(found, name, getattr(self, name) + getattr(other, name))
        for name in ("n_dates", "n_words", "n_strange"):
            setattr(found, name, getattr(self, name) + getattr(other, name))
        for name in ("signatures", "units", "dates", "zones"):
            setattr(found, name, getattr(self, name) + getattr(other, name))
        found.numbers = dict([*self.numbers.items(), *other.numbers.items()])
        for name in ("words", "strange"):
            own: dict[str, int] = getattr(found, name)
            for part in (self, other):
                for text, n_cells in getattr(part, name).items():
                    _count(own, text, n_cells)
        return found


def _count(counts: dict[str, int], text: str, n_cells: int) -> None:
    """Add cells to the count of a text, as long as there is room for it."""
    if text in counts or len(counts) < _MAX_LISTED:
        counts[text] = counts.get(text, 0) + n_cells


class _Numbers(NamedTuple):
    """How each of some texts writes a number; code -1 where it writes none."""

    codes: NDArray[np.int64]  # (n_texts,), indices of `names`
    names: list[str]
    parts: pa.StructArray  # null where there is no number
    units: dict[str, NDArray[np.intp]]  # the texts of each


def _signature_of(texts: pa.Array) -> _Numbers:
    """The way in which each text writes a number."""
    codes = np.full(len(texts), -1, np.int64)
    parts = pc.extract_regex(texts, _NUMBER_PARTS)
    names = list(_SIGNATURES)
    rows = np.flatnonzero(np.asarray(parts.is_valid()) & _one_sign(parts))
    padded = np.asarray(pc.match_substring_regex(texts, _PADDED))
    rows = rows[~padded[rows]]
    bodies = _bodies(parts.take(pa.array(rows)))
    for code, signature in enumerate(_SIGNATURES.values()):
        if not len(rows):
            break
        fits = np.asarray(pc.match_substring_regex(bodies, signature.pattern))
        codes[rows[fits]] = code
        rows, bodies = rows[~fits], bodies.filter(pa.array(~fits))
    units: dict[str, NDArray[np.intp]] = {}
    numbers = np.flatnonzero(codes >= 0)
    if len(numbers):
        own = _units(parts.take(pa.array(numbers))).dictionary_encode()
        indices = np.asarray(own.indices)
        for code, unit in enumerate(own.dictionary.to_pylist()):
            units[unit] = numbers[indices == code]
    return _Numbers(codes, names, parts, units)


def _one_sign(parts: pa.StructArray) -> NDArray[np.bool_]:
    """Whether a number has at most one sign, one unit, and both parentheses or none."""
    has: dict[str, NDArray[np.bool_]] = {
        name: np.asarray(pc.fill_null(pc.not_equal(parts.field(name), ""), False))
        for name in ("open", "close", "before", "inner", "after", "unit", "last_unit")
    }
    signs = sum(has[name].astype(int) for name in ("before", "inner", "after", "open"))
    alone = (signs <= 1) & (has["open"] == has["close"])
    alone &= ~(has["unit"] & has["last_unit"])
    return np.asarray(alone)


def _bodies(parts: pa.StructArray) -> pa.Array:
    """Digits and what stands between them; all blanks as one, apostrophes too."""
    bodies = pc.replace_substring_regex(parts.field("body"), _BLANK, " ")
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
    for own in evidence:
        for name, n_cells in own.signatures.items():
            decimals = {decimal for decimal, _ in _SIGNATURES[name].signs}
            if n_cells and len(decimals) == 1:
                commas += decimals == {","}
                points += decimals == {"."}
        for day_first, month_first in TURNED.items():
            difference = own.dates[day_first] - own.dates[month_first]
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
    return TextDecision(TextForm(), _note_on_numbers(evidence, markers))


def _decided(
    form: TextForm, missing: dict[str, int], n_cells: int, *notes: str
) -> TextDecision:
    """A form that takes some words as missing cells."""
    found = [note for note in notes if note]
    if missing:
        n_missing = sum(missing.values())
        listed = ", ".join("blank" if not t else quoted(t) for t in missing)
        are = "is" if n_missing == 1 else "are"
        found.append(
            f"{n_missing:,} of {n_cells:,} cells {are} {listed}, taken as missing"
        )
    unusual = form.described()
    return TextDecision(form, (*((unusual,) if unusual else ()), *found))


def _few(words: dict[str, int], n_words: int, n_cells: int) -> bool:
    """Whether words are so few that the column is still of what its other cells are."""
    all_listed = sum(words.values()) == n_words
    few = n_words <= max(1, MAX_WORD_SHARE * n_cells)
    return all_listed and few and len(words) <= MAX_WORDS


def _numbers_decided(
    evidence: TextEvidence, markers: dict[str, int], signs: FileSigns
) -> TextDecision | None:
    """The form of a column of numbers; None if it is none."""
    if not evidence.n_numbers:
        return None
    n_markers = sum(markers.values())
    words = {t: n for t, n in evidence.words.items() if t not in markers}
    n_words = evidence.n_words - n_markers
    many = len(evidence.numbers) > MIN_NUMBERS
    if n_words and not (many and _few(words, n_words, evidence.n_cells)):
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
    is_open = len({own for own, _ in fitting}) > 1 and (
        evidence.signatures["comma of three"] or evidence.signatures["point of three"]
    )
    # A point before the decimals is what most files mean.
    if is_open and (decimal, thousands) != (".", ""):
        sign = thousands or decimal
        role = "stands between thousands" if thousands else "is the decimal sign"
        note = f"ambiguous: {quoted(sign)} {role}, as far as can be seen"
    missing = {**markers, **words}
    unit = units[0] if units else ""
    form = TextForm("number", decimal, thousands, unit, missing=tuple(missing))
    return _decided(form, missing, evidence.n_cells, note)


def _n_fitting(evidence: TextEvidence, pair: tuple[str, str]) -> int:
    """Cells with a number that a decimal and a thousands sign allow."""
    return sum(
        n for name, n in evidence.signatures.items() if pair in _SIGNATURES[name].signs
    )


def _chosen_signs(
    fitting: Sequence[tuple[str, str]], signs: FileSigns
) -> tuple[str, str]:
    """The decimal and thousands sign, of those that fit, that a table suggests."""
    wanted = "," if signs.decimal_comma else "."
    suggested = [pair for pair in fitting if pair[0] == wanted] or list(fitting)
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
    if bad:
        note = "; ".join(
            filter(None, (note, f"{counted(bad, 'cell')} of another form"))
        )
    form = TextForm(
        "date", order=order, zone=_common_zone(evidence), missing=tuple(missing)
    )
    return _decided(form, missing, evidence.n_cells, note)


def _common_zone(evidence: TextEvidence) -> int | None:
    """The zone of a column's dates; UTC where they are of several."""
    if None in evidence.zones or not evidence.zones:
        return None
    zones = [zone for zone in evidence.zones if zone is not None]
    return zones[0] if len(zones) == 1 else 0


def _note_on_numbers(
    evidence: TextEvidence, markers: dict[str, int]
) -> tuple[str, ...]:
    """A note on a column of text most cells of which are numbers."""
    n_values = evidence.n_cells - sum(markers.values())
    if 2 * evidence.n_numbers <= n_values or len(evidence.numbers) <= MIN_NUMBERS:
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


class ReadTexts(NamedTuple):
    """Texts as values; those that failed spell nothing of the column's kind."""

    values: NDArray[Any]  # (n_texts,), int64, float64 or bool; microseconds of times
    missing: NDArray[np.bool_]  # (n_texts,), those that failed included
    failed: NDArray[np.bool_]  # (n_texts,)


def read_texts(form: TextForm, texts: pa.Array) -> ReadTexts:
    """Texts as a form reads them, which is not one of text; null ones are missing."""
    trimmed = pc.utf8_trim_whitespace(texts)
    missing = np.asarray(
        pc.fill_null(pc.is_in(trimmed, pa.array(form.missing, pa.string())), False)
    )
    missing |= np.asarray(texts.is_null())
    if form.kind == "number":
        values, valid = _read_numbers(form, trimmed, ~missing)
    else:
        values, valid = _read_others(form, trimmed, ~missing)
    return ReadTexts(values, missing | ~valid, ~(missing | valid))


def _read_numbers(
    form: TextForm, texts: pa.Array, wanted: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers, and which texts spell one in the form."""
    rows = np.flatnonzero(wanted)
    chosen = texts if wanted.all() else texts.take(pa.array(rows))
    if not (form.thousands or form.unit) and form.decimal == ".":
        plain = _plain_numbers(chosen)
        if plain is not None:
            values = np.zeros(len(texts), plain.dtype)
            values[rows] = plain
            return values, wanted.copy()
    found = _signature_of(chosen)
    # A cell of another country's file is read where it cannot mean anything else.
    decimals = [_decimal_of(own, form) for own in _SIGNATURES.values()] + [""]
    decimal = np.array(decimals)[found.codes]
    if form.unit != "%" and "%" in found.units:
        decimal[found.units["%"]] = ""
    values = np.zeros(len(texts), np.float64)
    is_valid = np.zeros(len(texts), bool)
    are_integers = True
    for sign in (".", ","):
        places = np.flatnonzero(decimal == sign)
        numbers = _as_numbers(found.parts.take(pa.array(places)), sign)
        are_integers &= numbers.dtype.kind == "i"
        values[rows[places]] = numbers
        is_valid[rows[places]] = True
    if are_integers and np.abs(values).max(initial=0) < _EXACT:
        return values.astype(np.int64), is_valid
    return values, is_valid


def _decimal_of(signature: _Signature, form: TextForm) -> str:
    """The decimal sign by which numbers written in one way are read; "" if by none."""
    if (form.decimal, form.thousands) in signature.signs:
        return form.decimal
    decimals = {decimal for decimal, _ in signature.signs}
    if len({thousands for _, thousands in signature.signs}) == 1:
        # Digits in groups are the same number whatever would stand for decimals.
        return min(decimals)
    return decimals.pop() if len(decimals) == 1 else ""


def _plain_numbers(texts: pa.Array) -> NDArray[Any] | None:
    """Texts as Arrow reads numbers; None if one is written in another way."""
    return _cast(texts) if _are_plain(texts) else None


def _are_plain(texts: pa.Array) -> bool:
    """Whether all texts are numbers with points, none of them led by zeros."""
    return bool(pc.all(pc.match_substring_regex(texts, _PLAIN)).as_py())


def _cast(texts: pa.Array) -> NDArray[Any]:
    """Plain texts of numbers as integers where all are, else as floats."""
    unsigned = pc.replace_substring_regex(texts, r"^\+", "")
    whole = pc.all(pc.match_substring_regex(unsigned, r"^-?\d{1,18}$")).as_py()
    return np.asarray(unsigned.cast(pa.int64() if whole else pa.float64()))


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
    form: TextForm, texts: pa.Array, wanted: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Booleans, or microseconds of dates and times; and which texts spell one."""
    encoded = texts.dictionary_encode()
    table = [_read_one(form, text) for text in encoded.dictionary.to_pylist()]
    known = np.array([value is not None for value in table] + [False])
    values = np.array([value or 0 for value in table] + [0], dtype=np.int64)
    places = np.asarray(encoded.indices.fill_null(len(table)))
    found: NDArray[Any] = values[places]
    return found.astype(bool) if form.kind == "boolean" else found, known[
        places
    ] & wanted


def _read_one(form: TextForm, text: str) -> int | None:
    """One text as a boolean or in microseconds; None if it spells no such value."""
    if form.kind == "boolean":
        word = text.lower()
        return int(word in TRUE_TEXTS) if word in TRUE_TEXTS | FALSE_TEXTS else None
    if form.kind == "duration":
        return time_of_day(text)
    moments = moments_of(text, form.order)
    return in_zone(moments[0], form.zone) if moments else None


def read_numbers(texts: Sequence[str]) -> list[int | float] | None:
    """The numbers that texts spell with points; None if one spells none."""
    found = _plain_numbers(pa.array(texts, pa.string()))
    return None if found is None else found.tolist()


def evidence_of(column: ValueColumn) -> TextEvidence:
    """What the cells of a column of texts may spell."""
    counts = None if column.repeats is None else column.repeats.counts
    cells = np.bincount(column.indices + 1, counts, len(column.values) + 1)[1:]
    used = np.flatnonzero(cells)
    if isinstance(column.values, TextValues):
        texts = column.values.texts
        texts = texts if len(used) == len(texts) else texts.take(pa.array(used))
    else:
        texts = _as_texts([column.values[place] for place in used.tolist()])
    trimmed = pc.utf8_trim_whitespace(texts)
    found = TextEvidence()
    found.add(trimmed, cells[used].astype(np.int64))
    return found


def _as_texts(values: list[Any]) -> pa.Array:
    """Texts of Python as Arrow's, in which half a character is replaced."""
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        plain = [value.encode("utf-8", "replace").decode() for value in values]
        return pa.array(plain, pa.string())


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
        places, others = np.arange(len(texts)), []
    else:
        values = column.values
        places = np.array([p for p, v in enumerate(values) if isinstance(v, str)], int)
        texts = _as_texts([values[place] for place in places.tolist()])
        others = [p for p, v in enumerate(values) if isinstance(v, int | float)]
    read = read_texts(form, texts)
    failed: list[int] = []
    if read.failed.any():
        counts = np.bincount(column.indices + 1, minlength=len(column.values) + 1)
        strange = places[read.failed]
        failed = strange[counts[1:][strange] > 0].tolist()
    if form.kind == "boolean":
        found = list(column.values)
        for place, value, lacks in zip(
            places.tolist(), read.values, read.missing, strict=True
        ):
            found[place] = None if lacks else bool(value)
        return SpelledColumn(merged_values(replace(column, values=found)), failed)
    numbers: Any = [column.values[place] for place in others]
    table = np.zeros(len(column.values) + 1, np.result_type(read.values, *numbers))
    table[places] = read.values
    table[others] = numbers
    absent = np.ones(len(column.values) + 1, dtype=bool)
    absent[places] = read.missing
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
    places = [
        -1 if value is None else index.setdefault(value, len(index))
        for value in column.values
    ]
    table = np.array([*places, -1], dtype=np.int32)
    return replace(column, indices=table[column.indices], values=list(index))


def labels_by_text(labels: Sequence[Hashable]) -> dict[str, Hashable]:
    """Labels by the texts that spell them; files write booleans in several ways."""
    texts = {str(label): label for label in labels}
    for one in labels:
        if isinstance(one, bool):
            texts |= {text: one for text, truth in TRUTHS.items() if truth == one}
    return texts
