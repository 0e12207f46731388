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
    """A leaf or a split."""

    rows: Rows  # rows of the table that arrive here
    context: Context  # states of each variable that splits above narrowed
    counts: Counts  # (child card,)
    share: float  # of all parent configurations
    distribution: int = -1  # of a leaf, which others may share; else -1
    variable: int = -1  # that a split asks for; -1 for a leaf
    groups: Groups = ()  # states of each branch
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
        """Split the node, and drop whatever was below."""
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
    """Root of a graph, with all rows sent down to its nodes."""
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
    """Shape of a node and all below it, its distributions renumbered by `numbers`."""
    if not node.branches:
        return LeafShape(numbers[node.distribution])
    branches = tuple(shape_of(branch, numbers) for branch in node.branches)
    return SplitShape(node.variable, node.groups, branches)
