"""Shuffled cross-validation of a regressor that predicts distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.data.tables.frames import take_rows
from bayleaf.evaluation.folds import Rows, shuffled_folds, validate_each
from bayleaf.results.result import Record
from bayleaf.wording import brief

Floats = NDArray[np.float64]
COVERAGE = 0.9


@dataclass(frozen=True)
class RegressionScores(Record):
    """How well distributions of held-out rows predict; smaller is better but for R2.

    Errors, scores and width are in the target's unit; coverage and width are those of
    the central 90 % interval, whose coverage is best near 0.9. `n_rows` counts repeats
    again.
    """

    rmse: float  # of the mean
    mae: float  # of the median
    r2: float  # share of variance that the mean explains
    crps: float  # mean continuous ranked probability score
    pinball: float  # mean loss of the 5 %, 50 % and 95 % quantiles
    coverage: float  # share of rows inside
    width: float  # mean
    n_rows: int

    def __repr__(self) -> str:
        facts = (f"RMSE {self.rmse:.5g}", f"CRPS {self.crps:.5g}")
        return brief(self, *facts, f"{self.coverage:.1%} in 90 % intervals")


def pinball_losses(target: Floats, quantiles: Floats, levels: Floats) -> Floats:
    """Mean pinball loss of each level, shape (n_levels,).

    `target` (n_rows,), `quantiles` (n_rows, n_levels); `levels` (n_levels,), 0 to 1.
    """
    away = target[:, None] - quantiles
    return np.asarray(np.maximum(levels * away, (levels - 1.0) * away).mean(axis=0))


def cross_validate_regressors(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    groups: Any = None,
    verbose: int = 0,
) -> dict[str, RegressionScores]:
    """Score regressors with `predict_distribution` on the same shuffled folds.

    Each is cloned for every fold. Shuffle r uses the seed ``random_state + r``; rows of
    one value in `groups` (n_rows,) share a fold; above 0, `verbose` shows progress on
    standard error. ValueError if there are fewer rows than folds.
    """
    target = np.asarray(y, dtype=np.float64)
    if not 2 <= n_folds <= len(target):
        raise ValueError(
            f"n_folds must be from 2 to the number of rows ({len(target)}), got "
            f"{n_folds}"
        )
    splits = shuffled_folds(len(target), n_folds, n_repeats, random_state, groups)

    def validate(_: str, estimator: Any, train: Rows, test: Rows) -> Floats:
        fitted = clone(estimator).fit(take_rows(X, train), target[train])
        predicted = fitted.predict_distribution(take_rows(X, test))
        return row_facts(predicted, target[test])

    validated = validate_each(estimators, splits, validate, verbose)
    return {name: scores_of_rows(np.concatenate(folds)) for name, folds in validated}


def row_facts(said: Any, target: Floats) -> Floats:
    """Target, mean, score and the three quantiles of rows, shape (n_rows, 6)."""
    outside = (1.0 - COVERAGE) / 2.0
    quantiles = said.quantiles([outside, 0.5, 1.0 - outside])
    return np.column_stack([target, said.mean, said.crps(target), quantiles])


def scores_of_rows(facts: Floats) -> RegressionScores:
    """Scores of held-out rows from what `row_facts` gave."""
    target, mean, crps = facts[:, :3].T
    quantiles = facts[:, 3:]
    low, median, high = quantiles.T
    square = float(np.mean((target - mean) ** 2))
    total = float(np.var(target))
    outside = (1.0 - COVERAGE) / 2.0
    levels = np.array([outside, 0.5, 1.0 - outside])
    return RegressionScores(
        float(np.sqrt(square)),
        float(np.mean(np.abs(target - median))),
        1.0 - square / total if total > 0 else float("nan"),
        float(np.mean(crps)),
        float(np.mean(pinball_losses(target, quantiles, levels))),
        float(np.mean((target >= low) & (target <= high))),
        float(np.mean(high - low)),
        len(target),
    )
