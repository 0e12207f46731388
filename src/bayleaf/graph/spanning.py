"""Spanning forests of largest weight, and their orientation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def maximum_spanning_forest(
    weights: NDArray[np.float64], above: float | None = None
) -> list[tuple[int, int]]:
    """Edges of a spanning forest of largest total weight (Prim 1957).

    `weights` (n_nodes, n_nodes) are symmetric; edges of weight `above` or less are left
    out. Edges have the lower node first and come heaviest first; ties take the lower
    pair, which makes the forest unique.
    """
    n_nodes = len(weights)
    limit = -np.inf if above is None else above
    nodes = np.arange(n_nodes)
    outside = np.ones(n_nodes, dtype=bool)
    # The best edge from the trees to each node outside: its weight, and its pair as
    # one number that orders pairs.
    best = np.full(n_nodes, -np.inf)
    pairs = np.zeros(n_nodes, dtype=np.int64)
    found: list[tuple[float, int]] = []
    for _ in range(n_nodes):
        strength = np.where(outside, best, -np.inf)
        heaviest = strength.max()
        if heaviest > limit:
            ties = np.flatnonzero(strength == heaviest)
            node = int(ties[np.argmin(pairs[ties])])
            found.append((-float(heaviest), int(pairs[node])))
        else:
            node = int(np.argmax(outside))
        outside[node] = False
        own = np.minimum(nodes, node) * n_nodes + np.maximum(nodes, node)
        better = (weights[node] > best) | ((weights[node] == best) & (own < pairs))
        best[better], pairs[better] = weights[node][better], own[better]
    return [divmod(pair, n_nodes) for _, pair in sorted(found)]


def rooted_parents(
    n_nodes: int, edges: Iterable[tuple[int, int]], roots: Sequence[int]
) -> list[tuple[int, ...]]:
    """Direct the edges of a forest away from each tree's first node in `roots`.

    `roots` lists all nodes, the preferred first.
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
