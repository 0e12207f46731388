"""The trees of all variables, which may split on which, and moves between networks.

The moves of desJardins, Rathod and Getoor (2008) change one split at a time: turning an
arc takes many, each of which may lose. Beyond the paper, two moves replace whole trees
where no split and no collapse gains; the first that raises the score is made.

grow_tree
    A tree is grown by the best split or else the best collapse: freely or, in all
    restarts but the first, from a first split on one of the tree's parents. Hierarchies
    learned for each arc are those met on the way, those of the child alone, or those of
    all the parents of the tree that is replaced.
reverse_edge
    First the child's tree is grown without the parent and what that leads to, then the
    parent's tree, which may now split on the child.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.search.climb import Deadline
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchy_learning import HierarchySource
from bayleaf.search.structure import Mask, Move, MoveKind, descendants
from bayleaf.search.trees.growing import (
    CollapseMove,
    GrowingTree,
    SplitMove,
    ValueNodes,
    value_nodes,
)
from bayleaf.search.trees.leaf_counts import LeafCounts, RowTable
from bayleaf.search.trees.shape import TreeShape
from bayleaf.search.trees.tree_terms import TreeTerms


@dataclass(frozen=True, eq=False)
class Replacement:
    """Replacement of the trees of one or two variables."""

    kind: MoveKind
    child: int
    parent: int | None
    trees: tuple[Any, ...]  # `GrowingTree` where these go on to grow
    gain: float  # how much the score of the network grows


TreeMove = SplitMove | CollapseMove | Replacement


class TreeNetwork:
    """Trees of one restart, empty at first, and moves that keep the constraints.

    `required_splits` come first. With `escape`, whole trees are replaced where no split
    and no collapse gains.
    """

    def __init__(self, task: TreeTask) -> None:
        n_variables = len(task.domain)
        self.task = task
        self.counts = task.counts()
        self.trees = [task.tree(child, self.counts) for child in range(n_variables)]
        self.escape: LocalOptimumEscape | None = None
        constraints = task.constraints
        self.open_to: Mask = constraints.open_arcs(n_variables)
        # Parents that each tree has to keep.
        self.required = list(map(frozenset, constraints.required_parents(n_variables)))
        self.least_gain = task.terms.least_gain
        # Summed up move by move, as the trace has it.
        self._score = self.score
        self._allowed: dict[int, Mask] = {}
        self._descendants: Mask | None = None

    @property
    def score(self) -> float:
        """Score of all trees, summed up again."""
        return sum(tree.score for tree in self.trees)

    @property
    def structure(self) -> tuple[TreeShape, ...]:
        """The trees as they stand."""
        return tuple(tree.shape() for tree in self.trees)

    def required_splits(self) -> Iterator[SplitMove]:
        """Splits on required parents where that scores best, each after the others."""
        for parent, child in sorted(self.task.constraints.required_edges):
            only = np.arange(len(self.trees)) == parent
            move = self.trees[child].best_split(only)
            if move is not None:
                yield move

    def allowed(self, child: int) -> Mask:
        """Variables that a tree may split on, shape (n_variables,).

        Those that it splits on already, and those whose arrival closes no cycle.
        """
        if child not in self._allowed:
            parents = list(self.trees[child].parents)
            limit = self.task.constraints.max_parents
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

    def best_move(self) -> TreeMove | None:
        """The best split or collapse, else the first replacement; None if none gains.

        Of moves that are equal but for rounding it is the first by child, splits by
        variable before collapses in preorder.
        """
        best: SplitMove | CollapseMove | None = None
        for child, tree in enumerate(self.trees):
            split = tree.best_split(self.allowed(child))
            for move in (split, tree.best_collapse(self.required[child])):
                least = self.least_gain + (best.gain if best else 0.0)
                if move is not None and move.gain > least:
                    best = move
        return self.escape.first() if best is None and self.escape else best

    def apply(self, move: TreeMove) -> list[Move]:
        """Change a tree, or replace some."""
        tree, detail = self.trees[move.child], None
        before = tree.parents
        kind: MoveKind = "split"
        parent: int | None
        if isinstance(move, Replacement):
            kind, parent = move.kind, move.parent
            for new in move.trees:
                self.trees[new.child].forget_counts()
                self.trees[new.child] = new
        elif isinstance(move, SplitMove):
            parent, detail = move.variable, tree.conditions(move.leaf)
            tree.split(move.leaf, move.variable)
        else:
            parent, detail = move.split.variable, tree.conditions(move.split)
            is_below = parent in move.split.context
            kind = "abstract_split" if is_below else "remove_split"
            tree.collapse(move.split)
        if isinstance(move, Replacement) or tree.parents != before:
            self._allowed.clear()
            self._descendants = None
        self._score += move.gain
        return [Move(kind, move.child, parent, detail, move.gain, self._score)]

    def _below(self) -> Mask:
        """Which variables each leads to, see `descendants`."""
        if self._descendants is None:
            self._descendants = descendants(tree.parents for tree in self.trees)
        return self._descendants


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
    max_kept_cells: int  # counts kept by one restart

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


@dataclass(frozen=True)
class _Plan:
    """A tree to grow: of which variable, over which others, from which first split.

    Hierarchies are those for the parents in `context`, or for those that are in.
    """

    child: int
    allowed: frozenset[int]
    first: int | None = None
    context: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Outcome:
    """What a tree comes to that was grown by a plan, and what it split on meanwhile."""

    plan: _Plan
    score: float
    parents: tuple[int, ...]
    tried: frozenset[int]

    def holds_for(self, plan: _Plan) -> bool:
        """Whether another plan, alike but for `allowed`, grows the same tree.

        What is not split on where it is allowed is not missed where it is not.
        """
        return self.tried <= plan.allowed <= self.plan.allowed


class LocalOptimumEscape:
    """Moves of a network that replace whole trees.

    With `from_parents`, trees are also grown from a first split on each parent.
    """

    def __init__(self, network: TreeNetwork, *, from_parents: bool) -> None:
        self._network, self._task = network, network.task
        self._from_parents = from_parents
        self._outcomes: defaultdict[Hashable, list[_Outcome]] = defaultdict(list)
        self._last: tuple[_Plan, GrowingTree] | None = None

    def first(self) -> Replacement | None:
        """The first move that gains; None if none does, or time is up.

        Trees are grown again in the order of variables, each freely and then from each
        of its parents, and with each choice of hierarchies; after that arcs are turned,
        by child and parent.
        """
        for kind, child, parent, plans in self._ways():
            if self._task.deadline.has_passed:
                return None
            trees = self._network.trees
            outcomes = [self._outcome(plan) for plan in plans]
            gain = sum(one.score - trees[one.plan.child].score for one in outcomes)
            if gain > self._network.least_gain:
                grown = tuple(self._tree(one.plan) for one in outcomes)
                return Replacement(kind, child, parent, grown, gain)
        return None

    def _ways(self) -> Iterator[tuple[MoveKind, int, int | None, tuple[_Plan, ...]]]:
        """Kind, child, parent and plans of all moves.

        The second tree of a turned arc is fitted to the first.
        """
        for child, tree in enumerate(self._network.trees):
            allowed = _members(self._network.allowed(child))
            firsts = (None, *tree.parents) if self._from_parents else (None,)
            for first, context in product(firsts, _contexts(tree)):
                plan = _Plan(child, allowed, first, context)
                yield "grow_tree", child, first, (plan,)
        for child, tree in enumerate(self._network.trees):
            for parent in tree.parents:
                if self._network.may_turn(parent, child):
                    yield "reverse_edge", child, parent, self._turned(parent, child)

    def _turned(self, parent: int, child: int) -> tuple[_Plan, ...]:
        """The child's tree without a parent, the parent's with the child allowed."""
        parents = [set(tree.parents) for tree in self._network.trees]
        parents[child].discard(parent)
        below = descendants(parents)
        open_to = self._network.open_to
        without = open_to[child] & ~below[child] & ~below[parent]
        first = _Plan(child, _members(without))
        parents[child] = set(self._outcome(first).parents)
        allowed = open_to[parent] & ~descendants(parents)[parent]
        return first, _Plan(parent, _members(allowed))

    def _outcome(self, plan: _Plan) -> _Outcome:
        """Grow a tree by a plan, unless that has been done."""
        alike = self._outcomes[plan.child, plan.first, plan.context]
        found = next((one for one in alike if one.holds_for(plan)), None)
        if found is None:
            tree, tried = self._grow(plan)
            found = _Outcome(plan, tree.score, tree.parents, tried)
            alike.append(found)
            tree.forget_counts()
            self._last = plan, tree
        return found

    def _tree(self, plan: _Plan) -> GrowingTree:
        """The tree of a plan, grown once more unless it is the last that was grown."""
        last = self._last
        if last is None or last[0] != plan:
            return self._grow(plan)[0]
        # The network will change it.
        self._last = None
        return last[1]

    def _grow(self, plan: _Plan) -> tuple[GrowingTree, frozenset[int]]:
        """Grow a tree by the best split or collapse until none gains.

        With it come all variables that were split on, if only for a while.
        """
        tree = self._task.tree(plan.child, self._network.counts)
        tree.take_values_for(plan.context)
        if plan.first is not None:
            tree.enter_missing(frozenset({plan.first}))
        required = self._network.required[plan.child]
        tree.enter_missing(required)
        tried = set(tree.parents)
        limit = self._task.constraints.max_parents
        while True:
            is_full = limit is not None and len(tree.parents) >= limit
            allowed: Mask = np.zeros(tree.n_variables, dtype=np.bool_)
            allowed[list(tree.parents if is_full else plan.allowed)] = True
            split = tree.best_split(allowed)
            if split is not None and split.gain > tree.least_gain:
                tried.add(split.variable)
                tree.split(split.leaf, split.variable)
                continue
            best = tree.best_collapse(required)
            if best is None or best.gain <= tree.least_gain:
                tree.take_values_for(None)
                return tree, frozenset(tried)
            tree.collapse(best.split)


def _contexts(tree: GrowingTree) -> tuple[tuple[int, ...] | None, ...]:
    """Parents for which a tree that replaces another may take its hierarchies."""
    if not tree.are_local:
        return (None,)
    return (None, (), tree.parents) if tree.parents else (None, ())


def _members(mask: Mask) -> frozenset[int]:
    """Variables of a mask."""
    return frozenset(np.flatnonzero(mask).tolist())
