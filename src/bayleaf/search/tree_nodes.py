"""Nodes of trees that grow, and a bounded store of the counts at their leaves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.tree_counts import Counts, RowTable
from bayleaf.search.tree_kernels import Rows


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
    gains : ndarray of shape (n_variables,), dtype float64, or None
        How much splitting the leaf on each variable changes data and parameters;
        minus infinity where it is none. None until asked for.
    n_branches : ndarray of shape (n_variables,), dtype int64, or None
        Branches of each of these splits.
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
    gains: Counts | None = None
    n_branches: NDArray[np.int64] | None = None

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


class LeafCounts:
    """Counts of the leaves that were last asked for.

    Parameters
    ----------
    rows : RowTable
        The rows.
    max_cells : int
        Number of counts that are kept at most, beside those asked for last.
    """

    def __init__(self, rows: RowTable, max_cells: int) -> None:
        self.rows = rows
        self._max_cells = max_cells
        self._n_cells = 0
        self._kept: OrderedDict[TreeNode, Counts] = OrderedDict()

    def of(self, node: TreeNode, child: int, order: Rows) -> Counts:
        """Counts of all variables with the child at a leaf, see `RowTable.count`."""
        counts = self._kept.get(node)
        if counts is None:
            counts = self.rows.count(child, order[node.first : node.last])
            self._kept[node] = counts
            self._n_cells += counts.size
            while self._n_cells > self._max_cells and len(self._kept) > 1:
                self._n_cells -= self._kept.popitem(last=False)[1].size
        else:
            self._kept.move_to_end(node)
        return counts

    def forget(self, node: TreeNode) -> None:
        """Drop the counts of a node that is a leaf no more."""
        counts = self._kept.pop(node, None)
        if counts is not None:
            self._n_cells -= counts.size
