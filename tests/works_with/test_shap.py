"""Explanations as those of shap, for its plots."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf import TANClassifier
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "shap",
    "tried": "0.51.0",
    "use": '`model.explain(X, of="present").to_shap()` for its plots',
    "refused": "",
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
