"""Trees of conditions without probabilities: what a search over trees finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.tree import Context, Leaf, Split, TreeCPD


@dataclass(frozen=True)
class LeafShape:
    """The end of a path.

    Parameters
    ----------
    row : int
        Number of the distribution that holds here. Paths with the same number share
        theirs, which makes the tree a decision graph.
    """

    row: int


@dataclass(frozen=True)
class SplitShape:
    """A question about one parent.

    Parameters
    ----------
    variable : int
        The parent.
    groups : tuple of tuple of int
        States of each branch, increasing.
    branches : tuple of LeafShape or SplitShape
        One a group.
    """

    variable: int
    groups: tuple[tuple[int, ...], ...]
    branches: tuple[LeafShape | SplitShape, ...]


@dataclass(frozen=True)
class TreeShape:
    """How the parents' states lead to the distributions of one variable.

    Parameters
    ----------
    child : int
        The variable.
    parents : tuple of int
        All variables that splits ask for, increasing.
    root : LeafShape or SplitShape
        The tree; its leaves number their distributions ``0 .. n_rows - 1``.
    """

    child: int
    parents: tuple[int, ...]
    root: LeafShape | SplitShape

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
        open_nodes: list[LeafShape | SplitShape] = [self.root]
        while open_nodes:
            node = open_nodes.pop()
            if isinstance(node, SplitShape):
                yield node
                open_nodes += reversed(node.branches)

    def leaves(self, cards: Sequence[int]) -> Iterator[tuple[int, Context]]:
        """Row of each leaf from left to right, and the parents' states that lead to it.

        Parameters
        ----------
        cards : sequence of int
            Number of states of every variable; if empty, contexts hold only what
            splits narrowed.
        """
        states: Context = {p: tuple(range(cards[p])) for p in self.parents if cards}
        open_nodes: list[tuple[LeafShape | SplitShape, Context]] = [(self.root, states)]
        while open_nodes:
            node, context = open_nodes.pop()
            if isinstance(node, LeafShape):
                yield node.row, context
                continue
            below = zip(node.branches, node.groups, strict=True)
            open_nodes += [
                (branch, {**context, node.variable: group})
                for branch, group in reversed(list(below))
            ]

    def with_rows(self, rows: Sequence[int]) -> TreeShape:
        """The same paths leading to other distributions.

        Parameters
        ----------
        rows : sequence of int
            New number of each of the `n_rows` distributions.
        """
        return TreeShape(self.child, self.parents, _renumbered(self.root, rows))

    def cpd(self, cards: Sequence[int], distributions: NDArray[np.float64]) -> TreeCPD:
        """Put distributions at the leaves.

        Parameters
        ----------
        cards : sequence of int
            Number of states of every variable.
        distributions : ndarray of shape (n_rows, child card), dtype float64
            P(child) at each row; paths that share a row share the ``Leaf``.
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
