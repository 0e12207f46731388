"""Trees of distributions as lists of leaves and splits, which no depth can break."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.wording import brief_fields

# Deeper trees are refused: they are walked by recursion.
MAX_TREE_DEPTH = 200


@dataclass(frozen=True)
class FlatSplit:
    """A question about one parent."""

    variable: int
    groups: tuple[tuple[int, ...], ...]  # states of each branch
    branches: tuple[int, ...]  # leaf or split below; splits count on after the leaves


@dataclass(frozen=True, eq=False)
class FlatTree:
    """What stands for a `TreeCPD` in files.

    Several branches may lead to one leaf; each split comes after those below it, the
    root last.
    """

    family: Family  # the parents, then the child
    cards: tuple[int, ...]  # numbers of states along the family
    leaves: tuple[NDArray[np.float64], ...]  # distributions, (child card,) each
    splits: tuple[FlatSplit, ...]

    __repr__ = brief_fields

    @classmethod
    def standing_for(cls, cpd: TreeCPD) -> FlatTree:
        """Number the nodes of a tree; ValueError if deeper than `MAX_TREE_DEPTH`."""
        leaves = {id(leaf): leaf.probabilities for leaf, _ in cpd.leaves()}
        numbers = {key: number for number, key in enumerate(leaves)}
        splits: list[FlatSplit] = []

        def number(node: Leaf | Split, depth: int) -> int:
            _check_depth(depth)
            if isinstance(node, Leaf):
                return numbers[id(node)]
            below = tuple([number(branch, depth + 1) for branch in node.branches])
            splits.append(FlatSplit(node.variable, node.groups, below))
            return len(leaves) + len(splits) - 1

        number(cpd.root, 0)
        return cls(cpd.family, cpd.cards, tuple(leaves.values()), tuple(splits))

    def restored(self) -> TreeCPD:
        """The tree; ValueError if leaves and splits do not form one."""
        nodes: list[Leaf | Split] = [Leaf(row) for row in self.leaves]
        depths = [0] * len(nodes)
        for split in self.splits:
            if not all(0 <= branch < len(nodes) for branch in split.branches):
                raise ValueError("a split of a tree has a branch to no earlier node")
            below = tuple(nodes[branch] for branch in split.branches)
            nodes.append(Split(split.variable, split.groups, below))
            depths.append(1 + max((depths[b] for b in split.branches), default=0))
            _check_depth(depths[-1])
        branches = [branch for split in self.splits for branch in split.branches]
        inner = sorted(branch for branch in branches if branch >= len(self.leaves))
        if not nodes or inner != [*range(len(self.leaves), len(nodes) - 1)]:
            raise ValueError("every split of a tree but the last is one branch's")
        return TreeCPD(self.family, self.cards, nodes[-1])


def _check_depth(depth: int) -> None:
    """Raise if nodes stand too deep."""
    if depth > MAX_TREE_DEPTH:
        raise ValueError(f"the tree is deeper than {MAX_TREE_DEPTH}")
