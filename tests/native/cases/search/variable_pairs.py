"""Valid calls of the native loops over joint counts of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def _counts(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Counts of fractional weights, with many empty cells."""
    return rng.poisson(1.0, shape) * rng.choice([0.3, 1.0, 7.7], shape)


def _pair_statistics(rng: np.random.Generator) -> Arguments:
    n_left, n_right = rng.integers(1, 4, size=2)
    left, right = rng.integers(1, 4, size=n_left), rng.integers(1, 4, size=n_right)
    dense = _counts(rng, 3, int((left + 1).sum()), int((right + 1).sum()))
    if rng.random() < 0.3:
        dense[1] = 0.0
    triangle, kind = bool(rng.random() < 0.3), int(rng.integers(3))
    return dense, left, right, triangle, kind, np.zeros((3, n_left, n_right))


def _collapse(rng: np.random.Generator) -> Arguments:
    shape = rng.integers(1, 6, size=3).tolist()
    counts = _counts(rng, *shape)
    counts[0, 0, 0] += 1.0
    n_cells = counts[0].size
    states = np.empty(counts.shape[1:], dtype=np.int64)
    return counts, float(rng.random() * 9), 1e-9, states, np.empty(n_cells)


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "pair_statistics": _pair_statistics,
    "collapse": _collapse,
}
