"""Tables of texts as programs and countries write them, and the values they mean."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

Rng = np.random.Generator
Row = dict[str, str]
START = datetime.datetime(2019, 5, 6)
EMPTY_TEXTS = ("", "NA", "N/A", "?")
# What stands where no value is, in columns of text where it means so in any column.
EMPTY = ("", "NA", "-", ".", "unknown", "\\N", "#DIV/0!", "  ")
ODD_TEXTS = (
    'a "b"',
    "two\nlines",
    "a,b;c\td",
    "ä ö",
    "漢字",
    "=1+1",
    " x ",
    "TRUE",
    "7",
)


def _grouped(value: float, decimal: str, thousands: str, n_decimals: int) -> str:
    """The digits of a number, with its signs."""
    text = f"{abs(value):,.{n_decimals}f}".replace(",", "t").replace(".", decimal)
    return text.replace("t", thousands)


@dataclass(frozen=True)
class Mark:
    """How a number is written."""

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    minus: str = "-"  # parentheses where it is "("

    def text(self, value: float, n_decimals: int) -> str:
        """A number as text."""
        digits = _grouped(value, self.decimal, self.thousands, n_decimals)
        body = f"{self.before}{digits}{self.after}"
        if value >= 0:
            return body
        return f"({body})" if self.minus == "(" else self.minus + body


MARKS = {
    "plain": Mark(),
    "comma": Mark(","),
    "English": Mark(".", ","),
    "German": Mark(",", "."),
    "French": Mark(",", "\u202f"),
    "blank": Mark(",", " "),
    "hard blank": Mark(".", "\xa0"),
    "Swiss": Mark(".", "'"),
    "percent": Mark(after="%"),
    "percent, comma": Mark(",", after=" %"),
    "dollars": Mark(".", ",", before="$"),
    "euros": Mark(",", ".", after=" €"),
    "accounts": Mark(".", ",", minus="("),
    "minus": Mark(minus="−"),
}
DATE_FORMS = {
    "y-m-d": "%Y-%m-%d",
    "y-m-d and time": "%Y-%m-%d %H:%M:%S",
    "T": "%Y-%m-%dT%H:%M",
    "zone": "%Y-%m-%dT%H:%M:%S+02:00",
    "d/m/y": "%d/%m/%Y",
    "m/d/y": "%m/%d/%Y",
    "d.m.y": "%d.%m.%Y",
    "d.m.yy": "%d.%m.%y",
    "d-m-y": "%d-%m-%Y",
    "y/m/d": "%Y/%m/%d",
    "d month y": "%d %b %Y",
    "d-month-yy": "%d-%b-%y",
    "dmonthy": "%d%b%Y",
    "month d y": "%B %d, %Y",
    "y-m": "%Y-%m",
    "pm": "%m/%d/%Y %I:%M %p",
}
TRUTHS = {
    "R": ("TRUE", "FALSE"),
    "Python": ("True", "False"),
    "JSON": ("true", "false"),
    "letters": ("T", "F"),
    "words": ("yes", "no"),
    "digits": ("1", "0"),
}


@dataclass(frozen=True)
class WrittenColumn:
    """Cells as text, and the values that they mean; None where one is missing."""

    kind: str
    texts: list[str]
    values: list[Any]


def _numbers(mark: Mark, y: Any, rng: Rng) -> WrittenColumn:
    n_decimals = int(rng.integers(1, 4))
    scale = 10.0 ** rng.integers(0, 6)
    values = np.round((rng.normal(size=len(y)) + y) * scale, n_decimals).tolist()
    values = [value + 0.0 for value in values]
    return WrittenColumn("number", [mark.text(v, n_decimals) for v in values], values)


def _integers(mark: Mark, y: Any, rng: Rng) -> WrittenColumn:
    most = int(rng.choice([3, 9, 40, 3000, 2_000_000]))
    values = (rng.integers(0, most, len(y)) + y * (most // 3)).tolist()
    return WrittenColumn("integer", [mark.text(v, 0) for v in values], values)


def _dates(pattern: str, y: Any, rng: Rng) -> WrittenColumn:
    minutes = rng.integers(0, 900_000, len(y)) + 300_000 * np.asarray(y)
    moments = [START + datetime.timedelta(minutes=int(m)) for m in minutes]
    texts = [moment.strftime(pattern) for moment in moments]
    read = pattern.replace("+02:00", "%z")
    values = [datetime.datetime.strptime(text, read) for text in texts]
    return WrittenColumn("date", texts, values)


def _truths(words: tuple[str, str], y: Any, rng: Rng) -> WrittenColumn:
    truths = (np.asarray(y) ^ (rng.random(len(y)) < 0.3)).astype(bool).tolist()
    texts = [words[not truth] for truth in truths]
    if words[0].lower() == "true":
        return WrittenColumn("boolean", texts, truths)
    if words[0] == "1":
        return WrittenColumn("integer", texts, [int(truth) for truth in truths])
    return WrittenColumn("text", texts, texts)


def _words(words: tuple[str, ...], y: Any, rng: Rng) -> WrittenColumn:
    places = (rng.integers(0, len(words), len(y)) + y) % len(words)
    texts = [words[place] for place in places]
    return WrittenColumn("text", texts, texts)


def _times(pattern: str, y: Any, rng: Rng) -> WrittenColumn:
    moments = rng.integers(0, 86_400, len(y)) // (1 + np.asarray(y))
    texts = [
        (START + datetime.timedelta(seconds=int(second))).strftime(pattern)
        for second in moments
    ]
    values = [
        datetime.datetime.strptime(t, pattern) - datetime.datetime(1900, 1, 1)
        for t in texts
    ]
    return WrittenColumn("duration", texts, values)


# Texts of periods and eras, and the first day of what they spell.
PERIODS: dict[str, Callable[[datetime.datetime], tuple[str, datetime.datetime]]] = {
    "y quarter": lambda t: (
        f"{t.year}Q{(t.month + 2) // 3}",
        datetime.datetime(t.year, (t.month - 1) // 3 * 3 + 1, 1),
    ),
    "yMm": lambda t: (f"{t.year}M{t.month:02}", datetime.datetime(t.year, t.month, 1)),
    "y half": lambda t: (
        f"{t.year}-H{1 + t.month // 7}",
        datetime.datetime(t.year, t.month // 7 * 6 + 1, 1),
    ),
    "season": lambda t: (
        f"{t.year}/{(t.year + 1) % 100}",
        datetime.datetime(t.year, 1, 1),
    ),
    "fiscal y": lambda t: (f"FY{t.year}", datetime.datetime(t.year, 1, 1)),
    "y week": lambda t: (
        t.strftime("%G-W%V"),
        datetime.datetime.fromisocalendar(*t.isocalendar()[:2], 1),
    ),
    "era": lambda t: (
        f"令和{t.year - 2018}年{t.month}月{t.day}日",
        datetime.datetime(t.year, t.month, t.day),
    ),
}


def _periods(period: str, y: Any, rng: Rng) -> WrittenColumn:
    days = rng.integers(0, 1500, len(y)) + 500 * np.asarray(y)
    pairs = [PERIODS[period](START + datetime.timedelta(int(day))) for day in days]
    return WrittenColumn("date", [text for text, _ in pairs], [day for _, day in pairs])


Maker = Callable[[Any, Rng], WrittenColumn]
MAKERS: dict[str, Maker] = {
    **{f"number, {n}": (lambda y, r, m=m: _numbers(m, y, r)) for n, m in MARKS.items()},
    **{
        f"integer, {n}": (lambda y, r, m=m: _integers(m, y, r))
        for n, m in MARKS.items()
    },
    **{
        f"date, {n}": (lambda y, r, f=f: _dates(f, y, r)) for n, f in DATE_FORMS.items()
    },
    **{f"date, {n}": (lambda y, r, n=n: _periods(n, y, r)) for n in PERIODS},
    **{f"truth, {n}": (lambda y, r, w=w: _truths(w, y, r)) for n, w in TRUTHS.items()},
    **{
        f"time, {f}": (lambda y, r, f=f: _times(f, y, r))
        for f in ("%H:%M", "%H:%M:%S", "%I:%M %p")
    },
    "words": lambda y, r: _words(("red", "blue", "grün"), y, r),
    "odd words": lambda y, r: _words(ODD_TEXTS, y, r),
    "padded": lambda y, r: _words(("001", "02", "10", "7"), y, r),
    "versions": lambda y, r: _words(("1.2.3", "1.10", "2.0"), y, r),
    "units": lambda y, r: _words(("5 kg", "7 kg", "10 kg"), y, r),
    "two units": lambda y, r: _words(("5 EUR", "7 USD", "5%"), y, r),
    "hexadecimal": lambda y, r: _words(("0x1A", "0x2B"), y, r),
    "ranges": lambda y, r: _words(("1-2", "3-4", "<1"), y, r),
}


@dataclass(frozen=True)
class WrittenTable:
    """Columns of texts with a class, and the values that they mean."""

    columns: dict[str, WrittenColumn]
    labels: list[str]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    def rows(self, indices: Any) -> WrittenTable:
        """Some rows, in the given order."""
        indices = list(indices)
        columns = {
            name: WrittenColumn(
                c.kind, [c.texts[i] for i in indices], [c.values[i] for i in indices]
            )
            for name, c in self.columns.items()
        }
        return WrittenTable(columns, [self.labels[i] for i in indices])

    @property
    def texts(self) -> dict[str, list[str]]:
        """The features' texts."""
        return {name: column.texts for name, column in self.columns.items()}

    @property
    def typed(self) -> dict[str, list[Any]]:
        """The features' values."""
        return {name: column.values for name, column in self.columns.items()}

    def records(self) -> list[Row]:
        """Each row by name."""
        return [
            dict(zip(self.texts, cells, strict=True))
            for cells in zip(*self.texts.values(), strict=True)
        ]

    def frame(self) -> pd.DataFrame:
        """The texts as a frame."""
        return pd.DataFrame(self.texts)

    def csv(self, separator: str = ",", *, label: bool = True) -> str:
        """The table as a CSV file, cells quoted where they have to be."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        columns = self.texts | ({"class": self.labels} if label else {})
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def arrow(self, *, label: bool = True) -> pa.Table:
        """The texts as a table of Arrow."""
        return pa.table(self.texts | ({"class": self.labels} if label else {}))


def kinds_of_table(n_columns: int, rng: Rng) -> list[str]:
    """Kinds of columns that one program or country writes next to each other.

    The first has decimals, by which integers with signs between thousands are read.
    """
    decimal, day_first = (".", ",")[int(rng.integers(2))], rng.random() < 0.5
    other = {name for name, mark in MARKS.items() if mark.decimal != decimal}
    turned = {"m/d/y", "pm"} if day_first else {"d/m/y", "d-m-y"}
    numbers = [name for name in MARKS if name not in other]
    # Without decimals these are written as in any country.
    ambiguous = {f"integer, {name}" for name in other if MARKS[name].thousands in ",."}
    fitting = [
        kind
        for kind in MAKERS
        if kind not in ambiguous
        and kind.removeprefix("number, ") not in other
        and kind.removeprefix("date, ") not in turned
    ]
    first = f"number, {rng.choice(numbers)}"
    return [first, *rng.choice(fitting, n_columns - 1, replace=False).tolist()]


def written_table(
    kinds: list[str], n_rows: int, rng: Rng, *, odd: float = 0.0
) -> WrittenTable:
    """A table with a column of each kind; `odd` is the share of missing cells."""
    y = rng.integers(0, 2, n_rows)
    columns = {
        f"x{place}": with_odd_cells(MAKERS[kind](y, rng), odd, rng)
        for place, kind in enumerate(kinds)
    }
    return WrittenTable(columns, [("no", "yes")[k] for k in y])


# What a later table may hold that training did not: text, and the value that it means.
SURPRISES: dict[str, tuple[tuple[str, Any], ...]] = {
    "number": (("-", None), (" ", None), ("n.a.", None), ("1e3", 1000.0)),
    "integer": (
        ("-", None),
        (" ", None),
        ("#N/A", None),
        ("123456789012345678901", 123456789012345678901.0),
    ),
    "date": (("31.02.2020", None), ("soon", None), ("-", None)),
    "duration": (("25:61", None), ("late", None), ("-", None)),
    "boolean": (("-", None), (" ", None), ("unknown", None)),
    "text": (("new", "new"), ('漢字 "x"', '漢字 "x"'), ("two\nlines", "two\nlines")),
}


def with_surprises(table: WrittenTable, share: float, rng: Rng) -> WrittenTable:
    """A table in which some cells are of a sort that training may not have seen."""
    columns = {}
    for name, column in table.columns.items():
        texts, values = list(column.texts), list(column.values)
        sorts = SURPRISES[column.kind]
        for row in np.flatnonzero(rng.random(len(texts)) < share).tolist():
            texts[row], values[row] = sorts[int(rng.integers(len(sorts)))]
        columns[name] = WrittenColumn(column.kind, texts, values)
    return WrittenTable(columns, table.labels)


def with_odd_cells(column: WrittenColumn, share: float, rng: Rng) -> WrittenColumn:
    """The column with some cells that are missing, of one or two sorts."""
    texts, values = list(column.texts), list(column.values)
    sorts = rng.choice(EMPTY_TEXTS if column.kind == "text" else EMPTY, 2).tolist()
    for row in np.flatnonzero(rng.random(len(texts)) < share).tolist():
        texts[row], values[row] = sorts[int(rng.integers(2))], None
    return WrittenColumn(column.kind, texts, values)
