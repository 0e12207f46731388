"""Splits whose branches join distributions that other leaves have."""

from __future__ import annotations

import itertools
import math
from itertools import product

import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.scores.local_scores import resolve_score
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import SearchResult
from bayleaf.search.tree_climbing import climb_trees
from bayleaf.search.trees.decision_graph import DecisionGraph
from bayleaf.search.trees.leaf_counts import RowTable
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from bayleaf.search.trees.tree_terms import TreeTerms
from offenders import check_each
from oracles import tree_networks

# Of domains in which every variable has two states or more.
SEEDS_OF_WIDE = (1, 2, 3, 6, 7, 8)
NAMES = ("mdl", "bdeu", "k2", "bic", "aic")


def _table(
    seed: int, n_variables: int = 4, n_rows: int = 150
) -> tuple[Codes, Domain, list[ValueHierarchy]]:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, n_variables)
    codes = tree_networks.random_codes(rng, domain, n_rows, weighted=True)
    return codes, domain, hierarchies


def _full_score(name: str, shape: TreeShape, codes: Codes) -> float:
    """Score of one variable's graph, everything counted from the rows."""
    total = float(codes.weights.sum())
    column, card = codes.column(shape.child), codes.cards[shape.child]
    table, shares = np.zeros((shape.n_rows, card)), np.zeros(shape.n_rows)
    for row, context in shape.leaves(codes.cards):
        here = np.ones(codes.n_rows, dtype=bool)
        for variable, states in context.items():
            here &= np.isin(codes.column(variable), states)
        shares[row] += math.prod(len(s) / codes.cards[v] for v, s in context.items())
        np.add.at(table, (row, column[here]), codes.weights[here])
    rows = zip(table.tolist(), shares.tolist(), strict=True)
    data = sum(tree_networks.leaf_term(name, *row, total) for row in rows)
    if name != "mdl":
        return data
    # A tree of leaves without rows scores what its shape and parameters cost.
    parameters = 0.5 * (card - 1) * math.log2(total) * shape.n_leaves
    no_rows = Codes.from_columns(
        [codes.column(v) for v in range(codes.n_variables)],
        codes.cards,
        np.where(np.arange(codes.n_rows) == 0, total, 0.0),
    )
    bits = tree_networks.tree_score("mdl", shape.child, shape.root, no_rows)
    n_merges = shape.n_leaves - shape.n_rows
    return data + bits + parameters - n_merges * math.log2(shape.n_leaves)


def _random_graph(
    seed: int, name: str = "mdl"
) -> tuple[DecisionGraph, Codes, list[tuple[int, tuple[tuple[int, ...], ...]]]]:
    """A graph of the last variable, three splits deep, and flat splits of the root."""
    rng = np.random.default_rng(seed)
    cards = (2, 3, 2, 3)
    domain = Domain(
        tuple(
            Variable(f"v{v}", tuple(str(x) for x in range(card)))
            for v, card in enumerate(cards)
        )
    )
    codes = tree_networks.random_codes(rng, domain, 200, weighted=True)
    groups = {v: tuple((x,) for x in range(cards[v])) for v in range(3)}
    labels = iter([0, 1, 0, 2, 1, 2, 0, 1])
    inner = SplitShape(1, groups[1], tuple(LeafShape(next(labels)) for _ in range(3)))
    other = SplitShape(2, groups[2], tuple(LeafShape(next(labels)) for _ in range(2)))
    root = SplitShape(0, groups[0], (inner, other))
    terms = TreeTerms(resolve_score(name), 4, float(codes.weights.sum()))
    rows = RowTable.from_codes(codes, [own.name for own in domain])
    graph = DecisionGraph(TreeShape(3, (0, 1, 2), root), rows, terms)
    return graph, codes, sorted(groups.items())


def _with_distribution(
    shape: SplitShape, context: dict[int, tuple[int, ...]], number: int
) -> LeafShape | SplitShape:
    """A graph with a leaf in the place of the node that a context leads to."""
    if not context:
        return LeafShape(number)
    below = {v: states for v, states in context.items() if v != shape.variable}
    branches = list(shape.branches)
    place = shape.groups.index(context[shape.variable])
    branches[place] = _with_distribution(branches[place], below, number)
    return SplitShape(shape.variable, shape.groups, tuple(branches))


def _renumbered(root: LeafShape | SplitShape) -> TreeShape:
    """A graph of variable 3 with distributions numbered by first occurrence."""
    rows = [row for row, _ in TreeShape(3, (), root).leaves(())]
    numbers = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    new = [numbers.get(row, -1) for row in range(max(rows) + 1)]
    used = tuple(sorted(tree_networks.used_variables(root)))
    return TreeShape(3, used, root).with_rows(new)


def test_changes_and_merges_gain_what_scoring_the_rows_anew_says() -> None:
    def check(case: tuple[int, str]) -> None:
        seed, name = case
        graph, codes, splits = _random_graph(seed, name)
        assert graph.score == pytest.approx(_full_score(name, graph.shape(), codes))
        n_changes = 0
        for node in reversed(list(graph.root.preorder())):
            open_splits = [(v, g) for v, g in splits if v not in node.context]
            change = graph.best_change(node, open_splits)
            if change is None:
                continue
            before = graph.shape()
            graph.apply(change)
            n_changes += 1
            after = graph.shape()
            full = _full_score(name, after, codes)
            assert change.gain == pytest.approx(
                full - _full_score(name, before, codes), abs=1e-6
            )
            assert graph.score == pytest.approx(full, abs=1e-6)
            assert change.gain > 0
            assert after.n_rows <= before.n_rows
        assert n_changes > 0
        before_merges = graph.score
        gained = sum(merge.gain for merge in graph.merge())
        assert graph.score == pytest.approx(before_merges + gained, abs=1e-6)

    check_each(itertools.product(range(4), NAMES), check)


