"""Products of tables over variables, which are summed out in a greedy order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.plain_rules import elimination

Floats = NDArray[np.float64]
# Variables, and a table whose axes after some leading ones run over them.
Table = tuple[tuple[int, ...], Floats]


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
    """The order of `elimination`, and the cells of its largest table."""
    scopes = list(scopes)
    others = set[int]().union(*scopes).difference(eliminated)
    order, largest = list[int](), 1
    for variable, joint in elimination(scopes, cards, others):
        order.append(variable)
        largest = max(largest, prod(cards[v] for v in (variable, *joint)))
    return order, largest


def eliminated(
    tables: Iterable[Table],
    order: Iterable[int],
    join: Callable[[Floats, Floats], Floats],
    sum_out: Callable[[Floats], Floats],
    n_leading: int,
) -> list[Table]:
    """Tables left once variables are taken out in an order, each by its last axis.

    `join` multiplies two tables with aligned axes, of which `n_leading` come first.
    """
    left = list(tables)
    for variable in order:
        touching = [table for table in left if variable in table[0]]
        left = [table for table in left if variable not in table[0]]
        scope = {v for variables, _ in touching for v in variables} - {variable}
        axes = (*sorted(scope), variable)
        aligned_tables = [aligned(own, of, axes, n_leading) for of, own in touching]
        left.append((axes[:-1], sum_out(reduce(join, aligned_tables))))
    return left
