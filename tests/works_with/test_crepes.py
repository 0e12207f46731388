"""Conformal prediction by crepes around the estimators."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import AveragedKDBRegressor, TANClassifier
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "crepes",
    "tried": "0.9.1",
    "use": "`WrapClassifier(TANClassifier())`, `WrapRegressor(AveragedKDBRegressor())` "
    "on frames with text",
    "refused": "",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_p_values_rank_the_probabilities_among_calibration_rows() -> None:
    crepes = pytest.importorskip("crepes", reason="needs crepes")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    wrapped = crepes.WrapClassifier(TANClassifier())
    wrapped.fit(X[:130], y[:130])
    wrapped.calibrate(X[130:200], y[130:200])
    model = TANClassifier().fit(X[:130], y[:130])
    codes = np.searchsorted(model.classes_, y[130:200])
    known = model.predict_proba(X[130:200])[np.arange(70), codes]
    proba = model.predict_proba(X[200:])
    # Hinge scores 1 - p: as extreme are the rows whose own class is no more probable.
    expected = (1 + (known <= proba[..., None]).sum(axis=-1)) / 71
    found = wrapped.predict_p(X[200:], smoothing=False)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_intervals_have_the_halfwidth_of_calibration_rows() -> None:
    crepes = pytest.importorskip("crepes", reason="needs crepes")
    X, _ = load_heart(return_X_y=True, as_frame="pandas")
    y = X.pop("maximum_heart_rate").to_numpy(float)
    wrapped = crepes.WrapRegressor(AveragedKDBRegressor(random_state=0))
    wrapped.fit(X[:130], y[:130])
    wrapped.calibrate(X[130:229], y[130:229])
    model = AveragedKDBRegressor(random_state=0).fit(X[:130], y[:130])
    residuals = np.sort(np.abs(y[130:229] - model.predict(X[130:229])))
    center = model.predict(X[229:])
    # Of 99 rows, the 75th smallest residual covers 75 of 100 new rows.
    expected = np.column_stack([center - residuals[74], center + residuals[74]])
    found = wrapped.predict_int(X[229:], confidence=0.75)
    np.testing.assert_allclose(found, expected, atol=1e-9)
