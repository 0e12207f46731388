"""Valid calls of the native functions that search for trees and for weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayleaf.native.search import PackedRows

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
    by_modes = bool(rng.random() < 0.5)
    return shares, starts, by_modes, float(rng.choice([0.0, 1e-9])), margin, parents


def _rows(rng: np.random.Generator) -> tuple[Arguments, int]:
    """Rows with a range of them, and how many parameters they need."""
    n_rows, n_classes = int(rng.integers(1, 400)), int(rng.integers(1, 5))
    n_weights = int(rng.integers(0, 20))
    logs = rng.normal(size=(n_rows, n_classes, n_weights)).astype(np.float32)
    own = rng.integers(n_classes, size=n_rows)
    ranges = np.sort(rng.integers(n_rows + 1, size=(int(rng.integers(3)), 2)), axis=1)
    return (logs, own, rng.random(n_rows), ranges), n_weights + n_classes


def _weighted_loss(rng: np.random.Generator) -> Arguments:
    rows, n_parameters = _rows(rng)
    return *rows, rng.random(n_parameters), np.zeros(n_parameters)


def _weights_descents(rng: np.random.Generator) -> Arguments:
    rows, n_parameters = _rows(rng)
    aims = rng.random((3, int(rng.integers(4)), n_parameters))
    return *rows, *aims, 5, 1e-6, int(rng.integers(1, 4))


CASES: dict[str, Callable[[np.random.Generator], Arguments]] = {
    "PackedRows": _table,
    "count_rows": _count_rows,
    "partition_rows": _partition_rows,
    "join_values": _join_values,
    "weighted_loss": _weighted_loss,
    "weights_descents": _weights_descents,
}
