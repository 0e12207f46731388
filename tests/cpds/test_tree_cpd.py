"""Trees over parents' states equal the tables that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.cpds import Leaf, Split, TreeCPD
from offenders import check_each

EVEN, LOW, HIGH = (Leaf(np.array(row)) for row in ([0.5, 0.5], [0.9, 0.1], [0.2, 0.8]))


def test_a_leaf_alone_holds_for_every_parent_configuration() -> None:
    cpd = TreeCPD((3, 1), (4, 2), EVEN)
    np.testing.assert_array_equal(cpd.probabilities, np.full((4, 2), 0.5))
    assert cpd.n_parameters == 1


def test_the_table_holds_each_leaf_at_the_configurations_that_lead_to_it() -> None:
    inner = Split(3, ((0,), (2,)), (LOW, HIGH))
    root = Split(3, ((0, 2), (1,)), (Split(0, ((1,), (0,)), (inner, EVEN)), LOW))
    cpd = TreeCPD((3, 0, 1), (3, 2, 2), root)
    expected = np.empty((3, 2, 2))
    expected[1] = LOW.probabilities
    expected[[0, 2], 0] = EVEN.probabilities
    expected[0, 1] = LOW.probabilities
    expected[2, 1] = HIGH.probabilities
    np.testing.assert_array_equal(cpd.probabilities, expected)
    assert cpd.n_leaves == 4
    assert cpd.n_distributions == cpd.n_parameters == 3


def test_the_table_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        TreeCPD((0, 1), (2, 2), EVEN).probabilities[0, 0] = 1.0


def test_a_tree_that_does_not_fit_is_refused() -> None:
    def check(case: tuple[Leaf | Split, str]) -> None:
        root, message = case
        with pytest.raises(ValueError, match=message):
            TreeCPD((0, 1), (2, 2), root)

    check_each(
        [
            (Split(2, ((0,), (1,)), (LOW, HIGH)), "no parent"),
            (Split(0, ((0,),), (LOW,)), "share out the states"),
            (Split(0, ((0,), (0, 1)), (LOW, HIGH)), "share out the states"),
            (Split(0, ((0, 1), ()), (LOW, HIGH)), "share out the states"),
            (Split(0, ((0,), (1,)), (LOW,)), "share out the states"),
            (Leaf(np.array([1.0])), "holds 1 probabilities for a child of 2"),
        ],
        check,
    )
