"""Sets of mediators by the front-door criterion.

Notes
-----
Pearl (1995; 2009, "Causality", section 3.3.2). Whether there is a set between two
bounds, and all sets, are found as by Jeong, Tian and Bareinboim (2022, "Finding and
listing front-door adjustment sets").
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from bayleaf.graph.adjustment import without_arcs
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import ancestors, descendants, reachable
from bayleaf.graph.separators import Nodes


@dataclass(frozen=True)
class FrontDoor:
    """The task to find sets through which all of an effect goes."""

    dag: DAG
    treatments: Nodes
    outcomes: Nodes  # disjoint from the treatments
    excluded: Nodes = frozenset()  # nodes that no set may contain
    required: Nodes = frozenset()  # nodes that every set must contain

    def is_solved_by(self, nodes: Nodes) -> bool:
        """Whether a set meets the three conditions and keeps to the bounds."""
        return (
            self.required <= nodes <= self._unconfounded
            and self._intercepts(nodes)
            and not nodes & self._with_back_doors(nodes)
        )

    @cached_property
    def largest(self) -> Nodes | None:
        """The set that holds all others; None if there is no set."""
        nodes = self._unconfounded
        # What is taken out opens back doors of others, never closes one.
        while True:
            harmful = nodes & self._with_back_doors(nodes)
            if not harmful:
                break
            nodes -= harmful
        valid = self.required <= nodes and self._intercepts(nodes)
        return nodes if valid else None

    def sets(self) -> Iterator[Nodes]:
        """All sets, by including and leaving out one node at a time."""
        waiting = [self]
        while waiting:
            task = waiting.pop()
            largest = task.largest
            if largest is None:
                continue
            open_nodes = largest - task.required
            if not open_nodes:
                yield largest
                continue
            node = frozenset({min(open_nodes)})
            waiting.append(replace(task, required=task.required | node))
            waiting.append(replace(task, excluded=task.excluded | node))

    def minimal_sets(self) -> Iterator[Nodes]:
        """All sets that hold no other within the bounds.

        One is found; every other lacks one of its nodes, so each is excluded in turn.
        They are made of ancestors of the outcomes: all others can be left out, as they
        are on no directed path and shield none that is.
        """
        everything = frozenset(range(len(self.dag)))
        useless = everything - ancestors(self.dag, self.outcomes) - self.required
        start = self.excluded | useless
        waiting, met = deque([start]), {start}
        found: set[Nodes] = set()
        while waiting:
            excluded = waiting.popleft()
            nodes = replace(self, excluded=excluded)._minimal_set()
            if nodes is None:
                continue
            if nodes not in found:
                found.add(nodes)
                yield nodes
            narrower = [excluded | {node} for node in sorted(nodes - self.required)]
            waiting.extend(one for one in narrower if one not in met)
            met.update(narrower)

    def _minimal_set(self) -> Nodes | None:
        """One set that holds no other; None if there is no set.

        Whatever holds a set goes on to do so when it grows, so that nodes are dropped
        in ever smaller groups as long as a set is left.
        """
        nodes = self.largest
        if nodes is None:
            return None
        everything = frozenset(range(len(self.dag)))
        size = max(1, len(nodes) // 2)
        while True:
            listed = sorted(nodes - self.required)
            for first in range(0, len(listed), size):
                rest = nodes - frozenset(listed[first : first + size])
                left = replace(self, excluded=everything - rest).largest
                nodes = nodes if left is None else left
            if size == 1:
                return nodes
            size //= 2

    @cached_property
    def _unconfounded(self) -> Nodes:
        """Nodes that may be in a set and have no open back door to the treatments."""
        ends = self.treatments | self.outcomes
        out_cut = without_arcs(self.dag, lambda parent, _: parent in self.treatments)
        confounded = reachable(out_cut, self.treatments, ())
        return frozenset(range(len(self.dag))) - confounded - ends - self.excluded

    def _intercepts(self, nodes: Nodes) -> bool:
        """Whether every directed path from the treatments to the outcomes is cut."""
        cut = without_arcs(self.dag, lambda _, child: child in nodes)
        return not descendants(cut, self.treatments) & self.outcomes

    def _with_back_doors(self, nodes: Nodes) -> set[int]:
        """Nodes that treatments do not separate from the outcomes by their back doors.

        Back doors are those that are left once arrows out of a set are cut.
        """
        cut = without_arcs(self.dag, lambda parent, _: parent in nodes)
        return reachable(cut, self.outcomes, self.treatments)
