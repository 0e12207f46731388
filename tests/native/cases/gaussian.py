"""Valid calls of the native densities of linear-Gaussian families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.gaussian import LinearFamilies

Arguments = tuple[Any, ...]

N_CLASSES, N_COLUMNS = 2, 3


def _families(rng: np.random.Generator) -> LinearFamilies:
    starts = np.array([0, 0, 2, 3])
    return LinearFamilies(
        children=np.array([0, 0, 2]),
        pieces=np.array([0, 1, 1]),
        starts=starts,
        parents=np.array([1, 2, 0]),
        shares=np.array([1.0, 0.5, 0.5]),
        facts=rng.random((3, N_CLASSES, 3)) + 1.0,
        coefficients=rng.random((N_CLASSES, 6)),
        triangles=rng.random((N_CLASSES, 1 + 6 + 3)),
        means=rng.random((N_CLASSES, N_COLUMNS)),
        variances=rng.random((N_CLASSES, N_COLUMNS)),
    )


def _write(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 300))
    positions = rng.normal(size=(N_COLUMNS, n_rows))
    positions[rng.random(positions.shape) < 0.1] = np.nan
    own = rng.integers(-1, N_CLASSES, size=n_rows)
    dtype = rng.choice([np.float32, np.float64])
    values = np.zeros((n_rows, N_CLASSES, 4), dtype=dtype)
    return _families(rng), positions, own, rng.random(n_rows), values, 1, 2


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "LinearFamilies.write": _write,
}
