"""Tables that commands read, whole or in batches, and their rows as codes of a model.

Files are Parquet where a file's name says so, and CSV otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.cli.csv_reading import (
    arrow_file,
    called,
    check_names,
    check_readable,
    read_csv,
    read_csv_batches,
)
from bayleaf.cli.options import FileFormat, labels_by_text
from bayleaf.data.domain import Variable
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.tables.columns import Column, Name, NumberColumn, ValueColumn
from bayleaf.data.tables.frames import to_columns
from bayleaf.wording import name_list, near_names, quoted

if TYPE_CHECKING:
    from bayleaf.streams.batch_sources import ArrowSource

# Rows of a Parquet batch, held in memory at once.
BATCH_ROWS = 1 << 16


def read_table(source: str, form: FileFormat | None = None) -> pa.Table:
    """Read a whole table (``-`` for CSV on standard input), and the types of columns.

    Dates, and numbers with leading zeros, stay text, as encoding reads them like those
    of data frames. OSError, or ValueError with the line of a ragged row.
    """
    if is_parquet(source):
        table = _open_parquet(source).read()
    else:
        table = read_csv(source, form or FileFormat())
    _check_columns(table.schema, source)
    if table.num_rows == 0:
        raise ValueError(f"{called(source)} has a header but no rows")
    return table


def read_batches(
    source: str, form: FileFormat | None = None
) -> Iterator[pa.RecordBatch]:
    """Read a table in batches; all cells of a CSV file as the text they are."""
    if not is_parquet(source):
        yield from read_csv_batches(source, form or FileFormat())
        return
    file = _open_parquet(source)
    _check_columns(file.schema_arrow, source)
    yield from file.iter_batches(batch_size=BATCH_ROWS)


def batches_of(
    data: str, form: FileFormat | None = None, drop: Sequence[str] = ()
) -> ArrowSource:
    """A table of Parquet or CSV files (path, glob or folder) in batches, less `drop`.

    OSError or ValueError if it cannot be read, or lacks a column to leave out.
    """
    from bayleaf.streams.batch_sources import open_source

    if data == "-":
        raise ValueError("standard input cannot be read in batches; name a file")
    source = open_source(data, partial(read_batches, form=form))
    if drop:
        select_columns(source.schema.empty_table(), drop, data)
        source = source.without(drop)
    return source


def is_many_files(data: str) -> bool:
    """Whether a name is a folder or a glob, and so a table in several files."""
    if os.path.isdir(data):
        return True
    return any(sign in data for sign in "*?[") and not os.path.exists(data)


def is_parquet(source: str) -> bool:
    """Whether a file's name says that it is Parquet."""
    return Path(source).suffix.lower() in {".parquet", ".pq"}


def _open_parquet(source: str) -> Any:
    """A Parquet file, or one sentence why not."""
    import pyarrow.parquet as pa_parquet

    check_readable(source)
    try:
        return pa_parquet.ParquetFile(arrow_file(source))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{source} is no Parquet file: {error}") from error


def _check_columns(schema: pa.Schema, source: str) -> None:
    """Raise if column names repeat or a CSV file is not UTF-8."""
    check_names(schema.names, source)
    for column in schema:
        if pa.types.is_binary(column.type):
            raise ValueError(
                f"column {quoted(column.name)} of {called(source)} is no UTF-8 text; "
                "save the file as UTF-8"
            )


def select_columns(
    table: pa.Table | pa.RecordBatch, names: Sequence[str], source: str
) -> Any:
    """The named columns of a table, in that order; ValueError if one is missing."""
    present = table.schema.names
    absent = [name for name in names if name not in present]
    if absent:
        hint = near_names(absent[0], present)
        raise ValueError(f"{called(source)} has no column {name_list(absent)}; {hint}")
    return table.select(list(names))


def as_learned(table: pa.Table, domain: Iterable[Variable]) -> pa.Table:
    """A table in which columns that were text in training are text again.

    Another file of the same columns may hold nothing but numbers in one of them.
    """
    for variable in domain:
        place = table.schema.get_field_index(str(variable.name))
        known = variable.known_states
        is_text = bool(known) and all(isinstance(state, str) for state in known)
        if place < 0 or variable.kind != "nominal" or not is_text:
            continue
        column = table.column(place)
        if pa.types.is_primitive(column.type):
            text = column.cast(pa.string())
            table = table.set_column(place, str(variable.name), text)
    return table


class TrainingColumns(NamedTuple):
    """Features, and labels named after their column, row weights and a column aside."""

    features: pa.Table
    target: Any
    weights: NDArray[np.float64] | None
    aside: Any


def training_table(
    source: str,
    target: str | None,
    *,
    drop: Sequence[str] = (),
    weight: str | None = None,
    form: FileFormat | None = None,
    aside: str | None = None,
) -> TrainingColumns:
    """Read a table and split off weights, a column set aside and, if any, the target.

    OSError or ValueError if the file cannot be read, a named column is missing, the
    target is dropped or has empty cells, or no feature is left.
    """
    if target in drop:
        raise ValueError(
            f"--drop leaves out the target column {quoted(target)}; drop another "
            "column or name another target"
        )
    table = read_table(source, form)
    special = [name for name in (target, *drop, weight, aside) if name is not None]
    select_columns(table, special, source)
    labels = None if target is None else _labels(table, target)
    features = table.drop_columns(list(dict.fromkeys(special)))
    if not features.num_columns and target is None:
        raise ValueError(f"{source} has no column left; drop fewer columns")
    if not features.num_columns:
        raise ValueError(f"{source} has no column beside the target; add features")
    kept = None if aside is None else table.column(aside).combine_chunks()
    return TrainingColumns(features, labels, _row_weights(table, weight), kept)


