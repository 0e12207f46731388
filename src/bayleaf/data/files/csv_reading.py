"""CSV files of any separator, decimal sign and encoding, whole or in batches of text.

What can be wrong with one is reported in a sentence that names the line.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import logging
import os
import re
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress, islice
from operator import not_
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.data.files.csv_dialects import (
    Dialect,
    collapse_blanks,
    dialect_of,
    footer_start,
    total_row,
)
from bayleaf.data.files.csv_rows import CsvRows
from bayleaf.data.files.declared_files import DECLARED, DeclaredFile
from bayleaf.data.files.file_facts import FileFacts
from bayleaf.data.files.file_format import BLANK, SEPARATORS, FileFormat
from bayleaf.data.files.file_kinds import (
    CODECS,
    WORKBOOK,
    inner_suffix,
    other_kind,
)
from bayleaf.data.files.text_encodings import encoding_hint
from bayleaf.data.files.workbooks import sheet_text
from bayleaf.data.text_forms import NO_SIGNS, TRUTHS, TextEvidence, file_signs
from bayleaf.wording import counted, cut, name_list, quoted, shown_name

_LOGGER = logging.getLogger("bayleaf")
# Bytes of a CSV block held in memory at once.
BLOCK_BYTES = 1 << 22
# Bytes by which the layout of a file is found out.
_SAMPLE_BYTES = 1 << 16
# Rows that may show the decimal sign of a file.
_HEAD = 1000
# A header of more lines than this has surely lost a closing quote.
_MAX_HEADER_LINES = 100
# A cell that may be a number with a leading zero, or a hexadecimal one, which Arrow
# takes for a number too, whatever separates cells. The zero comes first, and what is
# before it is looked at last, since all other bytes are passed over quickly then.
_PADDED = re.compile(
    rb"0[\dxX](?:(?<=[^\w.+-]0.)|(?<=[^\w.+-][+-]0.))", flags=re.DOTALL
)
# Codes such as 1E10, and of telephones, which Arrow takes for numbers; each pattern
# begins with a sign that is rare, for whose sake other bytes are passed over quickly.
_CODES = (_PADDED, re.compile(rb"E\d(?<=\dE\d)"), re.compile(rb"\+\d{8}"))
_COMMA, _QUOTED_COMMA = re.compile(rb",\d"), re.compile(rb'"[^"\r\n]*,\d')
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_csv(source: str, form: FileFormat, texts: Collection[str] = ()) -> pa.Table:
    """Read a whole CSV file, finding out the type of each column.

    Dates, numbers with leading zeros, and columns of `texts` stay text. What is unusual
    of the file's format is in the schema's metadata, "format", doubts of its header in
    "note", and all facts in "file".
    """
    form.check()
    with _unpacking(source):
        try:
            with contextlib.closing(_opened(source, form)) as start:
                content = start.stream.read()
        except UnicodeError as error:
            raise _wrong_encoding(source, form) from error
    separator, form = start.dialect.separator, form_of(source, form)
    texts = {*texts, *start.categories}
    if start.chunks.n_quotes % 2:
        _check_quotes(io.BytesIO(content), source, start)
    try:
        table = _texts_with_commas(content, separator, form)
        has_commas, names = table is not None, list[str]()
        if table is None:
            table = _parsed(content, separator, form, texts)
            has_commas = _has_decimal_commas(table, content, separator, form)
            # Arrow reads points as decimal signs alone: 1.234 may be a thousand here.
            names = (
                [f.name for f in table.schema if not pa.types.is_string(f.type)]
                if has_commas
                else _better_as_text(table, content)
            )
        again = (
            _parsed(content, separator, form, names, only=True).columns if names else ()
        )
        for name, text in zip(names, again, strict=True):
            place = table.column_names.index(name)
            if has_commas or _is_text_only(table.column(place)) or _has_codes(text):
                table = table.set_column(place, name, text)
    except pa.ArrowInvalid as error:
        raise _csv_error(source, error, form, start, io.BytesIO(content)) from error
    if any(pa.types.is_binary(field.type) for field in table.schema):
        raise _wrong_encoding(source, form)
    described = {"format": start.dialect.described(form), "note": start.dialect.note}
    metadata = {key: text for key, text in described.items() if text}
    table = start.named_columns(table, source).replace_schema_metadata(metadata)
    facts = start.facts.with_below(b"".join(start.below))
    # ARFF has neither another separator nor another sign.
    decimal = ("," if has_commas else ".") if facts.separator else ""
    return replace(facts, decimal=decimal).added_to(table)


def read_csv_batches(
    source: str, form: FileFormat, rows: CsvRows | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a CSV file in batches, all cells as the text they are.

    The rows of a batch can then be taken from `rows` in the file's own text.
    """
    form.check()
    with _unpacking(source), contextlib.ExitStack() as stack:
        failed: list[tuple[int, int, int]] = []
        try:
            opened = _opened(source, form, rows)
            start = stack.enter_context(contextlib.closing(opened))
            yield from _text_batches(start, source, failed)
        except pa.ArrowInvalid as error:
            again = None if source == "-" else _opened(source, form).stream
            raise _csv_error(source, error, form, start, again, failed) from error
        except UnicodeError as error:
            raise _wrong_encoding(source, form) from error
    if start.chunks.n_quotes % 2 and source != "-":
        _check_quotes(_opened(source, form).stream, source, start)


