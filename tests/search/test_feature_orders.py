"""Orders of features and parents among them."""

from __future__ import annotations

import itertools
import math

import numpy as np

from bayleaf.graph.dag import DAG, CycleError
from bayleaf.search.constraints import Constraints
from bayleaf.search.feature_orders import (
    log_information,
    noisy_parents,
    spanning_parents,
)
from offenders import check_each


def _draw(
    relevance: np.ndarray, information: np.ndarray, k: int, seed: int
) -> list[tuple[int, ...]]:
    logs = log_information(relevance), log_information(information)
    return noisy_parents(*logs, k, np.random.default_rng(seed))


def test_parents_make_no_cycle_and_are_few() -> None:
    rng = np.random.default_rng(0)
    information = rng.random((8, 8))
    information += information.T
    for seed in range(20):
        parents = _draw(rng.random(8), information, 3, seed)
        assert sorted(map(len, parents)) == [0, 1, 2, 3, 3, 3, 3, 3]
        placed: set[int] = set()
        while len(placed) < 8:
            ready = {i for i in range(8) if set(parents[i]) <= placed} - placed
            assert ready
            placed |= ready


def test_the_first_feature_is_drawn_in_proportion_to_its_relevance() -> None:
    relevance, information = np.array([0.6, 0.3, 0.1]), np.ones((3, 3))
    first = [_draw(relevance, information, 2, seed).index(()) for seed in range(3000)]
    shares = np.bincount(first, minlength=3) / 3000
    np.testing.assert_allclose(shares, relevance, atol=0.04)


def test_a_feature_without_information_is_nobodys_parent() -> None:
    information = np.ones((4, 4))
    information[2, :] = information[:, 2] = 1e-15
    for seed in range(20):
        parents = _draw(np.array([1.0, 1.0, 0.0, 1.0]), information, 3, seed)
        assert all(2 not in chosen for chosen in parents)
        assert parents[2] == ()


Edges = frozenset[tuple[int, int]]


def _weights(seed: int, n: int, *, ties: bool) -> np.ndarray:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, size=(n, n)) / 8 if ties else rng.random((n, n))
    weights = np.triu(weights, 1).round(12)
    return weights + weights.T


def _constraints(seed: int, n: int) -> Constraints:
    rng = np.random.default_rng((7, seed))
    order = rng.permutation(n).tolist()
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    required = {(order[0], order[1])} if seed % 3 else set()
    chosen = rng.choice(len(pairs), len(pairs) // 3, replace=False)
    return Constraints(
        frozenset(required),
        frozenset(pairs[i] for i in chosen) - required,
        tiers=(tuple(order[:2]), tuple(order[2:4])) if seed % 2 else (),
    )


def _forests(n: int, constraints: Constraints) -> list[Edges]:
    """All sets of arcs that keep to constraints, one parent a node at most."""
    found = []
    for parents in itertools.product(range(-1, n), repeat=n):
        arcs = frozenset((p, c) for c, p in enumerate(parents) if p >= 0)
        legal = not arcs & constraints.forbidden_edges
        if legal and constraints.required_edges <= arcs:
            try:
                DAG.from_arcs(n, sorted(arcs))
            except CycleError:
                continue
            found.append(arcs)
    return found


def test_no_legal_forest_is_better() -> None:
    def check(case: tuple[bool, int]) -> None:
        ties, seed = case
        n = 3 + seed % 3
        weights, order = _weights(seed, n, ties=ties), np.arange(n)[::-1].copy()
        constraints = _constraints(seed, n)
        found = spanning_parents(weights, order, None, constraints)
        arcs = frozenset((own[0], child) for child, own in enumerate(found) if own)
        rank = {int(node): place for place, node in enumerate(order)}

        def worth(edges: Edges) -> tuple[float, int, int]:
            total = math.fsum(weights[a, b] for a, b in edges)
            roots = set(range(n)) - {child for _, child in edges}
            return round(total, 9), len(edges), -sum(rank[root] for root in roots)

        forests = _forests(n, constraints)
        assert arcs in forests
        # Roots are compared among forests of as many arcs.
        assert worth(arcs) == max(map(worth, forests))

    check_each(itertools.product([False, True], range(12)), check)


def test_constraints_that_exclude_nothing_chosen_leave_the_tree() -> None:
    def check(case: tuple[float | None, int]) -> None:
        theta, seed = case
        weights = _weights(seed, 9, ties=False)
        order = np.random.default_rng(seed).permutation(9)
        free = spanning_parents(weights, order, theta)
        arcs = {(own[0], child) for child, own in enumerate(free) if own}
        pairs = [(a, b) for a in range(9) for b in range(9)]
        unused = [(a, b) for a, b in pairs if a != b and not {(a, b), (b, a)} & arcs]
        told = Constraints(frozenset(list(arcs)[:2]), frozenset(unused[:5]))
        assert spanning_parents(weights, order, theta, told) == free

    check_each(itertools.product([None, 0.4], range(8)), check)


def test_required_arcs_stay_below_theta() -> None:
    weights = np.full((3, 3), 0.1)
    told = Constraints(required_edges=frozenset({(2, 0)}))
    found = spanning_parents(weights, np.arange(3), 0.5, told)
    assert found == [(2,), (), ()]
