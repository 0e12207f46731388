"""Graphs of other libraries, known by their attributes, as names and arcs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayleaf.models.texts.graph_text import DrawnGraph, with_common_causes
from bayleaf.wording import name_list

_NO_DIRECTIONS = (
    "the graph has no directions; give a directed one, such as a networkx.DiGraph"
)


def foreign_graph(graph: Any) -> DrawnGraph | None:
    """A graph of igraph or causal-learn, or an essential graph; None for others.

    TypeError or ValueError if it has no directions, or some of its arcs lack them.
    """
    graph = getattr(graph, "G", graph)
    if hasattr(graph, "vs") and hasattr(graph, "es"):
        return _of_igraph(graph)
    if hasattr(graph, "get_graph_edges") and hasattr(graph, "get_nodes"):
        return _of_causal_learn(graph)
    if hasattr(graph, "directed") and hasattr(graph, "undirected"):
        _check_directions(graph.undirected)
        return DrawnGraph(dict.fromkeys(graph.names), list(graph.directed))
    return None


def _check_directions(undirected: Iterable[tuple[Any, Any]]) -> None:
    """ValueError if there are arcs without a direction."""
    links = [f"{a} - {b}" for a, b in undirected]
    if links:
        raise ValueError(
            f"arcs without a direction ({name_list(links)}), as in a CPDAG, need one: "
            "give each as an arc from parent to child"
        )


def _of_igraph(graph: Any) -> DrawnGraph:
    """Names and arcs of an igraph.Graph; vertices without names are numbers."""
    if not graph.is_directed():
        raise TypeError(_NO_DIRECTIONS)
    has_names = "name" in graph.vs.attributes()
    names: Any = graph.vs["name"] if has_names else range(graph.vcount())
    arcs = [(names[edge.source], names[edge.target]) for edge in graph.es]
    return DrawnGraph(dict.fromkeys(names), arcs)


def _of_causal_learn(graph: Any) -> DrawnGraph:
    """Names and arcs of a causal-learn graph, a latent variable for each ``<->``."""
    drawn = DrawnGraph({node.get_name(): None for node in graph.get_nodes()})
    open_links = []
    for edge in graph.get_graph_edges():
        first, second = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends = edge.get_endpoint1().name, edge.get_endpoint2().name
        if ends == ("ARROW", "ARROW"):
            drawn.common_causes.append((first, second))
        elif ends == ("TAIL", "ARROW"):
            drawn.arcs.append((first, second))
        elif ends == ("ARROW", "TAIL"):
            drawn.arcs.append((second, first))
        else:
            open_links.append((first, second))
    _check_directions(open_links)
    return with_common_causes(drawn)
