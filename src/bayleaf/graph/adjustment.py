"""Sets to adjust for: by the back-door criterion, or the complete one.

Notes
-----
Pearl (1993; 2009, "Causality", section 3.3.1) for one treatment; several treatments and
the complete criterion are those of Shpitser, VanderWeele and Robins (2010) and
Perkovic, Textor, Kalisch and Maathuis (2018), turned into d-separation in the proper
back-door graph by van der Zander, Liskiewicz and Textor (2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import ancestors, descendants
from bayleaf.graph.separators import Nodes, Separation


def without_arcs(dag: DAG, is_cut: Callable[[int, int], bool]) -> DAG:
    """The graph without the arcs (parent, child) of which a function says so."""
    return DAG(
        tuple(
            tuple(parent for parent in parents if not is_cut(parent, child))
            for child, parents in enumerate(dag.parents)
        )
    )


def proper_causal_nodes(dag: DAG, treatments: Nodes, outcomes: Nodes) -> Nodes:
    """Nodes behind the first on directed paths that leave the treatments for good."""
    into_cut = without_arcs(dag, lambda _, child: child in treatments)
    out_cut = without_arcs(dag, lambda parent, _: parent in treatments)
    below = descendants(into_cut, treatments) - treatments
    return frozenset(below & ancestors(out_cut, outcomes))


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
        """Nodes on proper causal paths, the treatments left out."""
        return proper_causal_nodes(self.dag, self.treatments, self.outcomes)

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
