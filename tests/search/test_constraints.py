"""Tiers, and orders that constraints ask for."""

from __future__ import annotations

import numpy as np

from bayleaf.search.constraints import Constraints
from offenders import check_each


def test_tiers_forbid_every_arc_that_leads_backwards() -> None:
    constraints = Constraints(tiers=((0, 3), (1,), (2,)))
    backwards = {(1, 0), (1, 3), (2, 0), (2, 3), (2, 1)}
    assert constraints.forbidden_edges == backwards
    is_open = constraints.open_arcs(5)
    closed = {(int(p), int(c)) for c, p in np.argwhere(~is_open) if c != p}
    assert closed == backwards


def test_some_variables_keep_the_constraints_among_them() -> None:
    whole = Constraints(
        frozenset({(0, 2), (1, 3)}), frozenset({(3, 2)}), tiers=((0,), (2, 3))
    )
    some = whole.among([2, 3, 0])
    assert some.required_edges == {(2, 0)}
    assert some.forbidden_edges == {(1, 0), (0, 2), (1, 2)}
    assert some.tiers == ((2,), (0, 1))


def test_an_order_keeps_required_arcs_and_tiers_and_else_the_preference() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        preferred = rng.permutation(7)
        groups = rng.permutation(7).tolist()
        first, second = groups[:2], groups[2:5]
        required = {(groups[5], groups[0]), (groups[0], groups[3])}
        constraints = Constraints(
            frozenset(required), tiers=(tuple(first), tuple(second))
        )
        order = constraints.ordered(preferred).tolist()
        place = {variable: n for n, variable in enumerate(order)}
        assert sorted(order) == list(range(7))
        assert all(place[a] < place[b] for a, b in required)
        assert max(place[v] for v in first) < min(place[v] for v in second)
        # Nothing that might have come earlier was preferred.
        for n, variable in enumerate(order):
            for other in order[n + 1 :]:
                if np.flatnonzero(preferred == other) < np.flatnonzero(
                    preferred == variable
                ):
                    left = set(order[n:])
                    needs = {a for a, b in required if b == other}
                    waits = other in second and left & set(first)
                    assert needs & left or waits

    check_each(range(20), check)


def test_required_arcs_against_the_tiers_by_way_of_a_free_variable_are_kept() -> None:
    constraints = Constraints(frozenset({(1, 2), (2, 0)}), tiers=((0,), (1,)))
    constraints.check_names(["a", "b", "free"])
    assert constraints.ordered(np.arange(3)).tolist() == [1, 2, 0]
