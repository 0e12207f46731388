"""How many training rows stand behind each distribution of a class model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.smoothing import (
    Backoff,
    Dirichlet,
    Lidstone,
    MEstimate,
    Smoothing,
)
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]


class TableSize(NamedTuple):
    """How many distributions a table of a model holds, and over how many states.

    Parameters
    ----------
    shape : tuple of int
        One place a distribution.
    n_states : int
        States of each distribution; the mean where they differ.
    """

    shape: tuple[int, ...]
    n_states: int


@dataclass(frozen=True, eq=False)
class SupportCounts:
    """Weights of the training rows behind a model's distributions.

    Parameters
    ----------
    rows : tuple of ndarray
        One array a table, as the model's `table_sizes` tell; one weight a
        distribution. Rows that are shared out among components count in part.
    pseudo_rows : tuple of float
        For each table, what smoothing adds to a distribution, in rows.
    prior_is_learned : bool
        Whether the class prior was estimated; otherwise it is certain.
    state_rows : tuple of ndarray of shape (n_states,), optional
        Training rows with each state of each variable, the class last.
    """

    rows: tuple[Floats, ...]
    pseudo_rows: tuple[float, ...]
    prior_is_learned: bool
    state_rows: tuple[Floats, ...] | None = None

    __repr__ = brief_fields

    def check_content(self) -> None:
        """Raise ValueError unless every table has weights, none negative."""
        if len(self.rows) != len(self.pseudo_rows):
            raise ValueError(
                f"the support has {len(self.rows)} tables, and pseudo-rows for "
                f"{len(self.pseudo_rows)}"
            )
        counts = (*self.rows, *(self.state_rows or ()))
        negative = any((rows < 0).any() for rows in counts)
        if negative or min(self.pseudo_rows, default=0.0) < 0:
            raise ValueError("the support of a table holds a negative weight")

    @classmethod
    def from_counts(
        cls,
        rows: Iterable[Floats],
        sizes: Sequence[TableSize],
        smoothing: Smoothing,
        *,
        prior_is_learned: bool = True,
        state_rows: tuple[Floats, ...] | None = None,
    ) -> SupportCounts:
        """Put the rows behind a model's tables beside what smoothing adds to them.

        Parameters
        ----------
        rows : iterable of ndarray
            One array a table.
        sizes : sequence of TableSize
            The model's tables.
        smoothing : Smoothing
            Their rule; one of another kind than the library's is taken to add nothing.
        prior_is_learned : bool, default=True
            Whether the class prior was estimated.
        state_rows : tuple of ndarray of shape (n_states,), optional
            Training rows with each state of each variable.
        """
        counted = tuple(np.asarray(counts, dtype=np.float64) for counts in rows)
        pseudo = tuple(pseudo_rows(smoothing, size.n_states) for size in sizes)
        return cls(counted, pseudo, prior_is_learned, state_rows)

    def strengths(self, table: int) -> Floats:
        """Rows and pseudo-rows behind each distribution of a table, at least 1."""
        return np.maximum(self.rows[table] + self.pseudo_rows[table], 1.0)

    def log_priors(
        self, prior: Floats, table: int, n_draws: int, rng: np.random.Generator
    ) -> Floats:
        """Draw log class priors; the same each time if the prior is certain.

        Parameters
        ----------
        prior : ndarray of shape (n_classes,)
            P(class).
        table : int
            Which of the tables it is.
        n_draws : int
            Number of draws.
        rng : Generator
            Source of randomness.

        Returns
        -------
        ndarray of shape (n_draws, n_classes)
            Nats.
        """
        if self.prior_is_learned:
            return log_dirichlet(prior, self.strengths(table), n_draws, rng)
        with np.errstate(divide="ignore"):
            return np.tile(np.log(prior), (n_draws, 1))

    def drawn_prior(
        self, prior: Floats, table: int, rng: np.random.Generator
    ) -> Floats:
        """Draw the class prior once, shape (n_classes,); see `log_priors`."""
        return np.asarray(np.exp(self.log_priors(prior, table, 1, rng)[0]))


def pseudo_rows(smoothing: Smoothing, card: int) -> float:
    """What a smoothing rule adds to a distribution over some states, in rows."""
    if isinstance(smoothing, Lidstone):
        return float(smoothing.alpha * card)
    if isinstance(smoothing, Dirichlet):
        return float(smoothing.equivalent_sample_size)
    if isinstance(smoothing, MEstimate | Backoff):
        return float(smoothing.m)
    return 0.0
