"""Learned value hierarchies."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.value_hierarchy import MAX_DEPTH, ValueHierarchy, flat_hierarchy
from bayleaf.search.hierarchy_learning import (
    Linkage,
    LinkageArity,
    LocalHierarchies,
    build_hierarchy,
    learn_hierarchies,
)
from offenders import check_each

Table = NDArray[np.float64]


def variable_of(n_states: int) -> Variable:
    return Variable("v", tuple(f"s{i}" for i in range(n_states)))


def information(clusters: list[list[int]], tables: list[Table]) -> float:
    """Mutual information of the clusters with each table's variable, times weight."""
    total = 0.0
    for table in tables:
        joined = np.array([table[cluster].sum(axis=0) for cluster in clusters])
        expected = joined.sum(axis=1, keepdims=True) * joined.sum(axis=0)
        seen = joined > 0
        ratio = joined[seen] * joined.sum() / expected[seen]
        total += float((joined[seen] * np.log(ratio)).sum())
    return total


def mode_distance(left: list[int], right: list[int], tables: list[Table]) -> float:
    return sum(
        int(table[left].sum(axis=0).argmax() != table[right].sum(axis=0).argmax())
        for table in tables
    )


def joined_groups(
    n_states: int, tables: list[Table], linkage: str, margin: float
) -> set[frozenset[int]]:
    """All groups that arise, by recomputing every loss in every step."""
    clusters = [[i] for i in range(n_states)]
    groups = set()
    while len(clusters) > 1:
        n = len(clusters)
        losses = np.full((n, n), np.inf)
        for i in range(n):
            for j in range(i + 1, n):
                if linkage == "hamming":
                    loss = mode_distance(clusters[i], clusters[j], tables)
                else:
                    rest = [c for k, c in enumerate(clusters) if k not in (i, j)]
                    loss = information(clusters, tables) - information(
                        [*rest, clusters[i] + clusters[j]], tables
                    )
                losses[i, j] = losses[j, i] = loss
        members = set(divmod(int(losses.round(9).argmin()), n))
        if margin >= 0:
            limit = losses.min() * (1 + margin) + 1e-9
            while (
                more := {j for i in members for j in range(n) if losses[i, j] <= limit}
                - members
            ):
                members |= more
        new = [value for i in sorted(members) for value in clusters[i]]
        clusters = [c for i, c in enumerate(clusters) if i not in members] + [new]
        groups.add(frozenset(new))
    return groups


def groups_of(tree: ValueHierarchy, variable: Variable) -> set[frozenset[int]]:
    return {
        frozenset(variable.state_index[state] for state in tree.states_under(node))
        for node in tree.inner_nodes
    }


