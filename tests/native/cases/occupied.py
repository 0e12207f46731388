"""Valid calls of the native functions that count occupied cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def _count_families(rng: np.random.Generator) -> Arguments:
    """Two narrow variables, a wide one in a coding of its own, and the class."""
    n_rows = int(rng.integers(1, 1500))
    narrow = rng.integers(3, size=(3, n_rows)).astype(np.uint8)
    wide = rng.integers(300, size=(1, n_rows)).astype(np.uint16)
    values = [np.arange(4), np.arange(4), np.append(np.arange(300) // 7, 43)]
    return (
        narrow,
        wide,
        np.array([0, 1, -1, 2]),
        rng.random(n_rows),
        np.array([[0, 2, 1], [2, -1, -1]]),
        np.concatenate(values).astype(np.uint16),
        np.array([0, 4, 8, 309]),
        3,
        float(rng.integers(1, 9)),
    )


def _unpack_cells(rng: np.random.Generator) -> Arguments:
    """Two families of three variables, with steps of one byte and of two."""
    n_cells = rng.integers(1, 60, size=2)
    steps = [
        part
        for step in rng.integers(0, 20, size=n_cells.sum()).tolist()
        for part in ([step | 0x80, 0] if step > 14 else [step])
    ]
    return (
        np.array(steps, dtype=np.uint8),
        np.array([[0, 2, 1], [2, -1, -1]]),
        np.array([300, 5, 900]),
        n_cells,
        3,
    )


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "count_families": _count_families,
    "family_sizes": _count_families,
    "unpack_cells": _unpack_cells,
}