def test_a_node_collapses_into_the_distribution_that_brute_force_finds() -> None:
    def check(seed: int) -> None:
        graph, codes, _ = _random_graph(seed)
        shape = graph.shape()
        for node in graph.root.preorder():
            change = graph.best_change(node, [])
            context = dict(node.context)
            found = [
                _renumbered(_with_distribution(shape.root, context, number))
                for number in range(shape.n_rows + 1)
            ]
            scores = [
                _full_score("mdl", other, codes)
                for other in found
                if other.n_rows <= shape.n_rows
            ]
            best = max(scores) - graph.score
            if change is None:
                assert best <= 1e-6
            else:
                assert change.gain == pytest.approx(best, abs=1e-6)

    check_each(range(6), check)


def test_no_branches_over_two_values_join_better_than_brute_force() -> None:
    def check(seed: int) -> None:
        graph, codes, _ = _random_graph(seed)
        graph.merge()
        (leaf, *_) = [node for node in graph.root.preorder() if not node.branches]
        groups = ((0,), (1,))
        change = graph.best_change(leaf, [(2, groups)])
        shape = graph.shape()
        scores = [-math.inf]
        for numbers in product(range(shape.n_rows + 2), repeat=2):
            split = SplitShape(
                2, groups, tuple(LeafShape(number) for number in numbers)
            )
            root = _placed(shape.root, split)
            found = _renumbered(root)
            if found.n_rows <= shape.n_rows:
                scores.append(_full_score("mdl", found, codes) - graph.score)
        if change is not None and change.variable == 2:
            assert change.gain <= max(scores) + 1e-6
            assert change.gain in [pytest.approx(score, abs=1e-6) for score in scores]

    check_each(range(6), check)


def _placed(node: LeafShape | SplitShape, new: SplitShape) -> LeafShape | SplitShape:
    """A graph with a split in the place of its first leaf."""
    if isinstance(node, LeafShape):
        return new
    first = _placed(node.branches[0], new)
    return SplitShape(node.variable, node.groups, (first, *node.branches[1:]))


def _found(
    seed: int,
    *,
    name: str = "mdl",
    merge: bool = True,
    n_jobs: int = 1,
    constraints: Constraints | None = None,
) -> tuple[SearchResult, Codes]:
    codes, domain, hierarchies = _table(seed)
    found = climb_trees(
        RowCounts(codes, has_class=False),
        domain,
        resolve_score(name),
        hierarchies,
        merge_leaves=merge,
        n_restarts=2,
        n_jobs=n_jobs,
        constraints=constraints,
    )
    return found, codes


@pytest.mark.parametrize("name", NAMES)
def test_a_search_that_merges_scores_what_its_graphs_score(name: str) -> None:
    def check(seed: int) -> None:
        apart, _ = _found(seed, name=name, merge=False)
        found, codes = _found(seed, name=name)
        full = sum(_full_score(name, shape, codes) for shape in found.cpd_structures)
        assert found.score == pytest.approx(full, abs=1e-6)
        assert found.score >= apart.score
        assert found.trace[: len(apart.trace)] == apart.trace
        for shape, tree, parents in zip(
            found.cpd_structures, apart.cpd_structures, found.dag.parents, strict=True
        ):
            assert shape.parents == parents
            assert {split.variable for split in shape.splits()} == set(parents)
            assert shape.n_rows <= tree.n_rows
        assert _found(seed, name=name, n_jobs=2)[0] == found

    check_each(range(2), check)


def test_graphs_keep_to_the_constraints() -> None:
    def check(seed: int) -> None:
        constraints = Constraints(
            required_edges=frozenset({(0, 3)}),
            forbidden_edges=frozenset({(2, 3), (1, 2), (2, 1)}),
            max_parents=1,
        )
        _, domain, _ = _table(seed)
        assert min(domain.cards) > 1
        found, _ = _found(seed, name="aic", constraints=constraints)
        arcs = {(p, c) for c, own in enumerate(found.dag.parents) for p in own}
        assert (0, 3) in arcs
        assert not arcs & constraints.forbidden_edges
        assert max(map(len, found.dag.parents)) <= 1

    check_each(SEEDS_OF_WIDE, check)


def test_a_split_is_made_whose_branches_join_what_is_there() -> None:
    rng = np.random.default_rng(0)
    first, second, third = (rng.integers(2, size=400) for _ in range(3))
    # Where the first is 1 the third decides; its two distributions are the second's.
    chance = np.where(np.where(first == 0, second, third) == 0, 0.2, 0.8)
    last = (rng.random(400) < chance).astype(int)
    columns = [first, second, third, last]
    codes = Codes.from_columns(columns, (2, 2, 2, 2), None)
    rows = RowTable.from_codes(codes, "abcd")
    groups = ((0,), (1,))
    inner = SplitShape(1, groups, (LeafShape(0), LeafShape(1)))
    shape = TreeShape(3, (0, 1), SplitShape(0, groups, (inner, LeafShape(2))))
    graph = DecisionGraph(shape, rows, TreeTerms(resolve_score("mdl"), 4, 400.0))
    node = graph.root.branches[1]
    change = graph.best_change(node, [(2, groups)])
    assert change is not None
    assert (change.variable, change.distributions) == (2, (0, 1))
    graph.apply(change)
    assert graph.shape().n_rows == 2
    assert graph.parents == (0, 1, 2)
