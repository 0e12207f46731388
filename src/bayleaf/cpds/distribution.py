"""Conditional probability distributions: what all offer, tables and value maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.results.result import Shown
from bayleaf.wording import brief, brief_names, counted

StateGroups = tuple[tuple[int, ...], ...]


class CPD(Protocol):
    """P(child | parents), whatever its form.

    Attributes
    ----------
    family : tuple of int
        The parents in the order of the axes, then the child.
    cards : tuple of int
        Number of states of each member of the family.
    probabilities : ndarray of shape `cards`, dtype float64
        The full table, distributions of the child along the last axis; read-only.
    """

    @property
    def family(self) -> Family: ...  # noqa: D102

    @property
    def cards(self) -> tuple[int, ...]: ...  # noqa: D102

    @property
    def probabilities(self) -> NDArray[np.float64]: ...  # noqa: D102

    @property
    def child(self) -> int:
        """Index of the child."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Indices of the parents."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""

    @property
    def distributions(self) -> NDArray[np.float64]:
        """All that are stored, along the last axis."""

    def log_probabilities(self) -> NDArray[np.float64]:
        """Logarithms of the full table, minus infinity where it is zero."""


class FamilyCPD(Shown):
    """What follows from the family and the full table, in every form."""

    family: Family

    @property
    def child(self) -> int:
        """Index of the child."""
        return self.family[-1]

    @property
    def parents(self) -> tuple[int, ...]:
        """Indices of the parents."""
        return self.family[:-1]

    @property
    def distributions(self: CPD) -> NDArray[np.float64]:
        """All that are stored, along the last axis."""
        return self.probabilities

    def log_probabilities(self: CPD) -> NDArray[np.float64]:
        """Logarithms of the full table, minus infinity where it is zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities)

    def __repr__(self: CPD) -> str:
        given = f" | {brief_names(self.parents)}" if self.parents else ""
        *rest, card = self.cards
        return brief(
            self,
            f"P({self.child}{given})",
            counted(card, "state"),
            counted(prod(rest), "parent configuration"),
            counted(self.n_parameters, "free parameter"),
        )


class ExpandedCPD(FamilyCPD):
    """A form that is no table: the full one is made when it is asked for."""

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The full table, shape `cards`; made again at every call, read-only."""
        table = self._expand()
        table.setflags(write=False)
        return table

    def _expand(self) -> NDArray[np.float64]:
        """A new full table of shape `cards`."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class TableCPD(FamilyCPD):
    """P(child | parents) as a full table.

    Parameters
    ----------
    family : tuple of int
        The parents in the order of the axes, then the child.
    probabilities : ndarray of shape (parent cards ..., child card), dtype float64
        Distributions of the child along the last axis. Kept read-only.
    experience : ndarray of shape (parent cards ...), dtype float64, optional
        How many rows each distribution is worth (Spiegelhalter and Lauritzen 1990):
        what learning goes on from. Without it learning leaves the table as it is.

    Raises
    ------
    ValueError
        If a table's shape does not fit the family, or experience is negative.
    """

    family: Family
    probabilities: NDArray[np.float64]
    experience: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        table = np.array(self.probabilities, dtype=np.float64, order="C")
        table.setflags(write=False)
        object.__setattr__(self, "probabilities", table)
        if table.ndim != len(self.family):
            raise ValueError(
                f"a table with {table.ndim} axes was given for a family of "
                f"{len(self.family)} variables; give one axis a variable"
            )
        if self.experience is None:
            return
        experience = np.array(self.experience, dtype=np.float64, order="C")
        experience.setflags(write=False)
        object.__setattr__(self, "experience", experience)
        valid = np.isfinite(experience).all() and (experience >= 0).all()
        if experience.shape != table.shape[:-1] or not valid:
            raise ValueError(
                f"experience of shape {experience.shape} was given for parents with "
                f"{table.shape[:-1]} states; give one count of at least 0 for each "
                "parent configuration"
            )

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each member of the family."""
        return self.probabilities.shape

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: states less one for each parent configuration."""
        *parents, child = self.probabilities.shape
        return int(prod(parents)) * max(int(child) - 1, 0)

    def log_likelihood(self, counts: NDArray[np.float64]) -> float:
        """Log-likelihood (nats) of counts shaped like the table."""
        seen = counts > 0
        return float(np.sum(counts[seen] * self.log_probabilities()[seen]))


def learn_table_cpds(
    source: CountSource, families: Sequence[Family], smoothing: Smoothing
) -> tuple[list[TableCPD], float]:
    """Estimate the tables of some families.

    Returns
    -------
    cpds : list of TableCPD
        One a family.
    log_likelihood : float
        Log-likelihood (nats) of the rows in which the family is observed, summed
        over families.
    """
    cpds: list[TableCPD] = []
    log_likelihood = 0.0
    for family, counts in zip(families, source.family_counts(families), strict=True):
        cpd = TableCPD(family, smoothing.estimate(counts))
        cpds.append(cpd)
        log_likelihood += cpd.log_likelihood(counts)
    return cpds, log_likelihood


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


def group_of_states(
    groups: Sequence[Sequence[int]], card: int, outside: int = 0
) -> NDArray[np.intp]:
    """Position of each state's group, shape (card,); `outside` for other states."""
    places = np.full(card, outside, dtype=np.intp)
    for place, group in enumerate(groups):
        places[list(group)] = place
    return places


@dataclass(frozen=True, eq=False, repr=False)
class DeterministicCPD(ExpandedCPD):
    """A child whose state follows from its parents' states: a value map.

    Parameters
    ----------
    family : tuple of int
        The parents, then the child.
    n_states : int
        Number of states of the child.
    values : ndarray of shape (parent cards ...), integers
        State of the child for each parent configuration. Kept read-only.

    Raises
    ------
    ValueError
        If the map has another number of axes than there are parents, or names a state
        that the child lacks.
    """

    family: Family
    n_states: int
    values: NDArray[np.intp]

    def __post_init__(self) -> None:
        given = np.asarray(self.values)
        values = np.array(given, dtype=np.intp)
        if values.ndim != len(self.family) - 1 or not (values == given).all():
            raise ValueError(
                f"a value map with {values.ndim} axes was given for "
                f"{len(self.family) - 1} parents; give integers, one axis a parent"
            )
        wrong = values[(values < 0) | (values >= self.n_states)]
        if wrong.size:
            raise ValueError(
                f"a value map names state {wrong.flat[0]}, but the child has the "
                f"states 0..{self.n_states - 1}"
            )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each member of the family."""
        return (*self.values.shape, self.n_states)

    @property
    def n_parameters(self) -> int:
        """A map has no free parameters."""
        return 0

    @property
    def distributions(self) -> NDArray[np.float64]:
        """None."""
        return np.empty((0, self.n_states))

    def _expand(self) -> NDArray[np.float64]:
        """The full table: one at the child's state, zero elsewhere."""
        table = np.zeros((prod(self.values.shape), self.n_states))
        table[np.arange(len(table)), self.values.ravel()] = 1.0
        return table.reshape(self.cards)
