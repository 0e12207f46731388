"""Measures and corrections of fairlearn for the classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import TANClassifier
from bayleaf.datasets import load_heart
from bayleaf.evaluation import figures_by_group

WORKS_WITH = {
    "tool": "fairlearn",
    "tried": "0.15.0",
    "use": "`ThresholdOptimizer(estimator=model, prefit=True)`, "
    "`ExponentiatedGradient(TANClassifier(), DemographicParity())`, `MetricFrame` of "
    "predictions; `bayleaf audit` reports groups without it",
    "refused": "labels other than 0 and 1 in the corrections, as from any estimator",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _heart() -> tuple[pd.DataFrame, Any]:
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    return X, (y == "present").astype(int)


def _gap(proba: Any, groups: pd.Series) -> float:
    """How far the rates of predicted disease of two groups are apart."""
    rates = pd.Series(proba).groupby(groups.to_numpy()).mean()
    return float(rates.max() - rates.min())


def test_rates_by_a_column_are_those_of_our_figures_by_group() -> None:
    metrics = pytest.importorskip("fairlearn.metrics", reason="needs fairlearn")
    X, y = _heart()
    model = TANClassifier().fit(X, y)
    predicted = model.predict(X)
    rates = {
        "true_positive_rate": metrics.true_positive_rate,
        "selection_rate": metrics.selection_rate,
    }
    frame = metrics.MetricFrame(
        metrics=rates, y_true=y, y_pred=predicted, sensitive_features=X["sex"]
    )
    ours = figures_by_group(y, model.predict_proba(X), predicted, X["sex"])
    expected = [
        [getattr(group.classes[0], name).value for name in rates]
        for group in ours.groups
    ]
    np.testing.assert_allclose(frame.by_group[list(rates)], expected, atol=1e-12)


def test_thresholds_by_group_close_the_gap_of_a_fitted_model() -> None:
    post = pytest.importorskip("fairlearn.postprocessing", reason="needs fairlearn")
    X, y = _heart()
    model = TANClassifier().fit(X, y)
    fair = post.ThresholdOptimizer(
        estimator=model, prefit=True, predict_method="predict_proba"
    )
    fair.fit(X, y, sensitive_features=X["sex"])
    closed = fair._pmf_predict(X, sensitive_features=X["sex"])[:, 1]
    assert _gap(closed, X["sex"]) < 1e-6 < _gap(model.predict(X), X["sex"])


def test_reductions_weigh_the_rows_that_a_classifier_is_fitted_to() -> None:
    reductions = pytest.importorskip("fairlearn.reductions", reason="needs fairlearn")
    X, y = _heart()
    fair = reductions.ExponentiatedGradient(
        TANClassifier(), reductions.DemographicParity(difference_bound=0.05)
    )
    fair.fit(X, y, sensitive_features=X["sex"])
    plain = TANClassifier().fit(X, y).predict(X)
    # The bound holds up to the accuracy of the optimisation, which fairlearn reports.
    bound = 2 * (0.05 + fair.best_gap_)
    assert _gap(fair._pmf_predict(X)[:, 1], X["sex"]) < bound < _gap(plain, X["sex"])
