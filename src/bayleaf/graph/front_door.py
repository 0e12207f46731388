"""Sets of mediators by the front-door criterion.

Notes
-----
Pearl (1995; 2009, "Causality", section 3.3.2). Whether there is a set between two
bounds, and all sets, are found as by Jeong, Tian and Bareinboim (2022, "Finding and
listing front-door adjustment sets").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from bayleaf.graph.adjustment import without_arcs
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import d_separated, descendants
from bayleaf.graph.separators import Nodes


@dataclass(frozen=True)
class FrontDoor:
    """The task to find sets through which all of an effect goes.

    Parameters
    ----------
    dag : DAG
    treatments, outcomes : frozenset of int
        Nodes without a common one.
    excluded : frozenset of int
        Nodes that no set may hold.
    required : frozenset of int
        Nodes that every set must hold.
    """

    dag: DAG
    treatments: Nodes
    outcomes: Nodes
    excluded: Nodes = frozenset()
    required: Nodes = frozenset()

    def is_solved_by(self, nodes: Nodes) -> bool:
        """Whether a set meets the three conditions and keeps to the bounds."""
        return (
            self.required <= nodes <= self._unconfounded
            and self._intercepts(nodes)
            and all(self._is_shielded(node, nodes) for node in nodes)
        )

    @cached_property
    def largest(self) -> Nodes | None:
        """The set that holds all others; None if there is no set."""
        nodes = self._unconfounded
        # What is taken out opens back doors of others, never closes one.
        while True:
            shielded = frozenset(v for v in nodes if self._is_shielded(v, nodes))
            if shielded == nodes:
                break
            nodes = shielded
        valid = self.required <= nodes and self._intercepts(nodes)
        return nodes if valid else None

    def sets(self) -> Iterator[Nodes]:
        """All sets, by including and leaving out one node at a time."""
        yield from self._sets(minimal=False)

    def minimal_sets(self) -> Iterator[Nodes]:
        """All sets that hold no other within the bounds."""
        yield from self._sets(minimal=True)

    def _sets(self, *, minimal: bool) -> Iterator[Nodes]:
        """Sets between ever closer bounds."""
        waiting = [self]
        while waiting:
            task = waiting.pop()
            largest = task.largest
            if largest is None:
                continue
            if minimal and self._holds_another(task.required):
                continue
            open_nodes = largest - task.required
            if not open_nodes:
                yield largest
                continue
            node = frozenset({min(open_nodes)})
            waiting.append(replace(task, required=task.required | node))
            waiting.append(replace(task, excluded=task.excluded | node))

    def _holds_another(self, nodes: Nodes) -> bool:
        """Whether one of the sets is a proper subset."""
        everything = frozenset(range(len(self.dag)))
        return any(
            replace(self, excluded=everything - (nodes - {node})).largest is not None
            for node in nodes - self.required
        )

    @cached_property
    def _unconfounded(self) -> Nodes:
        """Nodes that may be in a set and have no open back door to the treatments."""
        ends = self.treatments | self.outcomes
        out_cut = without_arcs(self.dag, lambda parent, _: parent in self.treatments)
        return frozenset(
            node
            for node in range(len(self.dag))
            if node not in ends | self.excluded
            and d_separated(out_cut, self.treatments, [node], ())
        )

    def _intercepts(self, nodes: Nodes) -> bool:
        """Whether every directed path from the treatments to the outcomes is cut."""
        cut = without_arcs(self.dag, lambda _, child: child in nodes)
        return not descendants(cut, self.treatments) & self.outcomes

    def _is_shielded(self, node: int, nodes: Nodes) -> bool:
        """Whether treatments block a node's back doors to the outcomes."""
        cut = without_arcs(self.dag, lambda parent, _: parent in nodes)
        return d_separated(cut, [node], self.outcomes, self.treatments)
