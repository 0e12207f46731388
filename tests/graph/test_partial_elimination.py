"""Orders that leave some nodes in place."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bayleaf.graph.partial_elimination import eliminate_all_but
from bayleaf.graph.triangulation import married


def grid(width: int) -> list[int]:
    """Neighbours in a square grid."""
    nodes = [[row * width + column for column in range(width)] for row in range(width)]
    lines = nodes + [list(column) for column in zip(*nodes, strict=True)]
    return married([pair for line in lines for pair in pairwise(line)], width**2)


def test_kept_nodes_are_left_and_all_others_eliminated_once() -> None:
    found = eliminate_all_but(grid(4), [2] * 16, {0, 15}, 10_000)
    assert sorted(found.order) == list(range(1, 15))


def test_the_largest_clique_counts_kept_nodes() -> None:
    # Only the middle of a star goes, and joins all its ends.
    star = married([(0, end) for end in range(1, 5)], 5)
    found = eliminate_all_but(star, [2, 3, 3, 3, 3], {1, 2, 3, 4}, 10_000)
    assert found.order == (0,)
    assert found.largest == (0, 1, 2, 3, 4)
    assert found.cells == 2 * 3**4


@pytest.mark.parametrize("width", [12, 40])
def test_what_is_too_large_is_told_before_the_last_node(width: int) -> None:
    found = eliminate_all_but(grid(width), [4] * width**2, (), 1000)
    assert found.cells > 1000
    assert len(found.order) < width**2
