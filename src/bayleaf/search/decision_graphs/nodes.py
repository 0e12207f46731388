"""Leaves and splits of decision graphs, with the rows that come to each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from bayleaf.native.search import Rows
from bayleaf.search.trees.leaf_counts import Counts, RowTable
from bayleaf.search.trees.shape import LeafShape, SplitShape, TreeShape

Groups = tuple[tuple[int, ...], ...]
Context = Mapping[int, tuple[int, ...]]


@dataclass(eq=False)
class GraphNode:
    """A leaf or a split.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), dtype int32
        The rows of the table that come here.
    context : mapping from int to tuple of int
        States of each variable that splits above narrowed.
    counts : ndarray of shape (child card,), dtype float64
        Weight of each state of the child.
    share : float
        Part of all parent configurations that leads here.
    distribution : int
        Number of a leaf's distribution, which other leaves may share.
    variable : int
        The variable that a split asks for.
    groups : tuple of tuple of int
        States of each branch.
    branches : list of GraphNode
        Empty at a leaf.
    """

    rows: Rows
    context: Context
    counts: Counts
    share: float
    distribution: int = -1
    variable: int = -1
    groups: Groups = ()
    branches: list[GraphNode] = field(default_factory=list)

    @property
    def n_base(self) -> int:
        """Number of variables that are at a single state here."""
        return sum(len(states) == 1 for states in self.context.values())

    def preorder(self, *, but: GraphNode | None = None) -> Iterator[GraphNode]:
        """The node and all below it, without another node and all below that one."""
        open_nodes = [self]
        while open_nodes:
            node = open_nodes.pop()
            if node is not but:
                yield node
                open_nodes += reversed(node.branches)

    def become_leaf(self, distribution: int) -> None:
        """Drop all that is below."""
        self.variable, self.groups, self.branches = -1, (), []
        self.distribution = distribution

    def branch(self, variable: int, groups: Groups, rows: RowTable, child: int) -> None:
        """Split, whatever was below before.

        Parameters
        ----------
        variable : int
            The variable to ask for.
        groups : tuple of tuple of int
            States of each branch.
        rows : RowTable
            The table.
        child : int
            The variable of the graph.
        """
        branch_of = np.zeros(rows.cards[variable], dtype=np.intp)
        for number, group in enumerate(groups):
            branch_of[list(group)] = number
        places = branch_of[rows.table[self.rows, variable]]
        n_states = sum(len(group) for group in groups)
        self.variable, self.groups, self.distribution = variable, groups, -1
        self.branches = []
        for number, group in enumerate(groups):
            inside = self.rows[places == number]
            weights = rows.weights[inside] if rows.weights.size else None
            counts = np.bincount(rows.table[inside, child], weights, rows.cards[child])
            context = {**self.context, variable: group}
            share = self.share * len(group) / n_states
            self.branches.append(
                GraphNode(inside, context, counts.astype(np.float64), share)
            )


def graph_of(shape: TreeShape, rows: RowTable) -> GraphNode:
    """The root of a graph, with all rows sent down.

    Parameters
    ----------
    shape : TreeShape
    rows : RowTable
    """
    root = GraphNode(rows.all_rows, {}, rows.state_weights(shape.child), 1.0)
    open_nodes: list[tuple[GraphNode, LeafShape | SplitShape]] = [(root, shape.root)]
    while open_nodes:
        node, own = open_nodes.pop()
        if isinstance(own, LeafShape):
            node.distribution = own.row
        else:
            node.branch(own.variable, own.groups, rows, shape.child)
            open_nodes += zip(node.branches, own.branches, strict=True)
    return root


def shape_of(node: GraphNode, numbers: Mapping[int, int]) -> LeafShape | SplitShape:
    """A node and all below it without rows.

    Parameters
    ----------
    node : GraphNode
    numbers : mapping from int to int
        New number of each distribution.
    """
    if not node.branches:
        return LeafShape(numbers[node.distribution])
    branches = tuple(shape_of(branch, numbers) for branch in node.branches)
    return SplitShape(node.variable, node.groups, branches)
