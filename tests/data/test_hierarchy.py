"""Trees over a variable's states."""

from __future__ import annotations

import pytest

from bayleaf.data.domain import Variable
from bayleaf.data.hierarchy import ValueHierarchy
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
