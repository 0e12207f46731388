from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bayleaf.evaluation.metrics import (
    expected_calibration_error,
    least_cost,
    mean_cost,
    roc_areas,
    score_predictions,
)

RNG = np.random.default_rng(1)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_area_is_scikit_learn_s_one_against_the_rest(n_classes: int) -> None:
    truth = RNG.integers(0, n_classes, 150)
    # Rounded probabilities have ties.
    proba = RNG.dirichlet(np.ones(n_classes), 150).round(1)
    found = score_predictions(truth, proba.argmax(axis=1), proba)
    each = [
        roc_auc_score(truth == label, proba[:, label]) for label in range(n_classes)
    ]
    assert found.roc_auc == pytest.approx(np.mean(each), rel=1e-12)
    assert found.n_classes_without_auc == 0


def test_a_class_without_rows_has_no_area_and_is_counted() -> None:
    truth = np.array([0, 1, 0, 1])
    proba = np.array([[0.6, 0.3, 0.1], [0.2, 0.8, 0], [0.5, 0.4, 0.1], [0.3, 0.7, 0]])
    found = score_predictions(truth, proba.argmax(axis=1), proba)
    assert np.isnan(roc_areas(truth, proba)[2])
    assert (found.roc_auc, found.n_classes_without_auc) == (1.0, 1)


def test_one_class_alone_leaves_no_area_rather_than_nan() -> None:
    found = score_predictions(np.zeros(3, int), np.zeros(3, int), np.eye(2)[[0, 0, 0]])
    assert found.roc_auc is None
    assert found.n_classes_without_auc == 2


def test_calibration_error_equals_a_walk_over_the_bins() -> None:
    truth = RNG.integers(0, 3, 300)
    proba = RNG.dirichlet([2, 1, 1], 300)
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == truth
    expected = 0.0
    for i in range(15):
        inside = (confidence > i / 15) & (confidence <= (i + 1) / 15)
        if inside.any():
            gap = abs(confidence[inside].mean() - right[inside].mean())
            expected += inside.mean() * gap
    assert expected_calibration_error(truth, proba) == pytest.approx(expected)


def test_certainty_that_is_right_is_calibrated_and_certainty_that_errs_is_not() -> None:
    sure = np.eye(2)[[0, 1, 1, 0]]
    assert expected_calibration_error(np.array([0, 1, 1, 0]), sure) == 0.0
    assert expected_calibration_error(np.array([1, 0, 0, 1]), sure) == 1.0


def test_costs_are_those_of_the_cheapest_prediction() -> None:
    # Missing class 1 costs 5, a false alarm 1: class 1 pays from 1/6 upwards.
    loss = np.array([[0.0, 5.0], [1.0, 0.0]])
    proba = np.array([[0.9, 0.1], [0.8, 0.2], [5 / 6 + 1e-9, 1 / 6 - 1e-9]])
    assert least_cost(proba, loss).tolist() == [0, 1, 0]
    assert mean_cost(np.array([1, 0, 0]), proba, loss) == pytest.approx((5 + 1) / 3)
    found = score_predictions(np.array([1, 0, 0]), np.zeros(3, int), proba, loss)
    assert found.cost == pytest.approx(2.0)


def test_a_row_of_weight_two_scores_as_two_rows() -> None:
    rng = np.random.default_rng(3)
    truth, proba = rng.integers(0, 3, 80), rng.dirichlet([1, 1, 1], 80).round(1)
    chosen, loss = rng.integers(0, 3, 80), 1.0 - np.eye(3)
    weights = rng.integers(1, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    found = score_predictions(truth, chosen, proba, loss, weights.astype(float))
    expected = score_predictions(truth[rows], chosen[rows], proba[rows], loss)
    for name, value in asdict(expected).items():
        if name not in ("n_clipped", "description_length"):
            assert getattr(found, name) == pytest.approx(value, rel=1e-12), name
