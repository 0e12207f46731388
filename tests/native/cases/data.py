"""Valid calls of the native functions that read tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def _offset_codes(rng: np.random.Generator) -> Arguments:
    values = rng.integers(-3, 300, size=(int(rng.integers(1, 300)), 3))
    codes = np.zeros((3, len(values)), dtype=np.uint8)
    seen = np.zeros((3, 256), dtype=np.bool_)
    return values, values.min(axis=0), codes, seen, np.ones(3, dtype=np.bool_)


def _table_codes(rng: np.random.Generator) -> Arguments:
    values = rng.integers(-3, 300, size=(int(rng.integers(1, 300)), 3))
    table = rng.integers(9, size=(3, 256)).astype(np.uint8)
    codes = np.zeros((3, len(values)), dtype=np.uint8)
    return values, values.min(axis=0), table, codes


def _mdlp_cuts(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(0, 300))
    values = np.sort(rng.normal(size=n_rows).round(1))
    classes = (values > 0).astype(np.int64) + rng.integers(2, size=n_rows)
    weights = rng.integers(1, 4, size=n_rows) * 1.0
    return values, classes, weights, 3, int(rng.integers(1, 100))


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "offset_codes": _offset_codes,
    "table_codes": _table_codes,
    "mdlp_cuts": _mdlp_cuts,
}
