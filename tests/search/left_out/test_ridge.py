"""Ridge curves: rows are left out exactly, and chance is not taken for a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from bayleaf import AveragedKDBClassifier
from bayleaf.search.left_out.ridge import _Regression

Floats = NDArray[np.float64]


@pytest.mark.parametrize("n_columns", [3, 40])
def test_rows_are_left_out_exactly(n_columns: int) -> None:
    rng = np.random.default_rng(0)
    design, weights = rng.normal(size=(20, n_columns)), rng.integers(1, 4, 20) * 0.5
    outcomes, shares = rng.normal(size=(20, 2)), np.minimum(weights, 1.0)
    design -= np.average(design, axis=0, weights=weights)
    outcomes -= np.average(outcomes, axis=0, weights=weights)
    regression = _Regression(design, outcomes, weights, shares)
    found = regression.left_out(0.7)
    columns = np.column_stack([np.ones(20), design])
    ridge = 0.7 * np.eye(n_columns + 1)
    # The mean is free.
    ridge[0, 0] = 0.0
    for row in range(20):
        rest = weights.copy()
        rest[row] -= shares[row]
        normal = columns.T @ (rest[:, None] * columns) + ridge
        slopes = np.linalg.solve(normal, columns.T @ (rest[:, None] * outcomes))
        np.testing.assert_allclose(found[row], columns[row] @ slopes, atol=1e-9)
    normal = columns.T @ (weights[:, None] * columns) + ridge
    slopes = np.linalg.solve(normal, columns.T @ (weights[:, None] * outcomes))
    np.testing.assert_allclose(regression.coefficients(0.7), slopes[1:], atol=1e-9)


def expression(n_rows: int, n_columns: int, n_informative: int) -> tuple[Any, Any]:
    """Correlated columns, some of which two classes differ in."""
    rng = np.random.default_rng(n_informative)
    y = rng.integers(2, size=n_rows)
    common = rng.normal(size=(n_rows, 10)) @ rng.normal(size=(10, n_columns))
    X = 0.5 * common + rng.normal(size=(n_rows, n_columns))
    shift = 0.5 if n_informative < 20 else 0.25
    X[:, :n_informative] += np.where(y == 1, shift, -shift)[:, None]
    return X, y


def log_loss(proba: Floats, y: NDArray[np.int64]) -> float:
    return float(-np.log(proba[np.arange(len(y)), y]).mean())


def check_against_ridge(n_rows: int, n_columns: int, n_informative: int) -> None:
    """Compare held-out log-loss with that of the prior and of ridge regression."""
    X, y = expression(n_rows + 1000, n_columns, n_informative)
    train, test = slice(0, n_rows), slice(n_rows, None)
    model = AveragedKDBClassifier(random_state=0).fit(X[train], y[train])
    proba = model.predict_proba(X[test])
    shares = np.bincount(y[train]) / n_rows
    prior = log_loss(np.tile(shares, (1000, 1)), y[test])
    assert log_loss(proba, y[test]) < prior + 0.01
    told = model.explain(X[test][:3])
    for one in told:
        total = one.prior + sum(term.contribution for term in one.terms)
        assert total == pytest.approx(one.log_odds, abs=1e-9)
    ridge = GridSearchCV(
        LogisticRegression(max_iter=100),
        {"C": np.logspace(-5, -1, 5)},
        cv=3,
        scoring="neg_log_loss",
    ).fit(X[train], y[train])
    expected = log_loss(ridge.predict_proba(X[test]), y[test])
    assert log_loss(proba, y[test]) < expected + 0.03


def test_few_rows_of_many_columns_are_not_overfitted() -> None:
    check_against_ridge(60, 80, 0)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("n_informative", [0, 5, 50])
@pytest.mark.parametrize(
    ("n_rows", "n_columns"),
    [(200, 500), pytest.param(200, 2000, marks=pytest.mark.long)],
)
def test_wide_tables_are_learned_as_well_as_by_ridge_regression(
    n_rows: int, n_columns: int, n_informative: int
) -> None:
    check_against_ridge(n_rows, n_columns, n_informative)


def test_names_and_missing_cells_have_curves_too() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    X = np.where(rng.random((90, 70)) < 0.3, y[:, None], rng.integers(3, size=(90, 70)))
    names = np.array(["a", "b", "c"], dtype=object)[X]
    names[rng.random(X.shape) < 0.1] = None
    model = AveragedKDBClassifier(random_state=0).fit(names, y)
    assert model.corrected_
    assert not model.model_.weights.any()
    assert (model.predict(names) == y).mean() > 0.9
    proba = model.predict_proba(np.full((1, 70), None, dtype=object))
    assert proba.sum() == pytest.approx(1.0)
