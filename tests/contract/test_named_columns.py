"""Fitted estimators match the columns of any table with those of training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet
import pytest
from sklearn.base import clone
from sklearn.inspection import permutation_importance

from bayleaf import (
    AveragedKDBRegressor,
    BayesianNetworkEstimator,
    BayesianNetworkImputer,
    NaiveBayesClassifier,
    predict_to_folder,
)


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


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_permutations_of_arrow_tables_are_predicted_as_of_frames() -> None:
    table = pa.table({"a": [i % 2 for i in range(40)], "b": ["x", "y", "z", "z"] * 10})
    y = ["p", "q"] * 20
    target = [float(i % 2) for i in range(40)]
    for model, labels in (
        (NaiveBayesClassifier(), y),
        (AveragedKDBRegressor(trees=False, random_state=0), target),
    ):
        by_frame, by_table = (
            permutation_importance(
                clone(model).fit(rows, labels),
                rows,
                labels,
                n_repeats=1,
                random_state=0,
            ).importances
            for rows in (table.to_pandas(), table)
        )
        assert by_table.tolist() == by_frame.tolist()


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


_TABLE = pa.table(
    {"age": [i % 7 for i in range(40)], "city": ["x", "y", None, "y"] * 10}
)
_LABELS = ["p", "q"] * 20


def _shapes(table: pa.Table) -> dict[str, Any]:
    frame = table.to_pandas()
    return {
        "a list of dicts": table.to_pylist(),
        "a dict of columns": table.to_pydict(),
        "a structured array": frame.to_records(index=False),
        "a batch": table.combine_chunks().to_batches()[0],
    }


def test_rows_and_columns_with_names_are_learned_from_like_frames() -> None:
    model = NaiveBayesClassifier().fit(_TABLE, _LABELS)
    want = model.predict_proba(_TABLE)
    labelled = _TABLE.append_column("label", pa.array(_LABELS))
    for called, table in _shapes(_TABLE).items():
        other = NaiveBayesClassifier().fit(table, _LABELS)
        assert other.feature_names_in_.tolist() == ["age", "city"], called
        assert (other.predict_proba(table) == want).all(), called
        network = BayesianNetworkEstimator(random_state=0).fit(table)
        assert network.feature_names_in_.tolist() == ["age", "city"], called
    for called, table in _shapes(labelled).items():
        other = NaiveBayesClassifier().fit(table, target="label")
        assert other.encoder_.column_names == ("age", "city"), called
        assert (other.predict_proba(_TABLE) == want).all(), called
    lacking = [{"city": "x"}, {"age": 1}] * 20
    other = NaiveBayesClassifier().fit(lacking, _LABELS)
    assert other.feature_names_in_.tolist() == ["city", "age"]


def test_tables_with_names_that_cannot_be_learned_from_are_refused() -> None:
    for table, error, message in (
        ({"age": 1, "city": "x"}, ValueError, "a single row; pass a list of dicts"),
        ({"age": [1, 2], "city": ["x"]}, ValueError, "different lengths"),
        ([{"age": 1}, {"age": "x"}], TypeError, "'age' has values of several types"),
        ([{"age": 1}, 3], TypeError, "pass a dict for every row"),
    ):
        with pytest.raises(error, match=message):
            NaiveBayesClassifier().fit(table, ["p", "q"])
    with pytest.raises(TypeError, match="the type ndarray does not have"):
        NaiveBayesClassifier().fit(np.eye(4), target="a")


def test_notes_name_cells_that_training_lacks() -> None:
    model = NaiveBayesClassifier().fit(_TABLE, _LABELS)
    rows = [{"city": "x", "age": 3, "id": 7}, {"age": 2}]
    labels, notes = model.predict(rows, return_notes=True)
    assert labels.tolist() == model.predict(rows).tolist()
    assert notes == [
        [{"column": "id", "cell": 7, "note": "not in training"}],
        [{"column": "city", "cell": None, "note": "missing"}],
    ]


class _Expression:
    """What an expression of ibis offers."""

    def to_pyarrow(self) -> pa.Table:
        return _TABLE


def test_sources_of_batches_are_predicted_as_a_whole(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    model = NaiveBayesClassifier().fit(_TABLE, _LABELS)
    want = model.predict_proba(_TABLE).tolist()
    path = tmp_path / "rows.parquet"
    pa_parquet.write_table(_TABLE, path)
    files = pa_dataset.dataset(path)
    relation = duckdb.read_parquet(str(path))
    for table in (files, files.scanner(), relation, _Expression()):
        assert model.predict_proba(table).tolist() == want
    target = [float(i % 7) for i in range(40)]
    numbered = _TABLE.append_column("y", pa.array(target))
    regressor = AveragedKDBRegressor(trees=False, random_state=0)
    numbers = regressor.fit(_TABLE, target).predict(_TABLE).tolist()
    for table in (numbered, numbered.to_reader()):
        assert regressor.fit(table, target="y").predict(relation).tolist() == numbers
    for table in (path, [path], str(path)):
        with pytest.raises((TypeError, ValueError), match=r"bayleaf.predict_to_folder"):
            model.predict(table)
