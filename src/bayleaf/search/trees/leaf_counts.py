"""Counts at the leaves of trees: rows kept together leaf by leaf."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.native.search import PackedRows, Rows, count_rows, partition_rows
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape
from bayleaf.wording import name_list

Counts = NDArray[np.float64]
# Kept scores take so small a part of the room for counts.
_SHARE_OF_SCORES = 32


@dataclass(frozen=True, eq=False)
class RowTable:
    """Complete rows side by side, as leaves visit them."""

    table: NDArray[np.unsignedinteger[Any]]  # (n_rows, n_variables), 8 or 16 bits
    weights: Counts  # (n_rows,), above zero; empty if all are one
    cards: tuple[int, ...]
    offsets: NDArray[np.int64]  # (n_variables + 1,), into a table of counts
    total_weight: float

    @classmethod
    def from_codes(cls, codes: Codes, names: Sequence[str | int]) -> RowTable:
        """Lay out rows of positive weight; ValueError if none, or a cell is missing."""
        keep = codes.weights > 0
        if not keep.any():
            raise ValueError(
                "trees are learned from rows, and no row has a positive weight"
            )
        columns = [codes.column(v)[keep] for v in range(codes.n_variables)]
        holes = [
            repr(names[v]) for v, x in enumerate(columns) if (x == codes.cards[v]).any()
        ]
        if holes:
            raise ValueError(
                f"variables {name_list(holes)} have missing cells, and trees are "
                "grown from complete rows; complete the rows or leave them out first"
            )
        wide = any(card > 255 for card in codes.cards)
        table = np.empty(
            (len(columns[0]), len(columns)), dtype=np.uint16 if wide else np.uint8
        )
        for variable, column in enumerate(columns):
            table[:, variable] = column
        given = np.ascontiguousarray(codes.weights[keep])
        total = float(given.sum())
        weights = np.empty(0) if codes.unit_weights else given
        offsets = np.cumsum([0, *codes.cards], dtype=np.int64)
        return cls(table, weights, codes.cards, offsets, total)

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        return len(self.table)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.cards)

    @cached_property
    def all_rows(self) -> Rows:
        """Indices of all rows in order; not to be written to."""
        return np.arange(self.n_rows, dtype=np.int32)

    @cached_property
    def _packed(self) -> PackedRows:
        """The table for the native loops."""
        return PackedRows(self.table, self.offsets, self.weights)

    def state_weights(self, variable: int) -> Counts:
        """Weight of each state of a variable, shape (card,)."""
        weights = self.weights if self.weights.size else None
        column = self.table[:, variable]
        return np.bincount(column, weights, self.cards[variable]).astype(np.float64)

    def count(self, child: int, rows: Rows) -> Counts:
        """Weight of each state of every variable with each of the child's.

        Returns (all states, child card), states of variable ``v`` at ``offsets[v]``
        onwards.
        """
        counts = np.zeros((self.cards[child], int(self.offsets[-1])))
        count_rows(self._packed, rows, child, counts)
        return counts.T

    def partition(
        self, rows: Rows, variable: int, groups: Sequence[Sequence[int]]
    ) -> list[int]:
        """Order rows in place by the group of a variable's state.

        `groups` has the codes of each branch, together all that occur. Returns where
        each branch starts, and the number of rows.
        """
        branch_of = np.zeros(self.cards[variable], dtype=np.int64)
        for branch, group in enumerate(groups):
            branch_of[list(group)] = branch
        starts = np.zeros(len(groups) + 1, dtype=np.int64)
        partition_rows(self._packed, rows, variable, branch_of, starts)
        result: list[int] = starts.tolist()
        return result


def row_counts(codes: Codes, shape: TreeShape) -> Counts:
    """Weight of each state of the child at each distribution, (n_rows, child card).

    Rows in which the child or a variable on their path is missing are left out.
    """
    card = codes.cards[shape.child]
    counts = np.zeros((shape.n_rows, card))
    column = codes.column(shape.child)
    present = np.flatnonzero((column < card) & (codes.weights > 0))
    open_nodes: list[tuple[LeafShape | SplitShape, NDArray[np.intp]]] = [
        (shape.root, present)
    ]
    while open_nodes:
        node, rows = open_nodes.pop()
        if isinstance(node, LeafShape):
            counts[node.row] += np.bincount(column[rows], codes.weights[rows], card)
            continue
        n_branches = len(node.branches)
        branch_of = np.full(codes.cards[node.variable] + 1, n_branches)
        for branch, group in enumerate(node.groups):
            branch_of[list(group)] = branch
        branches = branch_of[codes.column(node.variable)[rows]]
        rows = rows[np.argsort(branches, kind="stable")]
        ends = np.cumsum(np.bincount(branches, minlength=n_branches + 1))
        spans = pairwise([0, *ends[:-1].tolist()])
        open_nodes += [
            (branch, rows[first:last])
            for branch, (first, last) in zip(node.branches, spans, strict=True)
        ]
    return counts


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
