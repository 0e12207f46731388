"""Class labels of many types come back as they were given."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayleaf
from bayleaf import NaiveBayesClassifier
from contract.kinds import each_kind
from contract.tables import nominal_frame

N_ROWS = 30

_LABELS: dict[str, list[Any]] = {
    "text": ["a", "b", "c"],
    "integers": [-3, 0, 7],
    "large integers": [2**53, 2**53 + 1, 2**53 + 2],
    "floats": [1.0, 2.0, 30.0],
    "dates": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "mixed": [7, "b", "c"],
    "more than 64 bits": [-1, 2**63, 2**63 + 1],
    "zero bytes": ["p", "p\0", "q"],
    "a number and its text": [1, 2, "1"],
}


def _learned(kind: Any, labels: Any) -> tuple[Any, pd.DataFrame]:
    frame, _ = nominal_frame(N_ROWS)
    return kind(random_state=0).fit(frame, labels), frame


def _codes() -> np.ndarray[Any, Any]:
    return np.unique(nominal_frame(N_ROWS)[1], return_inverse=True)[1]


@functools.cache
def _predicted_codes(kind: Any) -> list[int]:
    model, frame = _learned(kind, _codes())
    predicted: list[int] = model.predict(frame).tolist()
    return predicted


@pytest.mark.parametrize("name", _LABELS)
@each_kind()
def test_labels_of_a_list_come_back(kind: Any, name: str) -> None:
    labels = _LABELS[name]
    model, frame = _learned(kind, [labels[code] for code in _codes()])
    assert model.classes_.tolist() == labels
    expected = [labels[code] for code in _predicted_codes(kind)]
    assert model.predict(frame).tolist() == expected


@pytest.mark.parametrize("name", [name for name in _LABELS if name != "dates"])
def test_labels_come_back_from_files(name: str, tmp_path: Path) -> None:
    labels = [_LABELS[name][code] for code in _codes()]
    model, frame = _learned(NaiveBayesClassifier, labels)
    model.save(tmp_path / "model.json")
    loaded = bayleaf.load(tmp_path / "model.json")
    predicted = loaded.predict(frame).tolist()
    assert predicted == model.predict(frame).tolist()
    assert {*map(type, predicted)} <= {*map(type, labels)}
    hits = [a == b for a, b in zip(predicted, labels, strict=True)]
    assert loaded.score(frame, labels) == np.mean(hits)
    weights = np.arange(N_ROWS)
    assert loaded.score(frame, labels, weights) == np.average(hits, weights=weights)


@each_kind(
    name=["text", "integers", "floats"],
    container=[np.array, pd.Series, pl.Series, pa.array],
)
def test_labels_of_every_container_come_back(
    kind: Any, name: str, container: Any
) -> None:
    labels = _LABELS[name]
    model, frame = _learned(kind, container([labels[code] for code in _codes()]))
    assert model.classes_.tolist() == labels
    assert set(model.predict(frame).tolist()) <= set(labels)


@each_kind()
def test_truth_values_are_labels(kind: Any) -> None:
    model, frame = _learned(kind, _codes() > 0)
    assert model.classes_.dtype == bool
    assert model.predict(frame).dtype == bool


@each_kind()
def test_labels_of_type_object_keep_it(kind: Any) -> None:
    labels = np.array(["a", "b", "c"], dtype=object)[_codes()]
    model, frame = _learned(kind, labels)
    assert model.predict(frame).dtype == object


@each_kind()
def test_numpy_dates_are_labels(kind: Any) -> None:
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")
    model, frame = _learned(kind, days[_codes()])
    np.testing.assert_array_equal(model.classes_, days)
    assert model.predict(frame).dtype == days.dtype


@each_kind()
def test_a_categorical_target_leaves_out_unused_categories(kind: Any) -> None:
    labels = (
        pd.Series(nominal_frame(N_ROWS)[1])
        .astype("category")
        .cat.add_categories("never")
    )
    model, _ = _learned(kind, labels)
    assert model.classes_.tolist() == ["in", "out", "roof"]


@each_kind()
def test_the_class_is_named_after_the_target(kind: Any) -> None:
    model, _ = _learned(kind, pd.Series(nominal_frame(N_ROWS)[1], name="place"))
    assert model.summary().target == "place"


@each_kind()
def test_fractions_are_no_labels(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"continuous.*cut it into classes"):
        _learned(kind, _codes() + 0.5)


@each_kind(absent=[None, float("nan"), pd.NA])
def test_a_missing_label_is_refused_with_its_row(kind: Any, absent: Any) -> None:
    labels = np.array(nominal_frame(N_ROWS)[1], dtype=object)
    labels[4] = absent
    with pytest.raises(ValueError, match=r"target has 1 missing.*row 4.*remove"):
        _learned(kind, labels)


@each_kind()
def test_nan_among_float_labels_is_refused(kind: Any) -> None:
    labels = _codes().astype(float)
    labels[4] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        _learned(kind, labels)


@each_kind()
def test_an_infinite_label_is_refused(kind: Any) -> None:
    labels = _codes().astype(float)
    labels[4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        _learned(kind, labels)


@each_kind()
def test_a_target_of_another_length_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="table has 30 rows, the target 29"):
        _learned(kind, nominal_frame(N_ROWS)[1][1:])
