"""All trees over a few nodes, by the codes that Pruefer (1918) gave them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

Edges = frozenset[tuple[int, int]]


def all_trees(n_nodes: int) -> Iterator[Edges]:
    """Every tree over ``n_nodes >= 3`` nodes, edges with the lower node first."""
    for code in itertools.product(range(n_nodes), repeat=n_nodes - 2):
        degree = [1 + code.count(node) for node in range(n_nodes)]
        edges = []
        for node in code:
            leaf = degree.index(1)
            edges.append((min(leaf, node), max(leaf, node)))
            degree[leaf] -= 1
            degree[node] -= 1
        last, other = (node for node in range(n_nodes) if degree[node] == 1)
        edges.append((last, other))
        yield frozenset(edges)
