"""ARFF files, as Weka and OpenML write them, as the text of a CSV file."""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bayleaf.wording import cut, quoted

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(
    rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL
)
_DATE = re.compile(rf"date(?:\s+({_QUOTED}|\S+))?", re.IGNORECASE)
_NUMBERS = ("numeric", "real", "integer")
# Cells have commas or tabs between.
_CELL = re.compile(rf"({_QUOTED}|(?!['\"])[^,\t]*?)(\s*,\s*|\s*\t\s*|\s*$)")
_ESCAPED = re.compile(r"\\(.)")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_PADDING = re.compile(r"(?<![\d.])0+(?=\d)")
# Parts of a date as Java and as Python write its format.
_DATE_PARTS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MMM": "%b",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
    "a": "%p",
    "''": "'",
}
_DATE_PART = re.compile(r"''|'[^']*'|([A-Za-z])\1*")


@dataclass(frozen=True)
class Attribute:
    """A column as its file declares it."""

    name: str
    kind: str  # "nominal", "number", "text" or "date"
    values: dict[str, None] = field(default_factory=dict)  # of a nominal one, in order
    date: str | None = None  # format of dates, in Python's letters; None if unknown

    def text(self, cell: str, is_quoted: bool) -> str:
        """A cell as CSV files write it; empty where it is missing."""
        if cell == "?" and not is_quoted:
            return ""
        if self.kind == "number":
            return _PADDING.sub("", cell, 1)
        if self.kind == "date" and self.date is not None:
            try:
                moment = datetime.datetime.strptime(cell, self.date)
            except ValueError:
                return cell
            return moment.isoformat(" ")
        return cell

    @property
    def usual(self) -> str:
        """What a sparse row leaves out."""
        return next(iter(self.values), "0")


class ArffFile:
    """The attributes of a file, and its rows as lines of CSV below a header.

    The header is in the line of @data, and lines below keep their numbers.
    """

    def __init__(self, lines: Iterable[str], source: str) -> None:
        self._source = source
        self._lines = enumerate(lines, 1)
        self.attributes: list[Attribute] = []
        self.n_above = 0  # lines above the header
        for number, line in self._lines:
            text = line.strip()
            keyword = text.split(None, 1)[0].lower() if text else ""
            if keyword == "@data":
                self.n_above = number - 1
                break
            if keyword == "@attribute":
                self.attributes.append(self._attribute(text, number))
            elif text and not text.startswith("%") and keyword != "@relation":
                raise self._error(number, f"is not a declaration: {cut(text, 40)}")
        else:
            raise ValueError(f"{source} is ARFF without @data; add its rows below it")
        if not self.attributes:
            raise ValueError(f"{source} is ARFF without @attribute; declare columns")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the columns of declared categories."""
        return tuple(a.name for a in self.attributes if a.kind == "nominal")

    def csv_lines(self) -> Iterator[str]:
        """The rows, and blank lines for comments."""
        line = io.StringIO()
        writer = csv.writer(line, lineterminator="\n")
        for number, text in self._lines:
            line.seek(0)
            line.truncate()
            if text.strip() and not text.lstrip().startswith("%"):
                writer.writerow(self._cells(text.strip(), number))
            yield line.getvalue() or "\n"

    def _error(self, number: int, problem: str) -> ValueError:
        """The error of a line."""
        return ValueError(
            f"line {number} of {self._source} {problem}; correct it, or save the table "
            "as CSV"
        )

    def _attribute(self, text: str, number: int) -> Attribute:
        """The column that a line declares."""
        match = _ATTRIBUTE.fullmatch(text)
        if match is None:
            raise self._error(number, "declares no attribute")
        name, kind = _unquoted(match[1]), match[2].strip()
        if kind.startswith("{") and "}" in kind:
            inner = kind[1 : kind.rindex("}")]
            values = [cell for cell, _ in self._split(inner, number)]
            return Attribute(name, "nominal", dict.fromkeys(values))
        # A comment may follow the type.
        word = kind.split(None, 1)[0].lower() if kind else ""
        if word in _NUMBERS:
            return Attribute(name, "number")
        if word == "string":
            return Attribute(name, "text")
        date = _DATE.match(kind)
        if word == "date" and date is not None:
            form = date[1] if date[1] and not date[1].startswith("%") else None
            return Attribute(
                name, "date", date=_date_format(_unquoted(form)) if form else None
            )
        raise self._error(
            number, f"declares {quoted(name)} of the type {quoted(cut(kind, 20))}"
        )

    def _split(self, text: str, number: int) -> Iterator[tuple[str, bool]]:
        """Cells with commas between, and whether each has quotes."""
        start, text = 0, text.strip()
        while True:
            match = _CELL.match(text, start)
            if match is None:
                raise self._error(number, "has a quote that is not closed")
            yield _unquoted(match[1]), match[1][:1] in ("'", '"')
            start = match.end()
            if not match[2].strip(" "):
                return

    def _cells(self, text: str, number: int) -> Sequence[str]:
        """The cells of a row."""
        if not text.startswith("{"):
            cells = list(self._split(text, number))
            if len(cells) != len(self.attributes):
                raise self._error(
                    number,
                    f"has {len(cells)} cells for {len(self.attributes)} attributes",
                )
            return [
                self._cell(a, *cell, number) for a, cell in zip(self.attributes, cells)
            ]
        row = [attribute.usual for attribute in self.attributes]
        inner = text[1 : text.rfind("}")].strip()
        for item in _items(inner):
            index, cell = (*item.split(None, 1), "", "")[:2]
            if not index.isdecimal() or int(index) >= len(row) or not cell:
                raise self._error(
                    number, f"has the sparse cell {quoted(cut(item, 20))}"
                )
            attribute = self.attributes[int(index)]
            ((value, is_quoted),) = self._split(cell, number)
            row[int(index)] = self._cell(attribute, value, is_quoted, number)
        return row

    def _cell(
        self, attribute: Attribute, cell: str, is_quoted: bool, number: int
    ) -> str:
        """A cell of a row as CSV files write it."""
        text = attribute.text(cell, is_quoted)
        if attribute.kind == "nominal" and text and text not in attribute.values:
            raise self._error(
                number,
                f"has {quoted(cut(text, 20))} in column {quoted(attribute.name)}, "
                "whose declaration lacks it",
            )
        return text


def _items(text: str) -> list[str]:
    """The items of a sparse row, with commas between."""
    return re.findall(rf"(?:{_QUOTED}|[^,'\"])+", text)


def _unquoted(text: str) -> str:
    """A name or cell without quotes and escapes."""
    if text[:1] not in ("'", '"'):
        return text
    return _ESCAPED.sub(lambda m: _CONTROLS.get(m[1], m[1]), text[1:-1])


def _date_format(java: str) -> str | None:
    """A format of dates in Python's letters; None if a part has none."""
    unknown = False

    def part(match: re.Match[str]) -> str:
        nonlocal unknown
        text = match[0]
        if text.startswith("'") and text != "''":
            return text[1:-1].replace("%", "%%")
        unknown = unknown or text not in _DATE_PARTS
        return _DATE_PARTS.get(text, "")

    result = _DATE_PART.sub(part, java.replace("%", "%%"))
    return None if unknown else result
