"""Constraints are checked, and shapes count their distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.data.domain import Domain, Variable
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import GroupedParents, descendants
from offenders import check_each

DOMAIN = Domain(tuple(Variable(name, ("no", "yes")) for name in "abc"))


def edges(*pairs: tuple[int, int]) -> frozenset[tuple[int, int]]:
    return frozenset(pairs)


def test_constraints_that_nothing_keeps_to_are_named() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        settings, message = case
        with pytest.raises(ValueError, match=message):
            Constraints(**settings).check(DOMAIN)

    check_each(
        [
            ({"required_edges": edges((0, 3))}, "names no variable; use indices"),
            ({"forbidden_edges": edges((1, 1))}, "from variable 'b' to itself"),
            (
                {"required_edges": edges((0, 1)), "forbidden_edges": edges((0, 1))},
                "from 'a' to 'b' is both required and forbidden",
            ),
            ({"required_edges": edges((0, 1), (1, 0))}, "close a cycle among a, b"),
            (
                {"required_edges": edges((0, 2), (1, 2)), "max_parents": 1},
                "variable 'c' 2 parents, more than max_parents=1",
            ),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_parents": -1}, "max_parents must be >= 0, got -1"),
        ({"time_limit": 0.0}, "time_limit must be > 0 seconds"),
    ],
)
def test_limits_out_of_range_are_named(settings, message) -> None:
    with pytest.raises(ValueError, match=message):
        Constraints(**settings)


def test_constraints_that_can_be_kept_pass() -> None:
    Constraints(edges((0, 1)), edges((1, 0)), max_parents=1, time_limit=1.0).check(
        DOMAIN
    )


def test_rows_of_grouped_parents_multiply() -> None:
    shape = GroupedParents(2, (0, 1), (((0,), (1, 2)), ((0,), (1,), (2,))))
    assert shape.n_rows == 6
    assert GroupedParents(2, (), ()).n_rows == 1


def test_descendants_are_those_that_paths_reach() -> None:
    found = descendants([(), (0,), (), (1, 2)])
    expected = [{0, 1, 3}, {1, 3}, {2, 3}, {3}]
    assert [set(np.flatnonzero(row).tolist()) for row in found] == expected
