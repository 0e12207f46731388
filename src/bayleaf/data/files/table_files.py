"""Files of tables in batches, whatever their kind."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from bayleaf.data.files.csv_reading import (
    arrow_file,
    called,
    check_names,
    check_readable,
    form_of,
    no_rows,
    read_csv_batches,
)
from bayleaf.data.files.csv_rows import CsvRows
from bayleaf.data.files.file_format import FileFormat
from bayleaf.data.files.file_kinds import PARQUET
from bayleaf.data.files.json_rows import is_json, read_json
from bayleaf.data.tables.array_columns import arrow_of
from bayleaf.wording import counted, quoted

_LOGGER = logging.getLogger("bayleaf")
TableT = TypeVar("TableT", pa.Table, pa.RecordBatch)
# Rows of a Parquet batch, held in memory at once.
BATCH_ROWS = 1 << 16


def read_batches(
    source: str, form: FileFormat, rows: CsvRows | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a table in batches; all cells of a CSV file as the text they are.

    The rows of such a file can then be taken from `rows`. OSError, or ValueError if the
    file cannot be read or has no rows.
    """
    n_rows = 0
    for batch in file_batches(source, form, rows):
        n_rows += batch.num_rows
        if batch.num_rows:
            yield batch
    if not n_rows:
        raise no_rows(source)


def file_batches(
    source: str, form: FileFormat, rows: CsvRows | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a table in batches; of a text file without rows, one has its columns."""
    if is_parquet(source):
        file = open_parquet(source)
        check_columns(file.schema_arrow, source)
        batches = file.iter_batches(batch_size=BATCH_ROWS)
    elif is_json(source):
        batches = iter(read_json(source).to_batches(BATCH_ROWS))
    else:
        batches = read_csv_batches(source, form, rows)
    n_rows = n_columns = 0
    for batch in batches:
        n_rows, n_columns = n_rows + batch.num_rows, batch.num_columns
        yield batch
    log_rows(source, n_rows, n_columns)


def log_rows(source: str, n_rows: int, n_columns: int) -> None:
    """Log how large a table is."""
    rows, columns = counted(n_rows, "row"), counted(n_columns, "column")
    _LOGGER.info("%s has %s and %s", called(source), rows, columns)


def present_cells(source: str, form: FileFormat) -> Iterator[pa.RecordBatch]:
    """Read a table in batches, cells that count as empty as null."""
    form = form_of(source, form)
    return (with_missing_cells(batch, form) for batch in file_batches(source, form))


def is_parquet(source: str) -> bool:
    """Whether a file's name ends as those of Parquet."""
    return Path(source).suffix.lower() in PARQUET


def open_parquet(source: str) -> Any:
    """A Parquet file, or one sentence why not."""
    import pyarrow.parquet as pa_parquet

    check_readable(source)
    try:
        return pa_parquet.ParquetFile(arrow_file(source))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{source} is no Parquet file: {error}") from error


def check_columns(schema: pa.Schema, source: str) -> None:
    """Raise if column names repeat or a CSV file is not UTF-8."""
    check_names(schema.names, source)
    for column in schema:
        if pa.types.is_binary(column.type):
            raise ValueError(
                f"column {quoted(column.name)} of {called(source)} is no UTF-8 text; "
                "save the file as UTF-8"
            )


def with_missing_cells(table: TableT, form: FileFormat) -> TableT:
    """A table or batch of a file's texts whose cells that count as empty are null."""
    import pyarrow.compute as pc

    texts = arrow_of(form.missing_texts)
    columns = [
        pc.if_else(pc.is_in(column, texts), None, column)
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return type(table).from_arrays(columns, schema=table.schema)
