"""Conditional probability tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource, Family
from bayleaf.cpds.distribution import FamilyCPD
from bayleaf.cpds.smoothing import Smoothing


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
