"""What turning each split of a tree into a leaf would gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.trees.nodes import TreeNode
from bayleaf.search.trees.scores import TreeTerms


@dataclass(frozen=True, eq=False)
class CollapseMove:
    """Replacement of a split and all below it by a leaf."""

    split: TreeNode
    gain: float  # how much the score of the network grows
    vanishing: tuple[int, ...]  # variables that no other split asks for


@dataclass(frozen=True, eq=False)
class _Subtree:
    """What a subtree sums up to."""

    term: float
    cost: float
    n_leaves: int
    n_splits: int


def collapse_moves(
    root: TreeNode, n_parents: int, terms: TreeTerms
) -> list[CollapseMove]:
    """Collapses of each split of a tree, in preorder.

    `n_parents` is the number of variables that its splits ask for.
    """
    nodes = list(root.preorder())
    splits = [node for node in nodes if not node.is_leaf]
    costs = terms.split_scores(n_parents)
    below = _subtrees(nodes, costs.tolist())
    n_base = np.array([split.n_base for split in splits], dtype=np.int64)
    names = terms.parents
    gone = _vanishing(splits, [own.n_splits for own in below])
    moves = []
    for place, (split, own) in enumerate(zip(splits, below, strict=True)):
        gain = split.term - own.term - own.cost - (own.n_leaves - 1) * terms.leaf
        vanishing = gone.get(place, ())
        if vanishing:
            # All other splits could ask for so many variables less.
            n_left = n_parents - len(vanishing)
            change = terms.split_scores(n_left) - costs
            others = n_base[:place], n_base[place + own.n_splits :]
            gain += float(sum(change[part].sum() for part in others))
            gain += float(names[n_left] - names[n_parents])
            gain -= float(terms.arcs[list(vanishing)].sum())
        moves.append(CollapseMove(split, gain, vanishing))
    return moves


def _subtrees(nodes: list[TreeNode], costs: list[float]) -> list[_Subtree]:
    """What the subtree at each split sums up to, in preorder."""
    found: list[_Subtree] = []
    # In reversed preorder the branches of a split are the last that were finished.
    finished: list[_Subtree] = []
    for node in reversed(nodes):
        if node.is_leaf:
            finished.append(_Subtree(node.term, 0.0, 1, 0))
            continue
        branches = [finished.pop() for _ in node.branches]
        own = _Subtree(
            sum(branch.term for branch in branches),
            sum(branch.cost for branch in branches) + costs[node.n_base],
            sum(branch.n_leaves for branch in branches),
            sum(branch.n_splits for branch in branches) + 1,
        )
        finished.append(own)
        found.append(own)
    return found[::-1]


def _vanishing(splits: list[TreeNode], sizes: list[int]) -> dict[int, tuple[int, ...]]:
    """Variables, increasing, that only the subtree at a split asks for, by its place.

    Splits are in preorder; `sizes` counts the splits of each subtree.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, split in enumerate(splits):
        first.setdefault(split.variable, place)
        last[split.variable] = place
    variables = sorted(first)
    starts: NDArray[np.int64] = np.arange(len(splits))
    ends = starts + np.array(sizes, dtype=np.int64)
    firsts = np.array([first[v] for v in variables], dtype=np.int64)
    lasts = np.array([last[v] for v in variables], dtype=np.int64)
    inside = (firsts >= starts[:, None]) & (lasts < ends[:, None])
    return {
        place: tuple(variables[v] for v in np.flatnonzero(inside[place]).tolist())
        for place in np.flatnonzero(inside.any(axis=1)).tolist()
    }
