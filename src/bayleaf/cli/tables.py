"""Tables that commands read: CSV and Parquet, one file or many, whole or in batches."""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.arrow_arrays import arrow_file
from bayleaf.cli.csv_errors import (
    BLOCK_BYTES,
    called,
    check_names,
    check_quotes,
    csv_error,
    header_lines,
    header_names,
    wrong_encoding,
)
from bayleaf.cli.file_format import SAMPLE_BYTES, FileFormat, as_utf8, encoding_of
from bayleaf.data.domain import Variable
from bayleaf.data.text_parsing import TRUTHS
from bayleaf.streams.csv_files import CODECS
from bayleaf.wording import name_list, near_names, quoted, shown_name

if TYPE_CHECKING:
    from bayleaf.streams.batch_sources import ArrowSource

# Rows of a Parquet batch, held in memory at once.
BATCH_ROWS = 1 << 16
# A cell that may be a number with a leading zero, or a hexadecimal one, which Arrow
# takes for a number too, whatever separates cells.
_PADDED = re.compile(rb"(?:^|[^\w.+-])[+-]?0[\dxX]")


def read_table(source: str, form: FileFormat | None = None) -> pa.Table:
    """Read a whole table, finding out the type of each column.

    A ``.parquet`` file, any other as CSV (``.gz`` and the like are unpacked), or ``-``
    for CSV on standard input. Dates, and numbers with leading zeros, stay text, as
    encoding reads them like those of data frames. What is unusual of a CSV file is in
    the schema's metadata, "format". OSError, or ValueError with the line of a ragged
    row.
    """
    if is_parquet(source):
        table = _open_parquet(source).read()
    else:
        table = _read_csv(source, form or FileFormat())
    check_columns(table.schema, source)
    if table.num_rows == 0:
        raise ValueError(f"{called(source)} has a header but no rows")
    return table


def is_many_files(data: str) -> bool:
    """Whether a name is a folder or a glob, and so a table in several files."""
    if os.path.isdir(data):
        return True
    return any(sign in data for sign in "*?[") and not os.path.exists(data)


def batches_of(
    data: str, form: FileFormat | None = None, drop: Sequence[str] = ()
) -> ArrowSource:
    """A table of Parquet or CSV files (path, glob or folder) in batches, less `drop`.

    OSError or ValueError if it cannot be read, or lacks a column to leave out.
    """
    from bayleaf.streams.batch_sources import open_source

    if data == "-":
        raise ValueError("standard input cannot be read in batches; name a file")
    source = open_source(data, partial(read_batches, form=form))
    if drop:
        select_columns(source.schema.empty_table(), drop, data)
        source = source.without(drop)
    return source


def _read_csv(source: str, form: FileFormat) -> pa.Table:
    """A whole CSV file."""
    content, form = _csv_bytes(source, form)
    if content.count(b'"') % 2:
        check_quotes(io.BytesIO(content), source, form)

    try:
        table = _parsed(content, form)
        twice = len(set(table.column_names)) < table.num_columns
        names = [] if twice else _better_as_text(table.schema, content)
        if names:
            texts = _parsed(content, form, names)
            wanted = [
                name
                for name in names
                if _is_time(table.schema.field(name)) or _has_padding(texts[name])
            ]
            for name in wanted:
                place = table.column_names.index(name)
                table = table.set_column(place, name, texts[name])
    except pa.ArrowInvalid as error:
        raise csv_error(source, error, io.BytesIO(content), form) from error
    described = form.described()
    return table.replace_schema_metadata({"format": described} if described else None)


def _parsed(
    content: bytes, form: FileFormat, as_text: list[str] | None = None
) -> pa.Table:
    """What Arrow makes of a CSV file; of some columns alone their texts."""
    options = pa_csv.ConvertOptions(
        column_types=None if as_text is None else dict.fromkeys(as_text, pa.string()),
        include_columns=as_text,
        null_values=form.missing_texts,
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
        decimal_point=form.decimal,
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
        if _is_time(field)
        or (padded and pa.types.is_integer(field.type))
        or (padded and pa.types.is_floating(field.type))
    ]


def _is_time(field: pa.Field) -> bool:
    """Whether a column holds dates or times."""
    return bool(pa.types.is_temporal(field.type))


def _has_padding(texts: pa.ChunkedArray) -> bool:
    """Whether a number in a column of text has a leading zero."""
    import pyarrow.compute as pc

    padded = pc.match_substring_regex(texts, r"^\s*[+-]?0[\dxX]")
    return bool(pc.any(padded).as_py())


