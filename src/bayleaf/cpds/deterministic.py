"""Children that are functions of their parents."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Family
from bayleaf.cpds.distribution import ExpandedCPD


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
                f"{len(self.family) - 1} parents; give whole numbers, one axis a parent"
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
