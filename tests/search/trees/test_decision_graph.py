"""Leaves that share distributions: which are merged, and what that gains."""

from __future__ import annotations

import itertools
import math
from itertools import combinations

import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.scores.local_scores import resolve_score
from bayleaf.search.structure import SearchResult
from bayleaf.search.tree_climbing import climb_trees
from bayleaf.search.trees.decision_graph import (
    configuration_shares,
    merge_leaves,
    with_merged_leaves,
)
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from bayleaf.search.trees.tree_terms import TreeTerms
from offenders import check_each
from oracles import tree_networks


def _terms(name: str, total: float) -> TreeTerms:
    return TreeTerms(resolve_score(name), 4, total)


def _greedy(
    name: str, counts: np.ndarray, shares: np.ndarray, n_leaves: int
) -> tuple[list[set[int]], float]:
    """Groups of leaves and the whole gain, everything computed again at each step."""
    total = float(counts.sum())
    cost = math.log2(n_leaves) if name == "mdl" else 0.0

    def value(group: set[int]) -> float:
        own = counts[sorted(group)].sum(axis=0).tolist()
        share = float(shares[sorted(group)].sum())
        return tree_networks.leaf_term(name, own, share, total)

    groups = [{row} for row in range(len(counts))]
    gained = 0.0
    while len(groups) > 1:
        gain, i, j = max(
            (value(a | b) - value(a) - value(b) - cost, -i, -j)
            for (i, a), (j, b) in combinations(enumerate(groups), 2)
        )
        if gain <= 1e-7:
            break
        gained += gain
        groups[-i] |= groups.pop(-j)
    return groups, gained


def test_merges_are_those_of_a_search_that_computes_everything_anew() -> None:
    def check(case: tuple[int, str]) -> None:
        seed, name = case
        rng = np.random.default_rng(seed)
        counts = rng.poisson(rng.choice([1.0, 20.0, 90.0], (9, 3))).astype(float)
        shares = rng.dirichlet(np.ones(9))
        groups, gained = _greedy(name, counts, shares, 12)
        rows, merges = merge_leaves(counts, shares, 12, _terms(name, counts.sum()))
        found = [
            set(np.flatnonzero(rows == row).tolist()) for row in range(len(groups))
        ]
        assert found == sorted(groups, key=min)
        assert sum(merge.gain for merge in merges) == pytest.approx(gained, abs=1e-6)
        assert len(merges) == len(counts) - len(groups)

    check_each(itertools.product(range(10), ["mdl", "bdeu", "k2", "bic"]), check)


def test_leaves_of_one_distribution_are_merged() -> None:
    counts = np.array([[50.0, 50.0], [0.0, 80.0], [30.0, 30.0]])
    rows, merges = merge_leaves(counts, np.full(3, 1 / 3), 3, _terms("mdl", 240.0))
    assert rows.tolist() == [0, 1, 0]
    (merge,) = merges
    assert (merge.kept, merge.absorbed) == (0, 2)
    assert merge.gain == pytest.approx(0.5 * math.log2(240.0) - math.log2(3))


def test_a_surcharge_merges_what_loses_no_more_and_gains_are_told_without_it() -> None:
    counts = np.array([[50.0, 50.0], [40.0, 60.0]])
    terms = _terms("mdl", 1000.0)
    apart = terms.leaves(counts, np.ones(2)).sum()
    together = terms.leaves(counts.sum(axis=0)[None], np.ones(1)).sum()
    loss = float(apart - together) + math.log2(64)
    assert loss > 0
    kept, none = merge_leaves(counts, np.ones(2), 64, terms, 0.99 * loss)
    assert (kept.tolist(), none) == ([0, 1], [])
    rows, (merge,) = merge_leaves(counts, np.ones(2), 64, terms, 1.01 * loss)
    assert rows.tolist() == [0, 0]
    assert merge.gain == pytest.approx(-loss)


def test_a_single_leaf_stays_as_it_is() -> None:
    rows, merges = merge_leaves(np.ones((1, 2)), np.ones(1), 1, _terms("mdl", 2.0))
    assert rows.tolist() == [0]
    assert merges == []


def test_shares_of_configurations_add_up_over_the_leaves_that_share() -> None:
    inner = SplitShape(1, ((0,), (1,)), (LeafShape(0), LeafShape(1)))
    shape = TreeShape(3, (0, 1), SplitShape(0, ((0, 2), (1,)), (inner, LeafShape(0))))
    assert configuration_shares(shape, (3, 2, 2, 2)) == pytest.approx([2 / 3, 1 / 3])


def _found(*, merge: bool, seed: int = 3) -> tuple[SearchResult, float]:
    rng = np.random.default_rng(seed)
    domain, hierarchies = tree_networks.random_domain(rng, 5)
    codes = tree_networks.random_codes(rng, domain, 500, weighted=True)
    counts, score = RowCounts(codes, has_class=False), resolve_score("aic")
    found = climb_trees(counts, domain, score, hierarchies)
    if merge:
        terms = TreeTerms(score, len(domain), float(codes.weights.sum()))
        found = with_merged_leaves(found, codes, terms)
    shared = 0.0
    total = float(codes.weights.sum())
    for shape in found.cpd_structures:
        column = codes.column(shape.child)
        table = np.zeros((shape.n_rows, codes.cards[shape.child]))
        for row, context in shape.leaves(codes.cards):
            here = np.ones(codes.n_rows, dtype=bool)
            for variable, states in context.items():
                here &= np.isin(codes.column(variable), states)
            np.add.at(table, (row, column[here]), codes.weights[here])
        shared += sum(
            tree_networks.leaf_term("aic", row, 1.0, total) for row in table.tolist()
        )
    return found, shared


def test_a_search_that_merges_keeps_the_graph_and_scores_what_its_rows_score() -> None:
    apart, _ = _found(merge=False)
    merged, full = _found(merge=True)
    assert merged.dag == apart.dag
    assert merged.score == pytest.approx(full, abs=1e-6)
    assert merged.trace[: len(apart.trace)] == apart.trace
    moves = merged.trace[len(apart.trace) :]
    assert {move.kind for move in moves} == {"merge_leaves"}
    assert merged.trace[-1].score == pytest.approx(merged.score)
    before = sum(shape.n_rows for shape in apart.cpd_structures)
    assert sum(shape.n_rows for shape in merged.cpd_structures) == before - len(moves)
    n_leaves = sum(shape.n_leaves for shape in merged.cpd_structures)
    assert n_leaves == before > before - len(moves)
