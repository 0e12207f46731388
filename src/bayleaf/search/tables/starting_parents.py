"""Structures that restarts of a search begin with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayleaf.search.constraints import Constraints

# Most parents that a variable starts with, beside those that are required.
_MAX_PARENTS = 2


def starting_parents(
    n_variables: int, constraints: Constraints, restart: int, seed: int
) -> list[tuple[int, ...]]:
    """Choose the parents, increasing, that each variable starts with.

    Restart 0 starts with the required edges alone; others put the variables into a
    random order and give each up to two of those before it.
    """
    required = [
        [parent for parent, other in sorted(constraints.required_edges) if other == v]
        for v in range(n_variables)
    ]
    if restart == 0:
        return [tuple(parents) for parents in required]
    rng = np.random.default_rng((seed, restart))
    order = _random_order(required, rng)
    chosen: list[tuple[int, ...]] = [()] * n_variables
    for place, child in enumerate(order):
        parents = set(required[child])
        before = [
            v
            for v in order[:place]
            if v not in parents and (v, child) not in constraints.forbidden_edges
        ]
        number = min(int(rng.integers(0, _MAX_PARENTS + 1)), len(before))
        if constraints.max_parents is not None:
            number = min(number, constraints.max_parents - len(parents))
        parents.update(before[int(k)] for k in rng.permutation(len(before))[:number])
        chosen[child] = tuple(sorted(parents))
    return chosen


def _random_order(
    required: Sequence[Sequence[int]], rng: np.random.Generator
) -> list[int]:
    """A random order in which every variable stands after its required parents."""
    waiting = [int(v) for v in rng.permutation(len(required))]
    order: list[int] = []
    while waiting:
        ready = next(v for v in waiting if set(required[v]) <= set(order))
        waiting.remove(ready)
        order.append(ready)
    return order
