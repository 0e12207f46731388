"""Directed acyclic graphs over variables that are known by their index."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bayleaf.results.result import Shown
from bayleaf.wording import brief, brief_names, counted, name_list


class CycleError(ValueError):
    """Arcs close a cycle; `nodes` are those on it and those that only it leads to."""

    def __init__(self, nodes: Sequence[int]) -> None:
        super().__init__(f"the arcs close a cycle among nodes {name_list(nodes)}")
        self.nodes = tuple(nodes)


@dataclass(frozen=True)
class DAG(Shown):
    """A directed acyclic graph as the tuple of each node's parents.

    `order` is topological, the lowest index first among ready nodes. ValueError if a
    parent does not exist or is listed twice; CycleError if the arcs close a cycle.
    """

    parents: tuple[tuple[int, ...], ...]  # by node, in the order of its CPD's axes
    order: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        n_nodes = len(self.parents)
        for node, parents in enumerate(self.parents):
            if len(set(parents)) != len(parents):
                raise ValueError(f"node {node} lists a parent twice")
            if any(not 0 <= parent < n_nodes for parent in parents):
                raise ValueError(
                    f"node {node} has a parent outside 0..{n_nodes - 1}: {parents}"
                )
        object.__setattr__(self, "order", self._topological_order())

    @classmethod
    def from_arcs(cls, n_nodes: int, arcs: Iterable[tuple[int, int]]) -> DAG:
        """Build the graph from (parent, child) pairs, parents in the given order."""
        parents: list[list[int]] = [[] for _ in range(n_nodes)]
        for parent, child in arcs:
            parents[child].append(parent)
        return cls(tuple(tuple(nodes) for nodes in parents))

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def arcs(self) -> Iterator[tuple[int, int]]:
        """All (parent, child) pairs, by child."""
        for child, parents in enumerate(self.parents):
            for parent in parents:
                yield parent, child

    @property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """Each node with its parents before it: the axes of its counts."""
        return tuple((*parents, node) for node, parents in enumerate(self.parents))

    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in increasing order."""
        children: list[list[int]] = [[] for _ in self.parents]
        for parent, child in self.arcs:
            children[parent].append(child)
        return tuple(tuple(sorted(nodes)) for nodes in children)

    def _topological_order(self) -> tuple[int, ...]:
        """Order in which every node stands after its parents."""
        n_open = [len(parents) for parents in self.parents]
        children = self.children()
        ready = [node for node, count in enumerate(n_open) if count == 0]
        order: list[int] = []
        while ready:
            node = heapq.heappop(ready)
            order.append(node)
            for child in children[node]:
                n_open[child] -= 1
                if n_open[child] == 0:
                    heapq.heappush(ready, child)
        if len(order) < len(self.parents):
            on_cycle = [node for node, count in enumerate(n_open) if count > 0]
            raise CycleError(on_cycle)
        return tuple(order)

    def __repr__(self) -> str:
        arcs = [f"{parent} -> {child}" for parent, child in self.arcs]
        shown = f" ({brief_names(arcs)})" if arcs else ""
        return brief(
            self, counted(len(self), "node"), counted(len(arcs), "arc") + shown
        )
