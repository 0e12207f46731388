"""Valid calls of the growth of class trees, and of what they add to rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.class_trees import Growth, Nodes

Arguments = tuple[Any, ...]

N_CLASSES = 3
CARDS = np.array([4, 300, 2])
IS_ORDERED = np.array([False, True, False])


def _grow(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(2, 300))
    codes = np.stack([rng.integers(card + 1, size=n_rows) for card in CARDS], axis=1)
    return (
        codes.astype(np.uint16),
        CARDS,
        IS_ORDERED,
        rng.integers(N_CLASSES, size=n_rows),
        rng.random(n_rows),
        rng.normal(size=(n_rows, N_CLASSES)),
        int(rng.integers(1, n_rows + 1)),
        Growth(4, 2, int(rng.integers(1, 9)), 0.3, 1.0, 0.01),
    )


def _add(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(0, 50))
    narrow = rng.integers(5, size=(2, n_rows)).astype(np.uint8)
    wide = rng.integers(301, size=(1, n_rows)).astype(np.uint16)
    nodes = Nodes(
        features=np.array([1, 0, -1, -1, -1, 2, -1, -1]),
        states=np.array([100, 2, 0, 0, 0, 1, 0, 0]),
        children=np.array([1, 3, 0, 0, 0, 6, 0, 0]),
        values=rng.normal(size=8),
        rows=rng.random(8),
    )
    shape = (N_CLASSES, 3, 2) if rng.random() < 0.5 else (N_CLASSES,)
    return (
        *(narrow, wide, np.array([0, -1, 1]), n_rows, CARDS, IS_ORDERED),
        np.array([0, 5]),
        np.array([2, 0]),
        nodes,
        np.zeros((n_rows, *shape)),
    )


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "grow_class_trees": _grow,
    "add_class_trees": _add,
}
