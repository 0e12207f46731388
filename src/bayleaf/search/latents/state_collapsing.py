"""Partitions of the joint states of two variables that tell the class alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.latents import collapse

Counts = NDArray[np.float64]

# Gains that differ by less are equal, and a merge must gain more.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of the joint states of two variables."""

    states: NDArray[np.intp]  # (left card, right card), groups by first cell
    deltas: tuple[float, ...]  # gain of each merge in turn, nats

    @property
    def n_states(self) -> int:
        """Number of groups."""
        return int(self.states.max()) + 1


def collapse_states(counts: Counts) -> Partition:
    """Merge joint states of two variables while the gain in description length lasts.

    Merging states i and j of a latent variable changes the model's score by
    ``(|C| / 2) ln N + h(n_i + n_j) - h(n_i) - h(n_j)``, where h(n) is the sum of
    ``n_c ln(n_c / n)`` over the class counts of a state. The pair that gains most is
    merged first; of gains within 1e-9 that of the first cells. Empty cells then join
    the group whose class distribution is nearest to the prediction of naive Bayes.

    `counts` is (n_classes, left card, right card); without any there is one group.
    Langseth and Nielsen (2006), Machine Learning 63, 135-159, algorithm 2; their
    equation 5 is printed upside down.

    >>> import numpy as np
    >>> equal = np.array([[[40.0, 0.0], [0.0, 40.0]], [[0.0, 40.0], [40.0, 0.0]]])
    >>> collapse_states(equal).states.tolist()
    [[0, 1], [1, 0]]
    """
    total = float(counts.sum())
    if total <= 0.0:
        return Partition(np.zeros(counts.shape[1:], dtype=np.intp), ())
    penalty = 0.5 * len(counts) * math.log(total)
    table = np.ascontiguousarray(counts, dtype=np.float64)
    states = np.empty(counts.shape[1:], dtype=np.int64)
    deltas = np.empty(states.size)
    collapse(table, penalty, TOLERANCE, states, deltas)
    gains = deltas[~np.isnan(deltas)]
    return Partition(states.astype(np.intp, copy=False), tuple(gains.tolist()))
