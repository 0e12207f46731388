"""Logarithms of numbers that may be zero, and sums of numbers given by them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def log_of(values: ArrayLike) -> Floats:
    """Natural logarithms, minus infinity for zeros."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def log_sum_exp(values: Floats, axis: int) -> Floats:
    """Logarithm of the sum of exponentials along an axis; empty sums are -inf."""
    highest = np.max(values, axis=axis, initial=-np.inf)
    anchor = np.where(np.isfinite(highest), highest, 0.0)
    # Term by term, so that a sum does not depend on how many others there are.
    total = np.zeros_like(anchor)
    for terms in np.moveaxis(values, axis, 0):
        total += np.exp(terms - anchor)
    return log_of(total) + anchor


def logarithmic_mean_weights(log_a: Floats, log_b: Floats) -> Floats:
    """Weights w with ln(sum a / sum b) = sum of w ln(a / b), exactly.

    Both logs and the weights are (n_members,): L(a_p, b_p) / L(sum a, sum b), with the
    logarithmic mean L; zero where both logs are minus infinity.
    """
    log_means = _log_logarithmic_mean(log_a, log_b)
    total = _log_logarithmic_mean(
        np.atleast_1d(log_sum_exp(log_a, axis=0)),
        np.atleast_1d(log_sum_exp(log_b, axis=0)),
    )
    return np.exp(log_means - total)


def _log_logarithmic_mean(log_a: Floats, log_b: Floats) -> Floats:
    """Ln L(a, b) = ln((a - b) / ln(a / b)), and ln a where both are equal."""
    high, low = np.maximum(log_a, log_b), np.minimum(log_a, log_b)
    result = high.copy()
    differ = (high > low) & np.isfinite(low)
    gap = high[differ] - low[differ]
    result[differ] = high[differ] + np.log(-np.expm1(-gap)) - np.log(gap)
    result[(high > low) & ~np.isfinite(low)] = -np.inf
    return result
