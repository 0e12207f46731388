"""Directed trees of largest weight, against all of them."""

from __future__ import annotations

import itertools

import numpy as np

from bayleaf.graph.arborescence import maximum_arborescence
from offenders import check_each


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
