"""Every move of every tree gains what scoring all trees again says it gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy, flat_hierarchy
from bayleaf.scores.local_scores import LOCAL_SCORES, resolve_score
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import Deadline
from bayleaf.search.tree_climbing import grow_fully, prune, random_moves
from bayleaf.search.trees.growing import CollapseMove, GrowingTree, SplitMove
from bayleaf.search.trees.leaf_counts import (
    LeafCounts,
    RecentCells,
    RowTable,
    SplitScores,
    TreeNode,
)
from bayleaf.search.trees.tree_network import HierarchySource, TreeNetwork, TreeTask
from bayleaf.search.trees.tree_terms import TreeTerms
from offenders import check_each
from oracles import tree_networks


def _network(
    codes: Codes,
    domain: Domain,
    hierarchies: list[ValueHierarchy],
    name: str,
    source: HierarchySource | None = None,
) -> TreeNetwork:
    rows = RowTable.from_codes(codes, [own.name for own in domain])
    terms = TreeTerms(resolve_score(name), len(domain), rows.total_weight)
    task = TreeTask(
        rows,
        domain,
        terms,
        tuple(hierarchies),
        source,
        Constraints(),
        Deadline(None),
        seed=0,
        progress=None,
        max_kept_cells=1 << 20,
    )
    counts = task.counts()
    trees = [task.tree(child, counts) for child in range(len(domain))]
    return TreeNetwork(trees, task.constraints, 0)


def _full(tree: GrowingTree, name: str, codes: Codes) -> float:
    return tree_networks.tree_score(name, tree.child, tree.shape().root, codes)


def _moves(
    network: TreeNetwork, child: int, rng: np.random.Generator
) -> list[SplitMove | CollapseMove]:
    """The split of a random leaf on each variable, and each collapse."""
    tree = network.trees[child]
    leaf = tree.leaves[int(rng.integers(len(tree.leaves)))]
    moves: list[SplitMove | CollapseMove] = [*tree.collapses()]
    for variable in np.flatnonzero(network.allowed(child)):
        only = np.arange(len(network.trees)) == variable
        move = tree.leaf_split(leaf, only)
        if move is not None:
            moves.append(move)
    return moves


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(sorted(LOCAL_SCORES)),
    is_local=st.booleans(),
)
def test_moves_drawn_by_chance_gain_what_full_recomputation_says(
    seed: int, name: str, is_local: bool
) -> None:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 4)
    codes = tree_networks.random_codes(rng, domain, 40, weighted=True)

    def source(child: int, parent: int, parents: tuple[int, ...]) -> ValueHierarchy:
        own = np.random.default_rng([child, parent, *parents])
        return tree_networks.random_hierarchy(own, domain[parent].states)

    network = _network(codes, domain, hierarchies, name, source if is_local else None)
    for _ in range(8):
        child = int(rng.integers(len(domain)))
        moves = _moves(network, child, rng)
        if moves:
            tree = network.trees[child]
            before, move = _full(tree, name, codes), moves[rng.integers(len(moves))]
            network.apply(child, move)
            gain = _full(tree, name, codes) - before
            assert move.gain == pytest.approx(gain, abs=1e-6)
            assert tree.score == pytest.approx(before + gain, abs=1e-6)


@pytest.mark.parametrize("name", ["mdl", "bdeu"])
def test_the_best_move_is_the_best_of_all_that_there_are(name: str) -> None:
    rng = np.random.default_rng(1)
    domain, hierarchies = tree_networks.random_domain(rng, 4)
    codes = tree_networks.random_codes(rng, domain, 1000)
    network = _network(codes, domain, hierarchies, name)
    n_moves = 0
    while (found := network.best_move()) is not None:
        gains = []
        for child, tree in enumerate(network.trees):
            now = _full(tree, name, codes)
            root = tree.shape().root
            others = [
                other
                for v, other in tree_networks.with_one_split(
                    root, child, domain, hierarchies
                )
                if network.allowed(child)[v]
            ]
            others += tree_networks.with_one_collapse(root)
            gains += [
                tree_networks.tree_score(name, child, other, codes) - now
                for other in others
            ]
        assert found[1].gain == pytest.approx(max(gains), abs=1e-6)
        network.apply(*found)
        n_moves += 1
    assert n_moves > 3


def _spoilt(seed: int) -> tuple[TreeNetwork, Codes]:
    """A network after splits drawn by chance, most of which do not pay."""
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 5)
    codes = tree_networks.random_codes(rng, domain, 200)
    network = _network(codes, domain, hierarchies, "mdl")
    for child in rng.integers(5, size=12).tolist():
        moves = [m for m in _moves(network, child, rng) if isinstance(m, SplitMove)]
        if moves:
            network.apply(child, moves[int(rng.integers(len(moves)))])
    return network, codes


def test_the_best_moves_clear_away_splits_that_do_not_pay() -> None:
    def check(seed: int) -> None:
        network, codes = _spoilt(seed)
        kinds = set()
        while (found := network.best_move()) is not None:
            child, move = found
            tree = network.trees[child]
            before = _full(tree, "mdl", codes)
            network.apply(child, move)
            assert move.gain == pytest.approx(
                _full(tree, "mdl", codes) - before, abs=1e-6
            )
            kinds.add(type(move))
        assert CollapseMove in kinds
        for tree in network.trees:
            assert max((move.gain for move in tree.collapses()), default=0.0) <= 1e-7

    check_each(range(5), check)


def test_proposals_split_and_collapse_and_only_ever_gain() -> None:
    def check(seed: int) -> None:
        network, _ = _spoilt(seed)
        n_before = len(network.result(stopped_early=False).trace)
        rng = np.random.default_rng(seed)
        assert random_moves(network, Deadline(None), rng)
        trace = network.result(stopped_early=False).trace[n_before:]
        kinds = {move.kind for move in trace}
        assert kinds & {"remove_split", "abstract_split"}
        assert min(move.gain for move in trace) > 0

    check_each(range(5), check)


def test_proposals_stop_when_time_is_up() -> None:
    network, _ = _spoilt(0)
    before = network.result(stopped_early=False)
    assert not random_moves(network, Deadline(0.0), np.random.default_rng(0))
    assert network.result(stopped_early=False) == before


def test_only_so_many_counts_are_kept() -> None:
    columns = [np.arange(12) % 3, np.arange(12) % 2]
    rows = RowTable.from_codes(Codes.from_columns(columns, (3, 2)), "ab")
    counts = LeafCounts(rows, 2 * 5 * 2)
    nodes = [
        TreeNode(first, 12, {0: first}, 1, 1.0, np.zeros(2), 0.0) for first in range(3)
    ]
    kept = [counts.of(node, 1, rows.all_rows) for node in nodes]
    assert counts.of(nodes[2], 1, rows.all_rows) is kept[2]
    assert counts.of(nodes[1], 1, rows.all_rows) is kept[1]
    again = counts.of(nodes[0], 1, rows.all_rows)
    assert again is not kept[0]
    np.testing.assert_array_equal(again, kept[0])
    counts.forget(nodes[0])
    assert counts.of(nodes[0], 1, rows.all_rows) is not again
    # Room for two again, so the first of them stays.
    assert counts.of(nodes[1], 1, rows.all_rows) is kept[1]


def test_trees_of_a_variable_share_the_counts_of_all_rows() -> None:
    columns = [np.arange(12) % 3, np.arange(12) % 2]
    rows = RowTable.from_codes(Codes.from_columns(columns, (3, 2)), "ab")
    counts = LeafCounts(rows, 100)
    roots = [TreeNode(0, 12, {}, 0, 1.0, np.zeros(2), 0.0) for _ in range(2)]
    first, second = (counts.of(root, 1, rows.all_rows) for root in roots)
    assert first is second
    assert counts.of(roots[0], 0, rows.all_rows).shape == (5, 3)
    counts.forget(roots[0])
    assert counts.of(roots[1], 1, rows.all_rows) is first


def test_only_so_many_scores_are_kept() -> None:
    scores = RecentCells[SplitScores](2 * 5)
    made = [SplitScores(np.zeros(5), np.zeros(5, dtype=np.int64)) for _ in range(3)]
    for key, one in enumerate(made[:2]):
        scores.keep(key, one, one.gains.size)
    assert scores.get(0) is made[0]
    scores.keep(2, made[2], made[2].gains.size)
    assert [scores.get(key) for key in range(3)] == [made[0], None, made[2]]


def test_trees_grown_fully_are_pruned_until_no_collapse_gains() -> None:
    def check(seed: int) -> None:
        network, codes = _spoilt(seed)
        for child, tree in enumerate(network.trees):
            for move in tree.collapses()[:1]:
                tree.collapse(move.split)
            others = frozenset(range(5)) - {child}
            grow_fully(tree, others)
            n_full = len(tree.splits)
            prune(tree, frozenset())
            assert len(tree.splits) < n_full or not n_full
            assert max((move.gain for move in tree.collapses()), default=0.0) <= 1e-7
            full = _full(tree, "mdl", codes)
            assert tree.score == pytest.approx(full, abs=1e-6)

    check_each(range(5), check)


def test_pruning_keeps_a_split_on_each_required_variable() -> None:
    rng = np.random.default_rng(0)
    codes = Codes.from_columns([rng.integers(2, size=64) for _ in range(3)], (2, 2, 2))
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in "abc"))
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    tree = _network(codes, domain, hierarchies, "mdl").trees[2]
    grow_fully(tree, frozenset({0, 1}))
    tree.enter_missing(frozenset({1}))
    prune(tree, frozenset({1}))
    assert tree.parents == (1,)
    assert len(tree.splits) == 1


def test_nothing_is_grown_below_leaves_that_cannot_gain() -> None:
    column = np.arange(64) % 2
    codes = Codes.from_columns([column, np.arange(64) // 2 % 2, column], (2, 2, 2))
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in "abc"))
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    tree = _network(codes, domain, hierarchies, "mdl").trees[2]
    grow_fully(tree, frozenset({0, 1}))
    assert [split.variable for split in tree.splits] == [0]


def test_leaves_count_the_variables_that_may_be_split_on() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        domain, hierarchies = tree_networks.random_domain(rng, 5)
        codes = tree_networks.random_codes(rng, domain, 300)
        network = _network(codes, domain, hierarchies, "aic")
        while (found := network.best_move()) is not None:
            network.apply(*found)
        for child, tree in enumerate(network.trees):
            allowed = network.allowed(child)
            contexts = [context for _, context in tree.shape().leaves(domain.cards)]
            expected = [
                sum(
                    len(context.get(v, range(domain.cards[v]))) > 1
                    for v in np.flatnonzero(allowed)
                    if v != child
                )
                for context in contexts
            ]
            assert tree.n_candidates(allowed).tolist() == expected

    check_each(range(5), check)


def test_the_first_of_equal_moves_is_made() -> None:
    column = np.arange(64) % 2
    codes = Codes.from_columns([column, column, column], (2, 2, 2))
    domain = Domain(tuple(Variable(name, ("x", "y")) for name in "abc"))
    hierarchies = [flat_hierarchy(variable.states) for variable in domain]
    network = _network(codes, domain, hierarchies, "mdl")
    found = network.best_move()
    assert found is not None
    assert isinstance(found[1], SplitMove)
    assert (found[0], found[1].variable) == (0, 1)


def test_a_tree_over_all_configurations_scores_what_the_table_does() -> None:
    rng = np.random.default_rng(2)
    cards = (2, 3, 2)
    codes = Codes.from_columns([rng.integers(c, size=50) for c in cards], cards)
    table = np.zeros(cards)
    np.add.at(table, tuple(codes.column(v) for v in range(3)), 1.0)
    score = resolve_score("bdeu")
    terms = TreeTerms(score, 3, 50.0)
    leaves = terms.leaves(table.reshape(6, 2), np.full(6, 1 / 6))
    expected = score.rows_score(table.reshape(6, 2), 6, 50.0)
    assert leaves.sum() == pytest.approx(float(expected))
