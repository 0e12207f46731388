"""Essential graphs equal what all graphs of the same independences share."""

from __future__ import annotations

import itertools
from functools import cache

import pytest

from bayleaf.graph.dag import DAG, CycleError
from bayleaf.graph.separation import d_separated
from offenders import check_each
from oracles.equivalence import (
    are_equivalent,
    essential_graph,
    immoralities,
    structural_hamming_distance,
)


@cache
def all_graphs(n_nodes: int) -> list[DAG]:
    """Every directed acyclic graph over a few nodes."""
    pairs = list(itertools.combinations(range(n_nodes), 2))
    graphs = []
    for choice in itertools.product(range(3), repeat=len(pairs)):
        arcs = [
            pair if way == 1 else pair[::-1]
            for pair, way in zip(pairs, choice, strict=True)
            if way
        ]
        try:
            graphs.append(DAG.from_arcs(n_nodes, arcs))
        except CycleError:
            continue
    return graphs


@cache
def independences(dag: DAG) -> frozenset:
    """All statements "a and b are independent given c" that hold in a graph."""
    nodes = set(range(len(dag)))
    return frozenset(
        (a, b, given)
        for a, b in itertools.combinations(nodes, 2)
        for size in range(len(dag) - 1)
        for given in itertools.combinations(sorted(nodes - {a, b}), size)
        if d_separated(dag, [a], [b], given)
    )


@cache
def classes(n_nodes: int) -> dict[frozenset, list[DAG]]:
    """Graphs by their independences."""
    found: dict[frozenset, list[DAG]] = {}
    for dag in all_graphs(n_nodes):
        found.setdefault(independences(dag), []).append(dag)
    return found


def test_the_number_of_classes_is_the_published_one() -> None:
    # Gillispie and Perlman (2002), table 1.
    assert [len(classes(n)) for n in (2, 3, 4)] == [2, 11, 185]


def test_an_essential_graph_is_what_its_class_shares() -> None:
    def check(n_nodes: int) -> None:
        for members in classes(n_nodes).values():
            arcs = [set(dag.arcs) for dag in members]
            shared = set.intersection(*arcs)
            undirected = {(min(a), max(a)) for a in set.union(*arcs) - shared}
            for dag in members:
                assert essential_graph(dag) == (shared, undirected)

    check_each([2, 3, 4], check)


def test_equivalence_is_having_the_same_independences() -> None:
    for first, second in itertools.product(all_graphs(3), repeat=2):
        alike = independences(first) == independences(second)
        assert are_equivalent(first, second) == alike
        assert (structural_hamming_distance(first, second) == 0) == alike


def test_what_would_make_a_new_immorality_is_directed() -> None:
    dag = DAG(((), (), (0, 1), (2,), (2, 3)))
    directed, undirected = essential_graph(dag)
    assert directed == {(0, 2), (1, 2), (2, 3), (2, 4)}
    assert undirected == {(3, 4)}


def test_five_nodes_direct_what_their_class_shares() -> None:
    # Meek's third rule: 1 -> 3 <- 2 with 0 open to all three.
    dag = DAG(((), (0,), (0,), (0, 1, 2), (3,)))
    assert immoralities(dag) == {(1, 3, 2)}
    directed, undirected = essential_graph(dag)
    assert directed == {(1, 3), (2, 3), (0, 3), (3, 4)}
    assert undirected == {(0, 1), (0, 2)}


def test_the_distance_counts_pairs_joined_in_different_ways() -> None:
    collider = DAG(((), (), (0, 1), (2,)))
    assert structural_hamming_distance(collider, DAG(((), (), (), ()))) == 3
    assert structural_hamming_distance(collider, DAG(((), (), (0, 1), ()))) == 1
    chain = DAG(((), (2,), (0,), (2,)))
    assert structural_hamming_distance(collider, chain) == 3


def test_graphs_of_different_sizes_have_no_distance() -> None:
    with pytest.raises(ValueError, match="graphs of 1 and 2 nodes have no distance"):
        structural_hamming_distance(DAG(((),)), DAG(((), ())))


def test_a_chain_and_a_collider_differ_in_both_arcs() -> None:
    chain, collider = DAG(((), (0,), (1,))), DAG(((), (0, 2), ()))
    assert structural_hamming_distance(chain, collider) == 2
