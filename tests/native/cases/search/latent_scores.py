"""Valid calls of native counts and scores of a latent variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayleaf.native.search.latent_rows import PackedRuns
from native.cases.search.latent_rows import (
    LEFT,
    N_CLASSES,
    N_FOLDS,
    N_STATES,
    RIGHT,
    Arguments,
    padded,
    runs,
)


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


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "merge_cells": _merge_cells,
    "changes": _changes,
    "predictive_scores": _predictive_scores,
    "add_gains": _add_gains,
}
