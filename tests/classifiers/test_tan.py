"""TAN: the best of all trees, rooted and directed as the paper says."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bayleaf import NaiveBayesClassifier, TANClassifier
from offenders import check_each
from oracles.labelled_trees import all_trees
from oracles.sahami import conditional_mutual_information, mutual_information


def _table(seed: int, *, missing: float = 0.0) -> tuple[list[list[Any]], list[str]]:
    """Five columns of text that depend on each other."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=80)
    codes = rng.integers(3, size=(80, 5))
    for j in range(1, 5):
        copied = rng.random(80) < 0.4
        codes[copied, j] = (codes[copied, rng.integers(j)] + y[copied]) % 3
    table = np.array(list("pqr"), dtype=object)[codes]
    table[rng.random(table.shape) < missing] = None
    return table.tolist(), [str(label) for label in y]


def _tree(model: Any) -> frozenset[tuple[int, int]]:
    return frozenset(
        (min(child, parent), max(child, parent))
        for child in range(5)
        for parent in model.model_.feature_parents(child)
    )


def test_no_tree_has_a_larger_weight() -> None:
    def check(case: Any) -> None:
        missing, seed = case
        rows, y = _table(seed, missing=missing)
        weight = {
            (i, j): conditional_mutual_information(rows, y, i, j)
            for i in range(5)
            for j in range(i + 1, 5)
        }
        trees = {
            tree: math.fsum(weight[edge] for edge in tree) for tree in all_trees(5)
        }
        assert len(trees) == 125
        found = _tree(TANClassifier().fit(rows, y))
        assert trees[found] == pytest.approx(max(trees.values()), abs=1e-12)

    check_each(itertools.product([0.0, 0.1], range(6)), check)


def test_the_root_tells_most_of_the_class() -> None:
    def check(seed: int) -> None:
        rows, y = _table(seed)
        model = TANClassifier().fit(rows, y)
        roots = [i for i in range(5) if not model.model_.feature_parents(i)]
        relevance = [mutual_information(rows, y, i) for i in range(5)]
        assert roots == [int(np.argmax(relevance))]

    check_each(range(6), check)


def test_ties_go_to_the_lower_column() -> None:
    rows = [[x, x, x] for x in ("p", "q")] * 4
    model = TANClassifier().fit(rows, ["a", "a", "b", "b"] * 2)
    arcs = [(parent, child) for parent, child in model.edges_ if parent != "class"]
    assert arcs == [("x0", "x1"), ("x0", "x2")]


@pytest.mark.parametrize("seed", range(4))
def test_theta_leaves_the_forest_of_the_strong_edges(seed: int) -> None:
    rows, y = _table(seed)
    tree = _tree(TANClassifier().fit(rows, y))
    weight = {edge: conditional_mutual_information(rows, y, *edge) for edge in tree}
    theta = sorted(weight.values())[1]
    forest = _tree(TANClassifier(theta=theta + 1e-9).fit(rows, y))
    assert forest == {edge for edge in tree if weight[edge] > theta + 1e-9}
    assert len(forest) == 2


def test_each_tree_of_a_forest_is_rooted_at_its_most_telling_feature() -> None:
    rows, y = _table(1)
    tree = _tree(TANClassifier().fit(rows, y))
    theta = sorted(conditional_mutual_information(rows, y, *edge) for edge in tree)[1]
    model = TANClassifier(theta=theta + 1e-9).fit(rows, y)
    relevance = [mutual_information(rows, y, i) for i in range(5)]
    parents = [model.model_.feature_parents(i) for i in range(5)]
    assert sum(not parent for parent in parents) == 3
    root_of = {}
    for feature in range(5):
        node = feature
        while parents[node]:
            node = parents[node][0]
        root_of[feature] = node
    for feature, root in root_of.items():
        assert relevance[root] >= relevance[feature]


def test_a_large_theta_leaves_naive_bayes() -> None:
    rows, y = _table(0)
    tan, naive = (
        TANClassifier(theta=9.0).fit(rows, y),
        NaiveBayesClassifier().fit(rows, y),
    )
    np.testing.assert_array_equal(tan.predict_proba(rows), naive.predict_proba(rows))


@pytest.mark.parametrize("theta", [-1.0, math.inf, "auto"])
def test_a_wrong_theta_is_refused(theta: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="theta must be None or a number"):
        TANClassifier(theta=theta).fit(*_table(0))
