"""Cells have the codes that the encoder gives them."""

from __future__ import annotations

import datetime
from bisect import bisect_left
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import NaiveBayesClassifier
from bayleaf.data.dates import part_values
from bayleaf.data.tables.frames import to_columns
from bayleaf.io.exports.feature_cells import FeatureCells, feature_cells
from oracles.batched_tables import the_table

EPOCH = datetime.datetime(1970, 1, 1)


def code(cells: FeatureCells, value: Any) -> int | None:
    """Code of text, a number, a boolean or a missing cell; None if refused."""
    if value is None or value != value:
        return cells.missing
    if cells.kind == "intervals":
        return bisect_left(cells.cut_points, float(value))
    return cells.codes.get(value, cells.unknown)


def value_of(cells: FeatureCells, value: Any) -> Any:
    """A cell as `code` takes it."""
    if value is None or value != value or value is pd.NaT:
        return None
    if isinstance(value, datetime.datetime | datetime.timedelta):
        passed = value - EPOCH if isinstance(value, datetime.datetime) else value
        micros = passed // datetime.timedelta(microseconds=1)
        if cells.part is None:
            units = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
            return micros / (units[str(cells.reading.unit)] * 10**6)
        origin = cells.reading.origin or 0
        return part_values(np.array([micros]), cells.part, origin)[0].item()
    if cells.reading.form == "numbers" and isinstance(value, str):
        return float(value)
    return value


@pytest.mark.parametrize("missing", ["marginalize", "state"])
@pytest.mark.parametrize("max_states", [1000, 3])
def test_codes_are_those_of_the_encoder(missing: str, max_states: int) -> None:
    table = the_table()
    features = table.drop_columns(["label"])
    model = NaiveBayesClassifier(missing=missing, max_states=max_states)
    model.fit(features, table.column("label").to_pandas())
    other = the_table(200, 7).drop_columns(["label"])
    place = other.schema.get_field_index("text")
    strange = pa.array(["never", *other.column("text").to_pylist()[1:]])
    other = other.set_column(place, "text", strange)
    codes = model.encoder_.transform(to_columns(other)).codes
    columns = {name: other.column(name).to_pylist() for name in other.schema.names}
    every = feature_cells(model.encoder_)
    assert [cells.variable for cells in every] == list(model.encoder_.domain)
    for variable, cells in enumerate(every):
        found = [code(cells, value_of(cells, v)) for v in columns[str(cells.column)]]
        assert found == codes.column(variable).tolist(), cells.variable.name


def test_what_the_model_refuses_has_no_code() -> None:
    model = NaiveBayesClassifier(missing="error", unknown="error")
    model.fit([["a"], ["b"]] * 5, ["x", "y"] * 5)
    (cells,) = feature_cells(model.encoder_)
    assert (code(cells, "a"), code(cells, "c"), code(cells, None)) == (0, None, None)
