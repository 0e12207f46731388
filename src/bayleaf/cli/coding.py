"""Batches read from a file as codes of a model's features."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from bayleaf.cli.arrow_arrays import as_number, dictionary_codes
from bayleaf.cli.options import labels_by_text
from bayleaf.cli.tables import select_columns
from bayleaf.data.domain import Variable
from bayleaf.data.table_encoder import EncodedTable, TableEncoder
from bayleaf.data.tables.columns import Column, Name, NumberColumn, ValueColumn
from bayleaf.data.tables.frames import to_columns
from bayleaf.wording import quoted


def encode_batch(
    encoder: TableEncoder,
    batch: pa.RecordBatch,
    source: str,
    *,
    lines: Sequence[int],
) -> EncodedTable:
    """Encode the features of a batch, whatever else it holds and in whatever order.

    `lines` are the numbers of the batch's rows below the header, from 1, for messages.

    Cells of a CSV file come as text and are read as the model's domain asks: numbers
    for a numeric feature, the state's own type for a nominal one. Columns that were
    left out in training may be absent. ValueError if a feature's column is missing, or
    text occurs where a number belongs.
    """
    variables = {variable.name: variable for variable in encoder.domain}
    used = [one for one in encoder.readings if one.form != "left_out"]
    features = select_columns(batch, [str(one.name) for one in used], source)
    columns: dict[Name, Column] = {}
    for reading, cells in zip(used, features.columns, strict=True):
        variable = variables.get(reading.name)
        is_plain = variable is not None and reading.form != "duration"
        if is_plain and variable is not None and _is_text(cells.type):
            columns[reading.name] = _read_text(_TextCells(variable, cells, lines))
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

    def refusal(self, text: str) -> ValueError:
        """What to say of a text that stands where a number belongs."""
        line = self.lines[self.texts.index(text).as_py()]
        truth = any(isinstance(state, bool) for state in self.variable.states)
        wanted = "true or false" if truth else "a number"
        return ValueError(
            f"column {quoted(self.variable.name)} holds {quoted(text)} where {wanted} "
            f"belongs (line {line} below the header); correct the cell, or name it "
            "with --na if it means empty"
        )


def _read_text(cells: _TextCells) -> Column:
    """A column of text as numbers or as states of a variable."""
    variable = cells.variable
    encoded = cells.texts.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    indices = dictionary_codes(encoded)
    if variable.kind == "numeric" and variable.categories is None:
        numbers = [np.nan if text is None else _finite(cells, text) for text in texts]
        values = np.array([*numbers, np.nan])[indices]
        return NumberColumn(variable.name, values, np.isnan(values))
    return ValueColumn(variable.name, indices, _states(cells, texts))


def _finite(cells: _TextCells, text: str) -> float:
    """A cell's text as a finite number, or as NaN where it says so."""
    value = as_number(text)
    if value is None or np.isinf(value):
        raise cells.refusal(text)
    return value


def _states(cells: _TextCells, texts: list[str | None]) -> list[Hashable]:
    """For each text the state that it spells, or the value itself if there is none."""
    states = cells.variable.categories or cells.variable.known_states
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
            value = _finite(cells, text)
            found.append(None if np.isnan(value) else value)
    return found


def _is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
