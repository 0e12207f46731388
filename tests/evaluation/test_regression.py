"""Scores of predictive distributions in cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from bayleaf.evaluation.regression import (
    cross_validate_regressors,
    pinball_losses,
)
from bayleaf.models.interval_target import TargetDistributions


class Always(RegressorMixin, BaseEstimator):
    """Predicts even chances between 0 and 1 for every row."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Always:
        self.n_features_in_ = X.shape[1]
        return self

    def predict_distribution(self, X: np.ndarray) -> TargetDistributions:
        edges = np.linspace(0, 1, 101)
        shares = np.full((len(X), 100), 0.01)
        return TargetDistributions(edges[:-1], edges[1:], shares)


def test_scores_of_even_chances_are_those_worked_out_by_hand() -> None:
    target = (np.arange(1000) + 0.5) / 1000
    (found,) = cross_validate_regressors(
        {"even": Always()}, target[:, None], target, n_folds=5
    ).values()
    assert found.rmse == pytest.approx(np.sqrt(1 / 12), abs=1e-5)
    assert found.mae == pytest.approx(0.25, abs=1e-5)
    assert found.r2 == pytest.approx(0.0, abs=1e-5)
    # E|y - X| - E|X - X'| / 2 = 1/3 - 1/6.
    assert found.crps == pytest.approx(1 / 6, abs=1e-3)
    assert (found.coverage, found.width) == pytest.approx((0.9, 0.9))
    assert found.n_rows == 1000


def test_pinball_loss_charges_each_side_by_its_level() -> None:
    found = pinball_losses(
        np.array([1.0, 0.0]), np.array([[0.0], [1.0]]), np.array([0.9])
    )
    assert found == pytest.approx([(0.9 + 0.1) / 2])


def test_rows_of_a_group_share_a_fold() -> None:
    target = np.arange(12.0)
    groups = np.repeat(np.arange(4), 3)
    (found,) = cross_validate_regressors(
        {"even": Always()}, target[:, None], target, n_folds=4, groups=groups
    ).values()
    assert found.n_rows == 12


@pytest.mark.parametrize("n_folds", [1, 13])
def test_a_wrong_number_of_folds_is_refused(n_folds: int) -> None:
    target = np.arange(12.0)
    with pytest.raises(ValueError, match="n_folds must be from 2"):
        cross_validate_regressors(
            {"even": Always()}, target[:, None], target, n_folds=n_folds
        )


def test_a_row_of_weight_two_scores_as_two_rows_and_one_of_zero_as_none() -> None:
    rng = np.random.default_rng(2)
    target, weights = rng.random(40), rng.integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weights)

    class Weighable(Always):
        def fit(
            self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None
        ) -> Weighable:
            super().fit(X, y)
            assert sample_weight is None or sample_weight.min() > 0
            return self

    found, expected = (
        cross_validate_regressors(
            {"even": Weighable()}, y[:, None], y, n_folds=4, sample_weight=own
        )["even"]
        for y, own in ((target, weights), (target[rows], None))
    )
    assert found.n_rows == np.count_nonzero(weights)
    for name, value in expected.to_dict().items():
        if name != "n_rows":
            assert found.to_dict()[name] == pytest.approx(value, rel=1e-12), name
