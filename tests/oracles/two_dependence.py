"""Averaged two-dependence estimators, a row and a pair of super-parents at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any


def a2de_joint(
    rows: Sequence[Sequence[Any]], y: Sequence[Any], row: Sequence[Any]
) -> list[float]:
    """P(c, row) of every class in order, with one added to each count.

    Webb et al. (2012), section 4, as a mean over all pairs. None is a missing cell: a
    row counts where it has all that is asked for, and each network is summed over all
    completions of `row`.
    """
    n_features = len(row)
    states = [sorted({other[j] for other in rows} - {None}) for j in range(n_features)]
    choices = [own if v is None else [v] for v, own in zip(row, states, strict=True)]
    joint = []
    for c in sorted(set(y)):
        of_class = [other for other, label in zip(rows, y, strict=True) if label == c]
        prior = (len(of_class) + 1) / (len(rows) + len(set(y)))
        networks = []
        for i, j in itertools.combinations(range(n_features), 2):
            parents = [
                () if k == i else (i,) if k == j else (i, j) for k in range(n_features)
            ]
            networks.append(
                sum(
                    math.prod(
                        _given(of_class, full, k, parents[k], len(states[k]))
                        for k in range(n_features)
                    )
                    for full in itertools.product(*choices)
                )
            )
        joint.append(prior * sum(networks) / len(networks))
    return joint


def _given(
    of_class: Sequence[Sequence[Any]],
    row: Sequence[Any],
    child: int,
    parents: Sequence[int],
    n_states: int,
) -> float:
    """P(child | class, parents) of a row."""
    same = [
        other
        for other in of_class
        if other[child] is not None and all(other[p] == row[p] for p in parents)
    ]
    return (sum(other[child] == row[child] for other in same) + 1) / (
        len(same) + n_states
    )
