"""Native growth of boosted regression trees over ranks of states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I8, U2, readable, writable
from bayleaf.native.library import INTEGER, POINTER, REAL, Function

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_grow_target_trees = Function(
    "bl_grow_target_trees",
    *[POINTER, INTEGER, INTEGER],
    *[POINTER] * 3,
    *[INTEGER] * 6,
    *[REAL, INTEGER, POINTER, INTEGER],
    *[POINTER] * 3,
    *[INTEGER, POINTER],
)


class Growth(NamedTuple):
    """How regression trees are grown.

    Parameters
    ----------
    n_trees : int
        Number of trees.
    n_stages : int
        Number of equal parts after each of which the trees' sums are returned.
    rate : float
        Share of a step that a tree takes.
    max_depth : int
        Largest number of splits above a leaf, up to 64.
    min_rows : int
        Smallest number of sampled rows in a leaf.
    feature_share, row_share : float
        Shares of the features drawn for a node, and of the rows sampled for a tree.
    """

    n_trees: int
    n_stages: int
    rate: float
    max_depth: int
    min_rows: int
    feature_share: float
    row_share: float


class Nodes(NamedTuple):
    """Nodes of trees, one after another, as in `bayleaf.models.support.TreeSum`."""

    roots: Whole
    features: Whole
    thresholds: Floats
    right: Whole
    values: Floats

    def first(self, n_trees: int) -> Nodes:
        """The nodes of the first trees."""
        end = int(np.append(self.roots, len(self.values))[n_trees])
        return Nodes(
            self.roots[:n_trees],
            self.features[:end],
            self.thresholds[:end],
            self.right[:end],
            self.values[:end],
        )


def grow_target_trees(
    ranks: NDArray[np.uint16],
    cards: Whole,
    target: Floats,
    weights: Floats,
    growth: Growth,
    seed: int,
) -> tuple[Nodes, Floats]:
    """Grow trees of a number by boosting, the first from zero.

    Parameters
    ----------
    ranks : ndarray of shape (n_features, n_rows), dtype uint16
        Rank of each row's state in the order of its feature's states.
    cards : ndarray of shape (n_features,), dtype int64
        Number of ranks of each feature.
    target, weights : ndarray of shape (n_fitted,), dtype float64
        Number and weight of the first rows; the others are held out.
    growth : Growth
        How the trees grow.
    seed : int
        Seed of the samples.

    Returns
    -------
    nodes : Nodes
        The trees.
    sums : ndarray of shape (n_stages, n_rows)
        Their sum for each row, held-out ones too, after each stage.

    Raises
    ------
    TypeError, ValueError
        If an array has another type or shape, or a rank or a setting is out of range.

    References
    ----------
    Friedman, J. H. (2002). Stochastic gradient boosting. Computational Statistics and
    Data Analysis 38, 367-378.
    """
    n_features, n_rows = ranks.shape
    n_fitted = len(target)
    n_sampled = max(1, int(growth.row_share * n_fitted))
    max_leaves = max(1, n_sampled // max(1, growth.min_rows))
    max_leaves = min(max_leaves, 2 ** min(growth.max_depth, 62))
    capacity = growth.n_trees * (2 * max_leaves - 1)
    sums = np.empty((growth.n_stages, n_rows))
    roots = np.empty(growth.n_trees, dtype=np.int64)
    indices = np.empty((2, capacity), dtype=np.int64)
    numbers = np.empty((2, capacity))
    n_nodes = np.zeros(1, dtype=np.int64)
    _grow_target_trees(
        readable(ranks, U2, (n_features, n_rows)),
        *(n_features, n_rows),
        readable(cards, I8, (n_features,)),
        readable(target, F8, (n_fitted,)),
        readable(weights, F8, (n_fitted,)),
        *(n_fitted, growth.n_trees, growth.max_depth, growth.min_rows),
        *(max(1, int(growth.feature_share * n_features)), n_sampled, growth.rate, seed),
        writable(sums, F8, (growth.n_stages, n_rows)),
        growth.n_stages,
        writable(roots, I8, (growth.n_trees,)),
        writable(indices, I8, (2, capacity)),
        writable(numbers, F8, (2, capacity)),
        capacity,
        writable(n_nodes, I8, (1,)),
    )
    used = int(n_nodes[0])
    features, right = indices[:, :used].copy()
    thresholds, values = numbers[:, :used].copy()
    return Nodes(roots, features, thresholds, right, values), sums
