"""Counts at the leaves of trees: rows kept together leaf by leaf."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import group_of_states
from bayleaf.data.codes import Codes
from bayleaf.native.search import PackedRows, Rows, count_rows, partition_rows
from bayleaf.wording import name_list

Counts = NDArray[np.float64]
T = TypeVar("T")
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
        branch_of = group_of_states(groups, self.cards[variable]).astype(np.int64)
        starts = np.zeros(len(groups) + 1, dtype=np.int64)
        partition_rows(self._packed, rows, variable, branch_of, starts)
        result: list[int] = starts.tolist()
        return result


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


class RecentCells(Generic[T]):
    """Cache of the values used last, of `max_cells` cells; `n_kept` stay anyhow."""

    def __init__(self, max_cells: int, n_kept: int = 0) -> None:
        self._max_cells, self._n_kept = max_cells, n_kept
        self._n_cells = 0
        self._values: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """The value of a key, None if it is not kept."""
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def keep(self, key: Hashable, value: T, n_cells: int) -> None:
        """Keep a new value, and as many others as there is room for."""
        self._values[key] = value, n_cells
        self._n_cells += n_cells
        while self._n_cells > self._max_cells and len(self._values) > self._n_kept:
            self._n_cells -= self._values.popitem(last=False)[1][1]

    def forget(self, key: Hashable) -> None:
        """Drop a value."""
        if key in self._values:
            self._n_cells -= self._values.pop(key)[1]


class LeafCounts:
    """Cache of the counts of recent leaves.

    At most `max_cells` counts are kept, in addition to those requested last; `scores`
    caches what splits of leaves score by these counts, as regrown trees have many
    leaves of earlier ones.
    """

    def __init__(self, rows: RowTable, max_cells: int) -> None:
        self.rows = rows
        self.scores = RecentCells[SplitScores](max_cells // _SHARE_OF_SCORES)
        self._counts = RecentCells[Counts](max_cells, n_kept=1)

    def of(self, node: TreeNode, child: int, order: Rows) -> Counts:
        """Counts of all variables with the child at a leaf, see `RowTable.count`."""
        # All trees of a variable have the same counts at their roots.
        key = node if node.context else child
        counts = self._counts.get(key)
        if counts is None:
            counts = self.rows.count(child, order[node.first : node.last])
            self._counts.keep(key, counts, counts.size)
        return counts

    def forget(self, node: TreeNode) -> None:
        """Drop the counts of a node that is a leaf no more."""
        self._counts.forget(node)
