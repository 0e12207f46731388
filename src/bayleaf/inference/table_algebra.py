"""Axes of tables over variables, and an order in which these are summed out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def aligned(
    table: Floats, variables: Sequence[int], union: Sequence[int], n_leading: int = 0
) -> Floats:
    """A table with its axes in the order of `union`, and ones where it has none.

    The first `n_leading` axes stay; those after them run over `variables`.
    """
    order = sorted(range(len(variables)), key=lambda i: union.index(variables[i]))
    moved = table.transpose([*range(n_leading), *(n_leading + i for i in order)])
    sizes = iter(moved.shape[n_leading:])
    shape = [next(sizes) if v in variables else 1 for v in union]
    return moved.reshape((*moved.shape[:n_leading], *shape))


def elimination_order(
    scopes: Iterable[frozenset[int]], eliminated: Iterable[int], cards: Sequence[int]
) -> tuple[list[int], int]:
    """The greedy order by the smallest table, and the cells of the largest one.

    Ties go to the lower variable.
    """
    scopes, left = list(scopes), set(eliminated)
    order: list[int] = []
    largest = 1
    while left:
        unions = {v: frozenset().union(*(s for s in scopes if v in s)) for v in left}
        sizes = {v: prod(cards[u] for u in union) for v, union in unions.items()}
        best = min(left, key=lambda v: (sizes[v], v))
        largest = max(largest, sizes[best])
        scopes = [s for s in scopes if best not in s] + [unions[best] - {best}]
        left.remove(best)
        order.append(best)
    return order, largest
