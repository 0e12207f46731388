"""What every conditional probability distribution offers."""

from __future__ import annotations

from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.wording import brief, brief_names, counted


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


class FamilyCPD:
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
        """The full table, shape `cards`; made anew at every call, read-only."""
        table = self._expand()
        table.setflags(write=False)
        return table

    def _expand(self) -> NDArray[np.float64]:
        """A new full table of shape `cards`."""
        raise NotImplementedError
