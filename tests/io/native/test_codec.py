"""Dataclasses as plain values, and back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.io.native.archive import ArrayReader
from bayleaf.io.native.codec import Decoder, FlatSplit, FlatTree, encoded


def test_a_hierarchy_over_a_missing_state_comes_back() -> None:
    tree = ValueHierarchy.from_nested({"any": [{"g": ["a", None]}, "b"]})
    domain = Domain((Variable("x", ("a", "b", None), hierarchy=tree),))
    values = json.loads(json.dumps(encoded(domain.variables, [])))
    found = Decoder(ArrayReader()).decoded(tuple[Variable, ...], values, "")
    assert Domain(found) == domain


def test_leaves_that_branches_share_stay_shared() -> None:
    one, two = Leaf(np.array([0.25, 0.75])), Leaf(np.array([0.1, 0.9]))
    inner = Split(1, ((0,), (1,)), (one, two))
    tree = TreeCPD((0, 1, 2), (2, 2, 2), Split(0, ((0,), (1,)), (inner, one)))
    flat = FlatTree.standing_for(tree)
    assert flat.splits == (
        FlatSplit(1, ((0,), (1,)), (0, 1)),
        FlatSplit(0, ((0,), (1,)), (2, 0)),
    )
    restored = flat.restored()
    assert restored.n_distributions == 2
    np.testing.assert_array_equal(restored.probabilities, tree.probabilities)


@pytest.mark.parametrize(
    ("branches", "message"),
    [
        ([(0, 2)], "no earlier node"),
        ([(0, -1)], "no earlier node"),
        ([(0, 1), (0, 1)], "one branch's"),
        ([(0, 1), (2, 2)], "one branch's"),
    ],
    ids=str,
)
def test_splits_that_make_no_tree_are_refused(
    branches: list[tuple[int, int]], message: str
) -> None:
    leaves = (np.array([0.25, 0.75]), np.array([0.1, 0.9]))
    splits = tuple(FlatSplit(0, ((0,), (1,)), below) for below in branches)
    with pytest.raises(ValueError, match=message):
        FlatTree((0, 1), (2, 2), leaves, splits).restored()
