"""Partitions of Dask's data frames and of Parquet files, and tasks over them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import pyarrow as pa

from bayleaf.streams.batch_sources import file_kind, files_of
from bayleaf.streams.parquet_files import ParquetFiles
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
    if not isinstance(table, str | os.PathLike | list | tuple):
        raise TypeError(
            "workers read data frames of Dask and Parquet files, got "
            f"{quoted(type(table).__name__)}; leave out client="
        )
    paths = files_of(table)
    others = [path for path in paths if file_kind(path) != "parquet"]
    if others:
        raise ValueError(
            f"workers read Parquet files, but {others[0]} is none; pass a data frame "
            "of Dask, such as dask.dataframe.read_csv gives"
        )
    dataset = ParquetFiles.of(paths, str(table), as_indices=False).dataset
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


# How many results are added in one task.
_ADDED = 4


class Tasks:
    """What runs tasks: the workers of a client, or what Dask is set to use.

    All tasks are functions of their inputs alone, which they leave as they are: results
    of a lost worker are computed again. By default the current client's workers run
    them, or threads.
    """

    def __init__(self, client: Any = None) -> None:
        self._client = client

    def call(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """A task that calls a function with the results of others."""
        from dask import delayed

        # Dask would search plain arguments for tasks, so the function brings them.
        return delayed(function, pure=False, traverse=False)(*inputs)

    def value(self, content: Any) -> Any:
        """Something that many tasks need, and that each worker gets once."""
        from dask import delayed

        name = f"bayleaf-{uuid.uuid4().hex}"
        return delayed(content, name=name, traverse=False)

    def added(self, parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
        """The sum of all results, in a fixed order; they are added as they finish."""
        left = list(parts)
        while len(left) > 1:
            left = [
                self.call(partial(_sum, add), *left[first : first + _ADDED])
                if first + 1 < len(left)
                else left[first]
                for first in range(0, len(left), _ADDED)
            ]
        return left[0]

    def kept(self, tasks: Sequence[Any]) -> list[Any]:
        """The same tasks, whose results stay on the workers."""
        import dask

        if self._client is not None:
            return list(self._client.persist(list(tasks)))
        return list(dask.persist(*tasks))

    def results(self, tasks: Sequence[Any]) -> list[Any]:
        """What tasks return, brought here."""
        import dask

        if self._client is not None:
            return list(self._client.gather(self._client.compute(list(tasks))))
        return list(dask.compute(*tasks))


def _sum(add: Callable[[Any, Any], Any], *parts: Any) -> Any:
    """The sum of some results, from left to right."""
    return reduce(add, parts)
