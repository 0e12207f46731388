"""How many training rows stand behind each distribution, and those that rows use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.smoothing import Smoothing, added_rows
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_of
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]
Fact = tuple[str | int, str]


class UsedCells(NamedTuple):
    """The distributions of one variable that rows use under each class.

    Parameters
    ----------
    fact : callable of (row, class)
        Name and state of the variable.
    given : callable of (row, class)
        Names and states of what the distribution is conditioned on, class included.
    rows : ndarray of shape (n_rows, n_classes)
        Weight of the training rows behind it; infinite where it is not used.
    """

    fact: Callable[[int, int], Fact]
    given: Callable[[int, int], tuple[Fact, ...]]
    rows: Floats


@dataclass(frozen=True, eq=False)
class RowFacts:
    """Names and states of the variables in some rows.

    Parameters
    ----------
    domain : Domain
        Features, then the class.
    codes : Codes
        Features of the rows.
    """

    domain: Domain
    codes: Codes

    def fact(self, variable: int, row: int, chosen: int) -> Fact:
        """Name and state of a variable in a row of the chosen class."""
        known = self.domain[variable]
        is_class = variable == len(self.domain) - 1
        code = chosen if is_class else int(self.codes.column(variable)[row])
        return known.name, known.label(code)

    def used(self, variable: int, parents: Iterable[int], rows: Floats) -> UsedCells:
        """Cells of a variable given others, the same ones in each row."""
        above = tuple(parents)
        return UsedCells(
            lambda row, chosen: self.fact(variable, row, chosen),
            lambda row, chosen: tuple(self.fact(v, row, chosen) for v in above),
            rows,
        )

    def of_features(
        self,
        rows: Floats,
        further: Callable[[int, int, int], tuple[Fact, ...]] = lambda *_: (),
    ) -> Iterator[UsedCells]:
        """Cells of each feature given the class, none where the feature is missing.

        Parameters
        ----------
        rows : ndarray of shape (n_features, n_rows, n_classes)
            Weight of the training rows.
        further : callable of (feature, row, class), optional
            What the distribution is conditioned on beside the class.
        """
        class_index = len(self.domain) - 1
        for feature in range(class_index):
            hidden = self.codes.missing(feature)[:, None]
            cells = self.used(
                feature, [class_index], np.where(hidden, np.inf, rows[feature])
            )

            def given(
                row: int, chosen: int, feature: int = feature, cells: UsedCells = cells
            ) -> tuple[Fact, ...]:
                return (*cells.given(row, chosen), *further(feature, row, chosen))

            yield cells._replace(given=given)


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
        pseudo = tuple(added_rows(smoothing, size.n_states) for size in sizes)
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
        return np.tile(log_of(prior), (n_draws, 1))

    def drawn_prior(
        self, prior: Floats, table: int, rng: np.random.Generator
    ) -> Floats:
        """Draw the class prior once, shape (n_classes,); see `log_priors`."""
        return np.asarray(np.exp(self.log_priors(prior, table, 1, rng)[0]))
