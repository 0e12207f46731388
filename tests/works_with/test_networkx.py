"""Graphs of networkx, and the files and JSON that it writes."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from bayleaf import BayesianNetwork
from bayleaf.datasets import load_network

WORKS_WITH = {
    "tool": "networkx",
    "tried": "3.6.1",
    "use": "`network.to_networkx()`, `BayesianNetwork.from_networkx(graph)`; for GML, "
    "GraphML and JSON `network.to_networkx(tables=False)`, "
    "`BayesianNetwork.from_edges(graph)`",
    "refused": "tables in GML and GraphML, which hold no arrays",
}
pytestmark = pytest.mark.slow


def test_files_of_graphs_without_tables_give_the_structure_again(
    tmp_path: Path,
) -> None:
    network = load_network("asia")
    graph = network.to_networkx(tables=False)
    nx.write_gml(graph, tmp_path / "a.gml")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    for read in (
        nx.read_gml(tmp_path / "a.gml"),
        nx.read_graphml(tmp_path / "a.graphml"),
        nx.node_link_graph(nx.node_link_data(graph)),
    ):
        structure = BayesianNetwork.from_edges(read)
        assert set(structure.edges) == set(network.edges)
        assert structure.names == network.names


def test_a_graph_with_tables_is_the_network() -> None:
    network = load_network("asia")
    again = BayesianNetwork.from_networkx(network.to_networkx())
    assert str(again.cpt("dysp")) == str(network.cpt("dysp"))
