"""Counting row by row, and information cell by cell, as slowly as the definitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes


def family_counts(codes: Codes, family: Sequence[int]) -> NDArray[np.float64]:
    """Weight of each joint state; rows that lack a member are left out."""
    counts = np.zeros([codes.cards[v] for v in family])
    columns = [codes.column(v).tolist() for v in family]
    for row, weight in enumerate(codes.weights.tolist()):
        states = tuple(column[row] for column in columns)
        if all(state < codes.cards[v] for state, v in zip(states, family, strict=True)):
            counts[states] += weight
    return counts


def dense_pair(codes: Codes, i: int, j: int) -> NDArray[np.float64]:
    """Weight of each class, code of i and code of j, missing codes included."""
    class_index = codes.n_variables - 1
    counts = np.zeros((codes.cards[-1], codes.cards[i] + 1, codes.cards[j] + 1))
    columns = [codes.column(v).tolist() for v in (class_index, i, j)]
    for *states, weight in zip(*columns, codes.weights.tolist(), strict=True):
        counts[tuple(states)] += weight
    return counts


def conditional_mutual_information(counts: NDArray[np.float64]) -> float:
    """I(X;Y|Z) in nats of a table (n_x, n_y, n_z), summed without rounding."""
    total = math.fsum(counts.ravel())
    of_x = np.apply_along_axis(math.fsum, 1, counts)
    of_y = np.apply_along_axis(math.fsum, 0, counts)
    of_z = [math.fsum(counts[:, :, z].ravel()) for z in range(counts.shape[2])]
    terms = []
    for x, y, z in np.argwhere(counts > 0):
        cell = counts[x, y, z]
        terms.append(cell * math.log(cell * of_z[z] / (of_x[x, z] * of_y[y, z])))
    return math.fsum(terms) / total if total else 0.0


def random_codes(
    cards: Sequence[int],
    n_rows: int,
    *,
    missing: float = 0.0,
    weights: str = "unit",
    seed: int = 0,
) -> Codes:
    """A table of random codes, class last; the class is never missing.

    `weights` is "unit", "whole" (0 to 5) or "fractional".
    """
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, card, n_rows) for card in cards]
    for card, column in zip(cards[:-1], columns[:-1], strict=True):
        column[rng.random(n_rows) < missing] = card
    row_weights = {
        "unit": None,
        "whole": rng.integers(0, 6, n_rows).astype(np.float64),
        "fractional": rng.random(n_rows),
    }
    return Codes.from_columns(columns, cards, row_weights[weights])


def extended_keys(
    keys: NDArray[np.int32], codes: NDArray[np.integer[Any]], n_states: int
) -> NDArray[np.int32]:
    """Keys with one more variable as the fastest digit, -1 where it is missing."""
    lacking = (keys < 0) | (codes >= n_states)
    return np.where(lacking, -1, keys * n_states + codes).astype(np.int32)


def key_counts(
    keys: NDArray[np.int32],
    columns: Sequence[NDArray[np.integer[Any]]],
    widths: Sequence[int],
    weights: NDArray[np.float64],
    n_keys: int,
) -> list[NDArray[np.float64]]:
    """Weight of each key, from -1 on, and code, one table a column."""
    tables = [np.zeros((n_keys + 1, width)) for width in widths]
    for table, column in zip(tables, columns, strict=True):
        np.add.at(table, (keys + 1, column), weights)
    return tables
