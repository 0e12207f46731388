"""Ways out of local optima of splits and collapses: trees that are grown again.

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

import numpy as np

from bayleaf.search.structure import MoveKind
from bayleaf.search.trees.growing import CollapseMove, GrowingTree, Mask, SplitMove
from bayleaf.search.trees.leaf_counts import LeafCounts
from bayleaf.search.trees.tree_network import TreeNetwork, TreeTask, descendants


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


@dataclass(frozen=True)
class _WayOut:
    """A move that replaces the trees of one or two variables."""

    kind: MoveKind
    child: int
    parent: int | None
    plans: tuple[_Plan, ...]


class LocalOptimumEscape:
    """Moves of one restart that replace whole trees.

    With `from_parents`, trees are also grown from a first split on each parent.
    """

    def __init__(
        self,
        task: TreeTask,
        network: TreeNetwork,
        counts: LeafCounts,
        *,
        from_parents: bool,
    ) -> None:
        self._task = task
        self._network = network
        self._counts = counts
        self._from_parents = from_parents
        self._outcomes: defaultdict[Hashable, list[_Outcome]] = defaultdict(list)
        self._last: tuple[_Plan, GrowingTree] | None = None

    def take_first(self) -> bool:
        """Make the first move that gains; False if none does.

        Trees are grown again in the order of variables, each freely and then from each
        of its parents, and with each choice of hierarchies; after that arcs are turned,
        by child and parent. When time is up the answer is True, whether a move was made
        or not.
        """
        for way in self._ways():
            if self._task.deadline.has_passed:
                return True
            trees = self._network.trees
            outcomes = [self._outcome(plan) for plan in way.plans]
            gain = sum(one.score - trees[one.plan.child].score for one in outcomes)
            if gain > self._network.least_gain:
                grown = [self._tree(one.plan) for one in outcomes]
                self._network.replace(way.kind, way.child, way.parent, grown)
                return True
        return False

    def _ways(self) -> Iterator[_WayOut]:
        """All moves, the second tree of a turned arc fitted to the first."""
        for child, tree in enumerate(self._network.trees):
            allowed = _members(self._network.allowed(child))
            firsts = (None, *tree.parents) if self._from_parents else (None,)
            for first, context in product(firsts, _contexts(tree)):
                plan = _Plan(child, allowed, first, context)
                yield _WayOut("grow_tree", child, first, (plan,))
        for child, tree in enumerate(self._network.trees):
            for parent in tree.parents:
                if self._network.may_turn(parent, child):
                    plans = self._turned(parent, child)
                    yield _WayOut("reverse_edge", child, parent, plans)

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
        tree = self._task.tree(plan.child, self._counts)
        tree.take_values_for(plan.context)
        if plan.first is not None:
            tree.enter_missing(frozenset({plan.first}))
        required = self._network.required[plan.child]
        tree.enter_missing(required)
        tried = set(tree.parents)
        allowed: Mask = np.zeros(tree.n_variables, dtype=np.bool_)
        allowed[list(plan.allowed)] = True
        present: Mask = np.zeros_like(allowed)
        limit = self._task.constraints.max_parents
        while True:
            if limit is not None and len(tree.parents) >= limit:
                present[:] = False
                present[list(tree.parents)] = True
                move = _best_of(tree, present, required)
            else:
                move = _best_of(tree, allowed, required)
            if move is None:
                tree.take_values_for(None)
                return tree, frozenset(tried)
            if isinstance(move, SplitMove):
                tried.add(move.variable)
                tree.split(move.leaf, move.variable)
            else:
                tree.collapse(move.split)


def _contexts(tree: GrowingTree) -> tuple[tuple[int, ...] | None, ...]:
    """Parents for which a tree that replaces another may take its hierarchies."""
    if not tree.are_local:
        return (None,)
    return (None, (), tree.parents) if tree.parents else (None, ())


def _members(mask: Mask) -> frozenset[int]:
    """Variables of a mask."""
    return frozenset(np.flatnonzero(mask).tolist())


def _best_of(
    tree: GrowingTree, allowed: Mask, required: frozenset[int]
) -> SplitMove | CollapseMove | None:
    """The best split of a tree, or collapse where no split gains; None if none does."""
    split = tree.best_split(allowed)
    if split is not None and split.gain > tree.least_gain:
        return split
    best: CollapseMove | None = None
    for move in tree.collapses_keeping(required):
        if move.gain > (tree.least_gain if best is None else best.gain):
            best = move
    return best
