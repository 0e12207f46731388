"""Conformal prediction by mapie around the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from bayleaf import AveragedKDBRegressor, TANClassifier
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "mapie",
    "tried": "1.6.0",
    "use": "`CrossConformalClassifier(TANClassifier())` and "
    "`CrossConformalRegressor(AveragedKDBRegressor())` on frames with text; "
    "`SplitConformalClassifier(model)` and `SplitConformalRegressor(model)` on columns "
    "of numbers, or with text columns as codes, by the `OrdinalEncoder` of a pipeline",
    "refused": "text columns in the split classes, which predict a row of zeros before "
    "they calibrate; codes of more than ten values need `categorical_features=`",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _with_codes(estimator: Any) -> Any:
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    text = make_column_selector(dtype_exclude="number")
    coded = make_column_transformer((encoder, text), remainder="passthrough")
    return make_pipeline(coded, estimator)


def test_sets_have_the_classes_above_the_calibrated_probability() -> None:
    mapie = pytest.importorskip("mapie.classification", reason="needs mapie")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    model = _with_codes(TANClassifier()).fit(X[:130], y[:130])
    conformal = mapie.SplitConformalClassifier(model, confidence_level=0.9)
    conformal.conformalize(X[130:229], y[130:229])
    _, sets = conformal.predict_set(X[229:])
    # Codes of few values are read as the text was: the model is the same.
    plain = TANClassifier().fit(X[:130], y[:130])
    codes = np.searchsorted(plain.classes_, y[130:229])
    known = np.sort(plain.predict_proba(X[130:229])[np.arange(99), codes])
    # Of 99 rows, 90 have the tenth least probability or more.
    expected = plain.predict_proba(X[229:]) >= known[9] - 1e-12
    np.testing.assert_array_equal(sets[:, :, 0], expected)


def test_intervals_have_the_halfwidth_of_calibration_rows() -> None:
    mapie = pytest.importorskip("mapie.regression", reason="needs mapie")
    X, _ = load_heart(return_X_y=True, as_frame="pandas")
    y = X.pop("maximum_heart_rate").to_numpy(float)
    model = _with_codes(AveragedKDBRegressor(random_state=0)).fit(X[:130], y[:130])
    conformal = mapie.SplitConformalRegressor(model, confidence_level=0.9)
    conformal.conformalize(X[130:229], y[130:229])
    center, intervals = conformal.predict_interval(X[229:])
    halfwidth = np.sort(np.abs(y[130:229] - model.predict(X[130:229])))[89]
    expected = np.column_stack([center - halfwidth, center + halfwidth])
    np.testing.assert_allclose(intervals[:, :, 0], expected, atol=1e-9)


def test_folds_are_calibrated_on_text_columns_as_they_are() -> None:
    mapie = pytest.importorskip("mapie.classification", reason="needs mapie")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    sets = []
    for estimator in (TANClassifier(), _with_codes(TANClassifier())):
        conformal = mapie.CrossConformalClassifier(
            estimator, confidence_level=0.9, cv=3, random_state=0
        )
        conformal.fit_conformalize(X[:200], y[:200])
        sets.append(conformal.predict_set(X[200:])[1])
    np.testing.assert_array_equal(sets[0], sets[1])
    assert 0 < sets[0].mean() < 1


def test_folds_of_a_regressor_are_calibrated_on_text_columns() -> None:
    mapie = pytest.importorskip("mapie.regression", reason="needs mapie")
    X, _ = load_heart(return_X_y=True, as_frame="pandas")
    y = X.pop("maximum_heart_rate").to_numpy(float)
    estimator = AveragedKDBRegressor(random_state=0)
    conformal = mapie.CrossConformalRegressor(estimator, confidence_level=0.9, cv=3)
    conformal.fit_conformalize(X[:200], y[:200])
    center, intervals = conformal.predict_interval(X[200:])
    assert (intervals[:, 0, 0] < center).all()
    assert (center < intervals[:, 1, 0]).all()
