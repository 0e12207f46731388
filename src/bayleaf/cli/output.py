"""Tables that commands write: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from bayleaf.cli.streams import binary_output
from bayleaf.cli.tables import is_parquet
from bayleaf.io.atomic import replacing

# How text begins that spreadsheets take for a formula, and what is a number instead.
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


@contextlib.contextmanager
def writing(output: str, guarded: Sequence[str] | None = ()) -> Iterator[TableWriter]:
    """Give a writer to a file that appears when the block succeeds; - for CSV out.

    Parameters
    ----------
    output : str
        The file, or - for CSV on standard output.
    guarded : sequence of str or None, default=()
        In CSV, columns whose text a spreadsheet must not take for formulas; None for
        all columns and their names.
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


class TableWriter:
    """Writes batches to a CSV or Parquet file, or CSV to standard output.

    Parameters
    ----------
    path : Path or None
        The file; None for standard output.
    parquet : bool
        Whether to write Parquet.
    guarded : sequence of str or None
        As for `writing`.
    """

    def __init__(
        self, path: Path | None, *, parquet: bool, guarded: Sequence[str] | None
    ) -> None:
        self._path = path
        self._parquet = parquet
        self._guarded = () if parquet else guarded
        self._writer: Any = None

    def __enter__(self) -> TableWriter:
        return self

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch; the first one sets the columns."""
        if self._guarded is None or self._guarded:
            batch = _without_formulas(batch, self._guarded)
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
        target: Any = self._path if self._path is not None else binary_output()
        return pa_csv.CSVWriter(target, schema)

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._path is None:
            sys.stdout.flush()


def _without_formulas(
    batch: pa.RecordBatch, columns: Sequence[str] | None
) -> pa.RecordBatch:
    """An apostrophe before text that spreadsheets would take for a formula."""
    arrays = [
        _as_text(column) if columns is None or name in columns else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    names = batch.schema.names
    if columns is None:
        names = _as_text(pa.array(names)).to_pylist()
    return pa.RecordBatch.from_arrays(arrays, names)


def _as_text(column: Any) -> Any:
    """A column with an apostrophe before each cell that looks like a formula."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type):
        return column
    begins = pc.match_substring_regex(column, _FORMULA)
    if not pc.any(begins).as_py():
        return column
    is_number = pc.match_substring_regex(column, _NUMBER)
    guarded = pc.binary_join_element_wise("'", column, "")
    return pc.if_else(pc.and_not(begins, is_number), guarded, column)
