"""Explanations as those of shap, for its plots."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import NaiveBayesClassifier, TANClassifier
from bayleaf.datasets import load_heart
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "shap",
    "tried": "0.51.0",
    "use": '`model.explain(X, of="present").to_shap()` for its plots; '
    "`KernelExplainer(model.predict_proba, X)` on columns of numbers",
    "refused": "text columns in `Explainer`, whose maskers subtract cells; a model in "
    "place of its method, as of all but linear models and trees",
}
pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_an_explanation_of_shap_has_the_terms_and_the_prior() -> None:
    shap = pytest.importorskip("shap", reason="needs shap")
    frame, y = mixed_frame()
    rows = TANClassifier().fit(frame, y).explain(frame[:4], of="in")
    made = rows.to_shap()
    assert isinstance(made, shap.Explanation)
    assert made.feature_names == list(frame)
    sums = made.base_values + made.values.sum(axis=1)
    np.testing.assert_allclose(sums, [row.log_odds for row in rows], atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_sampled_values_add_up_to_the_probabilities() -> None:
    shap = pytest.importorskip("shap", reason="needs shap")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    X = X.select_dtypes("number")
    model = NaiveBayesClassifier().fit(X, y)
    explainer = shap.KernelExplainer(model.predict_proba, X[:10])
    values = np.asarray(explainer.shap_values(X[:2], silent=True))
    sums = values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(sums, model.predict_proba(X[:2]), atol=1e-9)
