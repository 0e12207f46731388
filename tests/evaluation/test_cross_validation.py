from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.evaluation import cross_validate
from bayleaf.evaluation.metrics import score_predictions


@pytest.fixture
def predictions() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, 200), rng.dirichlet([1, 1, 1], 200)


def test_scores_equal_scikit_learn_s(
    predictions: tuple[np.ndarray, np.ndarray],
) -> None:
    truth, proba = predictions
    chosen = proba.argmax(axis=1)
    scores = score_predictions(truth, chosen, proba)
    assert scores.accuracy == pytest.approx(accuracy_score(truth, chosen))
    assert scores.log_loss == pytest.approx(log_loss(truth, proba))
    assert scores.brier == pytest.approx(
        brier_score_loss(truth, proba, labels=[0, 1, 2], scale_by_half=False)
    )


def test_impossible_truth_is_clipped_and_counted() -> None:
    truth = np.array([0, 1])
    proba = np.array([[1.0, 0.0], [1.0, 0.0]])
    scores = score_predictions(truth, proba.argmax(axis=1), proba)
    assert scores.n_clipped == 1
    assert scores.log_loss == pytest.approx(-np.log(1e-15) / 2)


def test_the_same_seed_gives_the_same_scores() -> None:
    X, y = load_heart(return_X_y=True)
    first, second = (
        cross_validate({"nb": NaiveBayesClassifier()}, X, y, n_folds=3, random_state=5)
        for _ in range(2)
    )
    assert first[0].folds == second[0].folds


def test_repeats_add_folds() -> None:
    X, y = load_heart(return_X_y=True)
    [result] = cross_validate(
        {"nb": NaiveBayesClassifier()}, X, y, n_folds=2, n_repeats=3
    )
    assert len(result.folds) == 6


def test_a_class_absent_from_training_folds_gets_probability_zero() -> None:
    X = np.arange(21)[:, None] % 3
    y = np.array(["a", "b"] * 10 + ["rare"])
    [result] = cross_validate({"nb": NaiveBayesClassifier()}, X, y, n_folds=2)
    assert sum(fold.n_clipped for fold in result.folds) == 1


def test_one_class_cannot_be_evaluated() -> None:
    with pytest.raises(ValueError, match="one value only"):
        cross_validate({"nb": NaiveBayesClassifier()}, np.zeros((4, 1)), ["a"] * 4)
