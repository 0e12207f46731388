"""Native growth of class trees, and what they add to the scores of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayleaf.native.arrays import Floats, Integers
from bayleaf.native.signatures import native

# Splits take all states up to one where a feature `is_ordered`, or one state. Scores
# are nats, and rows from `n_fitted` on are held out, to find when to stop.
_grow_class_trees = native(
    """bl_grow_class_trees(in codes u2[n_rows, n_features], n_rows, n_features,
    in cards i8[n_features], in is_ordered b1[n_features], in own i8[n_rows],
    in weights f8[n_rows], out scores f8[n_rows, n_classes], n_classes, int n_fitted,
    int max_rounds, int patience, int max_leaves, real rate, real pull,
    real least_curvature, out losses f8[max_rounds + 1], out places i8[3, capacity],
    out numbers f8[2, capacity], capacity, out counts i8[2])"""
)
# Adds what trees, each of one class, give rows; the roots' values are left out. A row
# ends where its code is at or above the feature's card. `values` take nats: of all
# trees, (n_rows, n_classes), or (n_rows, n_classes, n_features, 2) by the feature of
# each split, those of first splits and of later ones apart.
add_class_trees = native(
    """bl_add_class_trees([_, n_classes, *by_feature] = values.shape,
    apart = (len(slots), 2) if by_feature else (), codes, int n_rows,
    in cards i8[len(slots)], in is_ordered b1[len(slots)], in roots i8[n_trees],
    in classes i8[n_trees], n_trees, in nodes.features i8[n_nodes],
    in nodes.states i8[n_nodes], in nodes.children i8[n_nodes],
    in nodes.values f8[n_nodes], n_nodes, n_classes, flag apart != (),
    out values f8[n_rows, n_classes, *apart])"""
)


class Growth(NamedTuple):
    """How class trees grow."""

    max_rounds: int
    #: Rounds without a gain on held-out rows after which growth ends.
    patience: int
    #: Most leaves of a tree.
    max_leaves: int
    #: Share of a Newton step that a tree takes.
    rate: float
    #: Added to the second derivative of a node: it pulls steps to zero.
    pull: float
    #: Least second derivative of a node's rows.
    least_curvature: float


class Nodes(NamedTuple):
    """Nodes of trees, one after another, each tree from its root on."""

    #: Feature that a node looks at, -1 for a leaf, and the state that it asks for.
    features: Integers
    states: Integers
    #: Its left child, which the right one follows.
    children: Integers
    #: Nats of the rows that end in it, and the weight of those it was learned from.
    values: Floats
    rows: Floats

    @property
    def roots(self) -> Integers:
        """Nodes that are no child, in order."""
        is_root = np.ones(len(self.features), dtype=bool)
        left = self.children[self.features >= 0]
        is_root[left] = is_root[left + 1] = False
        return np.flatnonzero(is_root)

    def until(self, end: int) -> Nodes:
        """The first so many nodes."""
        columns: list[Any] = [column[:end] for column in self]
        return Nodes(*columns)


def grow_class_trees(*arguments: Any) -> tuple[Floats, Nodes]:
    """Grow trees on what scores still get wrong, and add them, round by round.

    Friedman (2001), Annals of Statistics 29, 1189-1232. Gives the held-out log-loss
    (nats), before and after each round, and a tree for each class a round, or the
    second of two alone.
    """
    *rows, scores, n_fitted, growth = arguments
    _, n_classes = scores.shape
    n_trees = growth.max_rounds * (1 if n_classes == 2 else n_classes)
    capacity = n_trees * (2 * growth.max_leaves - 1)
    losses, counts = np.zeros(growth.max_rounds + 1), np.zeros(2, dtype=np.int64)
    places, numbers = np.empty((3, capacity), dtype=np.int64), np.empty((2, capacity))
    found = losses, places, numbers, counts
    _grow_class_trees(*rows, scores, n_fitted, *growth, *found)
    n_rounds, n_nodes = counts.tolist()
    nodes = Nodes(*places[:, :n_nodes].copy(), *numbers[:, :n_nodes].copy())
    return losses[: n_rounds + 1], nodes
