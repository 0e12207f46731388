"""Tables that commands write: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.table_reading import as_number
from bayleaf.data.files.csv_reading import arrow_file
from bayleaf.data.files.csv_rows import CsvRows
from bayleaf.data.files.declared_files import DECLARED
from bayleaf.data.files.file_kinds import WORKBOOKS
from bayleaf.io.atomic import replacing

# A spreadsheet takes a cell that begins so for a formula (OWASP, CSV injection).
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


# Appends a batch, and what changes in the columns of a CSV file.
Write = Callable[..., None]


@contextlib.contextmanager
def writing(
    output: str, guarded: Collection[str] = (), rows: CsvRows | None = None
) -> Iterator[Write]:
    """Give a function that appends batches to a file, or to standard output for ``-``.

    The file appears when the block succeeds. Columns named in `guarded` are written to
    CSV so that no spreadsheet takes a cell or the name for a formula. Next to `rows` of
    a CSV file, CSV has these as they are, with the columns that a batch has more; and
    texts in place of those of the file, where the function is given any.
    """
    if Path(output).suffix.lower() in (*WORKBOOKS, *DECLARED):
        raise ValueError(
            f"tables are written as CSV or Parquet, got {output}; let the name of the "
            "output end in .csv"
        )
    with contextlib.ExitStack() as stack:
        path = None
        if output == "-":
            stack.callback(sys.stdout.flush)
        else:
            path = stack.enter_context(replacing(output))
        writer: Any = None

        def write(
            batch: pa.RecordBatch, changes: Sequence[Sequence[str | None]] = ()
        ) -> None:
            nonlocal writer
            if guarded and is_csv(output):
                batch = _without_formulas(batch, guarded)
            try:
                if writer is None and rows and rows.has_layout and is_csv(output):
                    writer = _OwnText(rows, _open_bytes(path, stack))
                elif writer is None:
                    writer = _open_writer(output, path, batch.schema, stack)
                if isinstance(writer, _OwnText):
                    writer.write(batch, changes)
                else:
                    writer.write_batch(batch)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise ValueError(
                    f"the output cannot hold a column of the input ({error}); write "
                    "Parquet instead of CSV, or leave the column out"
                ) from error

        yield write
        if isinstance(writer, _OwnText):
            writer.close()


def is_csv(output: str) -> bool:
    """Whether a table is written as CSV, as it is unless the suffix names a format."""
    return Path(output).suffix.lower() not in _WRITERS


def _parquet_writer(file: pa.OSFile, schema: pa.Schema) -> Any:
    """A writer of a Parquet file."""
    import pyarrow.parquet as pa_parquet

    return pa_parquet.ParquetWriter(file, schema)


# What opens a writer of batches to a file, by its suffix; other files are CSV.
_WRITERS: dict[str, Callable[[pa.OSFile, pa.Schema], Any]] = {
    ".parquet": _parquet_writer,
    ".pq": _parquet_writer,
}


def _open_writer(
    output: str, path: Path | None, schema: pa.Schema, stack: contextlib.ExitStack
) -> Any:
    """A writer of batches that is closed, with its file, by the stack."""
    if path is None and sys.stdout.isatty():
        return _OnTerminal()
    if path is None:
        # Programs read the cells as they are.
        return stack.enter_context(pa_csv.CSVWriter(sys.stdout.buffer, schema))
    # What is given to Arrow open is not closed by it.
    file = stack.enter_context(arrow_file(path, "wb"))
    opened = _WRITERS.get(Path(output).suffix.lower(), pa_csv.CSVWriter)
    return stack.enter_context(opened(file, schema))


def _open_bytes(
    path: Path | None, stack: contextlib.ExitStack
) -> Callable[[bytes], Any]:
    """What appends bytes to a file that the stack closes, or to standard output."""
    if path is not None:
        return stack.enter_context(open(path, "wb")).write
    if sys.stdout.isatty():
        return lambda content: print(content.decode("utf-8", "replace"), end="")
    return sys.stdout.buffer.write


class _OwnText:
    """Appends batches to the rows of a CSV file, and writes its other lines."""

    def __init__(self, rows: CsvRows, append: Callable[[bytes], Any]) -> None:
        self._rows, self._append, self._has_header = rows, append, False

    def write(
        self, batch: pa.RecordBatch, changes: Sequence[Sequence[str | None]]
    ) -> None:
        """Append the next rows of the file, with the batch's further columns."""
        n_own = self._rows.n_columns
        if not self._has_header:
            names = batch.schema.names[n_own:]
            self._append(self._rows.head(names, batch.columns, changes))
            self._has_header = True
        self._append(self._rows.body(batch.num_rows, batch.columns[n_own:], changes))

    def close(self) -> None:
        """Append what is below the rows."""
        self._append(self._rows.tail())


class _OnTerminal:
    """Prints batches as CSV text, in which every character can be seen."""

    _has_header = False

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Print a batch, the first one below the names of its columns."""
        sink = pa.BufferOutputStream()
        options = pa_csv.WriteOptions(include_header=not self._has_header)
        pa_csv.write_csv(batch, sink, options)
        self._has_header = True
        print(sink.getvalue().to_pybytes().decode(), end="")


def _without_formulas(
    batch: pa.RecordBatch, guarded: Collection[str]
) -> pa.RecordBatch:
    """The batch with apostrophes before what would be taken for a formula."""
    names = batch.schema.names
    columns = [
        changed_texts(column, without_formula) if name in guarded else column
        for name, column in zip(names, batch.columns, strict=True)
    ]
    names = [without_formula(name) if name in guarded else name for name in names]
    return pa.RecordBatch.from_arrays(columns, names=names)


def changed_texts(column: pa.Array, change: Callable[[str], str]) -> pa.Array:
    """A column with another text in each cell of text; other columns as they are."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = column.dictionary_encode()
    elif not pa.types.is_dictionary(kind):
        return column
    texts = column.dictionary.to_pylist()
    changed = [change(text) if isinstance(text, str) else text for text in texts]
    if changed == texts:
        return column.dictionary_decode()
    dictionary = pa.array(changed, column.dictionary.type)
    return pa.DictionaryArray.from_arrays(
        column.indices, dictionary
    ).dictionary_decode()


def without_formula(text: str) -> str:
    """A text with an apostrophe before it if a spreadsheet would compute it."""
    # A number or a lone sign is not a formula.
    risky = text.startswith(_FORMULA_STARTS) and len(text) > 1
    return f"'{text}" if risky and as_number(text) is None else text
