"""Solutions equal those found by trying every strategy."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.decisions import InfluenceDiagram
from offenders import check_each
from oracles.random_diagrams import (
    MAX_STRATEGIES,
    best_by_trying,
    n_strategies,
    observed_by,
    random_diagram,
)


def _small_diagram(seed: int, *, forgets: bool) -> InfluenceDiagram:
    """The first diagram of a seed whose strategies can all be tried."""
    rng = np.random.default_rng(seed)
    while True:
        linked = not forgets or seed % 4 > 1
        diagram = random_diagram(rng, 1 + seed % 2, linked=linked)
        observed = observed_by(diagram, forgets=forgets)
        if n_strategies(diagram, observed) <= MAX_STRATEGIES:
            return diagram


def _check_against_all_strategies(seed: int) -> None:
    forgets = seed % 8 > 3
    diagram = _small_diagram(seed, forgets=forgets)
    best = best_by_trying(diagram, forgets=forgets)
    solution = diagram.solve(limited_memory=forgets)
    assert solution.expected_utility == pytest.approx(best, abs=1e-9)
    for policy in solution.policies:
        assert policy.probabilities.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("first", range(0, 200, 40))
def test_random_diagrams_equal_the_best_of_all_strategies(first: int) -> None:
    check_each(range(first, first + 40), _check_against_all_strategies)
