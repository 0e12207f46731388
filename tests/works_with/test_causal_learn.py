"""Graphs that causal-learn found, as structures."""

from __future__ import annotations

import pytest

from bayleaf import BayesianNetwork

WORKS_WITH = {
    "tool": "causal-learn",
    "tried": "0.1.4.8",
    "use": "`BayesianNetwork.from_edges(graph)`, where `graph` is what `pc` or `ges` "
    "returns as `G`, its arcs directed",
    "refused": "arcs without a direction, which are named",
}
pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore")
def test_a_graph_of_directed_arcs_is_read() -> None:
    reason = "needs causal-learn"
    graphs = pytest.importorskip("causallearn.graph.GeneralGraph", reason=reason)
    from causallearn.graph.GraphNode import GraphNode

    nodes = [GraphNode(name) for name in "abc"]
    graph = graphs.GeneralGraph(nodes)
    graph.add_directed_edge(nodes[0], nodes[1])
    graph.add_directed_edge(nodes[2], nodes[1])
    arcs = {("a", "b"), ("c", "b")}
    assert set(BayesianNetwork.from_edges(graph).edges) == arcs
