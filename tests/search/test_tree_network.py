"""Every move of every tree gains what scoring all trees anew says it gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.data.hierarchy_cuts import flat_hierarchy
from bayleaf.scores.resolve import LOCAL_SCORES, resolve_score
from bayleaf.search.structure import Constraints, Deadline
from bayleaf.search.tree_collapsing import CollapseMove
from bayleaf.search.tree_counts import RowTable
from bayleaf.search.tree_growing import GrowingTree, SplitMove
from bayleaf.search.tree_network import TreeNetwork
from bayleaf.search.tree_scores import TreeTerms
from bayleaf.search.tree_task import HierarchySource, TreeTask
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
    codes = tree_networks.random_codes(rng, domain, 200)
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


@pytest.mark.parametrize("seed", range(5))
def test_leaves_count_the_variables_that_may_be_split_on(seed: int) -> None:
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
