"""Conditional probability tables whose rows are groups of parent configurations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.distribution import ExpandedCPD

StateGroups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class GroupedTableCPD(ExpandedCPD):
    """P(child | parents) as a table over groups of the parents' states.

    The abstraction-based tables of desJardins, Rathod and Getoor (2008), section 2: one
    row for every combination of one group per parent. ValueError if the groups do not
    share out a parent's states.

    Examples
    --------
    >>> cpd = GroupedTableCPD(
    ...     (0, 1), (3, 2), (((0, 1), (2,)),), np.array([[0.5, 0.5], [0.9, 0.1]])
    ... )
    >>> cpd.probabilities[1].tolist()
    [0.5, 0.5]
    """

    family: Family  # the parents in the order of the axes, then the child
    cards: tuple[int, ...]
    groups: tuple[StateGroups, ...]  # by parent, the states of each group
    table: NDArray[np.float64]  # (numbers of groups ..., child card), read-only

    def __post_init__(self) -> None:
        table = np.array(self.table, dtype=np.float64, order="C")
        table.setflags(write=False)
        object.__setattr__(self, "table", table)
        for parent, card, groups in zip(self.parents, self.cards, self.groups):
            if sorted(state for group in groups for state in group) != [*range(card)]:
                raise ValueError(
                    f"the groups {groups} of parent {parent} should share out its "
                    f"states 0 to {card - 1}; name each state once"
                )
        shape = (*map(len, self.groups), *self.cards[-1:])
        fits = len(self.family) == len(self.cards) == len(self.groups) + 1
        if not fits or table.shape != shape:
            raise ValueError(
                f"a table of shape {table.shape} was given for a family of "
                f"{len(self.family)} variables; its groups and states make {shape}"
            )

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: states less one for each row."""
        return prod(map(len, self.groups)) * max(self.cards[-1] - 1, 0)

    @property
    def distributions(self) -> NDArray[np.float64]:
        """The table."""
        return self.table

    def _expand(self) -> NDArray[np.float64]:
        """The full table: every row at the configurations it stands for."""
        places = [
            group_of_states(groups, card)
            for groups, card in zip(self.groups, self.cards)
        ]
        if not places:
            return self.table.copy()
        return self.table[np.ix_(*places)]


def group_of_states(groups: Sequence[Sequence[int]], card: int) -> NDArray[np.intp]:
    """Position of each state's group, shape (card,)."""
    places = np.zeros(card, dtype=np.intp)
    for place, group in enumerate(groups):
        places[list(group)] = place
    return places
