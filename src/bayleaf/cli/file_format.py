"""How CSV files are read: separator, decimal sign, encoding, empty cells."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Annotated, cast

from cyclopts import Parameter

from bayleaf.wording import quoted

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|"}
# What is looked at to find out a separator.
SAMPLE_BYTES, _SAMPLE_ROWS = 1 << 16, 30
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@Parameter(name="*")
@dataclass(frozen=True)
class FileFormat:
    """How CSV files are read.

    Parameters
    ----------
    na
        Cell that counts as empty, beside NA, N/A, NaN, NULL, None, #N/A, n/a and ?;
        may be repeated.
    keep_na
        Only cells without text, and those that --na names, count as empty.
    sep
        What stands between cells (comma, semicolon, tab or bar), or another sign; by
        default found out.
    decimal
        Decimal sign, a point or a comma; by default found out.
    encoding
        Such as cp1252; by default UTF-8, or UTF-16 with its mark.
    """

    na: Annotated[tuple[str, ...], Parameter(negative="")] = ()
    keep_na: Annotated[bool, Parameter(negative="")] = False
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    @property
    def missing_texts(self) -> list[str]:
        """The texts of cells that count as empty."""
        from bayleaf.data.text_parsing import MISSING_TEXTS

        usual = () if self.keep_na else MISSING_TEXTS
        return list(dict.fromkeys(["", *usual, *self.na]))

    @property
    def separator(self) -> str:
        """What stands between cells; a comma until it is known."""
        return _WORDS.get(self.sep or ",", self.sep or ",")

    def check(self) -> None:
        """Raise ValueError unless signs are single and the encoding is known."""
        if len(self.separator) != 1 or self.separator in '"\r\n':
            raise ValueError(
                "--sep must be comma, semicolon, tab, bar or one other sign, got "
                f"{quoted(self.sep)}"
            )
        if self.decimal not in (None, ".", ","):
            raise ValueError(
                f"--decimal must be a point or a comma, got {quoted(self.decimal)}"
            )
        if self.decimal == self.separator and self.sep is not None:
            raise ValueError("--decimal and --sep must be different signs")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise ValueError(
                f"--encoding names {quoted(self.encoding)}, which is no encoding known "
                "here; utf-8, utf-16 and cp1252 are"
            ) from None

    def found_in(self, sample: bytes) -> FileFormat:
        """The format with what the beginning of a file reveals.

        `sample` is UTF-8; its last line may be cut.
        """
        rows = {
            s: _rows(sample, s) for s in ([self.separator] if self.sep else SEPARATORS)
        }
        chosen = max(rows, key=lambda s: _fitness(rows[s]))
        decimal = self.decimal
        if decimal is None:
            # Unless the decimal sign is a comma, commas separate.
            cells = [cell.strip() for row in rows[chosen][1:] for cell in row]
            commas = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
            points = any(_DECIMAL_POINT.fullmatch(cell) for cell in cells)
            decimal = "," if chosen != "," and commas and not points else "."
        return replace(self, sep=chosen, decimal=decimal)

    def described(self) -> str:
        """What is unusual of the format, in words; empty where nothing is."""
        unusual = []
        if self.separator != ",":
            named = SEPARATORS.get(self.separator, quoted(self.separator))
            unusual.append(f"{named} between cells")
        if self.decimal == ",":
            unusual.append("decimal commas")
        if self.encoding not in (None, "utf-8", "utf-8-sig"):
            unusual.append(f"encoding {self.encoding}")
        return ", ".join(unusual)


def encoding_of(start: bytes, given: str | None) -> str:
    """The encoding of a file that begins so: the one given, or the one it marks."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark) and given in (None, "utf-8", "utf-16"):
            return encoding
    return given or "utf-8"


def as_utf8(stream: IO[bytes], encoding: str) -> IO[bytes]:
    """A stream of text in some encoding as one of UTF-8.

    Reading raises UnicodeDecodeError if the text has another encoding.
    """
    if codecs.lookup(encoding).name == "utf-8":
        return stream
    return cast("IO[bytes]", io.BufferedReader(_Recoded(stream, encoding)))


class _Recoded(io.RawIOBase):
    """Reads text of any encoding as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(stream, encoding=encoding, newline="")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._left:
            self._left = self._text.read(max(1, len(buffer) // 4)).encode("utf-8")
        taken = self._left[: len(buffer)]
        self._left = self._left[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _rows(sample: bytes, separator: str) -> list[list[str]]:
    """The first rows of a file, as a separator cuts them."""
    whole = sample if len(sample) < SAMPLE_BYTES else sample.rpartition(b"\n")[0]
    text = io.StringIO(whole.decode("utf-8-sig", errors="replace"), newline="")
    rows: list[list[str]] = []
    try:
        for row in csv.reader(text, delimiter=separator):
            if row:
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                break
    except csv.Error:
        pass
    return rows


def _fitness(rows: Sequence[Sequence[str]]) -> tuple[bool, float, int]:
    """How well a separator cuts rows: into several cells, as many in every row."""
    width = len(rows[0]) if rows else 0
    alike = sum(len(row) == width for row in rows) / max(1, len(rows))
    return width > 1, alike, width
