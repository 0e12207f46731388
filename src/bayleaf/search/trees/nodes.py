"""Nodes of trees that grow, and bounded stores of what is known of their leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.search import Rows
from bayleaf.search.trees.leaf_counts import Counts, RowTable

# Kept scores take so small a part of the room for counts.
_SHARE_OF_SCORES = 32


@dataclass(eq=False, slots=True)
class TreeNode:
    """A leaf or a split of a tree that grows.

    Parameters
    ----------
    first, last : int
        The rows that lead here stand at these places of the tree's order.
    context : dict of int to int
        Node of the value hierarchy of each variable that was split on above.
    n_base : int
        Number of these that are single states.
    share : float
        Part of all configurations of the variables that leads here.
    total : ndarray of shape (child card,), dtype float64
        Weight of each state of the child here.
    term : float
        What data and parameters score if this is a leaf.
    variable : int
        The variable of a split; -1 for a leaf.
    branches : list of TreeNode
        Subtrees of a split.
    split_scores : SplitScores or None
        What splitting the leaf on each variable does; None until asked for.
    """

    first: int
    last: int
    context: dict[int, int]
    n_base: int
    share: float
    total: Counts
    term: float
    variable: int = -1
    branches: list[TreeNode] = field(default_factory=list)
    split_scores: SplitScores | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether nothing is split here."""
        return self.variable < 0

    def preorder(self) -> Iterator[TreeNode]:
        """The node and all below it, left to right."""
        open_nodes = [self]
        while open_nodes:
            node = open_nodes.pop()
            yield node
            open_nodes += reversed(node.branches)


@dataclass(frozen=True, eq=False, slots=True)
class SplitScores:
    """What splitting a leaf on each variable does to data and parameters.

    Parameters
    ----------
    gains : ndarray of shape (n_variables,), dtype float64
        How much the score changes; minus infinity where there is no split.
    n_branches : ndarray of shape (n_variables,), dtype int64
        Branches of each split.
    """

    gains: Counts
    n_branches: NDArray[np.int64]


class LeafScores:
    """Scores of the leaves that were last asked for, by all that they depend on.

    Trees that are grown anew come by many leaves that earlier ones had.

    Parameters
    ----------
    max_cells : int
        Number of gains that are kept at most.
    """

    def __init__(self, max_cells: int) -> None:
        self._max_cells = max_cells
        self._n_cells = 0
        self._kept: OrderedDict[Hashable, SplitScores] = OrderedDict()

    def get(self, key: Hashable) -> SplitScores | None:
        """The scores of a leaf, None if they are not kept."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: Hashable, scores: SplitScores) -> None:
        """Keep the scores of a leaf, and as many others as there is room for."""
        self._kept[key] = scores
        self._n_cells += scores.gains.size
        while self._n_cells > self._max_cells and self._kept:
            self._n_cells -= self._kept.popitem(last=False)[1].gains.size


class LeafCounts:
    """Counts of the leaves that were last asked for.

    Parameters
    ----------
    rows : RowTable
        The rows.
    max_cells : int
        Number of counts that are kept at most, beside those asked for last.

    Attributes
    ----------
    scores : LeafScores
        What splits of leaves score by these counts.
    """

    def __init__(self, rows: RowTable, max_cells: int) -> None:
        self.rows = rows
        self.scores = LeafScores(max_cells // _SHARE_OF_SCORES)
        self._max_cells = max_cells
        self._n_cells = 0
        self._kept: OrderedDict[TreeNode | int, Counts] = OrderedDict()

    def of(self, node: TreeNode, child: int, order: Rows) -> Counts:
        """Counts of all variables with the child at a leaf, see `RowTable.count`."""
        # All trees of a variable have the same counts at their roots.
        key = node if node.context else child
        counts = self._kept.get(key)
        if counts is None:
            counts = self.rows.count(child, order[node.first : node.last])
            self._kept[key] = counts
            self._n_cells += counts.size
            while self._n_cells > self._max_cells and len(self._kept) > 1:
                self._n_cells -= self._kept.popitem(last=False)[1].size
        else:
            self._kept.move_to_end(key)
        return counts

    def forget(self, node: TreeNode) -> None:
        """Drop the counts of a node that is a leaf no more."""
        counts = self._kept.pop(node, None)
        if counts is not None:
            self._n_cells -= counts.size
