"""Valid calls of the growth of regression trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.target_trees import Growth

Arguments = tuple[Any, ...]

CARDS = np.array([4, 300, 1])


def _grow(rng: np.random.Generator) -> Arguments:
    n_fitted, n_held_out = rng.integers(1, 200), rng.integers(0, 50)
    ranks = [rng.integers(card, size=n_fitted + n_held_out) for card in CARDS]
    return (
        np.array(ranks, dtype=np.uint16),
        CARDS,
        rng.normal(size=n_fitted),
        rng.random(n_fitted),
        Growth(5, 2, 0.3, int(rng.integers(1, 9)), int(rng.integers(1, 5)), 0.4, 0.7),
        int(rng.integers(1 << 63)),
    )


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "grow_target_trees": _grow,
}
