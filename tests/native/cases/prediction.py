"""Valid calls of the native functions that look log-probabilities up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def _add_looked_up(rng: np.random.Generator) -> Arguments:
    """Two groups of a narrow and a wide variable, three classes."""
    n_rows = int(rng.integers(1, 1500))
    narrow = rng.integers(4, size=(2, n_rows)).astype(np.uint8)
    wide = rng.integers(5, size=(1, n_rows)).astype(np.uint16)
    slots, strides = np.array([1, -1, 0]), np.array([5, 1, 1])
    return (
        narrow,
        wide,
        slots,
        strides,
        np.array([0, 2, 3]),
        rng.normal(size=3 * (20 + 4)),
        np.array([0, 60, 72]),
        np.zeros((3, n_rows)),
    )


def _add_children(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 1500))
    positions = rng.integers(7, size=(3, n_rows)).astype(np.int32)
    parents = rng.integers(7, size=n_rows)
    return rng.normal(size=(2, 7, 7)), parents, positions, np.zeros((2, n_rows))


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "add_looked_up": _add_looked_up,
    "add_children": _add_children,
}
