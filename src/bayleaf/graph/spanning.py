"""Spanning forests of largest weight, and their orientation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def maximum_spanning_forest(
    weights: NDArray[np.float64], above: float | None = None
) -> list[tuple[int, int]]:
    """Edges of a spanning forest of largest total weight (Kruskal 1956).

    Parameters
    ----------
    weights : ndarray of shape (n_nodes, n_nodes)
        Symmetric edge weights.
    above : float, optional
        Edges of this weight or less are left out.

    Returns
    -------
    list of (int, int)
        Edges with the lower node first. Among equal weights the lower pair is taken.
    """
    n_nodes = len(weights)
    first, second = np.triu_indices(n_nodes, 1)
    values = weights[first, second]
    if above is not None:
        kept = values > above
        first, second, values = first[kept], second[kept], values[kept]
    root = list(range(n_nodes))

    def find(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    edges: list[tuple[int, int]] = []
    # The pairs stand in lexicographic order, which a stable sort keeps among ties.
    for position in np.argsort(-values, kind="stable"):
        one, other = int(first[position]), int(second[position])
        one_root, other_root = find(one), find(other)
        if one_root != other_root:
            root[one_root] = other_root
            edges.append((one, other))
            if len(edges) == n_nodes - 1:
                break
    return edges


def rooted_parents(
    n_nodes: int, edges: Iterable[tuple[int, int]], roots: Sequence[int]
) -> list[tuple[int, ...]]:
    """Direct the edges of a forest away from each tree's first node in `roots`.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : iterable of (int, int)
        Edges of a forest.
    roots : sequence of int
        All nodes, the preferred roots first.

    Returns
    -------
    list of tuple of int
        The parent of each node, or none.
    """
    neighbours: list[list[int]] = [[] for _ in range(n_nodes)]
    for one, other in edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    parents: dict[int, tuple[int, ...]] = {}
    for root in roots:
        if root in parents:
            continue
        parents[root] = ()
        stack = [root]
        while stack:
            node = stack.pop()
            below = [other for other in neighbours[node] if other not in parents]
            parents.update((other, (node,)) for other in below)
            stack += below
    return [parents.get(node, ()) for node in range(n_nodes)]
