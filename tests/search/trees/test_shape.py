"""Shapes of trees: their paths, their rows, and the distributions put into them."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.search.tree_climbing import leaf_counts
from bayleaf.search.trees.growing import value_nodes
from bayleaf.search.trees.leaf_counts import RowTable
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from offenders import check_each
from oracles import tree_networks

INNER = SplitShape(0, ((0,), (2,)), (LeafShape(1), LeafShape(2)))
MIDDLE = SplitShape(1, ((1,), (0,)), (INNER, LeafShape(0)))
SHAPE = TreeShape(3, (0, 1), SplitShape(0, ((0, 2), (1,)), (MIDDLE, LeafShape(1))))
CARDS = (3, 2, 4, 2)


def test_paths_lead_from_left_to_right_to_their_rows() -> None:
    assert list(SHAPE.leaves(CARDS)) == [
        (1, {0: (0,), 1: (1,)}),
        (2, {0: (2,), 1: (1,)}),
        (0, {0: (0, 2), 1: (0,)}),
        (1, {0: (1,), 1: (0, 1)}),
    ]
    assert (SHAPE.n_leaves, SHAPE.n_rows) == (4, 3)
    assert [split.variable for split in SHAPE.splits()] == [0, 1, 0]


def test_distributions_stand_where_the_paths_lead_and_are_shared() -> None:
    rows = np.array([[0.5, 0.5], [0.1, 0.9], [0.7, 0.3]])
    cpd = SHAPE.cpd(CARDS, rows)
    assert (cpd.family, cpd.cards) == ((0, 1, 3), (3, 2, 2))
    expected = rows[[[0, 1], [1, 1], [0, 2]]]
    np.testing.assert_array_equal(cpd.probabilities, expected)
    leaves = [leaf for leaf, _ in cpd.leaves()]
    assert leaves[0] is leaves[3]
    assert cpd.n_leaves == 4
    assert cpd.n_parameters == cpd.n_distributions == 3


def test_rows_can_be_numbered_anew() -> None:
    other = SHAPE.with_rows([0, 0, 1])
    assert [row for row, _ in other.leaves(())] == [0, 1, 0, 0]
    assert other.n_rows == 2


def test_rows_are_counted_as_comparing_all_cells_counts_them() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        # One code more than there are states: missing cells.
        columns = [
            rng.integers(card + (v != 2), size=90) for v, card in enumerate(CARDS)
        ]
        codes = Codes.from_columns(columns, CARDS, rng.integers(0, 3, 90).astype(float))
        expected = np.zeros((3, 2))
        for *parents, child, weight in zip(
            columns[0], columns[1], columns[3], codes.weights
        ):
            for row, context in SHAPE.leaves(CARDS):
                inside = all(
                    x in context[v] for v, x in zip((0, 1), parents, strict=True)
                )
                # What no split on the path asks for may be missing.
                asks_second = len(context[1]) == 1
                first_only = parents[0] in context[0] and not asks_second
                if (inside or first_only) and child < 2:
                    expected[row, child] += weight
        np.testing.assert_array_equal(leaf_counts(SHAPE, codes)[0], expected)

    check_each(range(5), check)


@pytest.mark.parametrize("n_rows", [30, 3000])
def test_leaves_count_their_rows_with_every_variable_at_once(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    domain, _ = tree_networks.random_domain(rng, 5)
    codes = tree_networks.random_codes(rng, domain, n_rows, weighted=True)
    table = RowTable.from_codes(codes, "abcde")
    rows = np.flatnonzero(rng.random(table.n_rows) < 0.5).astype(np.int32)
    counts = table.count(2, rows)
    expected = np.zeros_like(counts)
    for row in rows:
        for v, start in enumerate(table.offsets[:-1]):
            place = start + table.table[row, v], table.table[row, 2]
            expected[place] += table.weights[row]
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("n_rows", [30, 20_000])
def test_partitions_keep_the_order_within_each_branch(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    column = rng.integers(4, size=n_rows)
    table = RowTable.from_codes(Codes.from_columns([column, column], (4, 4)), "ab")
    rows = rng.permutation(n_rows).astype(np.int32)
    before = rows.copy()
    starts = table.partition(rows, 0, ((1, 3), (0,), (2,)))
    branch_of = np.array([1, 0, 2, 0])[column[before]]
    order = np.argsort(branch_of, kind="stable")
    np.testing.assert_array_equal(rows, before[order])
    assert starts == np.cumsum([0, *np.bincount(branch_of, minlength=3)]).tolist()


def test_hierarchies_become_numbers_without_needless_nodes() -> None:
    variable = Variable("x", ("a", "b", "c", "d"))
    nested = {
        "any": {"most": {"left": {"d": None, "a": None}, "c": None}, "rest": ["b"]}
    }
    nodes = value_nodes(ValueHierarchy.from_nested(nested), variable)
    assert nodes.groups[0] == ((0, 2, 3), (1,))
    most, rest = nodes.children[0]
    assert nodes.groups[most] == ((0, 3), (2,))
    assert nodes.children[rest] == ()
    assert nodes.states[nodes.children[most][0]] == (0, 3)
    assert len(nodes.states) == 7


def test_a_missing_state_that_a_hierarchy_lacks_is_a_branch_of_the_root() -> None:
    variable = Variable("x", ("a", "b", None))
    nodes = value_nodes(flat_hierarchy(("a", "b")), variable)
    assert nodes.groups[0] == ((0,), (1,), (2,))
    one = value_nodes(flat_hierarchy(("a",)), Variable("x", ("a", None)))
    assert one.groups[0] == ((0,), (1,))


def test_a_single_state_leaves_nothing_to_split() -> None:
    nodes = value_nodes(flat_hierarchy(("a",)), Variable("x", ("a",)))
    assert nodes.groups[0] == ()
    assert nodes.states == ((0,),)
