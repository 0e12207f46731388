"""Sums of numbers that are given by their logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def log_sum_exp(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Logarithm of the sum of exponentials along an axis; empty sums are -inf."""
    highest = np.max(values, axis=axis, initial=-np.inf)
    anchor = np.where(np.isfinite(highest), highest, 0.0)
    # Term by term, so that a sum does not depend on how many others there are.
    total = np.zeros_like(anchor)
    for terms in np.moveaxis(values, axis, 0):
        total += np.exp(terms - anchor)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total) + anchor)