def _text_batches(
    start: _Start, source: str, failed: list[tuple[int, int, int]]
) -> Iterator[pa.RecordBatch]:
    """The rows as text; ragged ones fail, with line, cells and cells of the header."""
    n_lines = 0

    def keep(row: pa_csv.InvalidRow) -> str:
        assert row.number is not None  # it is where one thread reads
        failed.append((row.number + n_lines, row.actual_columns, row.expected_columns))
        return "error"

    separator = start.dialect.separator
    parse = pa_csv.ParseOptions(
        newlines_in_values=True, invalid_row_handler=keep, delimiter=separator
    )
    texts = dict.fromkeys(start.columns, pa.string())
    convert = pa_csv.ConvertOptions(column_types=texts)
    start.stream.read(len(start.header))
    for rows in _rows_in_blocks(start.stream, separator, source):
        # Arrow gets memory of its own: its threads read ahead of a stream of Python's,
        # which aborts a program that comes to its end.
        sink = pa.BufferOutputStream()
        sink.write(start.header)
        sink.write(rows)
        content = sink.getvalue()
        read = pa_csv.ReadOptions(block_size=content.size, use_threads=False)
        table = pa_csv.read_csv(pa.BufferReader(content), read, parse, convert)
        # Files without rows have columns all the same.
        nothing = [pa.nulls(0, field.type) for field in table.schema]
        empty = pa.RecordBatch.from_arrays(nothing, schema=table.schema)
        for batch in table.to_batches() or [empty]:
            yield start.named_columns(batch, source)
        n_lines += rows.count(b"\n")


def csv_format(source: str, form: FileFormat) -> tuple[str, str]:
    """What is unusual of a CSV file's format, and doubts of its header, in words."""
    with _unpacking(source), contextlib.closing(_opened(source, form)) as start:
        dialect = start.dialect
    return dialect.described(form), dialect.note


def declares_columns(source: str) -> bool:
    """Whether a file is of a kind that declares its columns, by its name."""
    return inner_suffix(source) in DECLARED


def form_of(source: str, form: FileFormat) -> FileFormat:
    """The format by which a file is read; some mark missing cells by their own sign."""
    return replace(form, keep_na=True) if declares_columns(source) else form


def called(source: str) -> str:
    """How a source is called in a message."""
    return "standard input" if source == "-" else source


def no_rows(source: str) -> ValueError:
    """The error of a table without rows."""
    return ValueError(f"{called(source)} has no rows; add at least one")


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


