"""What every conditional probability distribution offers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family


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

    def log_probabilities(self) -> NDArray[np.float64]:
        """Logarithms of the full table, minus infinity where it is zero."""


class ExpandedCPD:
    """What the forms that are no tables share: the full table, made when asked for.

    A subclass has `family` and `cards` and makes the table in `_expand`.
    """

    family: Family
    cards: tuple[int, ...]

    @property
    def child(self) -> int:
        """Index of the child."""
        return self.family[-1]

    @property
    def parents(self) -> tuple[int, ...]:
        """Indices of the parents."""
        return self.family[:-1]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The full table, shape `cards`; made anew at every call, read-only."""
        table = self._expand()
        table.setflags(write=False)
        return table

    def log_probabilities(self) -> NDArray[np.float64]:
        """Logarithms of the full table, minus infinity where it is zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities)

    def _expand(self) -> NDArray[np.float64]:
        """A new full table of shape `cards`."""
        raise NotImplementedError
