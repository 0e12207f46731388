"""Sets to adjust for: by the back-door, the complete or the front-door criterion.

Notes
-----
Pearl (1993; 2009, "Causality", section 3.3.1) for one treatment; several treatments and
the complete criterion are those of Shpitser, VanderWeele and Robins (2010) and
Perkovic, Textor, Kalisch and Maathuis (2018), turned into d-separation in the proper
back-door graph by van der Zander, Liskiewicz and Textor (2019).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import (
    Nodes,
    Separation,
    ancestors,
    descendants,
    reachable,
)


def without_arcs(dag: DAG, is_cut: Callable[[int, int], bool]) -> DAG:
    """The graph without the arcs (parent, child) of which a function says so."""
    return DAG(
        tuple(
            tuple(parent for parent in parents if not is_cut(parent, child))
            for child, parents in enumerate(dag.parents)
        )
    )


@dataclass(frozen=True)
class Adjustment:
    """The task to find sets that turn an effect into an average of conditionals."""

    dag: DAG
    treatments: Nodes
    outcomes: Nodes  # disjoint from the treatments
    excluded: Nodes = frozenset()  # latent nodes and others that no set may contain
    required: Nodes = frozenset()  # nodes that every set must contain
    is_complete: bool = False  # descendants of treatments where harmless

    @cached_property
    def causal(self) -> Nodes:
        """Nodes behind the first on directed paths that leave treatments for good."""
        into_cut = without_arcs(self.dag, lambda _, child: child in self.treatments)
        out_cut = without_arcs(self.dag, lambda parent, _: parent in self.treatments)
        below = descendants(into_cut, self.treatments) - self.treatments
        return frozenset(below & ancestors(out_cut, self.outcomes))

    @cached_property
    def graph(self) -> DAG:
        """The proper back-door graph: causal paths lack their first arc."""
        return without_arcs(
            self.dag, lambda p, child: p in self.treatments and child in self.causal
        )

    @cached_property
    def harmful(self) -> Nodes:
        """Nodes that must not be adjusted for, whatever else is."""
        ends = self.treatments | self.outcomes
        tops = self.causal if self.is_complete else self.treatments | self.causal
        return frozenset(descendants(self.dag, tops)) | ends

    @cached_property
    def separation(self) -> Separation | None:
        """What the sets must separate; None if a required node is not allowed."""
        allowed = frozenset(range(len(self.dag))) - self.harmful - self.excluded
        if not self.required <= allowed:
            return None
        return Separation(
            self.graph, self.treatments, self.outcomes, allowed, self.required
        )


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