def _opened(source: str, form: FileFormat, rows: CsvRows | None = None) -> _Start:
    """The beginning of a source that is CSV, a workbook or declares its columns.

    ValueError if it is a file of another kind; reading raises UnicodeDecodeError if the
    text has another encoding.
    """
    stream = _unpacked(source)
    first = _peeked(stream)
    declared = DECLARED.get(inner_suffix(source))
    if declared is not None and declared.is_binary:
        file = declared.read(io.BytesIO(stream.read()), called(source))
        return _Start.of_declared(file, declared.called, stream, source, form, rows)
    other = None if declared else other_kind(first, inner_suffix(source))
    if other is not None and other[0] == WORKBOOK:
        content = io.BytesIO(stream.read())
        sheet, lines = sheet_text(content, called(source), form.sheet)
        text = _Chunks(line.encode() for line in lines).buffered()
        start = _Start.of_stream(text, source, replace(form, sep="comma"), rows)
        facts = replace(start.facts, kind=WORKBOOK, separator="", sheet=sheet)
        return start._replace(facts=facts)
    if other is not None:
        kind, hint = other
        raise ValueError(f"{called(source)} is {kind}, not CSV; {hint}")
    if form.sheet is not None:
        raise ValueError(
            f"--sheet belongs to Excel workbooks, and {called(source)} is none; leave "
            "it out"
        )
    encoding = _encoding_of(first, form)
    text = _as_utf8(stream, first, encoding, rows)
    if declared is not None:
        lines = io.TextIOWrapper(text, "utf-8-sig", newline=None)
        file = declared.read(lines, called(source))
        start = _Start.of_declared(file, declared.called, text, source, form, rows)
    else:
        start = _Start.of_stream(text, source, form, rows)
    name = encoding.upper().replace("-SIG", " with a byte-order mark")
    return start._replace(facts=replace(start.facts, encoding=name))


def _encoding_of(start: bytes, form: FileFormat) -> str:
    """The encoding of a file that begins with some bytes, by request or by its mark."""
    encoding = form.encoding or "utf-8"
    if form.encoding in (None, "utf-8", "utf-16"):
        marked = (e for mark, e in _BYTE_ORDER_MARKS.items() if start.startswith(mark))
        encoding = next(marked, encoding)
    return encoding


def _as_utf8(
    stream: IO[bytes], start: bytes, encoding: str, rows: CsvRows | None
) -> IO[bytes]:
    """A stream of text, which begins with some bytes, in UTF-8."""
    only_returns = b"\r" in start and b"\n" not in start
    if rows is not None:
        rows.set_encoding(start, encoding, only_returns=only_returns)
    if codecs.lookup(encoding).name == "utf-8" and not only_returns:
        return stream
    text = io.TextIOWrapper(stream, encoding, newline=None if only_returns else "")
    parts = iter(lambda: text.read(_SAMPLE_BYTES), "")
    return _Chunks(part.encode("utf-8") for part in parts).buffered()


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


