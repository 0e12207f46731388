"""Networks go to networkx and back bit for bit."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

from bayleaf.io.formats.converters import networkx_graph
from bayleaf.io.formats.converters.networkx_graph import from_networkx, to_networkx
from oracles.hard_networks import assert_same_network, hard_network, mixed_network


@pytest.fixture
def nx() -> Any:
    """networkx, without which all but one of these tests make no sense."""
    return pytest.importorskip("networkx")


@pytest.fixture
def graph(nx: Any) -> Any:
    """Two parents, one child."""
    graph = nx.DiGraph()
    graph.add_node("a", states=("x", "y"), cpd=[0.25, 0.75])
    graph.add_node("c", states=("x", "y"), parents=("b", "a"), cpd=np.full(12, 0.5))
    graph.add_node("b", states=("x", "y", "z"), cpd=[0.5, 0.25, 0.25])
    graph.add_edges_from([("a", "c"), ("b", "c")])
    return graph


@pytest.mark.parametrize("make", [hard_network, mixed_network])
def test_a_network_comes_back_bit_for_bit(nx: Any, make: Any) -> None:
    network = make()
    assert_same_network(network, from_networkx(to_networkx(network)))


def test_the_graph_has_the_networks_nodes_and_arcs(nx: Any) -> None:
    network = mixed_network()
    graph = to_networkx(network)
    assert list(graph) == list(network.domain.names)
    assert set(graph.edges) == set(network.edges)
    assert graph.nodes["d"]["parents"] == ("b", "a")
    assert graph.nodes["d"]["cpd"].shape == (3, 2, 2)
    assert nx.is_directed_acyclic_graph(graph)


def test_the_order_of_the_axes_is_that_of_the_attribute(graph: Any) -> None:
    table = np.random.default_rng(1).dirichlet([1, 1], size=(3, 2))
    graph.nodes["c"]["cpd"] = table.ravel()
    network = from_networkx(graph)
    assert network.domain.names == ("a", "c", "b")
    assert network.dag.parents == ((), (2, 0), ())
    np.testing.assert_array_equal(network.cpds[1].probabilities, table)


@pytest.mark.parametrize("attribute", ["states", "cpd", "parents"])
def test_a_missing_attribute_is_named(graph: Any, attribute: str) -> None:
    del graph.nodes["c"][attribute]
    with pytest.raises(
        ValueError, match=f"node 'c' lacks the attribute \"{attribute}\""
    ):
        from_networkx(graph)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"parents": ("b",)}, r"of node 'c' lists \['b'\], but its arcs come from"),
        ({"parents": ("b", "b")}, r"lists \['b', 'b'\], but"),
        ({"cpd": np.full(10, 0.5)}, "'c' has shape"),
        ({"cpd": np.full(12, 0.4)}, "'c' sums to 0.8"),
        ({"cpd": np.full(12, np.nan)}, "'c' holds a negative number or NaN"),
        ({"states": ("x", "x")}, "'c' lists a state twice"),
    ],
)
def test_a_node_that_does_not_fit_is_named(
    graph: Any, values: dict[str, Any], problem: str
) -> None:
    graph.nodes["c"].update(values)
    with pytest.raises(ValueError, match=problem):
        from_networkx(graph)


def test_a_cycle_is_refused_by_name(graph: Any) -> None:
    graph.add_edge("c", "a")
    graph.nodes["a"]["cpd"] = np.full(4, 0.5)
    with pytest.raises(ValueError, match="cycle among a, c"):
        from_networkx(graph)


def test_other_kinds_of_graphs_and_names_are_refused(nx: Any, graph: Any) -> None:
    for other in (nx.Graph(), nx.MultiDiGraph(), {"a": []}):
        with pytest.raises(TypeError, match=r"networkx.DiGraph, but a \w+ was given"):
            from_networkx(other)
    with pytest.raises(TypeError, match=r"node 2.5 is of the type float"):
        from_networkx(nx.relabel_nodes(graph, {"a": 2.5}))


def test_a_table_above_the_limit_names_its_variable(
    nx: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = partial(networkx_graph.full_tables, max_table_cells=6)
    monkeypatch.setattr(networkx_graph, "full_tables", limited)
    with pytest.raises(ValueError, match="table of variable 't' would have 12 cells"):
        to_networkx(mixed_network())


def test_without_networkx_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="networkx is not installed; install it"):
        to_networkx(mixed_network())
