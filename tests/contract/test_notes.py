"""Estimators note per row what they could not read, and warn once per call."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import bayleaf
from bayleaf import UnknownValuesWarning
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.evaluation import compare
from offenders import check_each

ROWS = {
    "city": ["Oslo", "Bergen"] * 10,
    "rooms": [1, 2, 3, 4] * 5,
    "price": [f"{i},50" for i in range(18)] + ["-", "-"],
    "when": [f"{i + 1:02d}.03.2024" for i in range(20)],
}
Y = ["p", "q"] * 10
NEW = pd.DataFrame(
    {
        "city": ["Oslo", "Rome", None],
        "rooms": [2, 9, 1],
        "price": ["3,50", "-", "4,50"],
        "when": ["03.03.2024", "04.03.2024", "soon"],
    }
)
NOTES = [
    [],
    [
        {"column": "city", "cell": "Rome", "note": "unknown"},
        {"column": "rooms", "cell": 9, "note": "nearest 4"},
        {"column": "price", "cell": "-", "note": "missing"},
    ],
    [
        {"column": "city", "cell": None, "note": "missing"},
        {"column": "when", "cell": "soon", "note": "unknown"},
    ],
]


@pytest.fixture(scope="module")
def model() -> Any:
    """A naive Bayes classifier of texts, integers, numbers and dates in texts."""
    return bayleaf.NaiveBayesClassifier().fit(pd.DataFrame(ROWS), Y)


def test_notes_are_returned_per_row(model: Any) -> None:
    labels, notes = model.predict(NEW, return_notes=True)
    assert notes == NOTES
    proba, notes = model.predict_proba(NEW, return_notes=True)
    assert notes == NOTES
    with pytest.warns(UnknownValuesWarning):
        assert (model.predict(NEW) == labels).all()
    with pytest.warns(UnknownValuesWarning):
        assert (model.predict_proba(NEW) == proba).all()


def test_notes_are_those_of_each_row_alone_and_of_rows_with_names(model: Any) -> None:
    records = NEW.to_dict("records")
    for row, record in enumerate(records[:2]):
        assert model.predict(record, return_notes=True)[1] == [NOTES[row]]
    assert model.predict_proba(records, return_notes=True)[1] == NOTES
    absent = {"rooms": 2, "price": "3,50", "when": "03.03.2024"}
    expected = [{"column": "city", "cell": None, "note": "missing"}]
    assert model.predict(absent, return_notes=True)[1] == [expected]


def test_one_warning_names_columns_and_counts(model: Any) -> None:
    for method in ("predict", "predict_proba", "predict_log_proba", "explain"):
        with pytest.warns(UnknownValuesWarning) as caught:
            getattr(model, method)(NEW)
        (only,) = caught
        assert only.filename == __file__
        assert "3 cells hold values not seen in training" in str(only.message)
        assert "city (1, such as 'Rome', taken as missing)" in str(only.message)
        nearest = "rooms (1, such as 9, taken as the nearest value seen)"
        assert nearest in str(only.message)
        assert "when (1, such as 'soon', taken as missing)" in str(only.message)


def test_explanations_have_notes(model: Any) -> None:
    with pytest.warns(UnknownValuesWarning):
        explanations = model.explain(NEW)
    assert [row.to_dict()["notes"] for row in explanations] == NOTES
    regressor = bayleaf.AveragedKDBRegressor(trees=False).fit(
        pd.DataFrame(ROWS), range(20)
    )
    with pytest.warns(UnknownValuesWarning):
        rows = regressor.explain(NEW)
    assert [row.to_dict()["notes"] for row in rows] == NOTES


def test_filters_of_warnings_are_respected(model: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownValuesWarning)
        model.predict(NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(NEW.iloc[:1])
        with pytest.raises(UnknownValuesWarning):
            model.predict(NEW)


def test_every_estimator_returns_notes() -> None:
    X = pa.table({"city": ROWS["city"], "rooms": ROWS["rooms"]})
    new = pa.table({"city": ["Rome", "Oslo"], "rooms": [1, None]})
    expected = [
        [{"column": "city", "cell": "Rome", "note": "unknown"}],
        [{"column": "rooms", "cell": None, "note": "missing"}],
    ]
    kinds = [*CLASSIFIERS.values(), bayleaf.AveragedKDBRegressor]

    def check(kind: Any) -> None:
        is_regressor = kind is bayleaf.AveragedKDBRegressor
        target = [float(i) for i in range(20)] if is_regressor else Y
        model = kind().fit(X, target)
        assert model.predict(new, return_notes=True)[1] == expected
        assert "return_notes" not in str(clone(model).get_metadata_routing())
        with pytest.warns(UnknownValuesWarning):
            model.predict(new)

    check_each(kinds, check)


def test_evaluation_does_not_warn() -> None:
    X = pa.table({"city": [f"c{i}" for i in range(10)] * 2, "n": ROWS["rooms"]})
    kinds = {"nb": bayleaf.NaiveBayesClassifier(identifiers="keep")}
    compare(X, Y, kinds, n_folds=10)
