"""Restarts start from graphs that keep to the constraints."""

from __future__ import annotations

from bayleaf.graph.dag import DAG
from bayleaf.search.constraints import Constraints
from bayleaf.search.tables.starting_parents import starting_parents
from offenders import check_each

REQUIRED = frozenset({(5, 0), (0, 3), (3, 1)})
FORBIDDEN = frozenset((a, 4) for a in range(8) if a != 4) | {(1, 2)}
LIMITS = Constraints(REQUIRED, FORBIDDEN, max_parents=2)


def test_the_first_restart_has_the_required_edges_alone() -> None:
    parents = starting_parents(8, LIMITS, 0, seed=1)
    assert {(p, c) for c, own in enumerate(parents) for p in own} == REQUIRED


def test_every_other_restart_keeps_to_the_constraints() -> None:
    def check(restart: int) -> None:
        parents = starting_parents(8, LIMITS, restart, seed=1)
        edges = set(DAG(tuple(parents)).arcs)
        assert edges >= REQUIRED
        assert not edges & FORBIDDEN
        assert max(map(len, parents)) <= 2

    check_each(range(1, 30), check)


def test_without_constraints_up_to_two_parents_are_drawn() -> None:
    numbers = {
        len(own)
        for restart in range(1, 30)
        for own in starting_parents(8, Constraints(), restart, seed=0)
    }
    assert numbers == {0, 1, 2}


def test_a_start_depends_on_the_seed_and_the_number_alone() -> None:
    starts = [
        starting_parents(8, LIMITS, restart, seed)
        for restart, seed in [(1, 0), (1, 0), (2, 0), (1, 1)]
    ]
    assert starts[0] == starts[1]
    assert starts[0] != starts[2]
    assert starts[0] != starts[3]
