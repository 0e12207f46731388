"""Growing a whole tree over given parents, and pruning what does not pay."""

from __future__ import annotations

import numpy as np

from bayleaf.search.trees.growing import CollapseMove, GrowingTree, Mask


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


def enter_missing(tree: GrowingTree, required: frozenset[int]) -> None:
    """Split on each required variable that no split asks for, where it scores best."""
    for variable in sorted(required.difference(tree.parents)):
        only: Mask = np.zeros(tree.n_variables, dtype=np.bool_)
        only[variable] = True
        move = tree.best_split(only)
        if move is not None:
            tree.split(move.leaf, variable)


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
