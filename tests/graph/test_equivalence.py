"""Arcs that equivalent graphs share, compared with all graphs of few nodes."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from bayleaf.graph.dag import DAG, CycleError
from bayleaf.graph.equivalence import compelled_arcs


def random_dag(rng: np.random.Generator, n_nodes: int, share: float) -> DAG:
    """A graph in which each pair is linked with some probability."""
    order = rng.permutation(n_nodes)
    arcs = [
        (int(order[i]), int(order[j]))
        for i, j in combinations(range(n_nodes), 2)
        if rng.random() < share
    ]
    return DAG.from_arcs(n_nodes, arcs)


def colliders(dag: DAG) -> set[tuple[int, int, int]]:
    """Pairs of parents without a link, with their child."""
    linked = {frozenset(arc) for arc in dag.arcs}
    return {
        (*sorted(pair), child)
        for child, parents in enumerate(dag.parents)
        for pair in combinations(parents, 2)
        if frozenset(pair) not in linked
    }


def shared_arcs(dag: DAG) -> frozenset[tuple[int, int]]:
    """Arcs of all graphs with the same skeleton and colliders, by enumeration."""
    arcs = list(dag.arcs)
    shared = set(arcs)
    for turned in product([False, True], repeat=len(arcs)):
        directed = [a[::-1] if t else a for a, t in zip(arcs, turned, strict=True)]
        try:
            graph = DAG.from_arcs(len(dag), directed)
        except CycleError:
            continue
        if colliders(graph) == colliders(dag):
            shared &= set(directed)
    return frozenset(shared)


def test_compelled_arcs_are_those_of_all_equivalent_graphs() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        dag = random_dag(rng, 5, rng.choice([0.3, 0.5, 0.8]))
        assert compelled_arcs(dag) == shared_arcs(dag)


def test_a_collider_compels_and_a_chain_does_not() -> None:
    assert compelled_arcs(DAG.from_arcs(3, [(0, 1), (1, 2)])) == frozenset()
    assert compelled_arcs(DAG.from_arcs(3, [(0, 1), (2, 1)])) == {(0, 1), (2, 1)}
    below = DAG.from_arcs(4, [(0, 1), (2, 1), (1, 3)])
    assert compelled_arcs(below) == set(below.arcs)


@pytest.mark.slow
def test_compelled_arcs_equal_those_of_pgmpy() -> None:
    pgmpy = pytest.importorskip("pgmpy.base")
    rng = np.random.default_rng(1)
    for _ in range(10):
        dag = random_dag(rng, 10, 0.3)
        graph = pgmpy.DAG()
        graph.add_nodes_from(range(10))
        graph.add_edges_from(dag.arcs)
        directed = graph.to_pdag().directed_edges
        assert compelled_arcs(dag) == set(directed)
