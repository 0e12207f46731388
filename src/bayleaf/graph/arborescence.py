"""Directed trees of largest weight, where arcs have a direction (Edmonds 1967)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.intp]


def maximum_arborescence(weights: NDArray[Any]) -> list[int]:
    """The parent of each node in a directed tree of largest total weight.

    Parameters
    ----------
    weights : ndarray of shape (n_nodes, n_nodes)
        By child, then parent: numbers, or whole numbers of any size as objects. An arc
        that is not to be used weighs less than all others together. Node 0 is the root;
        what arcs to it and from a node to itself weigh is not looked at.

    Returns
    -------
    list of int
        -1 for the root. Among trees of equal weight the choice depends on nothing but
        the weights: each node, and each cycle in the place of a node, takes the lowest
        of equal parents.

    Notes
    -----
    Chu and Liu (1965), Edmonds (1967): each node takes its best arc; what closes a
    cycle becomes one node, whose arcs weigh what they would gain over the cycle's own.
    All cycles of a round are taken together. A round takes time by the square of the
    nodes that are left.
    """
    n_nodes = len(weights)
    best = np.full(n_nodes, -1, dtype=np.intp)
    if n_nodes < 2:
        return best.tolist()
    inner = ~np.eye(n_nodes, dtype=np.bool_)
    inner[0] = False
    for child in range(1, n_nodes):
        others = np.flatnonzero(inner[child])
        best[child] = others[int(np.argmax(weights[child, others]))]
    group = _contracted(best)
    n_groups = int(group.max()) + 1
    if n_groups == n_nodes:
        return best.tolist()
    gains, arcs = _between_groups(weights, best, group, n_groups)
    for own, parent in enumerate(maximum_arborescence(gains)):
        if parent >= 0:
            child, origin = arcs[own, parent]
            best[child] = origin
    return best.tolist()


def _contracted(best: Whole) -> Whole:
    """Number of each node's group: those on one cycle share it; the root has 0."""
    n_nodes = len(best)
    group = np.full(n_nodes, -1, dtype=np.intp)
    seen_from = np.full(n_nodes, -1, dtype=np.intp)
    on_cycle: dict[int, list[int]] = {}
    for start in range(n_nodes):
        node = start
        while node >= 0 and seen_from[node] < 0:
            seen_from[node] = start
            node = int(best[node])
        if node >= 0 and seen_from[node] == start:
            cycle = [node]
            while best[cycle[-1]] != node:
                cycle.append(int(best[cycle[-1]]))
            on_cycle.update(dict.fromkeys(cycle, cycle))
    n_groups = 0
    for node in range(n_nodes):
        if group[node] < 0:
            group[on_cycle.get(node, [node])] = n_groups
            n_groups += 1
    return group


def _between_groups(
    weights: NDArray[Any], best: Whole, group: Whole, n_groups: int
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """What the best arc between two groups gains, and its (child, parent).

    By child's group, then parent's: shapes (n_groups, n_groups) and with two more.
    """
    members = [np.flatnonzero(group == own) for own in range(n_groups)]
    sizes = np.bincount(group, minlength=n_groups)
    gains = np.zeros((n_groups, n_groups), dtype=weights.dtype)
    arcs = np.zeros((n_groups, n_groups, 2), dtype=np.intp)
    # The best of the parents in each group, for each child.
    by_parent = np.zeros((len(weights), n_groups), dtype=weights.dtype)
    origins = np.zeros((len(weights), n_groups), dtype=np.intp)
    for own, inside in enumerate(members):
        block = weights[:, inside]
        places = block.argmax(axis=1)
        by_parent[:, own] = block[np.arange(len(weights)), places]
        origins[:, own] = inside[places]
    for own, inside in enumerate(members):
        block = by_parent[inside]
        if sizes[own] > 1:
            # An arc into a cycle takes the place of the cycle's own into that node.
            block = block - weights[inside, best[inside]][:, None]
        places = block.argmax(axis=0)
        gains[own] = block[places, np.arange(n_groups)]
        arcs[own, :, 0] = inside[places]
        arcs[own, :, 1] = origins[inside[places], np.arange(n_groups)]
    return gains, arcs
