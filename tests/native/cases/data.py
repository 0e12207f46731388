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


def _look_up(rng: np.random.Generator) -> Arguments:
    numbers = rng.integers(-3, 90, int(rng.integers(0, 300))).astype(
        rng.choice(["i1", "i2", "u2", "i4", "u4", "i8"])
    )
    table = rng.integers(0, 9, size=int(rng.integers(0, 95))).astype(np.uint32)
    codes = np.zeros(len(numbers), dtype=rng.choice(["u1", "u2", "u4"]))
    return numbers, -3, table, codes


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "offset_codes": _offset_codes,
    "table_codes": _table_codes,
    "look_up": _look_up,
    "mdlp_cuts": _mdlp_cuts,
}