def read_batches(
    source: str, form: FileFormat | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a table in batches; all cells of a CSV file as the text they are."""
    if is_parquet(source):
        file = _open_parquet(source)
        check_columns(file.schema_arrow, source)
        yield from file.iter_batches(batch_size=BATCH_ROWS)
        return
    form = form or FileFormat()
    form.check()
    with _unpacking(source), _open_csv(source, form) as stream:
        first = header_lines(stream, source)
        more = _peeked(stream)
        form = form.found_in(first + more)
        names = header_names(first, source, form)
        rejoined = _Rejoined(first, stream)
        options = pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=form.missing_texts,
            strings_can_be_null=True,
        )
        failed: list[pa_csv.InvalidRow] = []

        def keep(row: pa_csv.InvalidRow) -> str:
            failed.append(row)
            return "error"

        try:
            for batch in pa_csv.open_csv(
                rejoined,
                read_options=pa_csv.ReadOptions(
                    block_size=BLOCK_BYTES, use_threads=False
                ),
                parse_options=pa_csv.ParseOptions(
                    newlines_in_values=True,
                    invalid_row_handler=keep,
                    delimiter=form.separator,
                ),
                convert_options=options,
            ):
                yield with_points(batch) if form.decimal == "," else batch
        except pa.ArrowInvalid as error:
            again = None if source == "-" else _open_csv(source, form)
            raise csv_error(source, error, again, form, failed) from error
        except UnicodeError as error:
            raise wrong_encoding(source) from error
    if rejoined.n_quotes % 2 and source != "-":
        with _open_csv(source, form) as stream:
            check_quotes(stream, source, form)


def with_points(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Decimal commas as points, in the columns that hold numbers alone."""
    import pyarrow.compute as pc

    columns = []
    for column in batch.columns:
        numbers = pc.match_substring_regex(
            column, r"^\s*[+-]?\d*,?\d+([eE][+-]?\d+)?\s*$"
        )
        if pc.all(numbers).as_py():
            column = pc.replace_substring(column, ",", ".")
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def select_columns(
    table: pa.Table | pa.RecordBatch, names: Sequence[str], source: str
) -> Any:
    """The named columns of a table, in that order.

    ValueError if one is missing; it offers names close to it.
    """
    present = table.schema.names
    absent = [name for name in names if name not in present]
    if absent:
        hint = near_names(absent[0], present)
        raise ValueError(f"{called(source)} has no column {name_list(absent)}; {hint}")
    return table.select(list(names))


def as_learned(table: pa.Table, domain: Iterable[Variable]) -> pa.Table:
    """A table in which columns that were text in training are text again.

    Another file of the same columns may hold nothing but numbers in one of them.
    """
    for variable in domain:
        place = table.schema.get_field_index(str(variable.name))
        known = variable.known_states
        is_text = bool(known) and all(isinstance(state, str) for state in known)
        if place < 0 or variable.kind != "nominal" or not is_text:
            continue
        column = table.column(place)
        if pa.types.is_primitive(column.type):
            text = column.cast(pa.string())
            table = table.set_column(place, str(variable.name), text)
    return table


def check_columns(schema: pa.Schema, source: str) -> None:
    """Raise if column names repeat or a CSV file is not UTF-8."""
    check_names(schema.names, source)
    for column in schema:
        if pa.types.is_binary(column.type):
            raise ValueError(
                f"column {quoted(column.name)} of {called(source)} is no UTF-8 text; "
                "save the file as UTF-8"
            )


def is_parquet(source: str) -> bool:
    """Whether a file's name says that it is Parquet."""
    return Path(source).suffix.lower() in {".parquet", ".pq"}


def _open_parquet(source: str) -> Any:
    """A Parquet file, or one sentence why not."""
    import pyarrow.parquet as pa_parquet

    _check_readable(source)
    try:
        return pa_parquet.ParquetFile(arrow_file(source))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{source} is no Parquet file: {error}") from error


def _check_readable(source: str) -> None:
    """Raise if a path is a folder or there is no such file."""
    try:
        mode = os.stat(source or ".").st_mode
    except FileNotFoundError:
        raise FileNotFoundError(
            f"cannot read {shown_name(source)}: there is no such file"
        ) from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"cannot read {shown_name(source)}: it is a folder")


def _open_csv(source: str, form: FileFormat) -> IO[bytes]:
    """A CSV source as a stream of UTF-8, unpacked if it is compressed."""
    if source == "-":
        if sys.stdin is None:
            raise ValueError("cannot read standard input: it is closed; name a file")
        stream: Any = sys.stdin.buffer
    else:
        codec = CODECS.get(Path(source).suffix.lower())
        stream = io.BufferedReader(
            pa.input_stream(arrow_file(source), compression=codec)
        )
    encoding = encoding_of(_peeked(stream)[:4], form.encoding)
    return as_utf8(stream, encoding)


def _peeked(stream: IO[bytes]) -> bytes:
    """What a buffered stream holds next, without taking it."""
    return stream.peek(SAMPLE_BYTES) if isinstance(stream, io.BufferedReader) else b""


def _csv_bytes(source: str, form: FileFormat) -> tuple[bytes, FileFormat]:
    """The whole content of a CSV source in UTF-8, and its format."""
    form.check()
    with _unpacking(source):
        try:
            with _open_csv(source, form) as stream:
                content = stream.read()
        except UnicodeError as error:
            raise wrong_encoding(source) from error
    form = form.found_in(content[:SAMPLE_BYTES])
    header_names(header_lines(io.BytesIO(content), source), source, form)
    return content, form


@contextlib.contextmanager
def _unpacking(source: str) -> Iterator[None]:
    """Name the file in an error of its decompression."""
    if source != "-":
        _check_readable(source)
    try:
        yield
    except OSError as error:
        if error.errno is not None or Path(source).suffix.lower() not in CODECS:
            raise
        raise ValueError(
            f"cannot unpack {called(source)}: {error}; correct or rename the file"
        ) from error


class _Rejoined(io.RawIOBase):
    """A stream whose first line was read already and is given out again.

    Counts the quotation marks that went through it.
    """

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self._first, self._rest = first, rest
        self.n_quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if self._first:
            taken, self._first = self._first, b""
        else:
            taken = self._rest.read(size)
        self.n_quotes += taken.count(b'"')
        return taken