class _Chunks(io.RawIOBase):
    """Bytes in chunks as a stream; counts quotation marks."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks, self._left = iter(chunks), memoryview(b"")
        self.n_quotes = 0

    def buffered(self) -> IO[bytes]:
        """The stream with lines, and whole blocks where so much is left."""
        return cast("IO[bytes]", io.BufferedReader(self, _SAMPLE_BYTES))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        taken = self.read(len(buffer))
        buffer[: len(taken)] = taken
        return len(taken)

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            taken = b"".join([self._left, *self._chunks])
        else:
            left = self._left or memoryview(next(self._chunks, b""))
            taken, self._left = bytes(left[:size]), left[size:]
        self.n_quotes += taken.count(b'"')
        return taken


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """What is left of a stream."""
    return iter(lambda: stream.read(BLOCK_BYTES), b"")


def _rows_in_blocks(stream: IO[bytes], separator: str, source: str) -> Iterator[bytes]:
    """What is left of a stream in blocks of whole rows; at least one, if empty."""
    left, n_blocks = b"", 0
    while block := stream.read(BLOCK_BYTES):
        block = left + block
        end = end_of_rows(block, separator)
        left = block[end:]
        if len(left) > BLOCK_BYTES:
            raise _long_row(source)
        if end:
            n_blocks += 1
            yield block[:end]
    if left or not n_blocks:
        yield left


def end_of_rows(block: bytes, separator: str) -> int:
    """Where the last whole row of a block ends, which begins with a row; 0 if none.

    As for Arrow, quotes open a cell at its beginning alone, and go on where doubled.
    """
    end = block.rfind(b"\n") + 1
    signs = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(signs == ord('"'))
    begins = np.isin(signs[quotes - 1], [*b"\r\n", ord(separator)]) | (quotes == 0)
    doubled = np.diff(quotes, prepend=-2) == 1
    if not (begins | doubled)[::2].all():
        # Some belong to cells that none opens.
        quotes = quotes[_are_signs(quotes.tolist(), begins.tolist())]
    while (n_before := int(np.searchsorted(quotes, end))) % 2:
        end = block.rfind(b"\n", 0, int(quotes[n_before - 1])) + 1
    return end


def _are_signs(quotes: Sequence[int], begins: Sequence[bool]) -> list[bool]:
    """Whether each quote opens or closes a cell, by which begin one."""
    results: list[bool] = []
    is_open, closed = False, -2
    for position, begin in zip(quotes, begins, strict=True):
        results.append(is_open or begin or position == closed + 1)
        if is_open:
            closed = position
        is_open = results[-1] and not is_open
    return results


def _without_footer(
    blocks: Iterator[bytes],
    dialect: Dialect,
    source: str,
    form: FileFormat,
    below: list[bytes],
) -> Iterator[bytes]:
    """The rows of a file without lines `below` them, which are reported."""
    last = b""
    for block in blocks:
        # The end is held back until it is known to be one.
        if last and len(block) >= _SAMPLE_BYTES:
            yield last
            last = b""
        last += block
    if len(last) > _SAMPLE_BYTES:
        yield last[:-_SAMPLE_BYTES]
        last = last[-_SAMPLE_BYTES:]
    lines = last.splitlines(keepends=True)
    width = dialect.n_cells + dialect.is_trailing
    first = footer_start(lines, dialect.separator, width) if width > 1 else len(lines)
    footer = b"".join(lines[first:]).strip()
    if footer:
        below.append(footer)
        text = footer.decode("utf-8", "replace").strip(' "')
        shown = quoted(cut(text, 60))
        form.report(f"below the rows of {called(source)}, {shown} is skipped")
    if total := total_row(lines[:first], dialect.separator):
        shown = quoted(cut(total.decode("utf-8", "replace"), 60))
        form.report(
            f"the last row of {called(source)}, {shown}, looks like totals of the "
            "others; remove it unless it is one of them"
        )
    if first:
        yield b"".join(lines[:first])


def _without_copies(
    blocks: Iterator[bytes], header: bytes, source: str, form: FileFormat
) -> Iterator[bytes]:
    """The rows of a file; lines that repeat its header are blank, and reported."""
    copy = re.compile(rb"(?m)^%s(?=\r?$)" % re.escape(header))
    left, n_copies, is_start = b"", 0, True
    for block in blocks:
        if left:
            block = left + block
        # The end of a block that may begin a copy is held back.
        end = block.rfind(b"\n") + 1
        left = block[end:]
        if left and (end or is_start) and header.startswith(left.rstrip(b"\r")):
            block = block[:end]
        else:
            left = b""
        if header in block:
            first = 0 if is_start else block.find(b"\n") + 1
            lines, n_found = copy.subn(b"", block[first:])
            block, n_copies = block[:first] + lines, n_copies + n_found
        is_start = bool(left) or block.endswith(b"\n")
        if block:
            yield block
    if left and left.rstrip(b"\r") != header:
        yield left
    if n_copies:
        n_lines = counted(n_copies, "line")
        form.report(
            f"the header of {called(source)} is repeated in {n_lines}, left out"
        )


class _Start(NamedTuple):
    """The beginning of a CSV file."""

    dialect: Dialect
    columns: list[str]  # names in the stream's header
    unnamed: frozenset[str]  # of these columns, which have neither a name nor text
    n_above: int  # lines of the file above the stream; -1 if its header is not in it
    header: bytes
    chunks: _Chunks  # the header, and the rows
    file: IO[bytes]
    facts: FileFacts
    below: list[bytes]  # lines below the rows, once these are read
    categories: tuple[str, ...] = ()  # columns of declared ones

    @property
    def stream(self) -> IO[bytes]:
        """The header and the rows; may be read once."""
        return cast("IO[bytes]", self.chunks)

    @classmethod
    def of_stream(
        cls,
        stream: IO[bytes],
        source: str,
        form: FileFormat,
        rows: CsvRows | None = None,
    ) -> _Start:
        """The beginning of a stream; ValueError if its header cannot be read."""
        head = stream.read(_SAMPLE_BYTES)
        # Lines of thousands of cells may be longer than the sample.
        head += stream.readline(BLOCK_BYTES) + stream.readline(BLOCK_BYTES)
        head = head.removeprefix(codecs.BOM_UTF8)
        dialect = dialect_of(head, form)
        rest = _Chunks(chain([head], _blocks(stream))).buffered()
        above = b"".join(rest.readline() for _ in range(dialect.n_above))
        first, n_above = b"", dialect.n_above
        second: list[bytes] = []
        units: list[bytes] = []
        if form.no_header:
            if not head.strip():
                raise ValueError(f"{called(source)} is empty; add rows")
            names, n_above = form.names_of(dialect.n_cells, called(source)), n_above - 1
        else:
            first = header = _header_lines(rest, source)
            if dialect.separator == BLANK:
                first = collapse_blanks(header, dialect.gaps)
            names = _header_names(first, source, form, dialect.separator)
            if dialect.is_trailing:
                names = names[: dialect.n_cells]
            if dialect.is_short:
                names = ["", *names]
            if dialect.joined:
                names = [*dialect.joined]
                second = [_header_lines(rest, source)]
            units = [_header_lines(rest, source) for _ in range(dialect.n_units)]
            if not first.endswith(b"\n"):
                first += b"\n"
            # Blank lines keep the numbers of lines.
            first += b"\n" * len(b"".join(second + units).splitlines())
        remedy = form.ask("--no-header", "pass a data frame with names")
        if len({*names}) < len(names) and dialect.is_like_data:
            raise ValueError(
                f"the first line of {called(source)} looks like values, not like "
                f"distinct names; {remedy} if the file has no header"
            )
        check_names([n for j, n in enumerate(names) if j not in dialect.empty], source)
        if dialect.is_like_data and not form.is_of_command:
            # Commands show the note with what is unusual of the file.
            form.report(
                f"the first line of {called(source)} looks like values; {remedy} if it "
                "is a row"
            )
        columns = [*names, *[""] * dialect.is_trailing]
        empty = [*dialect.empty, *range(len(names), len(columns))]
        for number, index in enumerate(empty, 1):
            # No other column has a name above the largest.
            columns[index] = max(names) + "_" * number
        if form.no_header:
            header = _header_of(names, dialect.separator).rstrip(b"\n")
        if columns != names or form.no_header or dialect.is_short or dialect.joined:
            n_lines = len(first.splitlines()) or 1
            first = _header_of(columns, dialect.separator) + b"\n" * (n_lines - 1)
        below: list[bytes] = []
        blocks, copy = _blocks(rest), header.rstrip(b"\r\n")
        if rows is not None:
            rows.set_layout(dialect, len(names), above, header, head, second + units)
            blocks = rows.watched(blocks)
        if dialect.separator == BLANK:
            collapse = partial(collapse_blanks, gaps=dialect.gaps)
            plain = map(collapse, _Chunks(blocks).buffered())
            blocks = _blocks(_Chunks(plain).buffered())
            copy = collapse(copy).rstrip()
        if dialect.is_apart and b"\n" not in copy:
            blocks = _without_copies(blocks, copy, source, form)
        blocks = _without_footer(blocks, dialect, source, form, below)
        described = dialect.described(form) or "commas between cells"
        _LOGGER.info("%s is read with %s", called(source), described)
        chunks = _Chunks(chain([first], blocks))
        unnamed = frozenset(columns[index] for index in empty)
        sign = dialect.separator
        facts = FileFacts(
            "CSV",
            (f"a {SEPARATORS[sign][:-1]}" if sign in SEPARATORS else quoted(sign))
            + " at the same positions in all lines" * bool(dialect.gaps),
            header_line=0 if form.no_header else n_above + 1,
            n_empty_columns=len(dialect.empty),
            is_trailing=dialect.is_trailing,
        ).with_lines(above, b"".join(units))
        parts = (dialect, columns, unnamed, n_above, first, chunks, stream)
        return cls(*parts, facts, below)

    @classmethod
    def of_declared(
        cls,
        file: DeclaredFile,
        kind: str,
        stream: IO[bytes],
        source: str,
        form: FileFormat,
        rows: CsvRows | None = None,
    ) -> _Start:
        """The beginning of a file that declares its columns, on top of a stream.

        ValueError if the options of `form` are those of other files.
        """
        if form.no_header:
            raise ValueError(
                f"{called(source)} is {kind}, which names its columns; leave out "
                "--no-header"
            )
        names = list(file.names)
        check_names(names, source)
        dialect, header = Dialect(n_cells=len(names)), _header_of(names, ",")
        blocks: Iterator[bytes] = (line.encode() for line in file.csv_lines())
        if rows is not None:
            rows.set_layout(dialect, len(names), b"", header, header)
            blocks = rows.watched(blocks)
        chunks = _Chunks(chain([header], blocks))
        return cls(
            *(dialect, names, frozenset(), file.n_above, header, chunks, stream),
            *(FileFacts(kind), [], file.categories),
        )

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def named_columns(self, part: Any, source: str) -> Any:
        """Columns of a table or batch without those that have neither name nor text.

        Those of categories are of a type of their own. ValueError if there is text.
        """
        import pyarrow.compute as pc

        for name in self.categories:
            index = part.schema.get_field_index(name)
            texts = part.column(index).cast(pa.string())
            known = pc.if_else(pc.equal(texts, ""), None, texts).dictionary_encode()
            part = part.set_column(index, name, known)
        if not self.unnamed:
            return part
        for name in self.unnamed:
            texts = part.column(name).cast(pa.string()).drop_null()
            texts = texts.filter(pc.not_equal(texts, ""))
            if len(texts):
                is_last = part.schema.names[-1] == name
                where = "after its last column" if is_last else "without a name above"
                raise ValueError(
                    f"{called(source)} has a cell {where}, "
                    f"{quoted(texts[0].as_py())}; give the column a name"
                )
        return part.select([n for n in part.schema.names if n not in self.unnamed])


def _header_lines(stream: IO[bytes], source: str) -> bytes:
    """The first line that is not blank, those above, and what its quotes hold."""
    line = below = stream.readline(BLOCK_BYTES)
    while below and not line.strip():
        below = stream.readline(BLOCK_BYTES)
        line += below
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


def _header_of(names: Sequence[str], separator: str) -> bytes:
    """The header line with some names."""
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="\n").writerow(names)
    return line.getvalue().encode("utf-8")


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


def _header_names(
    line: bytes, source: str, form: FileFormat, separator: str
) -> list[str]:
    """Column names in the first line of a CSV source."""
    text = line.decode("utf-8")
    if "\0" in text:
        raise _wrong_encoding(source, form)
    if not text.strip():
        raise ValueError(f"{called(source)} is empty; add a header and rows")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as error:
        raise ValueError(
            f"the header of {called(source)} cannot be read; end each line with a "
            "line feed and quote names that hold line ends"
        ) from error


def _parsed(
    content: bytes,
    separator: str,
    form: FileFormat,
    texts: Collection[str],
    *,
    only: bool = False,
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
        parse_options=pa_csv.ParseOptions(newlines_in_values=True, delimiter=separator),
        convert_options=options,
    )


def _texts_with_commas(
    content: bytes, separator: str, form: FileFormat
) -> pa.Table | None:
    """All cells as text if the first rows show the commas that no later row refutes.

    To find out types, and then to read the text again, takes twice as long.
    """
    head = content[: end_of_rows(content[:_SAMPLE_BYTES], separator)]
    first = _parsed(head, separator, form, ()) if head else None
    if first is None or not _has_decimal_commas(first, head, separator, form):
        return None
    table = _parsed(content, separator, form, first.column_names)
    if form.decimal is None:
        are_texts = [pa.types.is_string(field.type) for field in first.schema]
        texts = list(compress(table.columns, are_texts))
        others = compress(table.columns, map(not_, are_texts))
        # Columns of points alone would be numbers, which show no sign.
        if any(len(_pointed(c)) for c in others) or not _spell_decimal_commas(texts):
            return None
    return table


def _has_decimal_commas(
    table: pa.Table, content: bytes, separator: str, form: FileFormat
) -> bool:
    """Whether the decimal sign is a comma, by request or by the columns of text."""
    if form.decimal is not None:
        return form.decimal == ","
    if (_QUOTED_COMMA if separator == "," else _COMMA).search(content) is None:
        return False
    texts = [c for c in table.columns if pa.types.is_string(c.type)]
    return _spell_decimal_commas(texts)


def _spell_decimal_commas(texts: Sequence[pa.ChunkedArray]) -> bool:
    """Whether commas are the decimal sign of columns, and points of none."""
    evidence = [TextEvidence.of(text.slice(0, _HEAD)) for text in texts]
    shown = file_signs(evidence, NO_SIGNS).decimal_comma
    # What the first rows show is refuted by cells with the other sign alone.
    rest = texts if shown is None else map(_pointed, texts)
    evidence += map(TextEvidence.of, rest)
    return bool(file_signs(evidence, NO_SIGNS).decimal_comma)


def _pointed(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells that may have a point before decimals, or commas between thousands."""
    import pyarrow.compute as pc

    have_commas = pc.greater(pc.count_substring(texts, ","), 1)
    return texts.filter(pc.or_(pc.match_substring(texts, "."), have_commas))


