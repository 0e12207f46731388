"""Graphs of igraph as structures."""

from __future__ import annotations

import pytest

from bayleaf import BayesianNetwork

WORKS_WITH = {
    "tool": "igraph",
    "tried": "1.0.0",
    "use": "`BayesianNetwork.from_edges(graph)`",
    "refused": "undirected graphs",
}
pytestmark = pytest.mark.slow


def test_a_directed_graph_is_read() -> None:
    igraph = pytest.importorskip("igraph", reason="needs igraph")
    arcs = [("a", "b"), ("b", "c")]
    graph = igraph.Graph.TupleList(arcs, directed=True)
    assert BayesianNetwork.from_edges(graph).edges == arcs
    assert BayesianNetwork.from_edges(igraph.Graph([(0, 1)], directed=True)).names
    with pytest.raises(TypeError, match="has no directions"):
        BayesianNetwork.from_edges(igraph.Graph.TupleList(arcs))
