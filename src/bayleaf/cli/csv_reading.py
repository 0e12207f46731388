"""CSV files of any separator, decimal sign and encoding, whole or in batches of text.

What can be wrong with one is reported in a sentence that names the line.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import os
import re
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.file_kinds import likely_encodings, other_kind
from bayleaf.cli.options import SEPARATORS, FileFormat
from bayleaf.data.text_forms import TRUTHS
from bayleaf.streams.csv_files import CODECS
from bayleaf.wording import cut, name_list, quoted, shown_name

# Bytes of a CSV block held in memory at once.
BLOCK_BYTES = 1 << 22
# Bytes and rows by which a separator is chosen.
_SAMPLE_BYTES, _SAMPLE_ROWS = 1 << 16, 30
# A header of more lines than this has surely lost a closing quote.
_MAX_HEADER_LINES = 100
# A cell that may be a number with a leading zero, or a hexadecimal one, which Arrow
# takes for a number too, whatever separates cells.
_PADDED = re.compile(rb"(?:^|[^\w.+-])[+-]?0[\dxX]")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_csv(source: str, form: FileFormat, texts: Collection[str] = ()) -> pa.Table:
    """Read a whole CSV file, finding out the type of each column.

    Dates, numbers with leading zeros, and columns of `texts` stay text. What is unusual
    of the file's format is in the schema's metadata, "format".
    """
    form.check()
    with _unpacking(source):
        try:
            with _open_csv(source, form) as stream:
                content = stream.read()
        except UnicodeError as error:
            raise _wrong_encoding(source, form) from error
    form = _detected(form, content[:_SAMPLE_BYTES])
    _header_names(_header_lines(io.BytesIO(content), source), source, form)
    if content.count(b'"') % 2:
        _check_quotes(io.BytesIO(content), source, form)
    try:
        table = _parsed(content, form, texts)
        twice = len(set(table.column_names)) < table.num_columns
        names = [] if twice else _better_as_text(table.schema, content)
        again = _parsed(content, form, names, only=True).columns if names else ()
        for name, text in zip(names, again, strict=True):
            place = table.column_names.index(name)
            if pa.types.is_temporal(table.schema[place].type) or _has_padding(text):
                table = table.set_column(place, name, text)
    except pa.ArrowInvalid as error:
        raise _csv_error(source, error, io.BytesIO(content), form) from error
    if any(pa.types.is_binary(field.type) for field in table.schema):
        raise _wrong_encoding(source, form)
    described = form.described()
    return table.replace_schema_metadata({"format": described} if described else None)


def read_csv_batches(source: str, form: FileFormat) -> Iterator[pa.RecordBatch]:
    """Read a CSV file in batches, all cells as the text they are."""
    form.check()
    with _unpacking(source), _open_csv(source, form) as stream:
        first = _header_lines(stream, source)
        form = _detected(form, first + _peeked(stream))
        names = _header_names(first, source, form)
        rejoined = _Rejoined(first, stream)
        failed: list[pa_csv.InvalidRow] = []

        def keep(row: pa_csv.InvalidRow) -> str:
            failed.append(row)
            return "error"

        try:
            yield from pa_csv.open_csv(
                rejoined,
                read_options=pa_csv.ReadOptions(
                    block_size=BLOCK_BYTES, use_threads=False
                ),
                parse_options=pa_csv.ParseOptions(
                    newlines_in_values=True,
                    invalid_row_handler=keep,
                    delimiter=form.separator,
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types={name: pa.string() for name in names},
                ),
            )
        except pa.ArrowInvalid as error:
            again = None if source == "-" else _open_csv(source, form)
            raise _csv_error(source, error, again, form, failed) from error
        except UnicodeError as error:
            raise _wrong_encoding(source, form) from error
    if rejoined.n_quotes % 2 and source != "-":
        with _open_csv(source, form) as stream:
            _check_quotes(stream, source, form)


def called(source: str) -> str:
    """How a source is called in a message."""
    return "standard input" if source == "-" else source


def arrow_file(path: str | Path, mode: str = "rb") -> pa.OSFile:
    """A file opened by Arrow, whose own way with names refuses some bytes in them."""
    return pa.OSFile(os.fsencode(path), mode)


def check_readable(source: str) -> None:
    """Raise if a path is a folder or there is no such file."""
    try:
        mode = os.stat(source or ".").st_mode
    except FileNotFoundError:
        raise FileNotFoundError(
            f"cannot read {shown_name(source)}: there is no such file"
        ) from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"cannot read {shown_name(source)}: it is a folder")


def check_names(names: Sequence[str], source: str) -> None:
    """Raise if column names repeat."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{called(source)} has several columns called {name_list(twice)}; "
            "give every column a name of its own"
        )


