"""Tables on the command line: CSV and Parquet in and out, whole or in batches."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.arrow_arrays import arrow_file
from bayleaf.wording import name_list, near_names, quoted, shown_name

# Rows of a Parquet batch, and bytes of a CSV block, held in memory at once.
BATCH_ROWS = 1 << 16
BLOCK_BYTES = 1 << 22
# What files that end so are packed with.
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
# A header of more lines than this has surely lost a closing quote.
_MOST_HEADER_LINES = 100


def read_table(source: str, missing_values: Sequence[str] = ()) -> pa.Table:
    """Read a whole table, finding out the type of each column.

    Parameters
    ----------
    source : str
        A ``.parquet`` file, any other file as CSV (``.gz`` and the like are
        unpacked), or ``-`` for CSV on standard input.
    missing_values : sequence of str
        Cells that count as empty, beside the empty cell.

    Raises
    ------
    OSError, ValueError
        If it cannot be read: one sentence with the line of a ragged row.
    """
    if is_parquet(source):
        table = _open_parquet(source).read()
    else:
        convert = pa_csv.ConvertOptions(
            null_values=["", *missing_values],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        )
        content = _csv_bytes(source)
        if content.count(b'"') % 2:
            _check_quotes(io.BytesIO(content), source)
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(content),
                read_options=pa_csv.ReadOptions(block_size=BLOCK_BYTES),
                parse_options=pa_csv.ParseOptions(newlines_in_values=True),
                convert_options=convert,
            )
        except pa.ArrowInvalid as error:
            raise _csv_error(source, error, io.BytesIO(content)) from error
    check_columns(table.schema, source)
    if table.num_rows == 0:
        raise ValueError(f"{_shown(source)} has a header but no rows")
    return table


def read_batches(source: str) -> Iterator[pa.RecordBatch]:
    """Read a table in batches; all cells of a CSV file as the text they are."""
    if is_parquet(source):
        file = _open_parquet(source)
        check_columns(file.schema_arrow, source)
        yield from file.iter_batches(batch_size=BATCH_ROWS)
        return
    with _unpacking(source), _open_csv(source) as stream:
        first = _header_lines(stream, source)
        names = _header(first, source)
        rejoined = _Rejoined(first, stream)
        options = pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=True,
        )
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
                    newlines_in_values=True, invalid_row_handler=keep
                ),
                convert_options=options,
            )
        except pa.ArrowInvalid as error:
            raise _csv_error(source, error, None, failed) from error
    if rejoined.n_quotes % 2 and source != "-":
        with _open_csv(source) as stream:
            _check_quotes(stream, source)


def select_columns(
    table: pa.Table | pa.RecordBatch, names: Sequence[str], source: str
) -> Any:
    """The named columns of a table, in that order.

    Raises
    ------
    ValueError
        If one is missing; names close to it are offered.
    """
    present = table.schema.names
    absent = [name for name in names if name not in present]
    if absent:
        hint = near_names(absent[0], present)
        raise ValueError(f"{_shown(source)} has no column {name_list(absent)}; {hint}")
    return table.select(list(names))


def check_columns(schema: pa.Schema, source: str) -> None:
    """Raise if column names repeat or a CSV file is not UTF-8."""
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{_shown(source)} has several columns called {name_list(twice)}; "
            "give every column a name of its own"
        )
    for column in schema:
        if pa.types.is_binary(column.type):
            raise ValueError(
                f"column {quoted(column.name)} of {_shown(source)} is no UTF-8 text; "
                "save the file as UTF-8"
            )


def is_parquet(source: str) -> bool:
    """Whether a file's name says that it is Parquet."""
    return Path(source).suffix.lower() in {".parquet", ".pq"}


def _shown(source: str) -> str:
    """How a source is called in a message."""
    return "standard input" if source == "-" else source


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


