"""Tables that commands write: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from bayleaf.cli.tables import is_parquet
from bayleaf.io.atomic import replacing


@contextlib.contextmanager
def writing(output: str) -> Iterator[TableWriter]:
    """Give a writer to a file that appears when the block succeeds; - for CSV out."""
    if output == "-":
        with TableWriter(None, parquet=False) as writer:
            yield writer
        return
    parquet = is_parquet(output)
    with replacing(output) as path, TableWriter(path, parquet=parquet) as writer:
        yield writer


class TableWriter:
    """Writes batches to a CSV or Parquet file, or CSV to standard output.

    Parameters
    ----------
    path : Path or None
        The file; None for standard output.
    parquet : bool
        Whether to write Parquet.
    """

    def __init__(self, path: Path | None, *, parquet: bool) -> None:
        self._path = path
        self._parquet = parquet
        self._writer: Any = None

    def __enter__(self) -> TableWriter:
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch; the first one sets the columns."""
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

            return pa_parquet.ParquetWriter(self._path, schema)
        target: Any = self._path if self._path is not None else sys.stdout.buffer
        return pa_csv.CSVWriter(target, schema)

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._path is None:
            sys.stdout.flush()
