"""Valid calls of the native passes over rows for searches for latent variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.search.latent_rows import PackedColumns, PackedRuns

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


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "PackedColumns": _columns,
    "PackedRuns": runs,
    "deal": _deal,
    "count_cells": _count_cells,
    "with_missing": _with_missing,
    "latent_codes": _latent_codes,
}
