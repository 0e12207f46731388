"""Layers of a graph: children below parents, arcs as short as can be in sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

Arc = tuple[int, int]


def acyclic(n_nodes: int, arcs: Iterable[Arc]) -> list[Arc]:
    """The arcs, most important first, without those that close a cycle."""
    children: list[set[int]] = [set() for _ in range(n_nodes)]
    kept = []
    for parent, child in arcs:
        if not _reaches(children, child, parent):
            children[parent].add(child)
            kept.append((parent, child))
    return kept


def _reaches(children: Sequence[set[int]], start: int, end: int) -> bool:
    """Whether a way leads from one node to another."""
    waiting, seen = [start], {start}
    while waiting:
        node = waiting.pop()
        if node == end:
            return True
        waiting += children[node] - seen
        seen |= children[node]
    return False


def layers_of(n_nodes: int, arcs: Sequence[Arc]) -> NDArray[np.int64]:
    """The layer of each node, from 0 downwards; children lie below their parents.

    The sum of all arcs' lengths is least, a linear programme whose corners are integers
    (Gansner, Koutsofios, North and Vo 1993, section 2.2).
    """
    if not arcs:
        return np.zeros(n_nodes, dtype=np.int64)
    ends = np.array(arcs)
    rows = np.arange(len(ends))
    # parent - child <= -1
    values = np.concatenate([np.ones(len(ends)), -np.ones(len(ends))])
    places = np.concatenate([rows, rows]), np.concatenate([ends[:, 0], ends[:, 1]])
    above: Any = coo_array((values, places), shape=(len(ends), n_nodes)).tocsr()
    costs = np.bincount(ends[:, 1], minlength=n_nodes) - np.bincount(
        ends[:, 0], minlength=n_nodes
    )
    found: Any = linprog(
        costs,
        A_ub=above,
        b_ub=-np.ones(len(ends)),
        bounds=(0, n_nodes),
        method="highs-ds",
    )
    layers = np.round(found.x).astype(np.int64)
    return np.asarray(layers - layers.min())