def _labels(table: pa.Table, target: str) -> Any:
    """The target as a narwhals series, whose name the model then shows."""
    labels = table.column(target)
    if labels.null_count:
        first = next(i for i, cell in enumerate(labels) if not cell.is_valid)
        raise ValueError(
            f"the target column {quoted(target)} is empty in {labels.null_count} rows "
            f"(the first is line {first + 1} below the header); remove those rows"
        )
    if pa.types.is_temporal(labels.type):
        # Text that looks like dates is read as dates; as classes it is text.
        labels = labels.cast(pa.string())
    named = nw.from_native(pa.table({target: labels}), eager_only=True)
    return named.get_column(target)


def _row_weights(table: pa.Table, column: str | None) -> NDArray[np.float64] | None:
    """Row weights from their column."""
    if column is None:
        return None
    try:
        cells = table.column(column).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(
            f"the weight column {quoted(column)} must hold numbers"
        ) from error
    if cells.null_count:
        raise ValueError(
            f"the weight column {quoted(column)} has {cells.null_count} empty cells; "
            "give every row a weight"
        )
    return np.asarray(cells.to_numpy())


def encode_batch(
    encoder: TableEncoder,
    batch: pa.RecordBatch,
    source: str,
    *,
    n_before: int = 0,
    lines: Sequence[int] | None = None,
) -> EncodedTable:
    """Encode the features of a batch, whatever else it holds and in whatever order.

    Messages name `lines` below the header, by default those after the `n_before` rows
    of earlier batches. Text of a CSV file is read as the model's domain asks; columns
    that were left out in training may be absent. ValueError if a feature's column is
    missing, or text occurs where a number belongs.
    """
    if lines is None:
        lines = range(n_before + 1, n_before + 1 + batch.num_rows)
    variables = {variable.name: variable for variable in encoder.domain}
    used = [one for one in encoder.readings if one.form != "left_out"]
    features = select_columns(batch, [str(one.name) for one in used], source)
    columns: dict[Name, Column] = {}
    for reading, cells in zip(used, features.columns, strict=True):
        variable = variables.get(reading.name)
        is_text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
        if variable is not None and reading.form != "duration" and is_text:
            columns[reading.name] = _TextCells(variable, cells, lines).column()
        else:
            parsed = to_columns(pa.table({str(reading.name): cells}))
            assert isinstance(parsed, list)
            # The name may be an integer.
            columns[reading.name] = replace(parsed[0], name=reading.name)
    absent = np.full(batch.num_rows, -1, dtype=np.int32)
    return encoder.transform(
        [
            columns.get(name, ValueColumn(name, absent, []))
            for name in encoder.column_names
        ]
    )


class _TextCells(NamedTuple):
    """The cells of a variable as a file has them, with their lines."""

    variable: Variable
    texts: pa.Array
    lines: Sequence[int]

    def column(self) -> Column:
        """The cells as numbers or as states of the variable."""
        variable = self.variable
        encoded = self.texts.dictionary_encode()
        texts = encoded.dictionary.to_pylist()
        indices = dictionary_codes(encoded)
        if variable.kind == "numeric" and variable.categories is None:
            numbers = [np.nan if text is None else self._finite(text) for text in texts]
            values = np.array([*numbers, np.nan])[indices]
            return NumberColumn(variable.name, values, np.isnan(values))
        return ValueColumn(variable.name, indices, self._states(texts))

    def _states(self, texts: list[str | None]) -> list[Hashable]:
        """For each text the state that it spells, or the value itself."""
        states = self.variable.categories or self.variable.known_states
        spelled = labels_by_text(states)
        has_text = any(isinstance(state, str) for state in states)
        found: list[Hashable] = []
        for text in texts:
            if text is None or text in spelled:
                found.append(None if text is None else spelled[text])
            elif has_text or not states:
                number = as_number(text)
                known = number is not None and number in spelled.values()
                found.append(number if known else text)
            else:
                # Text among numbers is refused, in whichever batch it stands.
                value = self._finite(text)
                found.append(None if np.isnan(value) else value)
        return found

    def _finite(self, text: str) -> float:
        """A cell's text as a finite number, or as NaN where it says so."""
        value = as_number(text)
        if value is not None and not np.isinf(value):
            return value
        line = self.lines[self.texts.index(text).as_py()]
        truth = any(isinstance(state, bool) for state in self.variable.states)
        wanted = "true or false" if truth else "a number"
        raise ValueError(
            f"column {quoted(self.variable.name)} holds {quoted(text)} where {wanted} "
            f"belongs (line {line} below the header); correct the cell, or name it "
            "with --na if it means empty"
        )


def as_number(text: str) -> float | None:
    """The number that a text spells, or None."""
    try:
        # Python takes 1_000 for a number; in a table it is none.
        return None if "_" in text else float(text)
    except ValueError:
        return None


def dictionary_codes(array: pa.DictionaryArray) -> NDArray[np.int32]:
    """The indices of an array as `dictionary_encode` makes it, -1 for nulls.

    Arrow's own conversion loads pandas wherever it is installed, which takes longer
    than most commands do.
    """
    indices = array.indices
    rows = slice(indices.offset, indices.offset + len(indices))
    validity, values = indices.buffers()
    if len(indices) == 0:
        return np.zeros(0, dtype=np.int32)
    codes = np.frombuffer(values, dtype=np.int32)[rows]
    if not indices.null_count:
        return codes
    bits = np.frombuffer(validity, dtype=np.uint8)
    present = np.unpackbits(bits, bitorder="little")[rows]
    return np.where(present, codes, np.int32(-1))
