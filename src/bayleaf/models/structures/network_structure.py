"""The graph of a network before it has tables: drawn by hand, or learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.interventions.questions import CausalQuestions
from bayleaf.models.handed_over import HandedOverStructure
from bayleaf.models.network_parts import Name, dag_of, position_of, variable_of
from bayleaf.models.structures.edges import read_edges
from bayleaf.models.structures.named_graph import NamedGraph
from bayleaf.models.texts.html_summary import arc_text, facts_html
from bayleaf.models.texts.picture import FEATURE
from bayleaf.results.figures import network_html
from bayleaf.wording import brief, brief_names, counted, name_list, quoted, shown_name


@dataclass(frozen=True, repr=False)
class NetworkStructure(NamedGraph, CausalQuestions, HandedOverStructure):
    """A directed acyclic graph over named variables; `fit` gives it tables.

    Parameters
    ----------
    names : tuple of str or int
        The variables.
    dag : DAG
        Parents of each, by index.
    variables : tuple of Variable or None, default=()
        The states of each variable where they are given; `fit` finds out the others.
        Empty if none are.

    Raises
    ------
    ValueError
        If there are no variables, two share a name, or their numbers differ.

    Examples
    --------
    >>> structure = NetworkStructure.from_edges([("rain", "wet"), ("hose", "wet")])
    >>> structure.markov_blanket("rain")
    ('wet', 'hose')
    >>> structure.d_separated("rain", "hose", given="wet")
    False
    """

    names: tuple[Name, ...]
    dag: DAG
    variables: tuple[Variable | None, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError(
                "a structure needs at least one variable; give edges, or nodes="
            )
        if len(set(self.names)) != len(self.names):
            twice = sorted({str(n) for n in self.names if self.names.count(n) > 1})
            raise ValueError(f"two variables are called {name_list(twice)}")
        if not self.variables:
            object.__setattr__(self, "variables", (None,) * len(self.names))
        if not len(self.names) == len(self.dag) == len(self.variables):
            raise ValueError(
                f"{len(self.names)} names, {len(self.dag)} nodes and "
                f"{len(self.variables)} variables do not fit; give one of each"
            )

    @classmethod
    def from_edges(
        cls,
        edges: Any,
        nodes: Iterable[Name] | None = None,
        states: Mapping[Name, Any] | Domain | None = None,
    ) -> NetworkStructure:
        """Draw a graph by its arcs; see `BayesianNetwork.from_edges`."""
        names, parents = read_edges(edges, nodes)
        structure = cls(tuple(names), dag_of(names, parents))
        own = getattr(edges, "domain", None)
        if own is not None:
            structure = structure.with_states(own)
        elif isinstance(edges, NetworkStructure):
            known = zip(edges.names, edges.variables, strict=True)
            structure = structure.with_states({n: v for n, v in known if v})
        return structure if states is None else structure.with_states(states)

    def with_states(self, states: Mapping[Name, Any] | Domain) -> NetworkStructure:
        """Return the same graph with the states of some variables given.

        Parameters
        ----------
        states : mapping of name to states or Variable, or Domain
            As for `BayesianNetwork.from_tables`; those given before stay.

        Raises
        ------
        ValueError
            If there is no such variable, or the states are none.
        TypeError
            If it is no mapping.
        """
        if isinstance(states, Domain):
            states = {variable.name: variable for variable in states}
        if not isinstance(states, Mapping):
            raise TypeError(
                "states must be a mapping from names of variables, got "
                f"{type(states).__name__}"
            )
        variables = list(self.variables)
        for name, own in states.items():
            place = position_of(self.names, name, "states are given for")
            variables[place] = variable_of(name, own)
        return NetworkStructure(self.names, self.dag, tuple(variables))

    @property
    def _node_names(self) -> tuple[Name, ...]:
        return self.names

    @property
    def arcs(self) -> Iterator[tuple[int, int]]:
        """All arcs as (parent, child) pairs of indices, as `DAG` has them."""
        return self.dag.arcs

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Indices of each variable's parents, as `DAG` has them."""
        return self.dag.parents

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        arcs = [f"{parent} -> {child}" for parent, child in self.edges]
        shown = f" ({brief_names(arcs)})" if arcs else ""
        return brief(
            self,
            f"{counted(len(self), 'variable')} ({brief_names(self.names)})",
            counted(len(arcs), "arc") + shown,
            "no tables yet; fit(table) learns them",
        )

    def __str__(self) -> str:
        lines = []
        for name, above in zip(self.names, self.dag.parents, strict=True):
            given = ", ".join(shown_name(self.names[parent]) for parent in above)
            lines.append(f"  {shown_name(name)}" + (f" <- {given}" if given else ""))
        n_arcs = counted(len(self.edges), "arc")
        head = f"Network structure of {counted(len(self), 'variable')} and {n_arcs}"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        arcs = [(parent, child, None) for parent, child in self.dag.arcs]
        facts = [("variables", len(self)), ("arcs", len(arcs)), ("tables", "none yet")]
        known = [
            f"{quoted(variable.name)}: {name_list(variable.states, limit=6)}"
            for variable in self.variables
            if variable is not None
        ]
        lists = [("given states", known), ("arcs", [arc_text(*e) for e in self.edges])]
        drawing = network_html(self.names, [FEATURE] * len(self), arcs)
        return facts_html("Network structure", facts, lists, drawing)
