"""Compiled search for the cut of least class entropy in a long column."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled


@compiled
def _n_log_n(n: float, logarithms: NDArray[np.float64]) -> float:
    """``n ln n``, from the table if that covers whole numbers; 0 for 0."""
    if n <= 0:
        return 0.0
    if logarithms.size > 1:
        return logarithms[int(n)]  # type: ignore[no-any-return]
    return n * math.log(n)


@compiled
def weighted_entropies(
    cumulated: NDArray[np.float64],
    first: int,
    stop: int,
    logarithms: NDArray[np.float64],
    entropies: NDArray[np.float64],
) -> None:
    """Write the weighted class entropy (nats) left by each cut of a segment.

    `cumulated` (n_blocks + 1, n_classes) holds class weights before each block; the
    segment has the blocks ``first .. stop - 1``; `logarithms` holds n ln n for all
    whole weights, or a single entry where weights are fractions; `entropies`
    (stop - first - 1,).
    """
    n_classes = cumulated.shape[1]
    for k in range(first + 1, stop):
        sum_left = 0.0
        sum_right = 0.0
        entropy = 0.0
        for c in range(n_classes):
            left = cumulated[k, c] - cumulated[first, c]
            right = cumulated[stop, c] - cumulated[k, c]
            sum_left += left
            sum_right += right
            entropy -= _n_log_n(left, logarithms) + _n_log_n(right, logarithms)
        entropy += _n_log_n(sum_left, logarithms) + _n_log_n(sum_right, logarithms)
        entropies[k - first - 1] = entropy