@contextlib.contextmanager
def _unpacking(source: str) -> Iterator[None]:
    """Name the file in an error of its decompression."""
    if source != "-":
        check_readable(source)
    try:
        yield
    except OSError as error:
        if error.errno is not None or Path(source).suffix.lower() not in CODECS:
            raise
        raise ValueError(
            f"cannot unpack {called(source)}: {error}; correct or rename the file"
        ) from error


def _open_csv(source: str, form: FileFormat) -> IO[bytes]:
    """A CSV source as a stream of UTF-8, unpacked if it is compressed.

    ValueError if it is a file of another kind; reading raises UnicodeDecodeError if the
    text has another encoding.
    """
    stream = _unpacked(source)
    start, encoding = _peeked(stream), form.encoding or "utf-8"
    other = other_kind(start)
    if other is not None:
        kind, hint = other
        raise ValueError(f"{called(source)} is {kind}, not CSV; {hint}")
    if form.encoding in (None, "utf-8", "utf-16"):
        marked = (e for mark, e in _BYTE_ORDER_MARKS.items() if start.startswith(mark))
        encoding = next(marked, encoding)
    if codecs.lookup(encoding).name == "utf-8":
        return stream
    return cast("IO[bytes]", io.BufferedReader(_Recoded(stream, encoding)))


def _unpacked(source: str) -> IO[bytes]:
    """The bytes of a source, unpacked if it is compressed."""
    if source == "-":
        if sys.stdin is None:
            raise ValueError("cannot read standard input: it is closed; name a file")
        return sys.stdin.buffer
    codec = CODECS.get(Path(source).suffix.lower())
    stream: Any = pa.input_stream(arrow_file(source), compression=codec)
    return cast("IO[bytes]", io.BufferedReader(stream, _SAMPLE_BYTES))


def _peeked(stream: IO[bytes]) -> bytes:
    """The next bytes of a buffered stream, which stay in it."""
    return stream.peek(_SAMPLE_BYTES) if isinstance(stream, io.BufferedReader) else b""


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


class _Rejoined(io.RawIOBase):
    """A stream whose first line was read already; counts its quotation marks."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = first, rest
        self.n_quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        taken, self._first = self._first or self._rest.read(size), b""
        self.n_quotes += taken.count(b'"')
        return taken


def _detected(form: FileFormat, sample: bytes) -> FileFormat:
    """The format with what the beginning of a file, in UTF-8, reveals.

    The last line of the sample may be cut.
    """
    separators = [form.separator] if form.sep else list(SEPARATORS)
    rows = {separator: _rows(sample, separator) for separator in separators}

    def fitness(separator: str) -> tuple[bool, float, int]:
        """How well it cuts rows: into several cells, as many in every row."""
        cut = rows[separator]
        width = len(cut[0]) if cut else 0
        alike = sum(len(row) == width for row in cut) / max(1, len(cut))
        return width > 1, alike, width

    return replace(form, sep=max(separators, key=fitness))


def _rows(sample: bytes, separator: str) -> list[list[str]]:
    """The first rows of a file, as a separator cuts them."""
    whole = sample if len(sample) < _SAMPLE_BYTES else sample.rpartition(b"\n")[0]
    text = io.StringIO(whole.decode("utf-8-sig", errors="replace"), newline="")
    rows: list[list[str]] = []
    with contextlib.suppress(csv.Error):
        for row in csv.reader(text, delimiter=separator):
            if row:
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                break
    return rows


def _header_lines(stream: IO[bytes], source: str) -> bytes:
    """The first line that is not blank, and those that its quotes hold together."""
    line = stream.readline(BLOCK_BYTES)
    while line and not line.strip():
        line = stream.readline(BLOCK_BYTES)
    n_lines = 1
    while _ends_in_quotes(line):
        more = stream.readline(BLOCK_BYTES)
        n_lines += 1
        if not more or n_lines > _MAX_HEADER_LINES:
            raise ValueError(
                f"the header of {called(source)} opens a quote that is not closed; "
                "add the missing quote"
            )
        line += more
    return line


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


def _header_names(line: bytes, source: str, form: FileFormat) -> list[str]:
    """Column names in the first line of a CSV source."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _wrong_encoding(source, form) from error
    if "\0" in text:
        raise _wrong_encoding(source, form)
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


