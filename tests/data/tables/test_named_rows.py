"""Rows whose cells have names become the columns of training, in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bayleaf.data.tables.columns import Matrix
from bayleaf.data.tables.named_rows import columns_as_named, names_as_in

NAMES = ("a", "b")
FRAME = pd.DataFrame({"b": [1.5, 2.5], "a": ["p", "q"]})


def _cells(table: Any, names: tuple[str | int, ...] = NAMES, **options: Any) -> Any:
    parts, is_matched = columns_as_named(table, names, **options)
    assert is_matched
    found = parts.columns() if isinstance(parts, Matrix) else parts
    assert tuple(column.name for column in found) == names
    distinct: Any = [column.distinct() for column in found]
    return [[None if i < 0 else c.values[i] for i in c.indices] for c in distinct]


def test_rows_of_every_kind_are_matched_by_name() -> None:
    for rows in (
        FRAME.to_dict("records"),
        tuple(FRAME.to_dict("records")),
        FRAME.to_dict("list"),
        {"a": FRAME.a, "b": FRAME.b.to_numpy()},
        [FRAME.iloc[0], FRAME.iloc[1]],
        FRAME.to_records(index=False),
        pl.DataFrame(FRAME).to_struct("rows"),
    ):
        assert _cells(rows) == [["p", "q"], [1.5, 2.5]]
    for row in (
        FRAME.iloc[0],
        {"b": 1.5, "a": "p"},
        pl.DataFrame(FRAME).row(0, named=True),
        FRAME.to_records(index=False)[0],
    ):
        assert _cells(row) == [["p"], [1.5]]


def test_cells_that_a_row_lacks_are_missing() -> None:
    assert _cells([{"a": "p"}, {"b": 1}, {"a": None}]) == [
        ["p", None, None],
        [None, 1, None],
    ]
    assert _cells({}) == [[None], [None]]


def test_unknown_names_are_refused_with_those_nearby() -> None:
    with pytest.raises(ValueError, match=r"row 1 has 'ages', which is not .*mean age"):
        columns_as_named([{"age": 1}, {"ages": 2}], ("age", "size"))


def test_rows_that_cannot_be_matched_are_refused() -> None:
    with pytest.raises(TypeError, match="row 1 is a list"):
        columns_as_named([{"a": 1}, [1, 2]], NAMES)
    with pytest.raises(ValueError, match=r"different lengths.*'b': 1"):
        columns_as_named({"a": [1, 2], "b": [1]}, NAMES)
    with pytest.raises(TypeError, match="column 'a' holds list"):
        columns_as_named({"a": [1, 2], "b": 1}, NAMES)
    with pytest.raises(ValueError, match="series without names"):
        columns_as_named(pl.Series([1, 2]), NAMES)
    with pytest.raises(ValueError, match=r"one column, 'a'.* frame: X\[\['a'\]\]"):
        columns_as_named(FRAME["a"], NAMES)


def test_data_frames_keep_their_order() -> None:
    for frame in (FRAME, pl.DataFrame(FRAME), pa.table(FRAME.to_dict("list"))):
        parts, is_matched = columns_as_named(frame, NAMES)
        assert not is_matched
        assert not isinstance(parts, Matrix)
        assert [column.name for column in parts] == ["b", "a"]


def test_arrays_are_matched_by_position_with_numbered_columns() -> None:
    values = np.array([[1, 2], [3, 4]])
    assert _cells(values, (0, 1)) == [[1, 3], [2, 4]]
    assert _cells(values * 0.5, (0, 1)) == [[0.5, 1.5], [1.0, 2.0]]
    assert _cells(pd.DataFrame(values), ("x0", "x1")) == [[1, 3], [2, 4]]
    assert _cells(pl.Series([1, 2]), ("x0", "x1")) == [[1], [2]]
    assert _cells(pd.Series([1, 2]), ("x0", "x1")) == [[1], [2]]
    assert _cells({"1": 2}, (0, 1)) == [[None], [2]]


def test_a_column_without_a_name_is_called_as_in_training() -> None:
    assert names_as_in(["a", ""], ["Unnamed: 0", "a"]) == ("a", "Unnamed: 0")
    assert names_as_in(["Unnamed: 3"], [""]) == ("",)
    # Several of them are ambiguous.
    names = ["Unnamed: 1", "Unnamed: 2"]
    assert names_as_in(names, [""]) == tuple(names)
    assert _cells({"": 1, "a": 2}, ("Unnamed: 0", "a")) == [[1], [2]]


def test_columns_that_training_left_out_may_be_absent() -> None:
    names = ("", "a")
    frame = pd.DataFrame({"Unnamed: 0": [7], "a": [2]})
    assert _cells(frame, names) == [[7], [2]]
    assert _cells(frame[["a"]], names, optional={""}) == [[None], [2]]
    assert not columns_as_named(frame[["a"]], names)[1]
