"""Partitions of data frames of Dask, and of Parquet files that workers read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from bayleaf.streams.parquet_files import ParquetFiles
from bayleaf.streams.partitions.tasks import Tasks
from bayleaf.streams.sources import file_kind, files_of
from bayleaf.streams.streamed import is_partitioned
from bayleaf.wording import quoted

# Row groups of a file are read together up to so many rows.
_PARTITION_ROWS = 1 << 18


class Partitions(NamedTuple):
    """A table in partitions."""

    names: list[str]  # of its columns
    parts: list[Any]  # tasks, each for a frame of pandas or a table of Arrow


def open_partitions(table: Any, tasks: Tasks) -> Partitions:
    """The partitions of a Dask data frame, or of Parquet files that all workers read.

    Files are given by path, glob or folder. TypeError if the table is something else,
    or names of columns are not text.
    """
    if is_partitioned(table):
        strange = [name for name in table.columns if not isinstance(name, str)]
        if strange:
            raise TypeError(
                f"the columns of a data frame of Dask need names that are text, got "
                f"{strange[0]!r}; rename them with df.rename(columns=str)"
            )
        return Partitions(list(table.columns), list(table.to_delayed()))
    if isinstance(table, str | os.PathLike):
        paths = files_of(os.fspath(table))
    elif isinstance(table, list | tuple):
        paths = [os.fspath(path) for path in table]
    else:
        raise TypeError(
            "workers read data frames of Dask and Parquet files, got "
            f"{quoted(type(table).__name__)}; leave out client="
        )
    others = [path for path in paths if file_kind(path) != "parquet"]
    if others:
        raise ValueError(
            f"workers read Parquet files, but {others[0]} is none; pass a data frame "
            "of Dask, such as dask.dataframe.read_csv gives"
        )
    dataset = ParquetFiles.of(paths, str(table)).dataset
    pieces = [piece for own in dataset.get_fragments() for piece in _pieces(own)]
    parts = [tasks.call(partial(_read, piece, dataset.schema)) for piece in pieces]
    return Partitions(list(dataset.schema.names), parts)


def _pieces(fragment: Any) -> Iterator[Any]:
    """A file in stretches of row groups."""
    held: list[int] = []
    n_held = 0
    for group in fragment.row_groups:
        held.append(group.id)
        n_held += group.num_rows
        if n_held >= _PARTITION_ROWS:
            yield fragment.subset(row_group_ids=held)
            held, n_held = [], 0
    if held:
        yield fragment.subset(row_group_ids=held)


def _read(piece: Any, schema: pa.Schema) -> pa.Table:
    """The rows of some row groups."""
    # The worker's other threads read other partitions.
    return piece.to_table(schema=schema, use_threads=False)
