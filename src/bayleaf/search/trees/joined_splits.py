"""Decision graphs made better than merged trees: splits whose branches join.

Once leaves are merged, each node of each graph, from the leaves up, may be replaced by
a leaf or a split on any variable that closes no cycle, each branch with the best
distribution of the graph or one of its own, if the score rises; then distributions are
merged again, until no node changes. No change leaves more distributions than there
were, and their parameters weigh more than in the score while changes are chosen: twice
as much where the graph then still scores more than the tree with merged leaves,
otherwise half as much again, otherwise as much.

The operators are those of Chickering, Heckerman and Meek (1997, section 4), a split and
the merges after it being one move, and a collapse of a subtree another.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from bayleaf.search.structure import Move, MoveKind, SearchResult, sorted_parents
from bayleaf.search.trees.decision_graph import DecisionGraph, GraphNode, Groups
from bayleaf.search.trees.growing import value_nodes
from bayleaf.search.trees.shape import TreeShape
from bayleaf.search.trees.tree_network import TreeTask, descendants

# By which part more than in the score parameters weigh, the first that gains.
SURCHARGES = (1.0, 0.5, 0.0)


def with_joined_splits(result: SearchResult, task: TreeTask) -> SearchResult:
    """Change the nodes of every graph of a network so that its score rises.

    Variables take turns, each with the others' present parents; the time limit applies
    between changes. The trace ends with the changes: "split" where they leave a split,
    "remove_split" where a leaf, each with the states that lead to the node as detail.
    Graphs stay as they are under scores whose leaves depend on the configurations that
    lead to them (BDeu).
    """
    if not task.terms.score.adds_over_rows:
        return result
    shapes = list(result.cpd_structures)
    trace, score = list(result.trace), result.score
    for child, shape in enumerate(shapes):
        below = descendants(own.parents for own in shapes)[child]
        others = np.flatnonzero(~below).tolist()
        shapes[child], moves = _improved(shape, others, task)
        for move in moves:
            score += move.gain
            trace.append(dataclasses.replace(move, score=score))
    return dataclasses.replace(
        result,
        dag=sorted_parents(shape.parents for shape in shapes),
        cpd_structures=tuple(shapes),
        score=score,
        trace=tuple(trace),
    )


def _improved(
    shape: TreeShape, others: list[int], task: TreeTask
) -> tuple[TreeShape, list[Move]]:
    """A graph that scores no less, and the moves that led there."""
    for surcharge in SURCHARGES:
        graph = DecisionGraph(shape, task.rows, task.terms, surcharge)
        moves = _Sweeps(task, graph, others).run()
        if sum(move.gain for move in moves) > task.terms.least_gain:
            return graph.shape(), moves
    return shape, []


@dataclass(eq=False)
class _Sweeps:
    """Sweeps over the nodes of one graph."""

    task: TreeTask
    graph: DecisionGraph
    others: list[int]  # variables that the child does not lead to
    _moves: list[Move] = field(default_factory=list)
    _entering: dict[tuple[int, tuple[int, ...]], dict[tuple[int, ...], Groups]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        child, constraints = self.graph.child, self.task.constraints
        required = constraints.required_parents(len(self.task.domain))
        self._required = frozenset(required[child])
        self._allowed = [
            other
            for other in self.others
            if (other, child) not in constraints.forbidden_edges
        ]

    def run(self) -> list[Move]:
        """Sweep until no node changes; the moves, their scores left open."""
        n_before = -1
        while len(self._moves) > n_before and not self.task.deadline.has_passed:
            n_before = len(self._moves)
            for merge in self.graph.merge():
                detail = merge.kept, merge.absorbed
                self._note("merge_leaves", None, detail, merge.gain)
            for node in reversed(list(self.graph.root.preorder())):
                self._improve(node)
        return self._moves

    def _improve(self, node: GraphNode) -> None:
        """Make the best change of a node while any gains."""
        limit = self.task.constraints.max_parents
        while not self.task.deadline.has_passed:
            splits = self._splits(node)
            change = self.graph.best_change(node, splits, self._required, limit)
            if change is None:
                return
            kind: MoveKind = "remove_split" if change.variable is None else "split"
            detail = tuple(node.context.items())
            self.graph.apply(change)
            self._note(kind, change.variable, detail, change.gain)

    def _note(
        self, kind: MoveKind, parent: int | None, detail: object, gain: float
    ) -> None:
        """Note a move."""
        self._moves.append(Move(kind, self.graph.child, parent, detail, gain, 0.0))

    def _splits(self, node: GraphNode) -> list[tuple[int, Groups]]:
        """Variables that a node may ask for, with the states of each branch."""
        parents = self.graph.parents
        found = []
        for variable in self._allowed:
            card = self.task.rows.cards[variable]
            states = node.context.get(variable, tuple(range(card)))
            if len(states) > 1:
                groups = self._groups(variable, parents).get(states)
                if groups is not None:
                    found.append((variable, groups))
        return found

    def _groups(
        self, variable: int, parents: tuple[int, ...]
    ) -> dict[tuple[int, ...], Groups]:
        """Branches of a split on each node of a variable's hierarchy, by its states."""
        source = self.task.hierarchy_source
        if source is not None and variable in parents:
            # The hierarchy with which it entered is known by the splits that are there.
            return {
                tuple(sorted(code for group in node.groups for code in group)): (
                    node.groups
                )
                for node in self.graph.root.preorder()
                if node.variable == variable
            }
        key = variable, parents if source is not None else ()
        if key not in self._entering:
            hierarchy = (
                self.task.hierarchies[variable]
                if source is None
                else source(self.graph.child, variable, parents)
            )
            values = value_nodes(hierarchy, self.task.domain[variable])
            self._entering[key] = {
                states: values.groups[node]
                for node, states in enumerate(values.states)
                if values.children[node]
            }
        return self._entering[key]
