"""Moves of trees that are proposed by chance."""

from __future__ import annotations

import numpy as np

from bayleaf.search.structure import Deadline
from bayleaf.search.trees.network import TreeNetwork

# Failures in a row, a variable, after which a stochastic search looks at all moves.
_PATIENCE = 4


def propose_until_tired(
    network: TreeNetwork, deadline: Deadline, rng: np.random.Generator
) -> bool:
    """Propose moves by chance until too many in a row fail; False if time was up."""
    n_failures = 0
    while n_failures < _PATIENCE * len(network.trees):
        if deadline.has_passed:
            return False
        child = int(rng.integers(len(network.trees)))
        has_split = propose_split(network, child, rng)
        has_collapsed = propose_collapse(network, child, rng)
        n_failures = 0 if has_split or has_collapsed else n_failures + 1
    return True


def propose_split(network: TreeNetwork, child: int, rng: np.random.Generator) -> bool:
    """Make the best split of a leaf drawn by its number of candidates, if it gains."""
    tree, allowed = network.trees[child], network.allowed(child)
    ends = np.cumsum(tree.n_candidates(allowed))
    if ends[-1] == 0:
        return False
    place = int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))
    move = tree.leaf_split(tree.leaves[place], allowed)
    if move is None or move.gain <= network.least_gain:
        return False
    network.apply(child, move)
    return True


def propose_collapse(
    network: TreeNetwork, child: int, rng: np.random.Generator
) -> bool:
    """Collapse a split drawn by chance, if that gains."""
    moves = network.removable(child)
    if not moves:
        return False
    move = moves[int(rng.integers(len(moves)))]
    if move.gain <= network.least_gain:
        return False
    network.apply(child, move)
    return True
