"""Trees of largest weight."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.typing import NDArray

from bayleaf.graph.spanning_trees import (
    maximum_arborescence,
    maximum_spanning_forest,
    rooted_parents,
)
from offenders import check_each
from property.for_all import for_all


@st.composite
def weight_matrices(draw: st.DrawFn) -> NDArray[np.float64]:
    """Symmetric weights of few distinct values, so that ties are common."""
    n_nodes = draw(st.integers(1, 5))
    weights = np.zeros((n_nodes, n_nodes))
    for i, j in itertools.combinations(range(n_nodes), 2):
        weights[i, j] = weights[j, i] = draw(
            st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0])
        )
    return weights


def _is_forest(n_nodes: int, edges: tuple[tuple[int, int], ...]) -> bool:
    """Whether no edges close a circle."""
    group = list(range(n_nodes))
    for one, other in edges:
        if group[one] == group[other]:
            return False
        group = [group[one] if g == group[other] else g for g in group]
    return True


def _best_total(weights: NDArray[np.float64], n_edges: int, above: float) -> float:
    """Largest total weight of a forest of so many edges, by trying all."""
    n_nodes = len(weights)
    pairs = [p for p in itertools.combinations(range(n_nodes), 2) if weights[p] > above]
    return max(
        sum(float(weights[edge]) for edge in edges)
        for edges in itertools.combinations(pairs, n_edges)
        if _is_forest(n_nodes, edges)
    )


@for_all(weight_matrices(), few=20, many=60)
def test_no_spanning_tree_weighs_more(weights: NDArray[np.float64]) -> None:
    edges = maximum_spanning_forest(weights)
    assert len(edges) == len(weights) - 1
    assert _is_forest(len(weights), tuple(edges))
    total = sum(float(weights[edge]) for edge in edges)
    assert total == _best_total(weights, len(edges), -np.inf)


@for_all(weight_matrices(), few=20, many=60)
def test_a_forest_above_a_weight_takes_every_edge_it_can(
    weights: NDArray[np.float64],
) -> None:
    edges = maximum_spanning_forest(weights, above=0.0)
    assert all(weights[edge] > 0.0 for edge in edges)
    assert _is_forest(len(weights), tuple(edges))
    for pair in itertools.combinations(range(len(weights)), 2):
        if weights[pair] > 0.0 and pair not in edges:
            assert not _is_forest(len(weights), (*edges, pair))
    total = sum(float(weights[edge]) for edge in edges)
    assert total == _best_total(weights, len(edges), 0.0)


def test_among_equal_weights_the_lower_pair_is_taken() -> None:
    assert maximum_spanning_forest(np.ones((4, 4))) == [(0, 1), (0, 2), (0, 3)]


def test_edges_come_by_falling_weight() -> None:
    weights = np.zeros((3, 3))
    weights[0, 1] = weights[1, 0] = 1.0
    weights[1, 2] = weights[2, 1] = 3.0
    assert maximum_spanning_forest(weights) == [(1, 2), (0, 1)]


@pytest.mark.parametrize("n_nodes", [0, 1])
def test_without_pairs_there_are_no_edges(n_nodes: int) -> None:
    assert maximum_spanning_forest(np.zeros((n_nodes, n_nodes))) == []


def test_edges_point_away_from_the_preferred_root() -> None:
    edges = [(0, 1), (1, 2), (2, 3)]
    assert rooted_parents(4, edges, [2, 0, 1, 3]) == [(1,), (2,), (), (2,)]


def test_every_tree_of_a_forest_has_its_own_root() -> None:
    edges = [(0, 1), (2, 3)]
    assert rooted_parents(5, edges, [3, 1, 0, 2, 4]) == [(1,), (), (3,), (), ()]


@for_all(weight_matrices(), st.data(), few=20, many=60)
def test_directed_edges_are_the_edges(
    weights: NDArray[np.float64], data: st.DataObject
) -> None:
    edges = maximum_spanning_forest(weights, above=0.0)
    roots = data.draw(st.permutations(range(len(weights))))
    parents = rooted_parents(len(weights), edges, roots)
    assert all(len(above) <= 1 for above in parents)
    directed = {
        frozenset((child, above[0])) for child, above in enumerate(parents) if above
    }
    assert directed == {frozenset(edge) for edge in edges}


def _best(weights: np.ndarray) -> int:
    """Largest weight of a tree directed away from node 0, all of them tried."""
    n = len(weights)
    best = None
    for chosen in itertools.product(range(n), repeat=n - 1):
        parents = (-1, *chosen)
        if all(_reaches_root(node, parents) for node in range(1, n)):
            total = sum(int(weights[v, parents[v]]) for v in range(1, n))
            best = total if best is None else max(best, total)
    assert best is not None
    return best


def _reaches_root(node: int, parents: tuple[int, ...]) -> bool:
    for _ in parents:
        if node == 0:
            return True
        node = parents[node]
    return node == 0


def test_no_directed_tree_weighs_more() -> None:
    def check(case: tuple[int, int]) -> None:
        seed, n_nodes = case
        rng = np.random.default_rng((seed, n_nodes))
        weights = rng.integers(-3, 4 + 20 * (seed % 2), size=(n_nodes, n_nodes))
        parents = tuple(maximum_arborescence(weights.astype(object)))
        assert parents[0] == -1
        assert all(_reaches_root(node, parents) for node in range(n_nodes))
        if n_nodes > 1:
            total = sum(int(weights[v, parents[v]]) for v in range(1, n_nodes))
            assert total == _best(weights)

    check_each(itertools.product(range(12), [1, 2, 3, 5]), check)


def test_cycles_of_cycles_are_taken_apart() -> None:
    # Two pairs that prefer each other, and then the pairs each other.
    weights = np.zeros((5, 5), dtype=object)
    for one, other in ((1, 2), (3, 4)):
        weights[one, other] = weights[other, one] = 100
    weights[1, 3] = weights[3, 1] = 50
    weights[4, 0] = 7
    assert maximum_arborescence(weights) == [-1, 3, 1, 4, 0]


def test_numbers_beyond_64_bits_are_added_exactly() -> None:
    weights = np.zeros((3, 3), dtype=object)
    weights[1:, 0] = 2**80, 2**80 + 1
    weights[1, 2] = weights[2, 1] = 2**90
    assert maximum_arborescence(weights) == [-1, 2, 0]