def _better_as_text(table: pa.Table, content: bytes) -> list[str]:
    """Columns that Arrow took for times, or that may hold codes or long integers."""
    may_be_codes = any(code.search(content) for code in _CODES)
    return [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if _is_text_only(column)
        or _is_beyond_integers(column)
        or (may_be_codes and pa.types.is_integer(column.type))
        or (may_be_codes and pa.types.is_floating(column.type))
    ]


def _is_beyond_integers(column: pa.ChunkedArray) -> bool:
    """Whether some numbers of a column are floats that no integer of 64 bits is."""
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return False
    ends = pc.min_max(column).as_py().values()
    return any(end is not None and abs(end) >= 2.0**63 for end in ends)


def _is_text_only(column: pa.ChunkedArray) -> bool:
    """Whether Arrow took texts for times or for infinite numbers."""
    import pyarrow.compute as pc

    if pa.types.is_temporal(column.type):
        return True
    is_float = pa.types.is_floating(column.type)
    return is_float and bool(pc.any(pc.is_inf(column)).as_py())


def _has_codes(texts: pa.ChunkedArray) -> bool:
    """Whether a number in a column of text is a code, such as 007, 1E10, or 20 digits.

    Most have to be as long as that: others may be amounts.
    """
    import pyarrow.compute as pc

    are_codes = pc.match_substring_regex(texts, r"^\s*(?:[+-]?0[\dxX]|\d+E\d|\+\d{8})")
    are_long = pc.match_substring_regex(texts, r"^\s*[+-]?\d{19,}\s*$")
    return bool(pc.any(are_codes).as_py() or (pc.mean(are_long).as_py() or 0) > 0.5)


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
    hint = encoding_hint(bad, but=given)
    remedy = form.ask(
        "--encoding", "save it as UTF-8, or pass a data frame read with encoding"
    )
    return ValueError(f"{where} is not text in {given}; {remedy}: {hint}")