def random_tables(rng: np.random.Generator, n_states: int) -> list[Table]:
    """Tables of counts with empty rows and cells."""
    tables = [
        rng.integers(0, 6, (n_states, int(rng.integers(2, 5)))).astype(np.float64)
        for _ in range(int(rng.integers(1, 5)))
    ]
    if rng.random() < 0.3:
        for table in tables:
            table[n_states // 2] = 0.0
    return tables


def test_groups_are_those_of_recomputing_every_loss() -> None:
    def check(case: tuple[Linkage, tuple[LinkageArity, float], int]) -> None:
        linkage, (arity, margin), seed = case
        rng = np.random.default_rng(seed)
        n_states = int(rng.integers(3, 8))
        tables = random_tables(rng, n_states)
        variable = variable_of(n_states)
        tree = build_hierarchy(variable, tables, linkage, arity)
        expected = joined_groups(n_states, tables, linkage, margin)
        assert groups_of(tree, variable) == expected

    check_each(
        itertools.product(
            ["information", "hamming"], [("binary", -1.0), ("multiway", 0.1)], range(12)
        ),
        check,
    )


def test_a_common_factor_of_all_weights_changes_nothing() -> None:
    def check(factor: float) -> None:
        tables = random_tables(np.random.default_rng(5), 8)
        scaled = [table * factor for table in tables]
        assert build_hierarchy(variable_of(8), scaled) == build_hierarchy(
            variable_of(8), tables
        )

    check_each([2.0, 1e-200, 1e290], check)


def test_equal_modes_are_joined_in_the_order_of_the_list() -> None:
    modes = np.array([0, 1, 0, 1, 0])
    tables = [np.eye(2)[modes]]
    tree = build_hierarchy(variable_of(5), tables, "hamming")
    # s0 and s2 become the last cluster, so that s1 and s3 are found before them.
    assert tree.to_nested() == {
        "any": {
            "s0 | s2 | s4": {"s0 | s2": ["s0", "s2"], "s4": None},
            "s1 | s3": ["s1", "s3"],
        }
    }


@pytest.mark.parametrize(
    "seeds", [range(150), pytest.param(range(150, 10_000), marks=pytest.mark.long)]
)
def test_ties_of_modes_are_those_of_whole_numbers(seeds: range) -> None:
    """Sums of tenths are no multiples of a tenth, but rounding decides no tie."""

    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_states = int(rng.integers(3, 7))
        variable = variable_of(n_states)
        tables = [
            rng.integers(0, 12, (n_states, rng.integers(2, 4))).astype(float)
            for _ in range(3)
        ]
        expected = joined_groups(n_states, tables, "hamming", -1.0)
        for unit in (1.0, 0.1, 1e-3 / 3):
            tree = build_hierarchy(variable, [t * unit for t in tables], "hamming")
            assert groups_of(tree, variable) == expected

    check_each(seeds, check)


def test_of_equally_frequent_states_the_smallest_code_is_the_mode() -> None:
    table = np.array([[3.0, 3.0, 0.0], [0.0, 1.0, 0.0], [5.0, 0.0, 5.0]])
    tree = build_hierarchy(variable_of(3), [table], "hamming")
    assert tree.states_under(tree.children_of("any")[0]) == ("s0", "s2")


def test_multiway_joins_all_equal_values_at_once() -> None:
    table = np.array([[4.0, 1.0], [1.0, 5.0], [8.0, 2.0], [2.0, 0.5], [1.0, 5.0]])
    tree = build_hierarchy(variable_of(5), [table], linkage_arity="multiway")
    assert tree.children_of("any") == ("s0 | s2 | s3", "s1 | s4")


@pytest.mark.parametrize("n_states", [1, 2])
def test_few_states_have_the_trivial_hierarchy(n_states: int) -> None:
    tree = build_hierarchy(variable_of(n_states), [np.ones((n_states, 3))])
    assert tree.states == variable_of(n_states).states
    assert len(tree.inner_nodes) == n_states - 1


def test_without_context_nothing_is_grouped() -> None:
    tree = build_hierarchy(variable_of(4), [])
    assert tree.children_of("any") == ("s0", "s1", "s2", "s3")


def test_groups_of_intervals_are_named_as_intervals() -> None:
    variable = numeric_variable("n", [1.0, 2.5, 4.0, 7.0], missing_state=True)
    table = np.repeat([[9.0, 0.0], [0.0, 9.0]], 3, axis=0)
    tree = build_hierarchy(variable, [table])
    assert "<= 4" in tree
    assert "> 4 | missing" not in tree
    assert "(4, 7] | > 7 | missing" in tree


def test_names_of_groups_avoid_names_of_states() -> None:
    variable = Variable("v", ("a", "b", "a | b", "any"))
    table = np.array([[9.0, 0.0], [9.0, 0.0], [1.0, 9.0], [1.0, 9.0]])
    tree = build_hierarchy(variable, [table])
    assert tree.root == "any_"
    assert tree.states_under("a | b_") == ("a", "b")


def test_a_chain_of_many_values_stays_within_the_depth_of_hierarchies() -> None:
    # Value i differs from the one before it in i + 1 variables, and outweighs all
    # before it, so that each in turn joins those before.
    n_states = MAX_DEPTH + 8
    n_first = np.cumsum(np.arange(n_states) + 1)
    ones = np.arange(n_first[-1]) < n_first[:, np.newaxis]
    weights = 3.0 ** np.arange(n_states)
    table = np.stack([~ones, ones], axis=2) * weights[:, np.newaxis, np.newaxis]
    tables = list(np.moveaxis(table, 1, 0))
    variable = variable_of(n_states)
    tree = build_hierarchy(variable, tables, "hamming")
    assert set(tree.states) == set(variable.states)
    assert len(tree.inner_nodes) == MAX_DEPTH - 1


def test_rounding_is_no_reason_to_prefer_a_pair() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        # Where all values say the same, nothing is lost, but for the last digits.
        table = rng.random((11, 1)) * rng.random(7)
        variable = variable_of(11)
        by_order = build_hierarchy(variable, [np.ones((11, 2))], "hamming")
        assert build_hierarchy(variable, [table, 2 * table]) == by_order

    check_each(range(4), check)


def test_tables_and_settings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="'v' needs 3 rows"):
        build_hierarchy(variable_of(3), [np.ones((2, 2))])
    unknown: Any = "ward"
    with pytest.raises(ValueError, match="linkage must be 'information' or"):
        build_hierarchy(variable_of(3), [], unknown)
    with pytest.raises(ValueError, match="linkage_arity must be 'binary' or"):
        build_hierarchy(variable_of(3), [], "hamming", unknown)