def _parsed(
    content: bytes, form: FileFormat, texts: Collection[str], *, only: bool = False
) -> pa.Table:
    """What Arrow makes of a CSV file, of some columns their texts; these alone."""
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(texts, pa.string()),
        include_columns=list(texts) if only else None,
        null_values=form.missing_texts,
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        true_values=[text for text, truth in TRUTHS.items() if truth],
        false_values=[text for text, truth in TRUTHS.items() if not truth],
    )
    return pa_csv.read_csv(
        pa.BufferReader(content),
        read_options=pa_csv.ReadOptions(block_size=BLOCK_BYTES),
        parse_options=pa_csv.ParseOptions(
            newlines_in_values=True, delimiter=form.separator
        ),
        convert_options=options,
    )


def _better_as_text(schema: pa.Schema, content: bytes) -> list[str]:
    """Columns that Arrow took for times, or that may hold numbers led by zeros."""
    padded = _PADDED.search(content) is not None
    return [
        field.name
        for field in schema
        if pa.types.is_temporal(field.type)
        or (padded and pa.types.is_integer(field.type))
        or (padded and pa.types.is_floating(field.type))
    ]


def _has_padding(texts: pa.ChunkedArray) -> bool:
    """Whether a number in a column of text has a leading zero."""
    import pyarrow.compute as pc

    padded = pc.match_substring_regex(texts, r"^\s*[+-]?0[\dxX]")
    return bool(pc.any(padded).as_py())


def _wrong_encoding(source: str, form: FileFormat) -> ValueError:
    """The error of a file in another encoding, with those in which it is text."""
    given = form.encoding or "UTF-8"
    where, bad = called(source), b""
    if source != "-":
        with _unpacked(source) as stream:
            bad = _peeked(stream)
            if b"\0" not in bad:
                lines = _lines_not_in(stream, given)
                number, bad = next(lines, (0, b""))
                where = f"line {number} of {where}" if number else where
                # What fits many lines fits less by chance.
                bad += b"".join(line for _, line in islice(lines, 1000))
    fitting = [
        f"{name} ({quoted(cut(word, 20))})"
        for name, word in likely_encodings(bad)
        if name != given.lower()
    ]
    hint = name_list(fitting) if fitting else "such as cp1252"
    return ValueError(f"{where} is not text in {given}; give --encoding: {hint}")


def _lines_not_in(stream: IO[bytes], encoding: str) -> Iterator[tuple[int, bytes]]:
    """Lines that are not text in an encoding, with their numbers."""
    for number, line in enumerate(stream, 1):
        try:
            line.decode(encoding)
        except UnicodeDecodeError:
            yield number, line


def _check_quotes(content: IO[bytes], source: str, form: FileFormat) -> None:
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


def _csv_error(
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
        return _wrong_encoding(source, form)
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
    with contextlib.suppress(csv.Error, StopIteration):
        expected = len(next(reader))
        before = reader.line_num
        for row in reader:
            if row and len(row) != expected:
                return before + 1, len(row), expected
            before = reader.line_num
    return None
