"""Search over edges that grows and prunes a whole tree for each set of parents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayleaf.search.structure import (
    Move,
    MoveKind,
    RestartProgress,
    SearchResult,
    sorted_parents,
)
from bayleaf.search.trees.growing import CollapseMove, GrowingTree, Mask
from bayleaf.search.trees.shape import TreeShape
from bayleaf.search.trees.tree_network import TreeTask

Parents = frozenset[int]
# Most parents that a variable has at the start of a restart drawn by chance.
_MOST_AT_START = 2


@dataclass(frozen=True)
class _GrownTree:
    """A tree that was grown and pruned; its parents are those that it still uses."""

    score: float
    shape: TreeShape

    @property
    def parents(self) -> Parents:
        """Variables that splits ask for."""
        return frozenset(self.shape.parents)


@dataclass(frozen=True)
class _EdgeMove:
    """A change of edges: the trees of one or two variables after it."""

    kind: MoveKind
    child: int
    parent: int
    trees: dict[int, _GrownTree]
    gain: float


class BatchClimb:
    """One restart of a search over edges.

    Restart 0 starts with required edges only, others with some at random.
    """

    def __init__(self, task: TreeTask, restart: int) -> None:
        self._task = task
        self._restart = restart
        self._grown: dict[tuple[int, Parents], _GrownTree] = {}
        n_variables = len(task.domain)
        self._required = [frozenset[int]() for _ in range(n_variables)]
        for parent, child in task.constraints.required_edges:
            self._required[child] |= {parent}
        start = self._start_parents()
        self._trees = [self._grow(child, own) for child, own in enumerate(start)]
        self._trace: list[Move] = []
        self._progress = RestartProgress(restart, task.progress)

    def run(self) -> SearchResult:
        """Make the best move until none gains, or time is up."""
        stopped = self._task.deadline.has_passed
        while not stopped:
            move = self._best_move()
            if move is None:
                break
            self._apply(move)
            stopped = self._task.deadline.has_passed
        return SearchResult(
            sorted_parents(tree.parents for tree in self._trees),
            tuple(tree.shape for tree in self._trees),
            self._score(),
            tuple(self._trace),
            stopped,
            self._restart,
        )

    def _score(self) -> float:
        """Score of the network as it stands."""
        return sum(tree.score for tree in self._trees)

    def _start_parents(self) -> list[Parents]:
        """Required parents, and in all but the first restart some drawn by chance."""
        if self._restart == 0:
            return list(self._required)
        rng = self._task.generator(self._restart)
        parents = list(self._required)
        order = rng.permutation(len(parents)).tolist()
        for place, child in enumerate(order):
            number = min(place, int(rng.integers(_MOST_AT_START + 1)))
            for parent in rng.permutation(order[:place])[:number].tolist():
                wider = [*parents]
                wider[child] |= {parent}
                if self._fits(child, wider[child]) and _is_acyclic(wider):
                    parents = wider
        return parents

    def _fits(self, child: int, parents: Parents) -> bool:
        """Whether constraints let a variable have these parents."""
        constraints = self._task.constraints
        limit = constraints.max_parents
        forbidden = {p for p in parents if (p, child) in constraints.forbidden_edges}
        return not forbidden and (limit is None or len(parents) <= limit)

    def _grow(self, child: int, parents: Parents) -> _GrownTree:
        """Grow and prune the tree of a variable over some parents."""
        key = child, parents
        if key not in self._grown:
            tree = self._task.tree(child, self._task.counts())
            required = self._required[child]
            grow_fully(tree, parents)
            tree.enter_missing(required)
            prune(tree, required)
            self._grown[key] = _GrownTree(tree.score, tree.shape())
        return self._grown[key]

    def _best_move(self) -> _EdgeMove | None:
        """The best move; of those equal but for rounding, the first."""
        least = self._task.terms.least_gain
        best: _EdgeMove | None = None
        for move in self._moves():
            if move.gain > least + (best.gain if best is not None else 0.0):
                best = move
        return best

    def _moves(self) -> Iterator[_EdgeMove]:
        """All moves that keep the constraints, by child and parent."""
        n_variables = len(self._trees)
        for child in range(n_variables):
            for parent in range(n_variables):
                if parent == child:
                    continue
                if parent not in self._trees[child].parents:
                    yield from self._move("add_edge", child, parent)
                elif parent not in self._required[child]:
                    yield from self._move("delete_edge", child, parent)
                    yield from self._move("reverse_edge", child, parent)

    def _move(self, kind: MoveKind, child: int, parent: int) -> Iterator[_EdgeMove]:
        """A move, if it keeps the constraints."""
        own = self._trees[child].parents
        wanted = {child: own | {parent} if kind == "add_edge" else own - {parent}}
        if kind == "reverse_edge":
            wanted[parent] = self._trees[parent].parents | {child}
        after = [tree.parents for tree in self._trees]
        for node, parents in wanted.items():
            after[node] = parents
        if not all(self._fits(node, parents) for node, parents in wanted.items()):
            return
        if kind != "delete_edge" and not _is_acyclic(after):
            return
        trees = {node: self._grow(node, parents) for node, parents in wanted.items()}
        gain = sum(tree.score - self._trees[node].score for node, tree in trees.items())
        yield _EdgeMove(kind, child, parent, trees, gain)

    def _apply(self, move: _EdgeMove) -> None:
        """Take over the trees of a move, and note it."""
        for node, tree in move.trees.items():
            self._trees[node] = tree
        score = self._score()
        self._trace.append(
            Move(move.kind, move.child, move.parent, None, move.gain, score)
        )
        self._progress.report(len(self._trace), score)


def _is_acyclic(parents: list[Parents]) -> bool:
    """Whether sets of parents make a graph without cycles."""
    try:
        sorted_parents(parents)
    except ValueError:
        return False
    return True


def grow_fully(tree: GrowingTree, parents: frozenset[int]) -> None:
    """Split each leaf of an empty tree on its best variable, even at a loss.

    A leaf stays one when no variable is left, or when even leaves without any surprise
    below it would score less than it does.
    """
    allowed: Mask = np.zeros(tree.n_variables, dtype=np.bool_)
    allowed[list(parents)] = True
    open_leaves = [tree.root]
    while open_leaves:
        leaf = open_leaves.pop()
        if not tree.can_gain(leaf):
            continue
        move = tree.leaf_split(leaf, allowed)
        if move is not None:
            tree.split(leaf, move.variable)
            open_leaves += leaf.branches


def prune(tree: GrowingTree, required: frozenset[int]) -> None:
    """Collapse splits, from the leaves up, that do not raise the score.

    Variables in `required` keep a split.
    """
    tree.prune_upwards(required)
    while True:
        best: CollapseMove | None = None
        for move in tree.collapses():
            is_better = move.gain > tree.least_gain + (best.gain if best else 0.0)
            if is_better and not required.intersection(move.vanishing):
                best = move
        if best is None:
            return
        tree.collapse(best.split)
