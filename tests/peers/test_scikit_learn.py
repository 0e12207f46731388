"""Naive Bayes equals scikit-learn's where both do the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from bayleaf import Lidstone, NaiveBayesClassifier


def _table(seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=500)
    X = (y[:, None] + rng.integers(5, size=(500, 12))) % 7
    return X, y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_joint_equals_that_of_categorical_nb(
    seed: int, alpha: float, weighted: bool
) -> None:
    X, y = _table(seed)
    weights = np.random.default_rng(seed).random(500) if weighted else np.ones(500)
    peer = CategoricalNB(alpha=alpha).fit(X, y, sample_weight=weights)
    frequencies = np.bincount(y, weights=weights) / weights.sum()
    model = NaiveBayesClassifier(smoothing=Lidstone(alpha), class_prior=frequencies)
    model.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), peer.predict_joint_log_proba(X), atol=1e-10
    )


def test_the_labels_equal_those_of_categorical_nb_with_a_uniform_prior() -> None:
    X, y = _table(0)
    peer = CategoricalNB(fit_prior=False).fit(X, y)
    model = NaiveBayesClassifier(fit_prior=False).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
