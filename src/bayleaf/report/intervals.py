"""Intervals of 95 per cent around figures on held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from bayleaf.evaluation.groups.estimates import (
    Estimate,
    Sample,
    Share,
    mean_estimate,
    share_estimate,
)
from bayleaf.evaluation.metrics import SMALLEST

Indices = NDArray[np.intp]
Values = dict[str, Any]

_LEVEL = 0.95


def share_interval(n_hits: int, n_rows: int) -> list[float] | None:
    """The interval of a share of rows, as those of groups."""
    return _ends(share_estimate(Share(n_hits, n_rows), _LEVEL))


def mean_interval(values: ArrayLike, least: float = -np.inf) -> list[float] | None:
    """The interval of a mean over rows, as those of groups; None for a single row.

    `values` (n_rows,); means are never below `least`.
    """
    rows = np.asarray(values, dtype=np.float64)
    if not np.isfinite(rows).all():
        return None
    return _ends(mean_estimate(Sample.of(rows), _LEVEL, least))


def fold_error(values: ArrayLike) -> NDArray[np.float64]:
    """Standard errors (...) of means over folds, `values` (n_folds, ...).

    With the correction of Nadeau & Bengio (2003) for training rows that folds share.
    """
    rows = np.asarray(values, dtype=np.float64)
    factor = 1 / len(rows) + 1 / (len(rows) - 1)
    return np.asarray(np.sqrt(factor * rows.var(axis=0, ddof=1)))


def student_interval(mean: float, error: float, degrees: float) -> list[float] | None:
    """The interval of a mean by its standard error; None without degrees of freedom."""
    reach = float(stdtrit(degrees, (1 + _LEVEL) / 2)) * error
    return [mean - reach, mean + reach] if np.isfinite(reach) else None


def class_intervals(
    truth: Indices, chosen: Indices, proba: NDArray[np.float64]
) -> Values:
    """Intervals of accuracy, log-loss and Brier score.

    `truth` and `chosen` (n_rows,) class indices, `proba` (n_rows, n_classes).
    """
    of_truth = proba[np.arange(len(truth)), truth]
    squared = (proba**2).sum(axis=1) - 2 * of_truth + 1
    return {
        "accuracy": share_interval(int((truth == chosen).sum()), len(truth)),
        "log_loss": mean_interval(-np.log(np.maximum(of_truth, SMALLEST)), 0.0),
        "brier": mean_interval(squared, 0.0),
    }


def number_intervals(facts: NDArray[np.float64]) -> Values:
    """Intervals of errors and coverage, from the result of `row_facts`.

    `facts` (n_rows, 6): target, mean, score and three quantiles of each row.
    """
    target, _, score, low, median, high = facts.T
    inside = (target >= low) & (target <= high)
    return {
        "mae": mean_interval(np.abs(target - median), 0.0),
        "crps": mean_interval(score, 0.0),
        "width": mean_interval(high - low, 0.0),
        "coverage": share_interval(int(inside.sum()), len(target)),
    }


def _ends(found: Estimate) -> list[float] | None:
    """The two ends of an interval, where there is one."""
    if found.low is None or found.high is None:
        return None
    return [found.low, found.high]
