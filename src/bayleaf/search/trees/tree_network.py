"""The trees of all variables, and which may split on which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import (
    LEAST_GAIN,
    Deadline,
    Move,
    MoveKind,
    ProgressCallback,
    RestartProgress,
    SearchResult,
    sorted_parents,
)
from bayleaf.search.trees.growing import (
    CollapseMove,
    GrowingTree,
    Mask,
    SplitMove,
    ValueNodes,
    value_nodes,
)
from bayleaf.search.trees.leaf_counts import LeafCounts, RowTable
from bayleaf.search.trees.tree_terms import TreeTerms

# The hierarchy of a parent for a child, given the parents that the child has.
HierarchySource = Callable[[int, int, tuple[int, ...]], ValueHierarchy]


class TreeNetwork:
    """Trees, moves and constraints of one restart.

    `trees` are empty, one per variable; required parents are split on at once. Gains up
    to `least_gain` count as rounding. `progress` is called after each move.
    """

    def __init__(
        self,
        trees: Sequence[GrowingTree],
        constraints: Constraints,
        restart: int,
        least_gain: float = LEAST_GAIN,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.trees = list(trees)
        self.least_gain = least_gain
        self.score = sum(tree.score for tree in trees)
        self.restart = restart
        self._constraints = constraints
        self._progress = RestartProgress(restart, progress)
        self._allowed: dict[int, Mask] = {}
        self._removals: dict[int, CollapseMove | None] = {}
        self._descendants: Mask | None = None
        self._trace: list[Move] = []
        self.open_to: Mask = constraints.open_arcs(len(trees))
        # Parents that each tree has to keep.
        self.required = list(map(frozenset, constraints.required_parents(len(trees))))
        # Required parents are split on where that scores best.
        for parent, child in sorted(constraints.required_edges):
            only = np.zeros(len(trees), dtype=np.bool_)
            only[parent] = True
            move = self.trees[child].best_split(only)
            if move is not None:
                self.apply(child, move)

    def allowed(self, child: int) -> Mask:
        """Variables that a tree may split on, shape (n_variables,).

        Those that it splits on already, and those whose arrival closes no cycle.
        """
        if child not in self._allowed:
            parents = list(self.trees[child].parents)
            limit = self._constraints.max_parents
            allowed: Mask = self.open_to[child].copy()
            if limit is not None and len(parents) >= limit:
                allowed[:] = False
            allowed &= ~self._below()[child]
            allowed[parents] = True
            self._allowed[child] = allowed
        return self._allowed[child]

    def may_turn(self, parent: int, child: int) -> bool:
        """Whether an arc may point the other way and close no cycle."""
        if parent in self.required[child] or not self.open_to[parent, child]:
            return False
        others = [own for own in self.trees[child].parents if own != parent]
        return not self._below()[parent][others].any()

    def removable(self, child: int) -> list[CollapseMove]:
        """Collapses of a tree that keep its required parents, in preorder."""
        return self.trees[child].collapses_keeping(self.required[child])

    def best_move(self) -> tuple[int, SplitMove | CollapseMove] | None:
        """The best split or collapse of all trees with its child; None if none gains.

        Of moves that are equal but for rounding it is the first by child, splits by
        variable before collapses in preorder.
        """
        best: tuple[int, SplitMove | CollapseMove] | None = None
        for child, tree in enumerate(self.trees):
            split = tree.best_split(self.allowed(child))
            for move in (split, self._best_removal(child)):
                least = self.least_gain + (best[1].gain if best else 0.0)
                if move is not None and move.gain > least:
                    best = child, move
        return best

    def apply(self, child: int, move: SplitMove | CollapseMove) -> None:
        """Change a tree, and note the move."""
        tree = self.trees[child]
        before = tree.parents
        kind: MoveKind = "split"
        if isinstance(move, SplitMove):
            detail, variable = tree.conditions(move.leaf), move.variable
            tree.split(move.leaf, variable)
        else:
            node, variable = move.split, move.split.variable
            is_below = variable in node.context
            kind = "abstract_split" if is_below else "remove_split"
            detail = tree.conditions(node)
            tree.collapse(node)
        self._note_change([child], parents_changed=tree.parents != before)
        self._note_move(kind, child, variable, detail, move.gain)

    def replace(
        self,
        kind: MoveKind,
        child: int,
        parent: int | None,
        trees: Sequence[GrowingTree],
    ) -> None:
        """Put other trees in the place of some, and note it as one move."""
        gain = sum(tree.score - self.trees[tree.child].score for tree in trees)
        for tree in trees:
            self.trees[tree.child].forget_counts()
            self.trees[tree.child] = tree
        self._note_change([tree.child for tree in trees], parents_changed=True)
        self._note_move(kind, child, parent, None, gain)

    def _note_change(self, children: Sequence[int], *, parents_changed: bool) -> None:
        """Drop what no longer holds after some trees changed."""
        for child in children:
            self._removals.pop(child, None)
        if parents_changed:
            self._allowed.clear()
            self._descendants = None

    def _note_move(
        self,
        kind: MoveKind,
        child: int,
        parent: int | None,
        detail: object,
        gain: float,
    ) -> None:
        """Add a move to the trace, and tell who asked."""
        self.score += gain
        self._trace.append(Move(kind, child, parent, detail, gain, self.score))
        self._progress.report(len(self._trace), self.score)

    def result(self, *, stopped_early: bool) -> SearchResult:
        """The trees as they stand."""
        return SearchResult(
            sorted_parents(tree.parents for tree in self.trees),
            tuple(tree.shape() for tree in self.trees),
            sum(tree.score for tree in self.trees),
            tuple(self._trace),
            stopped_early,
            self.restart,
        )

    def _below(self) -> Mask:
        """Which variables each leads to, see `descendants`."""
        if self._descendants is None:
            self._descendants = descendants(tree.parents for tree in self.trees)
        return self._descendants

    def _best_removal(self, child: int) -> CollapseMove | None:
        """The collapse of a tree that gains most, the first in preorder."""
        if child not in self._removals:
            moves = self.removable(child)
            self._removals[child] = max(moves, key=lambda own: own.gain, default=None)
        return self._removals[child]


def descendants(parents: Iterable[Iterable[int]]) -> Mask:
    """Whether a variable leads to another or is it, (n_variables, n_variables)."""
    graph = sorted_parents(parents)
    found: Mask = np.eye(len(graph.parents), dtype=np.bool_)
    for node in reversed(graph.order):
        found[list(graph.parents[node])] |= found[node]
    return found


@dataclass(frozen=True, eq=False)
class TreeTask:
    """A search over trees, but for the restart."""

    rows: RowTable
    domain: Domain
    terms: TreeTerms
    hierarchies: tuple[ValueHierarchy, ...]  # one per variable
    hierarchy_source: HierarchySource | None  # replaces `hierarchies`
    constraints: Constraints
    deadline: Deadline  # of all restarts
    seed: int  # restart k draws from (seed, k)
    progress: ProgressCallback | None  # called after each move
    max_kept_cells: int  # counts kept by one restart

    def generator(self, restart: int) -> np.random.Generator:
        """The random numbers of a restart."""
        return np.random.default_rng((self.seed, restart))

    def counts(self) -> LeafCounts:
        """A store of counts for one restart."""
        return LeafCounts(self.rows, self.max_kept_cells)

    def tree(self, child: int, counts: LeafCounts) -> GrowingTree:
        """An empty tree."""
        source = self.hierarchy_source

        def values(parent: int, parents: tuple[int, ...]) -> ValueNodes:
            if source is None:
                hierarchy = self.hierarchies[parent]
            else:
                hierarchy = source(child, parent, parents)
            return value_nodes(hierarchy, self.domain[parent])

        are_local = source is not None
        terms = self.terms.of(child)
        return GrowingTree(child, counts, terms, values, are_local=are_local)
