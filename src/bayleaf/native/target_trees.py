"""Native growth of boosted regression trees over ranks of states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import Floats, Integers
from bayleaf.native.signatures import native

# Ranks are in the order of each feature's states; rows beyond `target` are held out.
_grow_target_trees = native(
    """bl_grow_target_trees(in ranks u2[n_features, n_rows], n_features, n_rows,
    in cards i8[n_features], in target f8[n_fitted], in weights f8[n_fitted], n_fitted,
    int n_trees, int max_depth, int min_rows, int n_features_drawn, int n_sampled,
    real rate, int seed, out sums f8[n_stages, n_rows], n_stages, out roots i8[n_trees],
    out places i8[2, capacity], out numbers f8[2, capacity], capacity,
    out n_nodes i8[1])"""
)


class Growth(NamedTuple):
    """How regression trees are grown."""

    n_trees: int
    #: Number of equal parts after each of which the trees' sums are returned.
    n_stages: int
    #: Share of a step that a tree takes.
    rate: float
    #: Largest number of splits above a leaf, up to 64.
    max_depth: int
    #: Smallest number of sampled rows in a leaf.
    min_rows: int
    #: Shares of the features drawn for a node, and of the rows sampled for a tree.
    feature_share: float
    row_share: float


class Nodes(NamedTuple):
    """Nodes of trees, one after another, as in `bayleaf.models.support.TreeSum`."""

    roots: Integers
    features: Integers
    thresholds: Floats
    right: Integers
    values: Floats

    def first(self, n_trees: int) -> Nodes:
        """The nodes of the first trees."""
        end = int(np.append(self.roots, len(self.values))[n_trees])
        columns: list[Any] = [column[:end] for column in self[1:]]
        return Nodes(self.roots[:n_trees], *columns)


def grow_target_trees(
    ranks: NDArray[np.uint16],
    cards: Integers,
    target: Floats,
    weights: Floats,
    growth: Growth,
    seed: int,
) -> tuple[Nodes, Floats]:
    """Grow trees of a number by boosting, the first from zero, and their sums.

    Friedman (2002), Computational Statistics and Data Analysis 38, 367-378. Sums,
    (n_stages, n_rows), are those for each row, held-out ones too, after each stage.
    """
    n_features, n_rows = ranks.shape
    n_sampled = max(1, int(growth.row_share * len(target)))
    max_leaves = max(1, n_sampled // max(1, growth.min_rows))
    max_leaves = min(max_leaves, 2 ** min(growth.max_depth, 62))
    capacity = growth.n_trees * (2 * max_leaves - 1)
    sums = np.empty((growth.n_stages, n_rows))
    roots, n_nodes = np.empty(growth.n_trees, np.int64), np.zeros(1, np.int64)
    indices, numbers = np.empty((2, capacity), np.int64), np.empty((2, capacity))
    n_drawn = max(1, int(growth.feature_share * n_features))
    rows = ranks, cards, target, weights
    settings = growth.max_depth, growth.min_rows, n_drawn, n_sampled, growth.rate, seed
    nodes = sums, roots, indices, numbers, n_nodes
    _grow_target_trees(*rows, growth.n_trees, *settings, *nodes)
    used = int(n_nodes[0])
    features, right = indices[:, :used].copy()
    thresholds, values = numbers[:, :used].copy()
    return Nodes(roots, features, thresholds, right, values), sums
