"""The states of a parent in groups: a cut through its hierarchy, ready for counting."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import (
    Cut,
    StateGroup,
    ValueHierarchy,
    abstract,
    abstractable,
    cut_groups,
    n_cuts,
    refinable,
    refine,
    top_cut,
)
from bayleaf.search.structure import MoveKind


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of one variable's states."""

    hierarchy: ValueHierarchy  # whose nodes the groups are
    cut: Cut  # names of the nodes, in preorder
    groups: tuple[StateGroup, ...]  # states of each node
    n_cuts: int  # of the hierarchy
    number: int  # equal for groupings that score alike
    group_of: NDArray[np.uint16]  # (card + 1,), len(groups) for a missing cell

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
    """Factory of groupings that makes each once."""

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
        """All groupings one step away: kind of the step, node and grouping.

        "refine" replaces the node by its children, "abstract" its children by the node;
        never the root.
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
