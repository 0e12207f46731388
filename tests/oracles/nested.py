"""Nested families counted and smoothed row by row, as slowly as they are defined."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def log_evidence(
    states: Any,
    own: Any,
    weights: Any,
    row: list[int],
    n_states: int,
    n_classes: int,
    strength: float,
    shares: Any,
    min_rows: float = 1.0,
) -> Any:
    """Ln P(x | c, first j parents) of one row of states, shape (depths, classes).

    `states` (n_variables, n_rows) are the training rows, child first; `shares` the
    prior share of each state of the child. Parents' states that less than `min_rows`
    rows have repeat the depth before; one row, however small its weight, is enough.
    """
    found = np.zeros((len(row), n_classes))
    for depth in range(len(row)):
        matches = (row[1 : depth + 1] == states[1 : depth + 1].T).all(axis=1)
        weight = weights[matches].sum()
        if depth and not (weight >= min_rows if min_rows > 1 else weight > 1e-9):
            found[depth:] = found[depth - 1]
            break
        for c in range(n_classes):
            parents = joint = 0.0
            for place in range(len(own)):
                same = all(states[k][place] == row[k] for k in range(1, depth + 1))
                if own[place] == c and same:
                    parents += weights[place]
                    joint += weights[place] * (states[0][place] == row[0])
            share = shares[row[0]]
            found[depth, c] = math.log(
                (joint + strength * share) / (parents + strength)
            )
    assert n_states > max(states[0])
    return found
