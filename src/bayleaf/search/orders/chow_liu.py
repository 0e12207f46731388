"""The tree of largest class-conditional mutual information (TAN)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import conditional_mutual_information_matrix
from bayleaf.counts.source import CountSource
from bayleaf.graph.spanning_trees import (
    maximum_arborescence,
    maximum_spanning_forest,
    rooted_parents,
)
from bayleaf.search.constraints import Constraints
from bayleaf.search.orders.kdb import TIE_DECIMALS, feature_order


def tree_parents(
    counts: CountSource,
    theta: float | None = None,
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Choose each feature's parent in the maximum-weight spanning tree.

    Edges with I(X;Y|C) (nats) at or below `theta` are left out, which leaves a forest.
    At most one required arc may lead to a feature. Features are ordered by I(X;C)
    (Friedman, Geiger & Goldszmidt 1997, section 4.1); see `spanning_parents`.
    """
    n_features = counts.class_index
    if n_features < 2:
        return [()] * n_features
    weights = conditional_mutual_information_matrix(counts).round(TIE_DECIMALS)
    return spanning_parents(weights, feature_order(counts), theta, constraints)


def spanning_parents(
    weights: NDArray[np.float64],
    order: NDArray[np.intp],
    theta: float | None = None,
    constraints: Constraints | None = None,
) -> list[tuple[int, ...]]:
    """Parents in a spanning forest of largest weight, each tree directed.

    `weights` (n, n) are symmetric, rounded to `TIE_DECIMALS`; edges of at most `theta`
    are left out unless required. Every tree is rooted at its first node in `order`; of
    equal edges the lower pair is taken. With constraints it is the directed forest of
    largest weight (Edmonds 1967), of equal ones that with most arcs, then with roots
    first in `order`.
    """
    n_nodes = len(weights)
    if constraints is None or not constraints.has_edges:
        edges = maximum_spanning_forest(weights, above=theta)
        return rooted_parents(n_nodes, edges, order.tolist())
    required = constraints.required_parents(n_nodes)
    is_open = constraints.open_arcs(n_nodes)
    if theta is not None:
        is_open &= weights > theta
    # Weight first, then arcs, then roots: whole numbers of any size, added exactly.
    for_arc = n_nodes * (n_nodes + 1)
    units = np.rint(weights * 10.0**TIE_DECIMALS).astype(np.int64).astype(object)
    worth = np.full((n_nodes + 1, n_nodes + 1), 0, dtype=object)
    worth[1:, 1:] = units * (for_arc * (n_nodes + 1)) + for_arc
    worth[1 + order, 0] = np.arange(n_nodes, 0, -1).astype(object)
    never = -(n_nodes + 1) * (int(abs(worth).max()) + 1)
    worth[1:, 1:][~is_open] = never
    for child, parents in enumerate(required):
        for parent in parents:
            kept = worth[1 + child, 1 + parent]
            worth[1 + child] = never
            worth[1 + child, 1 + parent] = max(kept, 0)
    found = maximum_arborescence(worth)
    return [(parent - 1,) if parent > 0 else () for parent in found[1:]]
