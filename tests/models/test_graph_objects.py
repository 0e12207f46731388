"""Arcs of other kinds of graphs are read, and those without directions refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetwork
from bayleaf.datasets import load_network


def _causal_learn(*edges: tuple[str, str, str, str]) -> Any:
    """A graph with the methods of causal-learn's."""

    def node(name: str) -> Any:
        return SimpleNamespace(get_name=lambda: name)

    def edge(first: str, left: str, right: str, second: str) -> Any:
        return SimpleNamespace(
            get_node1=lambda: node(first),
            get_node2=lambda: node(second),
            get_endpoint1=lambda: SimpleNamespace(name=left),
            get_endpoint2=lambda: SimpleNamespace(name=right),
        )

    graph = SimpleNamespace(
        get_nodes=lambda: [node(name) for name in "abc"],
        get_graph_edges=lambda: [edge(*ends) for ends in edges],
    )
    return SimpleNamespace(G=graph)


def test_a_graph_of_causal_learn_is_read_with_its_common_causes() -> None:
    graph = _causal_learn(("a", "TAIL", "ARROW", "b"), ("b", "ARROW", "ARROW", "c"))
    structure = BayesianNetwork.from_edges(graph)
    assert structure.edges == [("a", "b"), ("U_b_c", "b"), ("U_b_c", "c")]
    assert structure.latents == ("U_b_c",)


@pytest.mark.parametrize(
    "graph",
    [
        _causal_learn(("a", "TAIL", "TAIL", "b")),
        [("a", "b"), ("b", "c"), ("b", "a")],
        np.array([[0, 1], [1, 0]]),
        pd.DataFrame([[0, 1], [1, 0]], index=["a", "b"], columns=["a", "b"]),
        BayesianNetwork.from_edges("a -> b").essential_graph(),
    ],
    ids=["causal-learn", "pairs", "matrix", "frame", "essential graph"],
)
def test_an_arc_without_a_direction_is_named(graph: Any) -> None:
    with pytest.raises(ValueError, match=r"(a, b|b, a|1, 0|a - b).* CPDAG"):
        BayesianNetwork.from_edges(graph)


def test_an_essential_graph_with_all_directions_is_read() -> None:
    structure = BayesianNetwork.from_edges("a -> b <- c")
    assert BayesianNetwork.from_edges(structure.essential_graph()).edges == [
        ("a", "b"),
        ("c", "b"),
    ]


def test_a_network_written_as_dot_is_read_with_its_names() -> None:
    network = load_network("asia")
    structure = BayesianNetwork.from_edges(network.to_dot())
    assert (structure.names, structure.edges) == (network.names, network.edges)
    odd = BayesianNetwork.from_edges([('a "b" & c', "two\nlines"), ("back\\n", "&lt;")])
    assert BayesianNetwork.from_edges(odd.to_dot()).edges == odd.edges
