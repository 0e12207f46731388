"""What can be wrong with a CSV file, said in one sentence that names the line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import IO

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.file_format import FileFormat
from bayleaf.wording import name_list

# Bytes of a CSV block held in memory at once.
BLOCK_BYTES = 1 << 22
# A header of more lines than this has surely lost a closing quote.
_MOST_HEADER_LINES = 100


def called(source: str) -> str:
    """How a source is called in a message."""
    return "standard input" if source == "-" else source


def header_lines(stream: IO[bytes], source: str) -> bytes:
    """The first line that is not blank, and those that its quotes hold together."""
    line = stream.readline(BLOCK_BYTES)
    while line and not line.strip():
        line = stream.readline(BLOCK_BYTES)
    n_lines = 1
    while _ends_in_quotes(line):
        more = stream.readline(BLOCK_BYTES)
        n_lines += 1
        if not more or n_lines > _MOST_HEADER_LINES:
            raise ValueError(
                f"the header of {called(source)} opens a quote that is not closed; "
                "add the missing quote"
            )
        line += more
    return line


def header_names(line: bytes, source: str, form: FileFormat) -> list[str]:
    """Column names in the first line of a CSV source."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong_encoding(source) from error
    if "\0" in text:
        raise wrong_encoding(source)
    if not text.strip():
        raise ValueError(f"{called(source)} is empty; a header line was expected")
    try:
        names = next(
            csv.reader(io.StringIO(text, newline=""), delimiter=form.separator)
        )
    except csv.Error as error:
        raise ValueError(
            f"the header of {called(source)} cannot be read; end each line with a "
            "line feed and quote names that hold line ends"
        ) from error
    check_names(names, source)
    return names


def check_names(names: Sequence[str], source: str) -> None:
    """Raise if column names repeat."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{called(source)} has several columns called {name_list(twice)}; "
            "give every column a name of its own"
        )


def wrong_encoding(source: str) -> ValueError:
    """What to say of a file in another encoding."""
    return ValueError(
        f"{called(source)} is no text in the encoding expected, UTF-8 by default; name "
        "its encoding, such as --encoding cp1252"
    )


def check_quotes(content: IO[bytes], source: str, form: FileFormat) -> None:
    """Raise if a quoted cell is never closed, which would swallow all later rows."""
    text = io.TextIOWrapper(content, encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, strict=True, delimiter=form.separator)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"a quoted cell that begins in line {line} of {called(source)} is not "
            "closed properly; add the missing quote"
        ) from error


def _ends_in_quotes(line: bytes) -> bool:
    """Whether the last cell of a line goes on in the next."""
    if line.count(b'"') % 2 == 0:
        return False
    text = io.StringIO(line.decode("utf-8-sig", errors="replace"), newline="")
    try:
        list(csv.reader(text, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def csv_error(
    source: str,
    error: pa.ArrowInvalid,
    content: IO[bytes] | None,
    form: FileFormat,
    failed: Sequence[pa_csv.InvalidRow] = (),
) -> ValueError:
    """One sentence for a CSV file that cannot be parsed, with the ragged line."""
    place = _ragged_line(content, form) if content is not None else None
    if place is not None:
        line, found, expected = place
        return ValueError(
            f"line {line} of {called(source)} has {found} cells, but the header has "
            f"{expected}; correct the line or quote its commas"
        )
    if failed:
        row = failed[0]
        return ValueError(
            f"line {row.number} of {called(source)} has {row.actual_columns} cells, "
            f"but the header has {row.expected_columns}; correct it or quote its commas"
        )
    if "invalid UTF8" in str(error):
        return wrong_encoding(source)
    if "straddl" in str(error):
        return ValueError(
            f"a row of {called(source)} is longer than {BLOCK_BYTES >> 20} MiB; "
            "shorten it, or close its quote"
        )
    return ValueError(f"cannot read {called(source)} as CSV: {error}")


def _ragged_line(content: IO[bytes], form: FileFormat) -> tuple[int, int, int] | None:
    """Line, number of cells and expected number of the first ragged row."""
    reader = csv.reader(
        io.TextIOWrapper(content, "utf-8-sig", errors="replace", newline=""),
        delimiter=form.separator,
    )
    try:
        expected = len(next(reader))
        before = reader.line_num
        for row in reader:
            if row and len(row) != expected:
                return before + 1, len(row), expected
            before = reader.line_num
    except (csv.Error, StopIteration):
        return None
    return None
