"""Value hierarchies, and cuts through them."""

from __future__ import annotations

import itertools
from collections.abc import Hashable

import numpy as np
import pytest

from bayleaf.data.domain import Variable
from bayleaf.data.value_hierarchy import (
    Cut,
    ValueHierarchy,
    abstract,
    abstractable,
    cut_groups,
    flat_hierarchy,
    n_cuts,
    n_cuts_below_root,
    refinable,
    refine,
    top_cut,
)
from offenders import check_each

NESTED = {
    "any": {"warm": ["red", {"yellowish": ["orange", "lemon"]}], "cold": ["blue"]}
}
COLOURS = ("red", "orange", "lemon", "blue")


@pytest.fixture
def tree() -> ValueHierarchy:
    return ValueHierarchy.from_nested(NESTED)


def test_leaves_keep_their_order(tree: ValueHierarchy) -> None:
    assert tree.states == COLOURS


def test_an_inner_node_stands_for_the_states_below_it(tree: ValueHierarchy) -> None:
    assert tree.states_under("warm") == ("red", "orange", "lemon")
    assert tree.states_under("yellowish") == ("orange", "lemon")
    assert tree.states_under("blue") == ("blue",)


def test_neighbours_are_the_nodes_just_above_and_below(tree: ValueHierarchy) -> None:
    assert tree.children_of("warm") == ("red", "yellowish")
    assert tree.parent_of("lemon") == "yellowish"
    assert tree.parent_of("any") is None
    assert tree.inner_nodes == ("any", "warm", "yellowish", "cold")


def test_nested_values_are_given_back_as_the_same_tree(tree: ValueHierarchy) -> None:
    assert ValueHierarchy.from_nested(tree.to_nested()) == tree


def test_a_cut_covers_every_state_once(tree: ValueHierarchy) -> None:
    def check(case: tuple[list[str], bool]) -> None:
        names, expected = case
        assert tree.is_cut(names) is expected

    check_each(
        [
            (["any"], True),
            (["warm", "cold"], True),
            (["red", "yellowish", "blue"], True),
            (["warm", "red", "blue"], False),
            (["warm"], False),
            (list(COLOURS), True),
        ],
        check,
    )


def test_a_name_used_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="the name 'red' twice"):
        ValueHierarchy.from_nested({"any": {"warm": ["red"], "cold": ["red"]}})


def test_what_is_no_tree_is_refused() -> None:
    def check(nested: object) -> None:
        with pytest.raises(ValueError, match="value hierarchy"):
            ValueHierarchy.from_nested(nested)  # type: ignore[arg-type]

    check_each([{}, {"a": []}, {"a": "bc"}, {"a": 3}, ["a"]], check)


def test_parents_that_are_no_tree_are_refused() -> None:
    def check(case: tuple[tuple[str, ...], tuple[int, ...]]) -> None:
        nodes, parents = case
        with pytest.raises(ValueError, match="value hierarchy"):
            ValueHierarchy(nodes, parents)

    check_each(
        [
            (("a", "b"), (-1, -1)),
            (("a", "b"), (0, -1)),
            ((), ()),
            (("a", "b"), (-1, 1)),
            (("a",), (-1, 0)),
        ],
        check,
    )


def test_a_deep_tree_is_refused() -> None:
    nested: object = ["leaf"]
    for depth in range(200):
        nested = {f"n{depth}": nested}
    with pytest.raises(ValueError, match="deeper"):
        ValueHierarchy.from_nested(nested)  # type: ignore[arg-type]


def test_an_unknown_node_is_named_with_near_ones(tree: ValueHierarchy) -> None:
    with pytest.raises(KeyError, match="did you mean warm"):
        tree.states_under("wram")


def test_a_variable_takes_a_hierarchy_over_its_states(tree: ValueHierarchy) -> None:
    assert Variable("colour", COLOURS, hierarchy=tree).hierarchy is tree
    assert Variable("colour", (*COLOURS, None), hierarchy=tree).has_missing_state


@pytest.mark.parametrize("states", [COLOURS[:3], (*COLOURS, "pink")])
def test_a_hierarchy_over_other_states_is_refused(
    tree: ValueHierarchy, states: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="hierarchy of variable 'colour'"):
        Variable("colour", states, hierarchy=tree)


def test_a_tree_is_printed_with_a_line_for_each_node(tree: ValueHierarchy) -> None:
    assert str(tree).splitlines() == [
        "any",
        "  warm",
        "    red",
        "    yellowish",
        "      orange",
        "      lemon",
        "  cold",
        "    blue",
    ]


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
    """Every set of nodes that is a cut."""
    return [
        names
        for size in range(1, len(tree.nodes))
        for names in itertools.combinations(tree.nodes, size)
        if tree.is_cut(names)
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
        assert reached == set(all_cuts(tree)) - {(tree.root,)}

    check_each(range(8), check)


def test_abstracting_undoes_refining() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        tree = random_hierarchy(rng, int(rng.integers(3, 7)))
        for cut in set(all_cuts(tree)) - {(tree.root,)}:
            for name in refinable(tree, cut):
                finer = refine(tree, cut, name)
                assert finer == tuple(node for node in tree.nodes if node in finer)
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


def test_a_flat_hierarchy_has_one_cut_below_its_root_and_no_moves() -> None:
    flat = flat_hierarchy(("any", "b", None))
    assert flat.root == "any_"
    assert top_cut(flat) == flat.states == ("any", "b", None)
    assert n_cuts(flat) == 2
    assert n_cuts_below_root(flat) == 1
    assert not refinable(flat, top_cut(flat))
    assert not abstractable(flat, top_cut(flat))


def test_a_single_state_is_its_own_cut() -> None:
    alone = flat_hierarchy(("only",))
    assert top_cut(alone) == ("only",)
    assert cut_groups(alone, top_cut(alone), ("only",)) == ((0,),)
    assert n_cuts(alone) == n_cuts_below_root(alone) == 1


def test_numbers_of_cuts_beyond_floating_point_are_exact() -> None:
    branch = {f"g{i}": [f"a{i}", f"b{i}"] for i in range(1500)}
    tree = ValueHierarchy.from_nested({"any": branch})
    assert n_cuts(tree) == 2**1500 + 1
    assert n_cuts_below_root(tree) == 2**1500


def test_moves_that_do_not_fit_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'red' is a state"):
        refine(TREE, TREE.states, "red")
    with pytest.raises(ValueError, match="'yellowish' is not in the cut"):
        refine(TREE, top_cut(TREE), "yellowish")
    with pytest.raises(ValueError, match="lacks red, yellowish"):
        abstract(TREE, top_cut(TREE), "warm")
    with pytest.raises(ValueError, match="'red' cannot replace"):
        abstract(TREE, TREE.states, "red")
