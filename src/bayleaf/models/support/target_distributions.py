"""Predictive distributions of a number: probabilities of cells, uniform inside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.wording import brief, counted, quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TargetDistributions:
    """The predictive distribution of each row.

    Probability is spread evenly inside a cell; a cell whose ends are equal is a value
    with a probability of its own.
    """

    lower: Floats  # (n_cells,), rising, in the target's unit
    upper: Floats  # (n_cells,)
    probabilities: Floats  # (n_rows, n_cells)

    def __len__(self) -> int:
        return len(self.probabilities)

    def __repr__(self) -> str:
        n_rows, n_cells = self.probabilities.shape
        return brief(self, counted(n_rows, "row"), counted(n_cells, "cell"))

    @cached_property
    def mean(self) -> Floats:
        """Expectation of each row, shape (n_rows,)."""
        return np.asarray(self.probabilities @ self._middle)

    @cached_property
    def variance(self) -> Floats:
        """Variance of each row, in the target's unit squared, shape (n_rows,)."""
        middle, width = self._middle, self.upper - self.lower
        away = middle - self.mean[:, None]
        squares = (self.probabilities * away**2).sum(axis=1)
        return np.asarray(squares + self.probabilities @ (width**2 / 12.0))

    @property
    def median(self) -> Floats:
        """Median of each row, shape (n_rows,)."""
        return self.quantiles([0.5])[:, 0]

    def quantiles(self, levels: Any) -> Floats:
        """Quantiles (n_rows, n_levels) in the target's unit.

        ValueError unless the levels (n_levels,) are numbers from 0 to 1.
        """
        wanted = checked_levels(levels)
        last = len(self.lower) - 1
        totals = self._totals
        found = np.empty((len(self), len(wanted)))
        rows = np.arange(len(self))
        for place, level in enumerate(wanted):
            cell = np.minimum((totals < level).sum(axis=1), last)
            share = self.probabilities[rows, cell]
            below = totals[rows, cell] - share
            inside = (level - below) / np.maximum(share, np.finfo(float).tiny)
            width = self.upper[cell] - self.lower[cell]
            found[:, place] = self.lower[cell] + width * np.clip(inside, 0.0, 1.0)
        return found

    def interval(self, coverage: float = 0.9) -> Floats:
        """The central interval (n_rows, 2) of a probability between 0 and 1."""
        outside = (1.0 - checked_coverage(coverage)) / 2.0
        return self.quantiles([outside, 1.0 - outside])

    def cdf(self, values: Any) -> Floats:
        """Probability (n_rows,) of at most a value; one for all rows, or (n_rows,)."""
        at = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(self),))
        width = self.upper - self.lower
        inside = (at[:, None] - self.lower) / np.where(width > 0, width, 1.0)
        whole = at[:, None] >= self.upper
        shares = np.where(whole, 1.0, np.clip(inside, 0.0, 1.0) * (width > 0))
        return np.asarray((self.probabilities * shares).sum(axis=1))

    def crps(self, values: Any) -> Floats:
        """Continuous ranked probability score, smaller is better, shape (n_rows,).

        The mean distance of a draw from the true value, less half that of two draws
        from each other (Gneiting and Raftery 2007, eq. 21); draws are cell centres.
        True values (n_rows,) are in the target's unit.
        """
        return crps_of_cells(self.probabilities, self._middle, np.asarray(values))

    @property
    def _middle(self) -> Floats:
        # Half of each, as the sum of two huge numbers is none.
        return self.lower / 2.0 + self.upper / 2.0

    @cached_property
    def _totals(self) -> Floats:
        totals = np.cumsum(self.probabilities, axis=1)
        return np.asarray(totals / totals[:, -1:])


def crps_of_cells(probabilities: Floats, centres: Floats, values: Floats) -> Floats:
    """The score of rows whose probability stands at the cells' centres, (n_rows,)."""
    away = np.abs(values[:, None] - centres)
    totals = np.cumsum(probabilities, axis=1)[:, :-1]
    spread = (totals * (1.0 - totals)) @ np.diff(centres)
    return np.asarray((probabilities * away).sum(axis=1) - spread)


def checked_levels(levels: Any) -> Floats:
    """Levels of quantiles as float64; raises ValueError for one that is none."""
    found = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if found.ndim != 1 or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(
            f"levels must be numbers from 0 to 1, got {quoted(levels)}; give shares, "
            "such as 0.9 for 90 %"
        )
    return found


def checked_coverage(coverage: Any) -> float:
    """A coverage as a float; raises ValueError for one that is none."""
    if not isinstance(coverage, int | float) or not 0 < coverage < 1:
        raise ValueError(
            f"coverage must be above 0 and below 1, got {quoted(coverage)}; give a "
            "share, such as 0.9 for 90 %"
        )
    return float(coverage)
