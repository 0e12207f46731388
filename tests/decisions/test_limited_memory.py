"""Solutions equal those found by trying every strategy."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.decisions import InfluenceDiagram
from offenders import check_each
from oracles.random_diagrams import (
    MAX_STRATEGIES,
    best_by_backward_induction,
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


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_random_diagrams_equal_the_best_of_all_strategies(first: int) -> None:
    check_each(range(first, first + 25), _check_against_all_strategies)


def _check_three_decisions(seed: int) -> None:
    diagram = random_diagram(np.random.default_rng(seed), 3)
    best = best_by_backward_induction(diagram)
    assert diagram.solve().expected_utility == pytest.approx(best, abs=1e-9)


def test_three_decisions_equal_sums_and_maxima_over_the_joint() -> None:
    check_each(range(40), _check_three_decisions)


def _forgetful(n_observed: int) -> InfluenceDiagram:
    """Two decisions that should agree, each of which sees signals of its own."""
    seen = {d: [f"{d}{i}" for i in range(n_observed)] for d in ("c", "d")}
    signals = [name for names in seen.values() for name in names]
    return InfluenceDiagram.from_tables(
        states={key: ["no", "yes"] for key in ["x", *signals, "c", "d"]},
        parents={**seen, **{s: ["x"] for s in signals}, "u": ["x", "c", "d"]},
        tables={"x": [0.5, 0.5]} | {key: [[0.7, 0.3], [0.3, 0.7]] for key in signals},
        decisions=["c", "d"],
        utilities={"u": [2, 0, 0, -1, -1, 0, 0, 2]},
    )


def test_decisions_that_must_be_tried_together_are_or_are_refused() -> None:
    diagram = _forgetful(1)
    best = best_by_trying(diagram, forgets=True)
    solution = diagram.solve(limited_memory=True)
    assert solution.expected_utility == pytest.approx(best)
    # What each gains rests on the policy of the other.
    assert (solution["c"].gains > 0).all()
    with pytest.raises(ValueError, match="decisions c, d can only be solved together"):
        _forgetful(4).solve(limited_memory=True)
    with pytest.raises(ValueError, match="10,000 trials; let later ones observe"):
        _forgetful(12).solve(limited_memory=True)
