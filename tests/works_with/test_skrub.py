"""Cleaning and data operations of skrub before a classifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

from bayleaf import NaiveBayesClassifier, TANClassifier
from bayleaf.datasets import load_heart
from contract.tables import mixed_frame

WORKS_WITH = {
    "tool": "skrub",
    "tried": "0.11.0",
    "use": "`make_pipeline(skrub.Cleaner(), TANClassifier())`, also with "
    "`TableVectorizer()`, which the classifiers do not need; "
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


def test_vectorized_columns_of_two_values_give_the_same_model() -> None:
    skrub = pytest.importorskip("skrub", reason="needs skrub")
    X, y = load_heart(return_X_y=True, as_frame="pandas")
    two = [name for name in X if X[name].nunique() == 2]
    vectorized = make_column_transformer(
        (skrub.TableVectorizer(), two), remainder="passthrough"
    )
    vectorized.set_output(transform="pandas")
    model = make_pipeline(vectorized, NaiveBayesClassifier()).fit(X, y)
    assert model[:-1].transform(X).iloc[:, : len(two)].isin([0, 1]).all(axis=None)
    expected = NaiveBayesClassifier().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)


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