@pytest.mark.parametrize("linkage", ["information", "hamming"])
def test_global_hierarchies_see_all_other_variables(linkage: Linkage) -> None:
    rng = np.random.default_rng(11)
    cards = (4, 2, 5)
    columns = [rng.integers(0, card + 1, 60) for card in cards]
    weights = rng.integers(0, 4, 60).astype(np.float64)
    columns[-1] %= cards[-1]
    domain = Domain(
        tuple(
            Variable(f"v{i}", tuple(f"s{state}" for state in range(card)))
            for i, card in enumerate(cards)
        )
    )
    codes = Codes.from_columns(columns, cards, weights)
    trees = learn_hierarchies(RowCounts(codes), domain, linkage)
    for i, card in enumerate(cards):
        tables = []
        for j in range(len(cards)):
            table = np.zeros((card + 1, cards[j] + 1))
            np.add.at(table, (columns[i], columns[j]), weights)
            tables.append(table[:-1, :-1])
        del tables[i]
        assert trees[i] == build_hierarchy(domain[i], tables, linkage)


CARDS = (5, 4, 2, 6)
DOMAIN = Domain(
    tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(CARDS))
)


@pytest.fixture(scope="module")
def counts() -> RowCounts:
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, card, 300) for card in CARDS]
    return RowCounts(Codes.from_columns(columns, CARDS))


def test_the_context_is_the_child_and_the_other_parents(counts: RowCounts) -> None:
    local = LocalHierarchies(counts, DOMAIN, "hamming", "multiway")
    tables = counts.family_counts([(3, 0), (3, 2)])
    expected = build_hierarchy(DOMAIN[3], tables, "hamming", "multiway")
    assert local(0, 3, (2,)) == expected
    assert local(0, 3, (3, 2)) is local(0, 3, {2})
    assert local(2, 3, (0,)) is local(0, 3, (2,))
    alone = build_hierarchy(
        DOMAIN[3], counts.family_counts([(3, 0)]), "hamming", "multiway"
    )
    assert local(0, 3, ()) == alone


def test_nothing_is_learned_for_two_states(counts: RowCounts) -> None:
    local = LocalHierarchies(counts, DOMAIN)
    assert local(0, 2, (1, 3)) == flat_hierarchy((0, 1))


def test_every_pair_is_counted_once() -> None:
    asked: list[tuple[int, ...]] = []

    class Spy(RowCounts):
        def family_counts(self, families):  # type: ignore[no-untyped-def]
            asked.extend(families)
            return super().family_counts(families)

    rng = np.random.default_rng(2)
    columns = [rng.integers(0, card, 50) for card in CARDS]
    local = LocalHierarchies(Spy(Codes.from_columns(columns, CARDS)), DOMAIN)
    for child, parent, parents in [(0, 1, ()), (1, 0, ()), (0, 1, (3,)), (3, 1, (0,))]:
        local(child, parent, parents)
    assert sorted(asked) == [(0, 1), (1, 3)]


def test_threads_get_the_same_trees(counts: RowCounts) -> None:
    alone = LocalHierarchies(counts, DOMAIN)
    shared = LocalHierarchies(counts, DOMAIN)
    questions = [(c, p, (o,)) for c in range(4) for p in range(4) for o in range(4)]
    questions = [(c, p, o) for c, p, o in questions if c != p and c not in o]
    tasks = [lambda q=question: shared(*q) for question in questions]
    assert run_tasks(tasks, 4) == [alone(*question) for question in questions]


def test_unknown_settings_are_refused(counts: RowCounts) -> None:
    with pytest.raises(ValueError, match="linkage must be"):
        LocalHierarchies(counts, DOMAIN, "ward")  # type: ignore[arg-type]


def test_members_of_given_groups_are_joined_and_the_groups_stay() -> None:
    rng = np.random.default_rng(0)
    states = tuple("abcdefg")
    given = ValueHierarchy.from_nested(
        {"all": [{"low": ["a", "c", "e", "g"]}, {"high": ["b", "d"]}, "f"]}
    )
    for _ in range(20):
        tables = [rng.integers(1, 9, (7, 3)).astype(float) for _ in range(2)]
        learned = build_hierarchy(Variable("x", states), tables, given=given)
        for group in ("low", "high"):
            assert {*given.states_under(group)} == {*learned.states_under(group)}
        below = [0, 2, 4, 6]
        alone = build_hierarchy(
            Variable("x", tuple("aceg")), [table[below] for table in tables]
        )
        for node in alone.inner_nodes[1:]:
            assert learned.states_under(node) == alone.states_under(node)
        assert all(len(learned.children_of(node)) in (0, 2) for node in learned.nodes)


def test_a_given_hierarchy_in_deep_levels_is_not_made_deeper_than_may_be() -> None:
    states = tuple(range(2 * MAX_DEPTH))
    given = ValueHierarchy.from_nested(
        {"all": [{"half": list(states[:MAX_DEPTH])}, *states[MAX_DEPTH:]]}
    )
    # Each value is joined with all before it.
    table = np.array([[2.0**-state, 1.0] for state in states])
    learned = build_hierarchy(Variable("x", states), [table], given=given)
    assert sorted(learned.states) == list(states)
