"""Fitted estimators match the columns of any table with those of training."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from bayleaf import BayesianNetworkImputer, NaiveBayesClassifier, predict_to_folder


def test_arrays_are_read_by_position_after_frames() -> None:
    cells = np.array([[i % 3, i % 5, i % 2] for i in range(40)])
    y = ["pq"[i % 2] for i in range(40)]
    named = pd.DataFrame(cells, columns=["a", "b", "c"])
    model = NaiveBayesClassifier().fit(named, y)
    want = model.predict_proba(named)
    for table in (cells, cells.astype(float), cells.tolist(), pd.DataFrame(cells)):
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            assert (model.predict_proba(table) == want).all()
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 2 features"),
    ):
        model.predict(cells[:, :2])


def test_batches_and_readers_of_arrow_keep_their_names() -> None:
    table = pa.table({"a": [i % 3 for i in range(40)], "b": ["x", "y"] * 20})
    y = ["pq"[i % 2] for i in range(40)]
    batch = table.combine_chunks().to_batches()[0]
    model = NaiveBayesClassifier().fit(batch, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    want = model.predict_proba(table)
    for rows in (batch, table.to_reader()):
        assert (model.predict_proba(rows) == want).all()
    with pytest.raises(ValueError, match=r"X\[model.feature_names_in_\]"):
        model.predict(batch.select(["b", "a"]))
    with pytest.raises(ValueError, match=r"X\[model.feature_names_in_\]"):
        model.predict(table.append_column("z", pa.array(y)))


def test_other_cells_of_rows_with_names_are_left_out() -> None:
    table = pa.table({"age": [i % 3 for i in range(40)], "city": ["x", "y"] * 20})
    model = NaiveBayesClassifier().fit(table, ["p", "q"] * 20)
    want = model.predict_proba(table.slice(3, 1))
    row = table.slice(3, 1).to_pylist()[0]
    more = {"id": 7, "age": row["age"], "zip": [1, 2], "city": row["city"]}
    text = json.dumps([more])
    for rows in (more, [more], pd.Series(more), text, text.encode(), text[1:-1]):
        assert (model.predict_proba(rows) == want).all()
    for bad, message in (
        ({"Age": 1, "city": "x"}, "did you mean age"),
        ({"citty": "x", "age": 1}, "did you mean city"),
        ({"id": 7, "zip": 2}, "there are: age, city"),
        ("age=1", "not JSON"),
        ("7", "must be an object, or an array"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(bad)


def test_rows_with_names_are_imputed_by_name() -> None:
    rows = [{"a": i % 2, "b": "xy"[i % 2]} for i in range(40)]
    imputer = BayesianNetworkImputer(random_state=0).fit(pd.DataFrame(rows))
    holes = [{"id": 7, "b": "y"}, {"a": 0, "b": None, "id": 8}]
    want = [{"id": 7, "b": "y", "a": 1}, {"a": 0, "b": "x", "id": 8}]
    assert imputer.transform(holes) == want
    assert imputer.transform(holes[0]) == want[0]
    assert imputer.transform(pd.Series({"b": "y"})) == {"b": "y", "a": 1}
    table = pa.table({"a": [None, 0], "b": ["y", None]})
    batch = table.to_batches()[0]
    assert imputer.transform(batch).to_pydict() == {"a": [1, 0], "b": ["y", "x"]}
    with pytest.raises(ValueError, match="not a column of training"):
        imputer.transform({"id": 7})


def test_rows_with_names_are_predicted_to_a_folder(tmp_path: Path) -> None:
    rows = [{"a": i % 2, "b": "xy"[i % 2]} for i in range(40)]
    model = NaiveBayesClassifier().fit(pd.DataFrame(rows), ["p", "q"] * 20)
    new = [{"b": "y", "id": 7}, {"a": 0, "b": "x"}]
    predict_to_folder(model, new, tmp_path / "out")
    found = pa_parquet.read_table(tmp_path / "out").to_pylist()
    assert [row["prediction"] for row in found] == model.predict(new).tolist()
    assert [row["id"] for row in found] == [7, None]
    with pytest.raises(ValueError, match="not a column of training"):
        predict_to_folder(model, [{"id": 7}], tmp_path / "other")
