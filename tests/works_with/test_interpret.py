"""Explainers of interpret around the classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bayleaf import TANClassifier
from bayleaf.datasets import load_heart

WORKS_WITH = {
    "tool": "interpret",
    "tried": "0.7.8",
    "use": "`ROC(model).explain_perf(X, y)` on any table; `PartialDependence(model, X)`"
    ", `ShapKernel(model, X)`, `MorrisSensitivity(model, X)` on columns of numbers",
    "refused": "text columns in its explainers, which turn tables into numbers; "
    "`LimeTabular` takes `model.predict_proba` in place of a model whose labels are "
    "text",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_partial_dependence_is_the_mean_prediction_with_one_column_set() -> None:
    blackbox = pytest.importorskip("interpret.blackbox", reason="needs interpret")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    X = X.select_dtypes("number")
    model = TANClassifier().fit(X, y)
    shown = blackbox.PartialDependence(model, X).explain_global().data(0)
    means = [
        model.predict_proba(X.assign(age=value))[:, 1].mean()
        for value in shown["names"]
    ]
    np.testing.assert_allclose(shown["scores"], means, atol=1e-12)


def test_sampled_shapley_values_add_up_to_the_prediction() -> None:
    pytest.importorskip("shap", reason="needs shap")
    blackbox = pytest.importorskip("interpret.blackbox", reason="needs interpret")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    X = X.select_dtypes("number")
    model = TANClassifier().fit(X, y)
    shown = blackbox.ShapKernel(model, X[:20]).explain_local(X[20:22], y[20:22])
    for row, proba in enumerate(model.predict_proba(X[20:22])[:, 1]):
        values = shown.data(row)
        total = sum(values["scores"]) + values["extra"]["scores"][0]
        assert total == pytest.approx(proba, abs=1e-9)


def test_the_area_of_a_curve_is_that_of_the_probabilities() -> None:
    perf = pytest.importorskip("interpret.perf", reason="needs interpret")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    model = TANClassifier().fit(X, y)
    curve = perf.ROC(model).explain_perf(X, y).data()
    expected = roc_auc_score(y == "present", model.predict_proba(X)[:, 1])
    assert curve["auc"] == pytest.approx(expected, abs=1e-12)


def test_local_linear_models_take_the_probabilities_of_a_model() -> None:
    pytest.importorskip("lime", reason="needs lime")
    blackbox = pytest.importorskip("interpret.blackbox", reason="needs interpret")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    X = X.select_dtypes("number")
    model = TANClassifier().fit(X, y)
    explainer = blackbox.LimeTabular(model.predict_proba, X, random_state=0)
    shown = explainer.explain_local(X[:1], (y[:1] == "present").astype(int)).data(0)
    expected = model.predict_proba(X[:1])[0, 1]
    assert shown["perf"]["predicted_score"] == pytest.approx(expected, abs=1e-12)