def _lines_not_in(stream: IO[bytes], encoding: str) -> Iterator[tuple[int, bytes]]:
    """Lines that are not text in an encoding, with their numbers."""
    for number, line in enumerate(stream, 1):
        try:
            line.decode(encoding)
        except UnicodeDecodeError:
            yield number, line


def _check_quotes(content: IO[bytes], source: str, start: _Start) -> None:
    """Raise if a quoted cell is never closed, which would swallow all later rows."""
    text = io.TextIOWrapper(content, encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, strict=True, delimiter=start.dialect.separator)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"a quoted cell that begins in line {line + start.n_above} of "
            f"{called(source)} is not closed properly; add the missing quote"
        ) from error


def _csv_error(
    source: str,
    error: pa.ArrowInvalid,
    form: FileFormat,
    start: _Start,
    content: IO[bytes] | None,
    failed: Sequence[tuple[int, int, int]] = (),
) -> ValueError:
    """One sentence for a CSV file that cannot be parsed, with the ragged line."""
    place = _ragged_line(content, start) if content is not None else None
    if place is None and failed:
        place = failed[0]
    if place is not None:
        line, n_cells, expected = place
        first = "first row" if form.no_header else "header"
        return ValueError(
            f"line {line + start.n_above} of {called(source)} has {n_cells} cells, but "
            f"the {first} has {expected}; correct the line or quote its "
            f"{SEPARATORS.get(start.dialect.separator, 'separators')}"
        )
    if "invalid UTF8" in str(error):
        return _wrong_encoding(source, form)
    if "straddl" in str(error):
        return _long_row(source)
    return ValueError(f"cannot read {called(source)} as CSV: {error}")


def _long_row(source: str) -> ValueError:
    """The error of a row that is longer than a block."""
    return ValueError(
        f"a row of {called(source)} is longer than {BLOCK_BYTES >> 20} MiB; shorten "
        "it, or close its quote"
    )


def _ragged_line(content: IO[bytes], start: _Start) -> tuple[int, int, int] | None:
    """Line, number of cells and expected number of the first ragged row."""
    reader = csv.reader(
        io.TextIOWrapper(content, "utf-8", errors="replace", newline=""),
        delimiter=start.dialect.separator,
    )
    with contextlib.suppress(csv.Error, StopIteration):
        expected = len(next(reader))
        before = reader.line_num
        for row in reader:
            if row and len(row) != expected:
                return before + 1, len(row), expected
            before = reader.line_num
    return None
