"""Cuts through value hierarchies against all sets of nodes."""

from __future__ import annotations

import itertools
from collections.abc import Hashable

import numpy as np
import pytest

from bayleaf.data.hierarchies.cuts import (
    Cut,
    abstract,
    abstractable,
    cut_groups,
    flat_hierarchy,
    in_preorder,
    n_cuts,
    refinable,
    refine,
    top_cut,
)
from bayleaf.data.hierarchy import ValueHierarchy
from offenders import check_each

TREE = ValueHierarchy.from_nested(
    {"any": {"warm": ["red", {"yellowish": ["orange", "lemon"]}], "cold": ["blue"]}}
)


def random_hierarchy(rng: np.random.Generator, n_states: int) -> ValueHierarchy:
    """A tree made by joining random neighbours."""
    parts: list[tuple[list[Hashable], list[int]]] = [
        ([f"s{i}"], [-1]) for i in range(n_states)
    ]
    while len(parts) > 1:
        size = int(rng.integers(2, min(3, len(parts)) + 1))
        at = int(rng.integers(len(parts) - size + 1))
        names: list[Hashable] = [f"g{len(parts)}"]
        parents = [-1]
        for part_names, part_parents in parts[at : at + size]:
            start = len(names)
            names += part_names
            parents += [0 if p < 0 else p + start for p in part_parents]
        parts[at : at + size] = [(names, parents)]
    return ValueHierarchy(tuple(parts[0][0]), tuple(parts[0][1]))


def all_cuts(tree: ValueHierarchy) -> list[Cut]:
    """Every set of nodes that is a cut, the root alone left out."""
    return [
        names
        for size in range(1, len(tree.nodes))
        for names in itertools.combinations(tree.nodes, size)
        if tree.is_cut(names) and names != (tree.root,)
    ]


def test_as_many_cuts_are_counted_as_can_be_listed() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        tree = random_hierarchy(rng, int(rng.integers(2, 7)))
        assert n_cuts(tree) == len(all_cuts(tree))

    check_each(range(8), check)


def test_moves_from_the_top_reach_every_cut_and_nothing_else() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        tree = random_hierarchy(rng, int(rng.integers(2, 7)))
        reached = {top_cut(tree)}
        waiting = [top_cut(tree)]
        while waiting:
            cut = waiting.pop()
            new = {refine(tree, cut, name) for name in refinable(tree, cut)} - reached
            waiting += new
            reached |= new
        assert reached == set(all_cuts(tree))

    check_each(range(8), check)


def test_abstracting_undoes_refining() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        tree = random_hierarchy(rng, int(rng.integers(3, 7)))
        for cut in all_cuts(tree):
            for name in refinable(tree, cut):
                finer = refine(tree, cut, name)
                assert finer == in_preorder(tree, finer)
                assert name in abstractable(tree, finer)
                assert abstract(tree, finer, name) == cut

    check_each(range(8), check)


def test_a_cut_puts_every_state_into_one_group() -> None:
    states = ("blue", "lemon", "orange", "red")
    assert cut_groups(TREE, top_cut(TREE), states) == ((1, 2, 3), (0,))
    assert cut_groups(TREE, TREE.states, states) == ((3,), (2,), (1,), (0,))


def test_nodes_that_overlap_or_leave_out_a_state_are_no_cut() -> None:
    with pytest.raises(ValueError, match="leave out blue"):
        cut_groups(TREE, ("warm",), TREE.states)
    with pytest.raises(ValueError, match="overlap"):
        cut_groups(TREE, ("warm", "red", "cold"), TREE.states)


def test_a_flat_hierarchy_has_one_cut_and_no_moves() -> None:
    flat = flat_hierarchy(("any", "b", None))
    assert flat.root == "any_"
    assert top_cut(flat) == flat.states == ("any", "b", None)
    assert n_cuts(flat) == 1
    assert not refinable(flat, top_cut(flat))
    assert not abstractable(flat, top_cut(flat))


def test_a_single_state_is_its_own_cut() -> None:
    alone = flat_hierarchy(("only",))
    assert top_cut(alone) == ("only",)
    assert cut_groups(alone, top_cut(alone), ("only",)) == ((0,),)
    assert n_cuts(alone) == 1


def test_numbers_of_cuts_beyond_floating_point_are_exact() -> None:
    branch = {f"g{i}": [f"a{i}", f"b{i}"] for i in range(1500)}
    tree = ValueHierarchy.from_nested({"any": branch})
    assert n_cuts(tree) == 2**1500


def test_moves_that_do_not_fit_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'red' is a state"):
        refine(TREE, TREE.states, "red")
    with pytest.raises(ValueError, match="'yellowish' is not in the cut"):
        refine(TREE, top_cut(TREE), "yellowish")
    with pytest.raises(ValueError, match="lacks red, yellowish"):
        abstract(TREE, top_cut(TREE), "warm")
    with pytest.raises(ValueError, match="'red' cannot replace"):
        abstract(TREE, TREE.states, "red")
