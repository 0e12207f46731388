"""Valid calls of the native functions that search for trees and join values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.search.tree_rows import PackedRows

Arguments = tuple[Any, ...]

CARDS = (3, 2, 4, 1)


def _table(rng: np.random.Generator) -> Arguments:
    n_rows = int(rng.integers(1, 200))
    dtype = rng.choice([np.uint8, np.uint16])
    table = rng.integers(CARDS, size=(n_rows, len(CARDS))).astype(dtype)
    weights = rng.integers(1, 9, n_rows) / 4 if rng.random() < 0.5 else np.empty(0)
    return table, np.cumsum([0, *CARDS]), weights


def _leaf(rng: np.random.Generator, packed: PackedRows) -> np.ndarray:
    inside = np.flatnonzero(rng.random(packed.n_rows) < 0.7)
    return rng.permutation(inside).astype(np.int32)


def _count_rows(rng: np.random.Generator) -> Arguments:
    packed, child = PackedRows(*_table(rng)), int(rng.integers(len(CARDS)))
    counts = rng.random((CARDS[child], sum(CARDS))).round(2)
    return packed, _leaf(rng, packed), child, counts


def _partition_rows(rng: np.random.Generator) -> Arguments:
    packed, variable = PackedRows(*_table(rng)), int(rng.integers(len(CARDS)))
    branch_of = rng.integers(3, size=CARDS[variable])
    starts = np.empty(4, dtype=np.int64)
    return packed, _leaf(rng, packed), variable, branch_of, starts


def _join_values(rng: np.random.Generator) -> Arguments:
    n_values, widths = int(rng.integers(1, 8)), rng.integers(1, 4, size=3)
    shares = rng.integers(0, 4, (n_values, widths.sum())) / (4.0 * n_values)
    starts = np.concatenate([[0], np.cumsum(widths)])
    margin = float(rng.choice([-1.0, 0.1]))
    parents = np.empty(2 * n_values - 1, dtype=np.int64)
    return shares, starts, bool(rng.random() < 0.5), margin, parents


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "PackedRows": _table,
    "count_rows": _count_rows,
    "partition_rows": _partition_rows,
    "join_values": _join_values,
}
