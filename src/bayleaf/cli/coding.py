"""Batches read from a file as codes of a model's features."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayleaf.cli.tables import select_columns
from bayleaf.data.codes import Codes
from bayleaf.data.columns import Column, NumberColumn, ValueColumn, take_apart
from bayleaf.data.domain import Variable
from bayleaf.models.predictor import Predictor


def codes_of_batch(
    predictor: Predictor,
    batch: pa.RecordBatch,
    source: str,
    missing_values: frozenset[str],
) -> Codes:
    """Encode the features of a batch, whatever else it holds and in whatever order.

    Cells of a CSV file come as text and are read as the model's domain asks: numbers
    for a numeric feature, the state's own type for a nominal one.

    Raises
    ------
    ValueError
        If a feature's column is missing, or a numeric feature's cell is no number.
    """
    domain = predictor.encoder.domain
    names = [str(name) for name in domain.names]
    features = select_columns(batch, names, source)
    columns: list[Column] = []
    for variable, column in zip(domain, features.columns, strict=True):
        if _is_text(column.type):
            columns.append(_read_text(variable, column, missing_values))
        else:
            table = pa.table({str(variable.name): column})
            parsed = take_apart(table)
            assert isinstance(parsed, list)
            columns.append(_renamed(parsed[0], variable))
    return predictor.encoder.transform(columns)


def _read_text(
    variable: Variable, cells: pa.Array, missing_values: frozenset[str]
) -> Column:
    """A column of text as numbers or as states of a variable."""
    encoded = cells.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    indices = np.asarray(encoded.indices.fill_null(-1)).astype(np.int32, copy=False)
    absent = [i for i, text in enumerate(texts) if text == "" or text in missing_values]
    if absent:
        indices = np.where(np.isin(indices, absent), np.int32(-1), indices)
    if variable.kind == "numeric":
        numbers = np.array(
            [
                np.nan if i in absent else _number(variable, text, cells)
                for i, text in enumerate(texts)
            ]
            + [np.nan]
        )
        values = numbers[indices]
        return NumberColumn(variable.name, values, np.isnan(values))
    return ValueColumn(variable.name, indices, _states(variable, texts))


def _number(variable: Variable, text: str, cells: pa.Array) -> float:
    """A cell's text as a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        row = pc.index(cells, text).as_py()
        raise ValueError(
            f"column {variable.name!r} holds {text!r} where a number belongs (row "
            f"{row + 1} of its batch); mend the cell, or name it with --na if it "
            "means empty"
        )
    return value


def _states(variable: Variable, texts: list[str]) -> list[Hashable]:
    """For each text the state that it spells, or the text itself if there is none."""
    spelled: dict[str, Hashable] = {}
    for state in variable.states:
        if state is not None:
            spelled[str(state)] = state
        if isinstance(state, bool):
            spelled[str(state).lower()] = state
    found: list[Hashable] = []
    for text in texts:
        if text in spelled:
            found.append(spelled[text])
            continue
        number = _as_number(text)
        found.append(
            number if number is not None and number in spelled.values() else text
        )
    return found


def _as_number(text: str) -> float | None:
    """The number that a text spells, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def _renamed(column: Column, variable: Variable) -> Column:
    """A column under the variable's own name, which may be a whole number."""
    values: dict[str, Any] = {**vars(column), "name": variable.name}
    return type(column)(**values)


def _is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
