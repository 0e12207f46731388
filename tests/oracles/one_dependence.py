"""Averaged one-dependence estimators, one row and one super-parent at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def aode_joint(
    rows: Sequence[Sequence[Any]],
    y: Sequence[Any],
    row: Sequence[Any],
    min_count: int = 1,
) -> list[float]:
    """P(c, row) of every class in order, with one added to each count.

    Webb, Boughton & Wang (2005), equation 6, as a mean over the super-parents whose
    value has at least `min_count` rows; naive Bayes where there is none. Neither
    `row` nor `rows` may have missing cells.
    """
    n_features = len(row)
    n_states = [len({other[j] for other in rows}) for j in range(n_features)]
    classes = sorted(set(y))
    joint = []
    for c in classes:
        of_class = [other for other, label in zip(rows, y, strict=True) if label == c]
        prior = (len(of_class) + 1) / (len(rows) + len(classes))
        networks = []
        for p in range(n_features):
            if sum(other[p] == row[p] for other in rows) < min_count:
                continue
            same = [other for other in of_class if other[p] == row[p]]
            product = prior * (len(same) + 1) / (len(of_class) + n_states[p])
            for j in range(n_features):
                if j != p:
                    both = sum(other[j] == row[j] for other in same)
                    product *= (both + 1) / (len(same) + n_states[j])
            networks.append(product)
        joint.append(
            sum(networks) / len(networks)
            if networks
            else prior * _naive(of_class, row, n_states)
        )
    return joint


def _naive(
    of_class: Sequence[Sequence[Any]], row: Sequence[Any], n_states: Sequence[int]
) -> float:
    """Product of P(x_j | c) over the features."""
    return math.prod(
        (sum(other[j] == row[j] for other in of_class) + 1)
        / (len(of_class) + n_states[j])
        for j in range(len(row))
    )
