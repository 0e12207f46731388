from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from bayleaf import NaiveBayesClassifier
from bayleaf.datasets import load_heart
from bayleaf.evaluation import cross_validate
from bayleaf.evaluation.metrics import score_predictions
from offenders import check_each


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


X = np.arange(60).reshape(20, 3) % 2
Y = np.arange(20) % 2


class Odd(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classifier that goes wrong in a way of its own."""

    def __init__(self, way: str = "") -> None:
        self.way = way

    def fit(self, X: Any, y: Any) -> Odd:
        if self.way != "unlabelled":
            self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), 99 if self.way == "strange" else 0)

    def predict_proba(self, X: Any) -> Any:
        if self.way == "refusing":
            raise ValueError("no value for a")
        if self.way == "text":
            return [["much", "little"]] * len(X)
        return np.full((len(X), 5 if self.way == "wide" else 2), 0.5)


def test_a_classifier_that_goes_wrong_is_named() -> None:
    def check(case: tuple[str, type[Exception], str]) -> None:
        way, kind, message = case
        with pytest.raises(kind, match=message):
            cross_validate({"odd": Odd(way)}, X, Y, n_folds=2)

    check_each(
        [
            ("unlabelled", TypeError, "odd has no classes_ once it is fitted"),
            ("strange", ValueError, "odd predicts 99, which is no class of the target"),
            (
                "refusing",
                ValueError,
                "odd cannot predict held-out rows: no value for a",
            ),
            ("text", ValueError, "odd gave probabilities that are no numbers"),
            ("wide", ValueError, r"odd gave probabilities of shape \(10, 5\) for 10"),
        ],
        check,
    )


def test_tables_that_cannot_be_dealt_are_refused() -> None:
    def check(case: tuple[Any, Any, type[Exception], str]) -> None:
        features, labels, kind, message = case
        with pytest.raises(kind, match=message):
            cross_validate({"nb": NaiveBayesClassifier()}, features, labels, n_folds=2)

    check_each(
        [
            (X, Y[:-1], ValueError, r"shape \(20, 3\) and there are 19 labels"),
            (X[:-1], Y, ValueError, r"shape \(19, 3\) and there are 20 labels"),
            (X[:0], Y[:0], ValueError, "the target has no rows"),
            (
                X,
                np.arange(20),
                ValueError,
                "each of the 20 rows has a class of its own",
            ),
            ({"a": [1]}, Y, ValueError, r"shape \(1, 1\) and there are 20 labels"),
            (None, Y, TypeError, "array of rows and columns, got NoneType"),
        ],
        check,
    )


def test_rows_in_lists_count_as_an_array_of_the_same_values() -> None:
    rows = [[("p", "q")[i % 2], i % 3] for i in range(20)]
    models = {"nb": NaiveBayesClassifier()}
    [listed] = cross_validate(models, rows, Y, n_folds=2)
    [array] = cross_validate(models, np.array(rows, dtype=object), Y, n_folds=2)
    assert listed.folds == array.folds


def test_numbers_that_are_not_whole_are_refused() -> None:
    def check(case: Any) -> None:
        name, value = case
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            cross_validate({"nb": NaiveBayesClassifier()}, X, Y, **{name: value})

    check_each(
        itertools.product(
            ["n_folds", "n_repeats", "random_state"], [2.5, "3", None, True]
        ),
        check,
    )


def test_an_unknown_score_is_refused_with_its_neighbours() -> None:
    [result] = cross_validate({"odd": Odd()}, X, Y, n_folds=2)
    with pytest.raises(ValueError, match="no score 'auc'; did you mean roc_auc"):
        result.mean("auc")


def _weighted_table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 120)
    X = np.stack([(y + rng.integers(0, 2, 120)) % 3, rng.integers(0, 4, 120)], axis=1)
    return X, y, rng.integers(0, 3, 120)


def test_weights_count_in_fits_and_in_scores_as_repeated_rows() -> None:
    X, y, weights = _weighted_table()
    fold = np.arange(120) % 4
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    rows = np.repeat(np.arange(120), weights)
    copies = [
        (np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k))
        for k in range(4)
    ]
    models = {"nb": NaiveBayesClassifier()}
    (found,) = cross_validate(models, X, y, cv=splits, sample_weight=weights)
    (expected,) = cross_validate(models, X[rows], y[rows], cv=copies)
    for score in ("accuracy", "balanced_accuracy", "log_loss", "brier", "roc_auc"):
        assert found.mean(score) == pytest.approx(expected.mean(score), rel=1e-12)
    assert found.pooled_calibration_error == pytest.approx(
        expected.pooled_calibration_error, rel=1e-9
    )


def test_rows_and_classes_of_weight_zero_are_left_out() -> None:
    X, y, weights = _weighted_table()
    y = np.where(np.arange(120) == np.argmin(weights), 7, y)
    groups = np.arange(120) // 2
    kept = np.flatnonzero(weights)
    models = {"nb": NaiveBayesClassifier()}
    for own in (None, groups):
        (found,) = cross_validate(
            models, X, y, n_folds=4, groups=own, sample_weight=weights
        )
        (expected,) = cross_validate(
            models,
            X[kept],
            y[kept],
            n_folds=4,
            groups=None if own is None else own[kept],
            sample_weight=weights[kept],
        )
        assert found.folds == expected.folds
        np.testing.assert_array_equal(found.held_out.rows, kept[expected.held_out.rows])


def test_weights_that_cannot_be_used_are_refused() -> None:
    X, y, _ = _weighted_table()
    models = {"nb": NaiveBayesClassifier()}
    with pytest.raises(ValueError, match="zero for every row"):
        cross_validate(models, X, y, sample_weight=np.zeros(120))
    with pytest.raises(ValueError, match=r"must have shape \(120,\)"):
        cross_validate(models, X, y, sample_weight=np.ones(3))
    halves = [(np.arange(60), np.arange(60, 120))]
    with pytest.raises(ValueError, match="every row has the weight zero"):
        cross_validate(models, X, y, cv=halves, sample_weight=np.arange(120) < 60)
