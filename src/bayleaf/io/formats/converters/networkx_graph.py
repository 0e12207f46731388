"""Networks as networkx graphs, and back.

networkx is no requirement of this package; it is imported when asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.io.formats.converters import peer
from bayleaf.io.formats.full_tables import full_tables
from bayleaf.models.bayesian_network import BayesianNetwork, NetworkStructure
from bayleaf.models.network_structure import Name


def to_networkx(network: BayesianNetwork, *, tables: bool = True) -> Any:
    """Make a networkx.DiGraph whose nodes are the variables' names.

    Each node has the attributes "states" (tuple), "parents" (tuple of names in the
    order of the table's axes) and "cpd" (float64 array with an axis per parent, then
    one for the child), and where they are known "kind", "cut_points", "hierarchy" and
    "experience". Trees and value maps become their full tables. Files of GML and
    GraphML cannot contain attributes: without `tables` there are none.
    """
    if not tables:
        return structure_to_networkx(network)
    graph = _networkx().DiGraph()
    domain, cards = network.domain, network.domain.cards
    for variable, table in zip(domain, full_tables(network)):
        shape = tuple(cards[member] for member in (*table.parents, table.child))
        attributes: dict[str, Any] = {
            "states": variable.states,
            "parents": tuple(domain.names[parent] for parent in table.parents),
            "cpd": table.rows.reshape(shape),
        }
        # Ranks would be taken for numbers, so ordered categories are names alone.
        if variable.kind == "numeric" and variable.categories is None:
            attributes |= {"kind": "numeric", "cut_points": variable.cut_points}
        if variable.hierarchy is not None:
            attributes["hierarchy"] = variable.hierarchy
        if table.experience is not None:
            attributes["experience"] = table.experience
        graph.add_node(variable.name, **attributes)
    graph.add_edges_from(network.edges)
    return graph


def structure_to_networkx(structure: NetworkStructure | BayesianNetwork) -> Any:
    """Make a networkx graph of names and arcs."""
    graph = _networkx().DiGraph()
    graph.add_nodes_from(structure.names)
    graph.add_edges_from(structure.edges)
    return graph


def from_networkx(graph: Any) -> BayesianNetwork:
    """Make a network from a networkx.DiGraph with the attributes of `to_networkx`.

    "parents" may be left out where a node has one parent at most. TypeError or
    ValueError for another graph, or a node that lacks an attribute or does not fit the
    others.
    """
    networkx = _networkx()
    if not isinstance(graph, networkx.DiGraph) or graph.is_multigraph():
        raise TypeError(
            f"a network is made from a networkx.DiGraph, but a {type(graph).__name__} "
            "was given"
        )
    variables = [_variable(name, values) for name, values in graph.nodes.items()]
    network = BayesianNetwork.from_tables(
        states={variable.name: variable.states for variable in variables},
        parents={name: _parents(graph, name) for name in graph},
        tables={name: _attribute(graph, name, "cpd") for name in graph},
    )
    cpds = []
    for values, cpd in zip(graph.nodes.values(), network.cpds, strict=True):
        counts = values.get("experience")
        rows = None if counts is None else np.asarray(counts, dtype=np.float64)
        cpds.append(TableCPD(cpd.family, cpd.probabilities, rows))
    return replace(network, domain=Domain(tuple(variables)), cpds=tuple(cpds))


def _networkx() -> Any:
    """The module networkx."""
    return peer("networkx", "networkx", "graphs")


def _variable(name: Any, values: dict[str, Any]) -> Variable:
    """The variable that a node stands for."""
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise TypeError(
            f"node {name!r} is of the type {type(name).__name__}, but variables are "
            "called by text or integers; relabel the node"
        )
    if "states" not in values:
        raise _lacking(name, "states")
    return Variable(
        name,
        tuple(values["states"]),
        values.get("kind", "nominal"),
        tuple(values.get("cut_points", ())),
        values.get("hierarchy"),
    )


def _parents(graph: Any, name: Name) -> tuple[Name, ...]:
    """Parents of a node in the order of its table's axes."""
    above = tuple(graph.predecessors(name))
    if len(above) > 1 or "parents" in graph.nodes[name]:
        listed = tuple(_attribute(graph, name, "parents"))
        if len(listed) != len(above) or set(listed) != set(above):
            raise ValueError(
                f'the attribute "parents" of node {name!r} lists {list(listed)}, but '
                f"its arcs come from {list(above)}; make them agree"
            )
        return listed
    return above


def _attribute(graph: Any, name: Name, attribute: str) -> Any:
    """An attribute that a node must have."""
    values = graph.nodes[name]
    if attribute not in values:
        raise _lacking(name, attribute)
    return values[attribute]


def _lacking(name: Name, attribute: str) -> ValueError:
    """The error for a node without an attribute."""
    return ValueError(f'node {name!r} lacks the attribute "{attribute}"; set it')
