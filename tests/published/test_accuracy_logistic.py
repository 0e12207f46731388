"""Logistic regression as a peer: its strength is chosen, rare classes break nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from accuracy_logistic import STRENGTHS, LogisticRegressionByFolds


def table(n_rows: int, noise: float) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 8)), columns=list("abcdefgh"))
    X["name"] = pd.Categorical(rng.choice(["u", "v", None], size=n_rows))
    own = np.where(X["a"] + X["b"] > 0, "yes", "no")
    other = rng.choice(["yes", "no"], size=n_rows)
    return X, np.where(rng.random(n_rows) < noise, other, own).astype(object)


def test_noise_is_regularised_more_than_what_a_plane_separates() -> None:
    noisy = LogisticRegressionByFolds().fit(*table(150, 1.0))
    separable = LogisticRegressionByFolds().fit(*table(150, 0.0))
    assert noisy.strength_ == min(STRENGTHS)
    assert separable.strength_ == max(STRENGTHS)


def test_that_a_number_is_missing_is_itself_a_feature() -> None:
    X, _ = table(200, 1.0)
    gone = np.random.default_rng(1).random(200) < 0.5
    X.loc[gone, "c"] = np.nan
    y = np.where(gone, "gone", "there").astype(object)
    assert (LogisticRegressionByFolds().fit(X, y).predict(X) == y).all()


def test_a_class_of_one_row_has_a_probability() -> None:
    X, y = table(90, 0.2)
    y[0] = "rare"
    found = LogisticRegressionByFolds().fit(X, y).predict_proba(X)
    assert found.shape == (90, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_column_without_values_or_a_single_row_a_class_is_no_error() -> None:
    X, y = table(2, 0.0)
    X["empty"] = np.nan
    y[:] = ["no", "yes"]
    model = LogisticRegressionByFolds().fit(X, y)
    assert model.strength_ == 1.0
