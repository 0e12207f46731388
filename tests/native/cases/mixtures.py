"""Valid calls of the native loop that learns a mixture row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]

# A gate, its two gates, and their three experts each, of two classes.
COLUMNS = np.cumsum([0, 2, 3, 3, *[2] * 6])
FIRST_CHILD = np.array([1, 3, 6])
N_VALUES, N_FEATURES = 7, 3


def _learn_pass(rng: np.random.Generator) -> Arguments:
    n_rows, n_columns = int(rng.integers(1, 50)), int(COLUMNS[-1])
    values = np.array([[0, 2], [2, 5], [5, 7]])
    row_cells = rng.integers(*values.T, size=(n_rows, N_FEATURES)).astype(np.int32)
    row_cells[rng.random(row_cells.shape) < 0.2] = -1
    counters = [
        0.1 + rng.random(shape)
        for shape in ((n_columns,), (N_VALUES, n_columns), (N_FEATURES, n_columns))
    ]
    return (
        rng.permutation(n_rows),
        row_cells,
        rng.integers(2, size=n_rows),
        rng.random(n_rows),
        COLUMNS.copy(),
        FIRST_CHILD.copy(),
        0.1,
        bool(rng.random() < 0.5),
        100.0,
        int(rng.choice([2, 100])),
        *counters,
    )


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "learn_pass": _learn_pass,
}
