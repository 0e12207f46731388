"""Cleaning and data operations of skrub before a classifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from bayleaf import NaiveBayesClassifier, TANClassifier
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "skrub",
    "tried": "0.11.0",
    "use": "`make_pipeline(skrub.Cleaner(), TANClassifier())`, "
    "`skrub.X(frame).skb.apply(TANClassifier(), y=skrub.y(labels))` with choices that "
    "`make_grid_search` tries",
    "refused": "",
}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_a_cleaned_table_gives_the_same_model() -> None:
    skrub = pytest.importorskip("skrub", reason="needs skrub")
    frame, y = mixed_frame()
    cleaned = make_pipeline(skrub.Cleaner(), TANClassifier()).fit(frame, y)
    expected = TANClassifier().fit(frame, y).predict_proba(frame)
    np.testing.assert_array_equal(cleaned.predict_proba(frame), expected)


def test_a_plan_of_data_operations_chooses_and_predicts() -> None:
    skrub = pytest.importorskip("skrub", reason="needs skrub")
    frame, y = mixed_frame()
    rules = skrub.choose_from(["laplace", "m_estimate"], name="smoothing")
    applied = skrub.X(frame).skb.apply(
        NaiveBayesClassifier(smoothing=rules), y=skrub.y(y)
    )
    search = applied.skb.make_grid_search(fitted=True, scoring="neg_log_loss", cv=3)
    assert set(search.results_["smoothing"]) == {"laplace", "m_estimate"}
    best = search.results_["smoothing"][0]
    expected = NaiveBayesClassifier(smoothing=best).fit(frame, y).predict_proba(frame)
    np.testing.assert_array_equal(search.predict_proba({"X": frame}), expected)
