"""Valid calls of the native loops that search for latent variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.latents import PackedColumns, PackedRuns

Arguments = tuple[Any, ...]

N_CLASSES, N_FOLDS = 3, 2
LEFT, RIGHT, N_STATES = 3, 4, 3


def _n_rows(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 150))


def _weights(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    return np.full(1, 0.75) if rng.random() < 0.5 else rng.random(n_rows)


def _columns(rng: np.random.Generator) -> Arguments:
    """Codes of two nodes, missing states included, and room for a third."""
    columns = np.zeros((3, _n_rows(rng)), dtype=np.uint16)
    columns[0] = rng.integers(LEFT + 1, size=columns.shape[1])
    columns[1] = rng.integers(RIGHT + 1, size=columns.shape[1])
    return columns, [LEFT + 1, RIGHT + 1, 0]


def runs(rng: np.random.Generator) -> Arguments:
    packed = PackedColumns(*_columns(rng))
    n_runs = N_FOLDS * N_CLASSES
    runs = rng.integers(n_runs, size=packed.n_rows).astype(np.int32)
    return packed, runs, n_runs, _weights(rng, packed.n_rows)


def padded(rng: np.random.Generator) -> np.ndarray:
    """States of a latent variable, also where a child is missing."""
    padded = rng.integers(N_STATES, size=(LEFT + 1, RIGHT + 1))
    padded[-1] = padded[:, -1] = N_STATES
    return padded


def _deal(rng: np.random.Generator) -> Arguments:
    n_rows = _n_rows(rng)
    classes = rng.integers(N_CLASSES, size=n_rows).astype(np.uint16)
    order, weights = rng.permutation(n_rows), _weights(rng, n_rows)
    n_parts = int(rng.integers(1, 5))
    return order, classes, weights, N_CLASSES, n_parts, np.empty(n_rows, dtype=np.int32)


def _count_cells(rng: np.random.Generator) -> Arguments:
    counts = rng.random((N_FOLDS * N_CLASSES, LEFT + 1, RIGHT + 1))
    return PackedRuns(*runs(rng)), 0, 1, counts


def _with_missing(rng: np.random.Generator) -> Arguments:
    states = rng.integers(rng.integers(1, 3), size=(LEFT, RIGHT))
    return states, np.empty((LEFT + 1, RIGHT + 1), dtype=np.int64)


def _latent_codes(rng: np.random.Generator) -> Arguments:
    return PackedColumns(*_columns(rng)), 0, 1, padded(rng), 2, N_STATES + 1


def _gains(rng: np.random.Generator) -> np.ndarray:
    return -rng.random((N_FOLDS, LEFT + 1, RIGHT + 1, N_CLASSES))


def _scores(rng: np.random.Generator, rows: PackedRuns) -> np.ndarray:
    # Few values, so that classes are tied at times.
    return -rng.integers(4, size=(rows.packed.n_rows, N_CLASSES)).astype(np.float64)


def _merge_cells(rng: np.random.Generator) -> Arguments:
    counts = rng.random((6, LEFT + 1, RIGHT + 1))
    return counts, padded(rng), rng.random((6, N_STATES))


def _changes(rng: np.random.Generator) -> Arguments:
    tables = [
        -rng.random((N_FOLDS, n_codes, N_CLASSES))
        for n_codes in (LEFT + 1, RIGHT + 1, N_STATES + 1)
    ]
    return *tables, padded(rng), np.empty_like(_gains(rng))


def _predictive_scores(rng: np.random.Generator) -> Arguments:
    rows = PackedRuns(*runs(rng))
    gains = np.round(_gains(rng))
    return rows, 0, 1, _scores(rng, rows), gains, bool(rng.random() < 0.5)


def _add_gains(rng: np.random.Generator) -> Arguments:
    rows = PackedRuns(*runs(rng))
    return rows, 0, 1, _gains(rng), _scores(rng, rows)


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
    "PackedColumns": _columns,
    "PackedRuns": runs,
    "deal": _deal,
    "count_cells": _count_cells,
    "with_missing": _with_missing,
    "latent_codes": _latent_codes,
    "merge_cells": _merge_cells,
    "changes": _changes,
    "predictive_scores": _predictive_scores,
    "add_gains": _add_gains,
    "pair_statistics": _pair_statistics,
    "collapse": _collapse,
    "learn_pass": _learn_pass,
}
