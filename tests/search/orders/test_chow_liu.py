"""TAN's tree under constraints, against all directed forests."""

from __future__ import annotations

import itertools
import math

import numpy as np

from bayleaf.graph.dag import DAG, CycleError
from bayleaf.search.constraints import Constraints
from bayleaf.search.orders.chow_liu import spanning_parents
from offenders import check_each

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
