"""Native growth of class trees, and what they add to the scores of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import B1, F8, I8, U2, code_arguments, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_grow_class_trees = Function(
    "bl_grow_class_trees",
    *[POINTER, INTEGER, INTEGER],
    *[POINTER] * 5,
    *[INTEGER] * 5,
    *[REAL] * 3,
    *[POINTER] * 3,
    INTEGER,
    POINTER,
)
_add_class_trees = Function(
    "bl_add_class_trees",
    *[POINTER, INTEGER] * 3,
    INTEGER,
    *[POINTER] * 4,
    INTEGER,
    *[POINTER] * 4,
    *[INTEGER, INTEGER, FLAG],
    POINTER,
)


class Growth(NamedTuple):
    """How class trees grow.

    Parameters
    ----------
    max_rounds : int
        Most rounds.
    patience : int
        Rounds without a gain on held-out rows after which growth ends.
    max_leaves : int
        Most leaves of a tree.
    rate : float
        Share of a Newton step that a tree takes.
    pull : float
        Added to the second derivative of a node: it pulls steps to zero.
    least_curvature : float
        Least second derivative of a node's rows.
    """

    max_rounds: int
    patience: int
    max_leaves: int
    rate: float
    pull: float
    least_curvature: float


class Nodes(NamedTuple):
    """Nodes of trees, one after another, each tree from its root on.

    Parameters
    ----------
    features : ndarray of shape (n_nodes,), dtype int64
        Feature that a node looks at, -1 for a leaf.
    states : ndarray of shape (n_nodes,), dtype int64
        State that it asks for.
    children : ndarray of shape (n_nodes,), dtype int64
        Its left child; the right one stands behind it.
    values : ndarray of shape (n_nodes,), dtype float64
        Nats of the rows that end in it.
    rows : ndarray of shape (n_nodes,), dtype float64
        Weight of the rows that it was learned from.
    """

    features: Whole
    states: Whole
    children: Whole
    values: Floats
    rows: Floats

    @property
    def roots(self) -> Whole:
        """Nodes that are no child, in order."""
        is_root = np.ones(len(self.features), dtype=bool)
        left = self.children[self.features >= 0]
        is_root[left] = is_root[left + 1] = False
        return np.flatnonzero(is_root)

    def until(self, end: int) -> Nodes:
        """The first so many nodes."""
        return Nodes(
            self.features[:end],
            self.states[:end],
            self.children[:end],
            self.values[:end],
            self.rows[:end],
        )


def grow_class_trees(
    codes: NDArray[np.uint16],
    cards: Whole,
    is_ordered: NDArray[np.bool_],
    own: Whole,
    weights: Floats,
    scores: Floats,
    n_fitted: int,
    growth: Growth,
) -> tuple[Floats, Nodes]:
    """Grow trees on what scores still get wrong, round by round.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), dtype uint16
        The rows.
    cards : ndarray of shape (n_features,), dtype int64
        Number of states of each feature; codes at or above it are unknown.
    is_ordered : ndarray of shape (n_features,), dtype bool
        Whether a split takes all states up to one, or one state.
    own : ndarray of shape (n_rows,), dtype int64
        Class of each row.
    weights : ndarray of shape (n_rows,), dtype float64
        What each row counts.
    scores : ndarray of shape (n_rows, n_classes), dtype float64
        Log scores, nats; the trees are added to them.
    n_fitted : int
        Rows from here on are held out: they tell when to stop.
    growth : Growth
        How the trees grow.

    Returns
    -------
    losses : ndarray of shape (1 + n_rounds,)
        Weighted log-loss of the held-out rows, nats, before and after each round.
    nodes : Nodes
        A tree for each class a round; with two classes one, for the second.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be, or holds a place that does not exist.

    References
    ----------
    Friedman, J. H. (2001). Greedy function approximation: a gradient boosting machine.
    Annals of Statistics 29, 1189-1232.
    """
    n_rows, n_features = codes.shape
    n_classes = scores.shape[1]
    n_trees = growth.max_rounds * (1 if n_classes == 2 else n_classes)
    capacity = n_trees * (2 * growth.max_leaves - 1)
    losses = np.zeros(growth.max_rounds + 1)
    places = np.empty((3, capacity), dtype=np.int64)
    numbers = np.empty((2, capacity))
    counts = np.zeros(2, dtype=np.int64)
    _grow_class_trees(
        readable(codes, U2, (n_rows, n_features)),
        *(n_rows, n_features),
        readable(cards, I8, (n_features,)),
        readable(is_ordered, B1, (n_features,)),
        readable(own, I8, (n_rows,)),
        readable(weights, F8, (n_rows,)),
        writable(scores, F8, (n_rows, n_classes)),
        *(n_classes, n_fitted),
        *(growth.max_rounds, growth.patience, growth.max_leaves),
        *(growth.rate, growth.pull, growth.least_curvature),
        writable(losses, F8, (growth.max_rounds + 1,)),
        writable(places, I8, (3, capacity)),
        writable(numbers, F8, (2, capacity)),
        capacity,
        writable(counts, I8, (2,)),
    )
    n_rounds, n_nodes = counts.tolist()
    nodes = Nodes(*places[:, :n_nodes].copy(), *numbers[:, :n_nodes].copy())
    return losses[: n_rounds + 1], nodes


def add_class_trees(
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
    slots: Whole,
    n_rows: int,
    cards: Whole,
    is_ordered: NDArray[np.bool_],
    roots: Whole,
    classes: Whole,
    nodes: Nodes,
    values: Floats,
) -> None:
    """Add what trees say of rows.

    Parameters
    ----------
    narrow, wide, slots, n_rows
        The rows, see `bayleaf.data.codes.Codes`; slots of the features.
    cards : ndarray of shape (n_features,), dtype int64
        Number of states of each feature; a row ends where a code is at or above it.
    is_ordered : ndarray of shape (n_features,), dtype bool
        Whether a split takes all states up to one, or one state.
    roots, classes : ndarray of shape (n_trees,), dtype int64
        Where each tree begins, and the class that it adds to.
    nodes : Nodes
        The nodes; the roots' values are taken as nothing.
    values : ndarray of shape (n_rows, n_classes), or (n_rows, n_classes, n_features, 2)
        Takes nats: of all trees, or by the feature of each split, those of first splits
        and those of later ones apart.

    Raises
    ------
    TypeError, ValueError
        If an array is not what it should be, or holds a place that does not exist.
    """
    n_features, n_classes = len(slots), values.shape[1]
    by_feature = values.ndim == 4
    shape = (n_rows, n_classes, *((n_features, 2) if by_feature else ()))
    n_nodes, n_trees = (len(nodes.features),), (len(roots),)
    _add_class_trees(
        *code_arguments(narrow, wide, slots, n_rows),
        n_rows,
        readable(cards, I8, (n_features,)),
        readable(is_ordered, B1, (n_features,)),
        readable(roots, I8, n_trees),
        readable(classes, I8, n_trees),
        len(roots),
        readable(nodes.features, I8, n_nodes),
        readable(nodes.states, I8, n_nodes),
        readable(nodes.children, I8, n_nodes),
        readable(nodes.values, F8, n_nodes),
        len(nodes.features),
        n_classes,
        by_feature,
        writable(values, F8, shape),
    )
