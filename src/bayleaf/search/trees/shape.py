"""Trees of conditions without probabilities: what a search over trees finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.tree_cpd import Context, Leaf, Split, TreeCPD, preorder


@dataclass(frozen=True)
class LeafShape:
    """The end of a path."""

    row: int  # number of the distribution, which paths of a graph may share


@dataclass(frozen=True)
class SplitShape:
    """Branches by the states of one parent."""

    variable: int  # the parent
    groups: tuple[tuple[int, ...], ...]  # states of each branch, increasing
    branches: tuple[LeafShape | SplitShape, ...]


@dataclass(frozen=True)
class TreeShape:
    """Tree from the parents' states to the distributions of one variable."""

    child: int
    parents: tuple[int, ...]  # all that splits ask for, increasing
    root: LeafShape | SplitShape  # its leaves number distributions 0 .. n_rows - 1

    @cached_property
    def n_rows(self) -> int:
        """Number of distributions."""
        return 1 + max(row for row, _ in self.leaves(()))

    @property
    def n_leaves(self) -> int:
        """Number of paths, which may share distributions."""
        return sum(1 for _ in self.leaves(()))

    def splits(self) -> Iterator[SplitShape]:
        """Splits in preorder."""
        nodes = preorder(self.root, {})
        return (node for node, _ in nodes if isinstance(node, SplitShape))

    def leaves(self, cards: Sequence[int]) -> Iterator[tuple[int, Context]]:
        """Row of each leaf from left to right, and the parents' states that lead to it.

        If `cards` is empty, contexts contain only variables that splits narrowed.
        """
        states: Context = {p: tuple(range(cards[p])) for p in self.parents if cards}
        nodes = preorder(self.root, states)
        return ((node.row, at) for node, at in nodes if isinstance(node, LeafShape))

    def with_rows(self, rows: Sequence[int]) -> TreeShape:
        """The same paths, with a new number for each of the `n_rows` distributions."""
        return TreeShape(self.child, self.parents, _renumbered(self.root, rows))

    def cpd(self, cards: Sequence[int], distributions: NDArray[np.float64]) -> TreeCPD:
        """Put distributions (n_rows, child card) at the leaves.

        Paths that share a row share the ``Leaf``.
        """
        family = (*self.parents, self.child)
        leaves = [Leaf(row) for row in distributions]
        own = tuple(cards[member] for member in family)
        return TreeCPD(family, own, _filled(self.root, leaves))


def _renumbered(
    node: LeafShape | SplitShape, rows: Sequence[int]
) -> LeafShape | SplitShape:
    """The same subtree with other numbers of distributions."""
    if isinstance(node, LeafShape):
        return LeafShape(int(rows[node.row]))
    branches = tuple(_renumbered(branch, rows) for branch in node.branches)
    return SplitShape(node.variable, node.groups, branches)


def _filled(node: LeafShape | SplitShape, leaves: Sequence[Leaf]) -> Leaf | Split:
    """The same subtree with distributions at its leaves."""
    if isinstance(node, LeafShape):
        return leaves[node.row]
    branches = tuple(_filled(branch, leaves) for branch in node.branches)
    return Split(node.variable, node.groups, branches)
