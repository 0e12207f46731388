"""Facts on how a file was read as a table, in sentences and as plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from bayleaf.wording import counted, cut, quoted

_KEY = b"file"
# The line by which spreadsheets learn the separator.
_SIGN = re.compile(r'"?sep=', re.IGNORECASE)
_MAX_LINES = 5
_MAX_TEXT = 60


@dataclass(frozen=True)
class FileFacts:
    """How a file was read; texts are empty where its kind has no such thing."""

    kind: str
    separator: str = ""  # such as "a comma"
    decimal: str = ""
    encoding: str = ""
    header_line: int | None = None  # 0 if no line is the header
    above: tuple[str, ...] = ()  # texts above the header or first row
    units: str = ""
    below: tuple[str, ...] = ()  # texts below the rows
    n_empty_columns: int = 0
    is_trailing: bool = False  # whether a separator ends each line
    sheet: str = ""  # of a workbook of several, such as "'Data', the first of 2"

    @classmethod
    def of_schema(cls, schema: Any) -> FileFacts:
        """The facts in a table's metadata; files without are Parquet."""
        text = (schema.metadata or {}).get(_KEY)
        return cls("Parquet") if text is None else cls(**json.loads(text))

    def added_to(self, table: Any) -> Any:
        """A table with these facts in its metadata."""
        metadata = table.schema.metadata or {}
        facts = json.dumps(asdict(self)).encode()
        return table.replace_schema_metadata({**metadata, _KEY: facts})

    def with_lines(self, above: bytes, units: bytes) -> FileFacts:
        """The same with lines of UTF-8 above the rows that are skipped."""
        line = " ".join(_texts(units))
        return replace(self, above=tuple(_texts(above)), units=line)

    def with_below(self, lines: bytes) -> FileFacts:
        """The same with lines of UTF-8 below the rows."""
        return replace(self, below=tuple(_texts(lines)))

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain values."""
        return asdict(self)

    def sentences(self, name: str) -> Iterator[str]:
        """One sentence per fact that ordinary files do not have, but those below rows.

        Ordinary files are Parquet, and CSV in UTF-8 with commas between cells, decimal
        points and the header in line 1.
        """
        if self.kind not in ("CSV", "Parquet"):
            yield f"{name} is read as {self.kind}"
        if self.sheet:
            yield f"the sheet is {self.sheet}; --sheet names another"
        if self.encoding not in ("", "UTF-8"):
            yield f"the encoding is {self.encoding}"
        if self.separator not in ("", "a comma"):
            yield f"the separator is {self.separator}"
        if self.decimal == ",":
            yield "the decimal sign is a comma"
        if (self.header_line or 0) > 1:
            yield f"the header is line {self.header_line}"
        elif self.header_line == 0:
            yield "the file has no header; --names gives names to columns"
        first = "first row" if self.header_line == 0 else "header"
        sign = [text for text in self.above if _SIGN.match(text)]
        comments = [text for text in self.above if text.startswith(("#", "%"))]
        others = [t for t in self.above if t not in (*sign, *comments)]
        if sign:
            yield f"line 1, {quoted(sign[0])}, names the separator"
        for texts, noun in ((others, "title line"), (comments, "comment line")):
            if texts:
                verb = "is" if len(texts) == 1 else "are"
                yield (
                    f"{counted(len(texts), noun)} above the {first} {verb} skipped: "
                    f"{_shown(texts)}"
                )
        if self.units:
            units = _shown([self.units])
            yield f"the line of units below the header is skipped: {units}"
        if self.is_trailing:
            yield "the separator at the end of each line is skipped"
        if self.n_empty_columns:
            n_empty = counted(self.n_empty_columns, "empty column")
            verb = "is" if self.n_empty_columns == 1 else "are"
            yield f"{n_empty} without a name {verb} skipped"


def _texts(lines: bytes) -> list[str]:
    """Lines with text, without the empty cells that spreadsheets put behind them."""
    texts = lines.decode("utf-8", "replace").splitlines()
    ends = " \t,;"
    return [
        text if _SIGN.match(text) else text.strip(ends)
        for text in texts
        if text.strip(ends)
    ]


def _shown(texts: list[str]) -> str:
    """The first of some lines, in quotes."""
    shown = ", ".join(quoted(cut(text, _MAX_TEXT)) for text in texts[:_MAX_LINES])
    hidden = len(texts) - _MAX_LINES
    return f"{shown} and {hidden} more" if hidden > 0 else shown
