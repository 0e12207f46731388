"""Logistic regression whose strength of regularisation inner folds choose."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

sys.path.insert(0, str(Path(__file__).parent))
from accuracy_peers import LEAST, inner_folds

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)
# Solvers stopped here have converged but for the weakest regularisation.
MOST_STEPS = 300


class LogisticRegressionByFolds(ClassifierMixin, BaseEstimator):
    """Logistic regression on standardised numbers and one-hot columns.

    Missing numbers take the column's mean and an indicator, missing categories a column
    of their own. `C` is the one of `STRENGTHS` with the least log-loss on three inner
    folds of the training rows; columns are prepared inside each fold.
    """

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> LogisticRegressionByFolds:
        """Choose `C` and fit on all rows."""
        with warnings.catch_warnings():
            # A step limit is part of the protocol.
            warnings.simplefilter("ignore", ConvergenceWarning)
            losses = np.zeros(len(STRENGTHS))
            for fit, held_out in inner_folds(np.unique(y, return_inverse=True)[1]):
                losses += _losses(X, y, fit, held_out)
            self.strength_ = STRENGTHS[int(losses.argmin())] if losses.any() else 1.0
            self.pipeline_ = _pipeline(X, self.strength_).fit(X, y)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Probability of each class."""
        return np.asarray(self.pipeline_.predict_proba(X))

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Most probable class."""
        return np.asarray(self.pipeline_.predict(X))


def _pipeline(X: pd.DataFrame, strength: float) -> Pipeline:
    """Columns as numbers, and the regression on them."""
    nominal = make_column_selector(dtype_include="category")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), nominal),
        remainder=make_pipeline(
            SimpleImputer(add_indicator=True, keep_empty_features=True),
            StandardScaler(),
        ),
    )
    return make_pipeline(encode, LogisticRegression(C=strength, max_iter=MOST_STEPS))


def _losses(
    X: pd.DataFrame,
    y: NDArray[Any],
    fit: NDArray[np.intp],
    held_out: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Log-loss summed over held-out rows of classes that were fitted, for each C."""
    known = np.unique(y[fit])
    held_out = held_out[np.isin(y[held_out], known)]
    if len(known) < 2:
        return np.zeros(len(STRENGTHS))
    columns, regression = (step for _, step in _pipeline(X, 1.0).steps)
    inside = columns.fit_transform(X.iloc[fit])
    outside = columns.transform(X.iloc[held_out])
    own = np.arange(len(held_out)), np.searchsorted(known, y[held_out])
    # From the strongest on, each fit starts where the one before ended.
    regression.set_params(warm_start=True)
    losses = []
    for strength in STRENGTHS:
        regression.set_params(C=strength).fit(inside, y[fit])
        found = regression.predict_proba(outside)[own]
        losses.append(-np.log(np.maximum(found, LEAST)).sum())
    return np.array(losses)
