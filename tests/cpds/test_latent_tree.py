"""Trees of latent variables compute the latents' values, holes included."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayleaf.cpds.latent_tree import LatentTree, LatentVariable
from bayleaf.data.codes import Codes
from offenders import check_each

EQUAL = np.array([[0, 1], [1, 0]])


def test_a_latent_over_a_latent_follows_from_the_features() -> None:
    tree = LatentTree((2, 2, 2)).join(0, 2, EQUAL).join(1, 3, EQUAL)
    rows = np.array(list(itertools.product(range(2), repeat=3))).T
    nodes = tree.node_codes(Codes.from_columns(list(rows), (2, 2, 2)))
    np.testing.assert_array_equal(nodes[3], rows[0] ^ rows[2])
    np.testing.assert_array_equal(nodes[4], rows[0] ^ rows[1] ^ rows[2])
    assert tree.class_children == (4,)
    assert tree.cards == (2, 2, 2, 2, 2)
    assert tree.leaves(4) == (0, 1, 2)


def test_a_value_is_unknown_unless_all_completions_agree() -> None:
    tree = LatentTree((2, 3)).join(0, 1, np.array([[0, 0, 0], [0, 1, 2]]))
    columns = [np.array([0, 1, 2, 2, 2]), np.array([3, 3, 0, 1, 3])]
    nodes = tree.node_codes(Codes.from_columns(columns, (2, 3)))
    assert nodes[2].tolist() == [0, 3, 0, 3, 3]


def test_collapsing_is_told() -> None:
    assert LatentVariable(0, 1, EQUAL).is_collapsed
    assert not LatentVariable(0, 1, np.arange(4).reshape(2, 2)).is_collapsed


def test_states_out_of_order_are_refused() -> None:
    def check(states: object) -> None:
        with pytest.raises(ValueError, match="numbered 0, 1"):
            LatentVariable(0, 1, np.array(states))

    check_each([[[1, 0]], [[0, 2]], [0, 1], [[-1, 0]]], check)


def test_only_two_children_of_the_class_are_joined() -> None:
    def check(case: tuple[int, int]) -> None:
        left, right = case
        tree = LatentTree((2, 2, 2, 2)).join(2, 3, EQUAL)
        with pytest.raises(ValueError, match="not two children"):
            tree.join(left, right, EQUAL)

    check_each([(0, 0), (0, 5), (-1, 1), (0, 2)], check)


def test_a_map_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="maps \\(2, 2\\) cells"):
        LatentTree((2, 3)).join(0, 1, EQUAL)
