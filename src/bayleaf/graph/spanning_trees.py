"""Trees of largest weight that span a graph, undirected or directed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Parent and child of an arc.
Arc = tuple[int, int]


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


def maximum_arborescence(weights: NDArray[Any]) -> list[int]:
    """Parents in a directed tree of largest total weight, -1 for the root, node 0.

    `weights` (n_nodes, n_nodes) by child, then parent: floats, or integers of any size
    as objects. The diagonal and row 0 are ignored; an arc to avoid weighs less than all
    others together. Of equal parents the lowest is taken.

    Chu and Liu (1965), Edmonds (1967): each node takes its best arc; what closes a
    cycle becomes one node, whose arcs weigh what they would gain over the cycle's own.
    Arcs are followed from node to node until they reach what hangs on the root (Tarjan
    1977), in time by the square of the number of nodes.
    """
    tree = _Contractions(weights)
    for node in range(1, len(weights)):
        tree.hang(node)
    return tree.parents()


class _Contractions:
    """Groups of nodes that were made one, the newest last, and the best arc to each."""

    def __init__(self, weights: NDArray[Any]) -> None:
        self.n_nodes = len(weights)
        # By group: what arcs from each node gain, and the node at which they enter.
        self._gains = list(weights)
        self._enters = [np.full(self.n_nodes, v) for v in range(self.n_nodes)]
        self._arcs: dict[int, Arc] = {}
        # The group that each node is in now, and the one that a group became part of.
        self._group = np.arange(self.n_nodes)
        self._above: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._hanging = {0}

    def hang(self, node: int) -> None:
        """Follow best arcs from a node's group until they come to the root."""
        path = [int(self._group[node])]
        if path[0] in self._hanging:
            return
        while True:
            origin = self._best_arc(path[-1])
            if origin in self._hanging:
                self._hanging.update(path)
                return
            if origin in path:
                first = path.index(origin)
                path[first:] = [self._contract(path[first:])]
            else:
                path.append(origin)

    def parents(self) -> list[int]:
        """The parent of each node, once all hang on the root."""
        found = [-1] * self.n_nodes
        tops = [group for group in self._arcs if group not in self._above]
        waiting = [(group, self._arcs[group]) for group in tops]
        while waiting:
            group, arc = waiting.pop()
            if group < self.n_nodes:
                found[group] = arc[0]
                continue
            # The arc takes the place of the cycle's own where it enters.
            entered = arc[1]
            while self._above[entered] != group:
                entered = self._above[entered]
            waiting += [
                (own, arc if own == entered else self._arcs[own])
                for own in self._members[group]
            ]
        return found

    def _best_arc(self, group: int) -> int:
        """Note the best arc to a group; the group that it comes from."""
        outside = np.flatnonzero(self._group != group)
        parent = int(outside[np.argmax(self._gains[group][outside])])
        self._arcs[group] = parent, int(self._enters[group][parent])
        return int(self._group[parent])

    def _contract(self, cycle: list[int]) -> int:
        """Make one group of a cycle; its number."""
        new = len(self._gains)
        gains, enters = self._over_own_arc(cycle[0]), self._enters[cycle[0]].copy()
        for group in cycle[1:]:
            others = self._over_own_arc(group)
            better = np.asarray(others > gains, dtype=np.bool_)
            gains[better], enters[better] = others[better], self._enters[group][better]
        self._gains.append(gains)
        self._enters.append(enters)
        self._members[new] = cycle
        self._above.update(dict.fromkeys(cycle, new))
        self._group[np.isin(self._group, cycle)] = new
        return new

    def _over_own_arc(self, group: int) -> NDArray[Any]:
        """What arcs to a group gain over the one that it has."""
        own = self._arcs[group][0]
        return np.asarray(self._gains[group] - self._gains[group][own])