def _open_csv(source: str) -> IO[bytes]:
    """A CSV source as a stream of bytes, unpacked if it is compressed."""
    if source == "-":
        if sys.stdin is None:
            raise ValueError("cannot read standard input: it is closed; name a file")
        return sys.stdin.buffer
    codec = _PACKED.get(Path(source).suffix)
    content = pa.input_stream(arrow_file(source), compression=codec)
    stream: IO[bytes] = io.BufferedReader(content)
    return stream


def _csv_bytes(source: str) -> bytes:
    """The whole content of a CSV source."""
    with _unpacking(source), _open_csv(source) as stream:
        content = stream.read()
    _header(_header_lines(io.BytesIO(content), source), source)
    return content


@contextlib.contextmanager
def _unpacking(source: str) -> Iterator[None]:
    """Name the file in an error of its decompression."""
    if source != "-":
        _check_readable(source)
    try:
        yield
    except OSError as error:
        if error.errno is not None or Path(source).suffix in {"", ".csv"}:
            raise
        raise ValueError(
            f"cannot unpack {_shown(source)}: {error}; correct or rename the file"
        ) from error


def _header_lines(stream: IO[bytes], source: str) -> bytes:
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
                f"the header of {_shown(source)} opens a quote that is not closed; "
                "add the missing quote"
            )
        line += more
    return line


def _header(line: bytes, source: str) -> list[str]:
    """Column names in the first line of a CSV source."""
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _no_utf8(source) from error
    if "\0" in text:
        raise _no_utf8(source)
    if not text.strip():
        raise ValueError(f"{_shown(source)} is empty; a header line was expected")
    try:
        names = next(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise ValueError(
            f"the header of {_shown(source)} cannot be read; end each line with a "
            "line feed and quote names that hold line ends"
        ) from error
    for separator, called in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) == 1 and separator in names[0]:
            raise ValueError(
                f"the cells of {_shown(source)} are separated by {called}; "
                "save the file with commas between cells"
            )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{_shown(source)} has several columns called {name_list(twice)}; "
            "give every column a name of its own"
        )
    return names


def _no_utf8(source: str) -> ValueError:
    """What to say of a file in another encoding."""
    return ValueError(f"{_shown(source)} is no UTF-8 text; save the file as UTF-8")


def _check_quotes(content: IO[bytes], source: str) -> None:
    """Raise if a quoted cell is never closed, which would swallow all later rows."""
    text = io.TextIOWrapper(content, encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(text, strict=True)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"a quoted cell that begins in line {line} of {_shown(source)} is not "
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


def _csv_error(
    source: str,
    error: pa.ArrowInvalid,
    content: IO[bytes] | None,
    failed: Sequence[pa_csv.InvalidRow] = (),
) -> ValueError:
    """One sentence for a CSV file that cannot be parsed, with the ragged line."""
    if content is None and source != "-":
        content = _open_csv(source)
    place = _ragged_line(content) if content is not None else None
    if place is not None:
        line, found, expected = place
        return ValueError(
            f"line {line} of {_shown(source)} has {found} cells, but the header has "
            f"{expected}; correct the line or quote its commas"
        )
    if failed:
        row = failed[0]
        return ValueError(
            f"row {row.number} of {_shown(source)} has {row.actual_columns} cells, but "
            f"the header has {row.expected_columns}; correct it or quote its commas"
        )
    if "invalid UTF8" in str(error):
        return _no_utf8(source)
    if "straddl" in str(error):
        return ValueError(
            f"a row of {_shown(source)} is longer than {BLOCK_BYTES >> 20} MiB; "
            "shorten it, or close its quote"
        )
    return ValueError(f"cannot read {_shown(source)} as CSV: {error}")


def _ragged_line(content: IO[bytes]) -> tuple[int, int, int] | None:
    """Line, number of cells and expected number of the first ragged row."""
    reader = csv.reader(
        io.TextIOWrapper(content, encoding="utf-8-sig", errors="replace")
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
