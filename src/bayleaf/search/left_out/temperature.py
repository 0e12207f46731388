"""One temperature for all log scores: how far to believe a model's probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LOWEST, HIGHEST = 0.05, 20.0
_MAX_STEPS = 100
_TOLERANCE = 1e-10


def best_temperature(
    log_scores: NDArray[np.float64],
    own: NDArray[np.integer],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64] | float = 1.0,
) -> float:
    """Find the temperature T at which held-out log-loss is least, from 0.05 to 20.

    Probabilities are then proportional to ``exp(log_scores * (1 + s * (1/T - 1)))``;
    `log_scores` (n_rows, n_classes) are nats of rows that the model was not fitted to,
    minus infinity for impossible classes, `shares` s (n_rows,) how far the temperature
    counts in each. T is 1 where no temperature matters.

    The loss is convex in 1/T, so its slope is followed to zero by Newton steps, halving
    the bracket where a step would leave it. Rows whose true class is impossible lose
    the same at every temperature and are left out.
    """
    true = log_scores[np.arange(len(own)), own]
    usable = np.isfinite(true)
    # One line a class: sums over classes then run along rows.
    offsets = np.ascontiguousarray((log_scores[usable] - true[usable, None]).T)
    weights = weights[usable]
    of_rows = np.broadcast_to(shares, usable.shape)[usable]
    finite = np.where(np.isfinite(offsets), offsets, 0.0)
    if not finite.any():
        return 1.0
    low, high = 1.0 / HIGHEST, 1.0 / LOWEST
    beta = 1.0
    for _ in range(_MAX_STEPS):
        slope, curvature = _slope(beta, offsets, finite, weights, of_rows)
        low, high = (beta, high) if slope < 0 else (low, beta)
        step = beta - slope / curvature if curvature > 0 else low
        following = step if low <= step <= high else (low + high) / 2.0
        # The last step is taken, too: its own error is about its square.
        is_near = abs(following - beta) <= _TOLERANCE * beta
        beta = following
        if is_near:
            break
    return float(1.0 / beta)


def _slope(
    beta: float,
    offsets: NDArray[np.float64],
    finite: NDArray[np.float64],
    weights: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> tuple[float, float]:
    """First and second derivative by beta of the weighted log-loss."""
    # Exactly beta where it counts in full.
    scaled = np.where(shares == 1.0, beta, 1.0 + shares * (beta - 1.0)) * offsets
    products = np.exp(scaled - scaled.max(axis=0))
    products /= products.sum(axis=0)
    products *= finite
    mean = products.sum(axis=0)
    spread = (products * finite).sum(axis=0) - mean**2
    return float((weights * shares) @ mean), float((weights * shares**2) @ spread)
