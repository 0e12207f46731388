"""Tables that commands write: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.arrow_arrays import arrow_file, as_number, changed_texts
from bayleaf.cli.tables import is_parquet
from bayleaf.io.atomic import replacing

# A spreadsheet takes a cell that begins so for a formula (OWASP, CSV injection).
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@contextlib.contextmanager
def writing(output: str, guarded: Collection[str] = ()) -> Iterator[TableWriter]:
    """Give a writer to a file that appears when the block succeeds; - for CSV out.

    Columns named in `guarded` are written to CSV so that no spreadsheet takes a cell
    or the name for a formula.
    """
    if output == "-":
        with TableWriter(None, parquet=False, guarded=guarded) as writer:
            yield writer
        return
    parquet = is_parquet(output)
    with (
        replacing(output) as path,
        TableWriter(path, parquet=parquet, guarded=guarded) as writer,
    ):
        yield writer


def without_formula(text: str) -> str:
    """A text with an apostrophe before it if a spreadsheet would compute it.

    Numbers stay as they are, and so does a lone sign, which is no formula.
    """
    risky = text.startswith(_FORMULA_STARTS) and len(text) > 1
    return f"'{text}" if risky and as_number(text) is None else text


class TableWriter:
    """Writes batches to a CSV or Parquet file, or CSV to standard output (`path` None).

    Nothing in the `guarded` columns of a CSV table may be taken for a formula.
    """

    def __init__(
        self, path: Path | None, *, parquet: bool, guarded: Collection[str] = ()
    ) -> None:
        self._path = path
        self._parquet = parquet
        self._guarded = () if parquet else guarded
        self._writer: Any = None
        self._file: pa.OSFile | None = None

    def __enter__(self) -> TableWriter:
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch; the first one sets the columns."""
        batch = self._without_formulas(batch)
        try:
            if self._writer is None:
                self._writer = self._open(batch.schema)
            self._writer.write_batch(batch)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ValueError(
                f"the output cannot hold a column of the input ({error}); write "
                "Parquet instead of CSV, or leave the column out"
            ) from error

    def _open(self, schema: pa.Schema) -> Any:
        """The writer for batches of a schema."""
        if self._parquet:
            import pyarrow.parquet as pa_parquet

            return pa_parquet.ParquetWriter(self._opened(), schema)
        if self._path is not None:
            return pa_csv.CSVWriter(self._opened(), schema)
        if sys.stdout.isatty():
            return _OnTerminal()
        # Programs read the cells as they are.
        return pa_csv.CSVWriter(sys.stdout.buffer, schema)

    def _without_formulas(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with apostrophes before what would be taken for a formula."""
        names = batch.schema.names
        columns = [
            changed_texts(column, without_formula) if name in self._guarded else column
            for name, column in zip(names, batch.columns, strict=True)
        ]
        names = [without_formula(n) if n in self._guarded else n for n in names]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _opened(self) -> pa.OSFile:
        """The file; what is given to Arrow open is not closed by it."""
        assert self._path is not None
        self._file = arrow_file(self._path, "wb")
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._file is not None:
            self._file.close()
        if self._path is None:
            sys.stdout.flush()


class _OnTerminal:
    """Prints batches as CSV text, in which every character can be seen."""

    def __init__(self) -> None:
        self._has_header = False

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Print a batch, the first one below the names of its columns."""
        sink = pa.BufferOutputStream()
        options = pa_csv.WriteOptions(include_header=not self._has_header)
        pa_csv.write_csv(batch, sink, options)
        self._has_header = True
        print(sink.getvalue().to_pybytes().decode(), end="")

    def close(self) -> None:
        """Nothing is kept open."""
