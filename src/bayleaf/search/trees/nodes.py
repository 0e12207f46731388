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
    """A leaf or a split of a tree that grows."""

    first: int  # place of the first row in the tree's order
    last: int  # place after the last row
    context: dict[int, int]  # node of the hierarchy of each variable split on above
    n_base: int  # how many of these are single states
    share: float  # of all configurations of the variables
    total: Counts  # (child card,), weight of each state
    term: float  # score of data and parameters as a leaf
    variable: int = -1  # of a split; -1 for a leaf
    branches: list[TreeNode] = field(default_factory=list)
    split_scores: SplitScores | None = None  # of a leaf; None until requested

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
    """Changes of data and parameter scores when a leaf is split on each variable."""

    gains: Counts  # (n_variables,), -inf where not possible
    n_branches: NDArray[np.int64]  # (n_variables,)


class LeafScores:
    """Cache of the scores of recent leaves, by all that they depend on.

    Regrown trees have many leaves of earlier ones. At most `max_cells` gains are kept.
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
    """Cache of the counts of recent leaves.

    At most `max_cells` counts are kept, in addition to those requested last; `scores`
    caches what splits of leaves score by these counts.
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
