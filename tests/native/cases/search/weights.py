"""Valid calls of the native loss of weighted evidence and of its descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.search.weights import contrast_width

Arguments = tuple[Any, ...]


def _rows(rng: np.random.Generator) -> tuple[Arguments, int]:
    """Rows with a range of them, and how many parameters they need."""
    n_rows, n_classes = int(rng.integers(1, 400)), int(rng.integers(1, 5))
    n_weights = int(rng.integers(0, 20))
    contrasts = np.zeros(
        (n_rows, n_classes - 1, contrast_width(n_weights)), dtype=np.float32
    )
    contrasts[..., :n_weights] = rng.normal(size=(n_rows, n_classes - 1, n_weights))
    own = rng.integers(n_classes, size=n_rows)
    ranges = np.sort(rng.integers(n_rows + 1, size=(int(rng.integers(3)), 2)), axis=1)
    return (contrasts, own, rng.random(n_rows), ranges), n_weights + n_classes


def _weighted_loss(rng: np.random.Generator) -> Arguments:
    rows, n_parameters = _rows(rng)
    return *rows, rng.random(n_parameters), np.zeros(n_parameters)


def _weights_descent(rng: np.random.Generator) -> Arguments:
    rows, n_parameters = _rows(rng)
    start, centre, pull = rng.random((3, n_parameters))
    return *rows, start, centre, pull, 5, 1e-6, int(rng.integers(1, 4))


def _contrast_width(rng: np.random.Generator) -> Arguments:
    return (int(rng.integers(20)),)


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "contrast_width": _contrast_width,
    "weighted_loss": _weighted_loss,
    "weights_descent": _weights_descent,
}
