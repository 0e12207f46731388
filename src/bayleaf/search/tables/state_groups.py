"""The states of a parent in groups: a cut through its hierarchy, ready for counting."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.data.hierarchies.cuts import (
    Cut,
    StateGroup,
    abstract,
    abstractable,
    cut_groups,
    n_cuts,
    refinable,
    refine,
    top_cut,
)
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.search.structure import MoveKind


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of one variable's states.

    Parameters
    ----------
    hierarchy : ValueHierarchy
        The tree that the groups are nodes of.
    cut : tuple of hashable
        Names of the nodes, in preorder.
    groups : tuple of tuple of int
        States of each node.
    n_cuts : int
        Number of cuts that the hierarchy has.
    number : int
        Groupings of one variable that score alike have the same.
    group_of : ndarray of shape (card + 1,), dtype uint16
        Group of each state; the code of a missing cell leads to the number of groups.
    """

    hierarchy: ValueHierarchy
    cut: Cut
    groups: tuple[StateGroup, ...]
    n_cuts: int
    number: int
    group_of: NDArray[np.uint16]

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @cached_property
    def is_states(self) -> bool:
        """Whether the groups are the states in order."""
        return self.n_groups == len(self.group_of) - 1 and bool(
            (self.group_of[1:] > self.group_of[:-1]).all()
        )


class Groupings:
    """Makes groupings, each once.

    Parameters
    ----------
    domain : Domain
        The variables.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._lock = Lock()
        self._made: dict[tuple[int, int, Cut], Grouping] = {}
        self._numbers: dict[tuple[int, tuple[StateGroup, ...], int], int] = {}

    def top(self, variable: int, hierarchy: ValueHierarchy) -> Grouping:
        """The groups right below the root."""
        return self.cut(variable, hierarchy, top_cut(hierarchy))

    def cut(self, variable: int, hierarchy: ValueHierarchy, cut: Cut) -> Grouping:
        """The groups that a cut makes."""
        # A grouping keeps its hierarchy, so that none other gets the same identity.
        place = variable, id(hierarchy), cut
        made = self._made.get(place)
        if made is None:
            with self._lock:
                made = self._made.setdefault(
                    place, self._make(variable, hierarchy, cut)
                )
        return made

    def steps(
        self, variable: int, grouping: Grouping
    ) -> list[tuple[MoveKind, Hashable, Grouping]]:
        """All groupings one step away: kind of the step, node, what it leads to.

        Returns
        -------
        list of (str, hashable, Grouping)
            "refine" and the node that gives way to its children, or "abstract" and
            the node that its children give way to; never the root.
        """
        tree, cut = grouping.hierarchy, grouping.cut
        finer = [(name, refine(tree, cut, name)) for name in refinable(tree, cut)]
        coarser = [
            (name, abstract(tree, cut, name)) for name in abstractable(tree, cut)
        ]
        steps: list[tuple[MoveKind, Hashable, Grouping]] = []
        for name, other in finer:
            steps.append(("refine", name, self.cut(variable, tree, other)))
        for name, other in coarser:
            steps.append(("abstract", name, self.cut(variable, tree, other)))
        return steps

    def _make(self, variable: int, hierarchy: ValueHierarchy, cut: Cut) -> Grouping:
        """A new grouping, its states looked up."""
        states = self._domain[variable].states
        groups = cut_groups(hierarchy, cut, states)
        number_of_cuts = n_cuts(hierarchy)
        kind = variable, groups, number_of_cuts
        number = self._numbers.setdefault(kind, len(self._numbers))
        group_of = np.full(len(states) + 1, len(groups), dtype=np.uint16)
        for group, members in enumerate(groups):
            group_of[list(members)] = group
        return Grouping(hierarchy, cut, groups, number_of_cuts, number, group_of)
