"""Explanations as those of shap, for its plots."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pytest

from bayleaf import AveragedKDBClassifier, TANClassifier
from bayleaf.datasets import load_heart
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "shap",
    "tried": "0.51.0",
    "use": '`model.explain(X, of="present").to_shap()` for its plots; '
    "`KernelExplainer(model.predict_proba, X)`, also of text columns; "
    "`Explainer(model.predict_proba, X)` on columns of numbers",
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
def test_values_of_a_method_are_those_of_all_orders_of_features() -> None:
    shap = pytest.importorskip("shap", reason="needs shap")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    X = X[["age", "maximum_heart_rate", "sex", "chest_pain"]]
    model = TANClassifier().fit(X, y)
    explainer = shap.KernelExplainer(model.predict_proba, X[:10])
    values = explainer.shap_values(X[20:21], silent=True)[0]
    expected = _shapley_values(model, X[:10], X.iloc[20])
    np.testing.assert_allclose(values, expected, atol=1e-9)
    numbers = X.iloc[:, :2]
    model = AveragedKDBClassifier(random_state=0).fit(numbers, y)
    masker = shap.maskers.Independent(numbers[:10])
    values = shap.Explainer(model.predict_proba, masker)(numbers[20:21]).values[0]
    expected = _shapley_values(model, numbers[:10], numbers.iloc[20])
    np.testing.assert_allclose(values, expected, atol=1e-9)


def _shapley_values(model: Any, background: Any, row: Any) -> Any:
    """Mean change of the mean prediction as each feature is set, over all orders."""
    names = list(background)
    values = dict.fromkeys(names, 0.0)
    for order in permutations(names):
        rows = background.copy()
        before = model.predict_proba(rows).mean(axis=0)
        for name in order:
            rows[name] = row[name]
            after = model.predict_proba(rows).mean(axis=0)
            values[name] += (after - before) / factorial(len(names))
            before = after
    return list(values.values())
