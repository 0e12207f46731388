"""The graph of a network before it has tables: drawn by hand, or learned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import d_separated, markov_blanket
from bayleaf.inference.interventions.causal_questions import CausalQuestions
from bayleaf.models.handed_over import HandedOverStructure
from bayleaf.models.network_parts import Name, dag_of, position_of, variable_of
from bayleaf.models.texts.html_summary import arc_text, facts_html
from bayleaf.models.texts.picture import FEATURE
from bayleaf.pictures.notebook import network_html
from bayleaf.wording import (
    brief,
    brief_names,
    counted,
    name_list,
    plain,
    quoted,
    shown_name,
)

_ARROW = re.compile(r"(->|<-|→|←)")
_FORMS = (
    "(parent, child) pairs of names, a text such as 'a -> b; b -> c', a mapping from "
    "children to their parents, or a directed graph"
)


def read_edges(
    edges: Any, nodes: Iterable[Name] | None = None
) -> tuple[list[Name], dict[Name, list[Name]]]:
    """Take a graph apart into names, `nodes` first, and the parents of each.

    Edges are pairs, text, a mapping, a graph of networkx, a DAG or a network; names and
    parents come in their order. ValueError if a DAG has another number of nodes than
    there are names; TypeError if the edges have none of these forms, or a name is
    neither text nor an integer.
    """
    if isinstance(nodes, str) or not isinstance(nodes, Iterable | None):
        raise TypeError(f"nodes must be a list of names, got {quoted(nodes)}")
    given = list(nodes or ())
    if isinstance(edges, DAG):
        return _of_dag(edges, given)
    names: dict[Name, None] = dict.fromkeys(map(_checked, given))
    names.update(dict.fromkeys(map(_checked, _own_nodes(edges))))
    parents: dict[Name, list[Name]] = {}
    for parent, child in _pairs(edges):
        names.setdefault(_checked(parent))
        names.setdefault(_checked(child))
        parents.setdefault(child, []).append(parent)
    return list(names), parents


def _of_dag(dag: DAG, names: list[Name]) -> tuple[list[Name], dict[Name, list[Name]]]:
    """Names and parents of a graph over indices."""
    if len(names) != len(dag):
        raise ValueError(
            f"a DAG of {counted(len(dag), 'node')} needs as many names, but nodes= "
            f"has {len(names)}"
        )
    parents = zip(names, dag.parents, strict=True)
    return names, {name: [names[p] for p in own] for name, own in parents}


def _own_nodes(edges: Any) -> Sequence[Name]:
    """The nodes of a graph that knows its own; none for other forms."""
    if isinstance(edges, Mapping):
        return list(edges)
    if _is_graph(edges):
        return list(edges.nodes)
    own = getattr(edges, "domain", edges)
    return getattr(own, "names", ())


def _is_graph(edges: Any) -> bool:
    """Whether arcs come as a graph of networkx, or of what is built on it."""
    if not (hasattr(edges, "nodes") and hasattr(edges, "is_directed")):
        return False
    if not edges.is_directed():
        raise TypeError(
            "the graph has no directions; give a directed one, such as a "
            "networkx.DiGraph"
        )
    return True


def _pairs(edges: Any) -> Iterator[tuple[Name, Name]]:
    """All arcs as pairs of parent and child."""
    if isinstance(edges, str):
        yield from _of_text(edges)
        return
    if isinstance(edges, Mapping):
        for child, parents in edges.items():
            listed = [parents] if isinstance(parents, str | int) else parents
            if not isinstance(listed, Iterable):
                raise TypeError(
                    f"the parents of {quoted(child)} must be a list, got "
                    f"{quoted(listed)}"
                )
            yield from ((parent, child) for parent in listed)
        return
    listed = getattr(edges, "edges", edges)
    if callable(listed) and not isinstance(listed, Iterable):
        listed = listed()
    if not isinstance(listed, Iterable):
        raise TypeError(f"edges must be {_FORMS}, got {quoted(edges)}")
    for edge in listed:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise TypeError(f"edges must be {_FORMS}, but one is {quoted(edge)}")
        yield edge[0], edge[1]


def _of_text(text: str) -> Iterator[tuple[str, str]]:
    """The arcs of chains such as ``a -> b <- c; d -> b``."""
    for chain in re.split(r"[;\n]", text):
        if not chain.strip():
            continue
        names = [part.strip() for part in _ARROW.split(chain)]
        if not all(names) or len(names) == 1:
            raise ValueError(
                f"{quoted(plain(chain.strip(), 60))} names no arc; write arcs as "
                "'a -> b' or 'a -> b <- c', with ; between chains"
            )
        for (first, second), arrow in zip(pairwise(names[::2]), names[1::2]):
            yield (first, second) if arrow in ("->", "→") else (second, first)


def _checked(name: Any) -> Name:
    """A name, once it is text or an integer."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(
            f"a variable's name must be text or an integer, got {quoted(name)}"
        )
    return name


class NamedGraph:
    """Arcs, Markov blankets and separation of variables with names.

    A class that stands on it has `dag`, and says how its nodes are called.
    """

    dag: DAG

    @property
    def _node_names(self) -> tuple[Name, ...]:
        """Names of all variables, in the order of the graph's nodes."""
        raise NotImplementedError

    @property
    def edges(self) -> list[tuple[Name, Name]]:
        """All arcs as (parent, child) pairs of names, by child."""
        names = self._node_names
        return [(names[parent], names[child]) for parent, child in self.dag.arcs]

    def position(self, name: Name) -> int:
        """Index of a variable, by its name or else by its index.

        Raises
        ------
        ValueError
            If there is no such variable, naming near ones.
        """
        names = self._node_names
        # A variable may be called by a number, which then is no index.
        is_index = isinstance(name, int) and name in range(len(names))
        if is_index and name not in names:
            return int(name)
        return position_of(names, name, "the network is asked for")

    def markov_blanket(self, name: Name) -> tuple[Name, ...]:
        """Parents, children and children's other parents, in the variables' order.

        Given them, the variable is independent of all others.
        """
        blanket = markov_blanket(self.dag, self.position(name))
        names = self._node_names
        return tuple(names[node] for node in sorted(blanket))

    def d_separated(
        self,
        first: Name | Iterable[Name],
        second: Name | Iterable[Name],
        given: Name | Iterable[Name] = (),
    ) -> bool:
        """Whether the graph says that two sets are independent given a third.

        Parameters
        ----------
        first, second, given : name, or iterable of names
            Variables; `given` are observed.
        """
        return d_separated(
            self.dag,
            self._positions(first),
            self._positions(second),
            self._positions(given),
        )

    def _positions(self, names: Any) -> Sequence[int]:
        """Indices of one name or several."""
        if isinstance(names, str | int):
            names = [names]
        if not isinstance(names, Iterable):
            raise TypeError(f"variables must be a name or several, got {quoted(names)}")
        return [self.position(name) for name in names]


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
