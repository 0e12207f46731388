"""CSV files as batches whose types hold for every cell of all files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from bayleaf.data.text_parsing import MISSING_TEXTS, TRUTHS
from bayleaf.wording import quoted

_BLOCK_BYTES = 1 << 24
# Codes, such as those of post offices, may begin with zeros that numbers lose.
_PADDED = r"^\s*[+-]?0[\dxX]"
_SEPARATORS = {".tsv": "\t"}
# How files whose names end so are compressed.
CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}

ReadTexts = Callable[[str], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class CsvFiles:
    """Several CSV files of the same columns, read as one table.

    They are read once to find out types, and then once more. Columns of dates, and of
    numbers with leading zeros, are left as text, as is what spells neither numbers nor
    booleans in every cell. Empty cells and what usually replaces them are missing.
    """

    paths: tuple[str, ...]
    read_texts: ReadTexts | None = None  # batches of text, not a plain reader's

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        kinds: dict[str, list[pa.DataType]] = {}
        for batch in self._text_batches():
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                left = kinds.setdefault(name, [pa.int64(), pa.bool_(), pa.float64()])
                kinds[name] = [kind for kind in left if _holds(column, kind)]
        return pa.schema([(n, (*left, pa.string())[0]) for n, left in kinds.items()])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, each column of its type."""
        schema = self.schema
        for batch in self._text_batches():
            columns = [
                _as_type(column, field.type)
                for column, field in zip(batch.columns, schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _text_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as text."""
        read = self.read_texts or _text_batches_of
        names: list[str] | None = None
        for path in self.paths:
            for batch in read(path):
                if names is not None and batch.schema.names != names:
                    raise ValueError(
                        f"{path} has other columns than {self.paths[0]}; pass files of "
                        "the same columns in the same order"
                    )
                if names is None:
                    check_columns(batch.schema)
                names = batch.schema.names
                yield batch


def _text_batches_of(path: str) -> Iterator[pa.RecordBatch]:
    """One file's rows as text."""
    parse = pa_csv.ParseOptions(
        newlines_in_values=True, delimiter=_SEPARATORS.get(inner_suffix(path), ",")
    )
    codec = CODECS.get(Path(path).suffix.lower())
    read = partial(
        pa_csv.open_csv,
        read_options=pa_csv.ReadOptions(block_size=_BLOCK_BYTES),
        parse_options=parse,
    )
    try:
        names = read(pa.input_stream(path, codec)).schema.names
        options = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=["", *MISSING_TEXTS],
            strings_can_be_null=True,
        )
        batches = read(pa.input_stream(path, codec), convert_options=options)
        # Files without rows have columns all the same.
        yield pa.RecordBatch.from_pylist([], schema=batches.schema)
        yield from batches
    except pa.ArrowInvalid as error:
        raise ValueError(f"cannot read {path}: {error}") from error


def inner_suffix(path: str) -> str:
    """The suffix of a name in lower case, without those of compression."""
    inner = Path(path)
    while inner.suffix.lower() in CODECS:
        inner = inner.with_suffix("")
    return inner.suffix.lower()


def _holds(column: pa.Array, kind: pa.DataType) -> bool:
    """Whether all texts of a column are of a type."""
    if pa.types.is_boolean(kind):
        return bool(pc.all(pc.is_in(column.drop_null(), pa.array([*TRUTHS]))).as_py())
    if pc.any(pc.match_substring_regex(column, _PADDED)).as_py():
        return False
    try:
        _as_type(column, kind)
    except pa.ArrowInvalid:
        return False
    return True


def _as_type(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts as numbers or booleans."""
    if pa.types.is_string(kind):
        return column
    trimmed: Any = pc.utf8_trim_whitespace(column)
    if pa.types.is_boolean(kind):
        return pc.equal(pc.utf8_lower(trimmed), "true")
    return trimmed.cast(kind)


def check_columns(schema: pa.Schema) -> None:
    """Raise ValueError if two columns share a name."""
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise ValueError(
            f"several columns are called {quoted(twice[0])}; give every column a name "
            "of its own"
        )
