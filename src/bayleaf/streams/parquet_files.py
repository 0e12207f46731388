"""Parquet files of the same columns as one table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pa_dataset

from bayleaf.wording import quoted

# Rows of a batch of a file.
_BATCH_ROWS, _SMALL_ROWS = 1 << 17, 1 << 16


@dataclass(frozen=True)
class ParquetFiles:
    """Several Parquet files as one table."""

    paths: Sequence[str]
    dataset: Any  # pyarrow's, of all files; text as indices if alike
    are_alike: bool  # same columns and types, none from folders
    in_folders: tuple[str, ...] = ()  # columns in the names of folders, as in Hive
    texts: frozenset[str] = frozenset()  # columns of text that come as indices

    @classmethod
    def of(
        cls, paths: Sequence[str], called: str, *, as_indices: bool = True
    ) -> ParquetFiles:
        """Look at the columns of some files.

        Text comes as indices into its values if that is asked for, and files are alike.
        ValueError if one is not a Parquet file, or they differ in their columns.
        """
        opened = partial(pa_dataset.dataset, list(paths), partitioning="hive")
        try:
            plain = opened(format="parquet")
            schemas = [own.physical_schema for own in plain.get_fragments()]
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"{called} is no Parquet file: {in_one_line(error)}"
            ) from error
        bare = [schema.remove_metadata() for schema in schemas]
        told = [f for f in plain.schema if f.name not in bare[0].names]
        in_folders = tuple(field.name for field in told)
        if any(schema != bare[0] for schema in bare):
            joined = _joined_schema(paths, bare)
            plain = opened(format="parquet", schema=pa.schema([*joined, *told]))
        elif as_indices:
            texts = [
                f.name
                for f in plain.schema
                if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)
            ]
            kept = pa_dataset.ParquetReadOptions(dictionary_columns=texts)
            form = pa_dataset.ParquetFileFormat(read_options=kept)
            dataset = opened(format=form)
            alike = not in_folders
            return cls(paths, dataset, alike, in_folders, frozenset(texts))
        return cls(paths, plain, False, in_folders)

    def rows_of(self, place: int) -> Iterator[pa.RecordBatch]:
        """Rows of one of the files, with what its folders tell."""
        path = self.paths[place]
        with _named(path):
            yield from list(self.dataset.get_fragments())[place].to_batches(
                schema=self.dataset.schema,
                batch_size=_SMALL_ROWS,
                batch_readahead=1,
                fragment_readahead=1,
                memory_pool=pa.system_memory_pool(),
            )

    def rows(self, first: int) -> Iterator[pa.RecordBatch]:
        """Rows of files that are alike, from a row on.

        A dataset would hold several times as much in memory.
        """
        import pyarrow.parquet as pa_parquet

        schema = self.dataset.schema
        texts = [f.name for f in schema if pa.types.is_dictionary(f.type)]
        for path in self.paths:
            with (
                _named(path),
                pa_parquet.ParquetFile(path, read_dictionary=texts) as file,
            ):
                n_rows = file.metadata.num_rows
                if first < n_rows:
                    yield from _row_groups(file, schema, first)
                first = max(0, first - n_rows)


def after(
    batches: Iterator[pa.RecordBatch] | pa.RecordBatchReader, first: int
) -> Iterator[pa.RecordBatch]:
    """Batches without their first rows."""
    for batch in batches:
        skipped = min(first, batch.num_rows)
        first -= skipped
        if skipped < batch.num_rows:
            yield batch.slice(skipped)


def _joined_schema(paths: Sequence[str], schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Types that hold the columns of all files, which must have the same ones."""
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        more = [name for name in schema.names if name not in first.names]
        lost = [name for name in first.names if name not in schema.names]
        if more or lost:
            other = path if lost else paths[0]
            having = paths[0] if lost else path
            raise ValueError(
                f"{other} lacks the column {quoted([*lost, *more][0])} that {having} "
                "has; pass files of the same columns"
            )
    joined = []
    for name in first.names:
        own = [pa.schema([schema.field(name)]) for schema in schemas]
        try:
            joined += [*pa.unify_schemas(own, promote_options="permissive")]
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            kinds = list(dict.fromkeys(str(schema.types[0]) for schema in own))
            raise ValueError(
                f"column {quoted(name)} is {kinds[0]} in some of the files and "
                f"{kinds[1]} in others; write them with one type"
            ) from error
    return pa.schema(joined)


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Name a file in what fails in reading it."""
    with in_a_sentence(path):
        try:
            yield
        except OSError as error:
            # Damaged pages are told of without the file's name.
            if error.filename is None and error.errno is None:
                told = f"cannot read {path}: {in_one_line(error)}"
                raise OSError(told) from error
            raise


def _row_groups(file: Any, schema: pa.Schema, first: int) -> Iterator[pa.RecordBatch]:
    """Rows of a Parquet file, of which leading row groups are not read."""
    for group in range(file.num_row_groups):
        n_rows = file.metadata.row_group(group).num_rows
        if first < n_rows:
            # Reading them one by one, memory does not grow with their number.
            batches = file.iter_batches(_BATCH_ROWS, [group], columns=schema.names)
            for batch in after(batches, first):
                yield batch if batch.schema == schema else batch.cast(schema)
        first = max(0, first - n_rows)


# Libraries whose errors tell of their own insides, on several lines.
_LIBRARIES = ("pyarrow", "polars", "duckdb", "_duckdb")
_MOST_LETTERS = 300


@contextlib.contextmanager
def in_a_sentence(what: str = "the table") -> Iterator[None]:
    """Raise ValueError in a sentence for an error of a library that yields batches."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _LIBRARIES:
            raise
        raise ValueError(f"cannot read {what}: {in_one_line(error)}") from error


def in_one_line(error: BaseException) -> str:
    """The first paragraph of what an error says, in one line and not too long."""
    told = " ".join(str(error).strip().partition("\n\n")[0].split())
    return told if len(told) <= _MOST_LETTERS else f"{told[:_MOST_LETTERS]} ..."
