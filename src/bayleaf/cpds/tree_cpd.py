"""Conditional probability distributions as trees over the parents' states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.distribution import ExpandedCPD
from bayleaf.wording import brief_fields

# What the states of each parent are narrowed down to on the way to a leaf.
Context = dict[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Leaf:
    """One distribution, shared by all parent configurations that lead to it.

    Several branches may hold the same one, which makes the tree a decision graph.

    Parameters
    ----------
    probabilities : ndarray of shape (child card,), dtype float64
        Kept read-only.
    """

    probabilities: NDArray[np.float64]

    __repr__ = brief_fields

    def __post_init__(self) -> None:
        row = np.array(self.probabilities, dtype=np.float64)
        row.setflags(write=False)
        object.__setattr__(self, "probabilities", row)


@dataclass(frozen=True, eq=False)
class Split:
    """A question about one parent.

    Parameters
    ----------
    variable : int
        The parent.
    groups : tuple of tuple of int
        States for each branch: single states, or those under the nodes of a cut
        through the variable's hierarchy. A variable may be split again further down.
    branches : tuple of Leaf or Split
        One a group.
    """

    variable: int
    groups: tuple[tuple[int, ...], ...]
    branches: tuple[Leaf | Split, ...]

    __repr__ = brief_fields


@dataclass(frozen=True, eq=False, repr=False)
class TreeCPD(ExpandedCPD):
    """P(child | parents) as a tree whose leaves hold distributions.

    The same `Leaf` in several places is one distribution, and counts once.

    Parameters
    ----------
    family : tuple of int
        The parents, then the child.
    cards : tuple of int
        Number of states of each member of the family.
    root : Leaf or Split
        The tree.

    Raises
    ------
    ValueError
        If a split asks for no parent, its groups are no partition of the states that
        are possible there, or a leaf has another number of states than the child.

    Notes
    -----
    Boutilier, Friedman, Goldszmidt and Koller (1996) show how such trees express
    context-specific independence; desJardins, Rathod and Getoor (2008) split on the
    nodes of value hierarchies.
    """

    family: Family
    cards: tuple[int, ...]
    root: Leaf | Split

    def __post_init__(self) -> None:
        if len(self.family) != len(self.cards):
            raise ValueError(
                f"{len(self.cards)} numbers of states were given for a family of "
                f"{len(self.family)} variables"
            )
        for leaf, _ in self.leaves():
            if leaf.probabilities.shape != self.cards[-1:]:
                raise ValueError(
                    f"a leaf holds {leaf.probabilities.size} probabilities for a child "
                    f"of {self.cards[-1]} states"
                )

    @property
    def n_leaves(self) -> int:
        """Number of leaves, each counted as often as paths lead to it."""
        return sum(1 for _ in self.leaves())

    @property
    def n_distributions(self) -> int:
        """Number of different leaves: paths of a decision graph may share one."""
        return len({id(leaf) for leaf, _ in self.leaves()})

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: states less one for each distribution."""
        return self.n_distributions * max(self.cards[-1] - 1, 0)

    def leaves(self) -> Iterator[tuple[Leaf, Context]]:
        """Leaves from left to right, and the parents' states that lead to each."""
        states: Context = {
            parent: tuple(range(card))
            for parent, card in zip(self.family[:-1], self.cards[:-1], strict=True)
        }
        for node, context in preorder(self.root, states):
            if isinstance(node, Leaf):
                yield node, context
            else:
                _check_split(node, context)

    @property
    def distributions(self) -> NDArray[np.float64]:
        """The leaves, shape (n_leaves, child card)."""
        return np.stack([leaf.probabilities for leaf, _ in self.leaves()])

    def _expand(self) -> NDArray[np.float64]:
        """The full table: every leaf at the configurations that lead to it."""
        table = np.empty(self.cards)
        for leaf, context in self.leaves():
            where = [context[parent] for parent in self.parents]
            table[np.ix_(*where)] = leaf.probabilities
        return table


def preorder(root: Any, states: Context) -> Iterator[tuple[Any, Context]]:
    """Nodes of a tree from left to right, and the parents' states that lead to each.

    Trees need no probabilities: splits have `variable`, `groups` and `branches`.
    """
    open_nodes: list[tuple[Any, Context]] = [(root, states)]
    while open_nodes:
        node, context = open_nodes.pop()
        yield node, context
        if branches := getattr(node, "branches", ()):
            below = zip(branches, node.groups, strict=True)
            open_nodes += [
                (branch, {**context, node.variable: tuple(group)})
                for branch, group in reversed(list(below))
            ]


def _check_split(split: Split, context: Context) -> None:
    """Raise unless a split divides the states that are possible where it stands."""
    if split.variable not in context:
        raise ValueError(
            f"a tree splits on variable {split.variable}, which is no parent; the "
            f"parents are {tuple(context)}"
        )
    given = sorted(state for group in split.groups for state in group)
    fits = len(split.branches) == len(split.groups) and all(split.groups)
    if not fits or given != sorted(context[split.variable]):
        raise ValueError(
            f"the groups {split.groups} of a split on variable {split.variable} should "
            f"share out the states {context[split.variable]}, one branch a group"
        )
