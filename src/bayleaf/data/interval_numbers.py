"""The training numbers inside the intervals that a column was cut into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Quantiles kept of each interval, its least and greatest number included.
N_QUANTILES = 17
_SHARES = np.linspace(0.0, 1.0, N_QUANTILES)


@dataclass(frozen=True)
class IntervalNumbers:
    """Mean and quantiles of the training numbers in each interval.

    Parameters
    ----------
    means : tuple of float
        One an interval; 0 for an interval without rows.
    quantiles : tuple of tuple of float
        From the least to the greatest number at equal steps; empty for an interval
        without rows.
    """

    means: tuple[float, ...]
    quantiles: tuple[tuple[float, ...], ...]

    def check_content(self) -> None:
        """Raise ValueError unless quantiles rise, and there are as many as means."""
        if len(self.means) != len(self.quantiles):
            raise ValueError("there should be one mean for each list of quantiles")
        for own in self.quantiles:
            if own and (len(own) < 2 or any(b < a for a, b in pairwise(own))):
                raise ValueError(
                    "quantiles of an interval should be two or more, rising"
                )

    @classmethod
    def of_column(
        cls, values: Floats, weights: Floats, cut_points: Sequence[float]
    ) -> IntervalNumbers:
        """The numbers of a training column.

        Parameters
        ----------
        values : ndarray of shape (n_rows,)
            The numbers, NaN where missing.
        weights : ndarray of shape (n_rows,)
            How many rows each counts for.
        cut_points : sequence of float
            Increasing.
        """
        present = ~np.isnan(values)
        if (weights[:1] == weights).all():
            # Without positions a sort takes a fraction of the time.
            numbers = np.sort(values[present])
            counts = np.ones(len(numbers))
        else:
            order = np.argsort(values[present], kind="stable")
            numbers, counts = values[present][order], weights[present][order]
        ends = np.searchsorted(numbers, cut_points, side="right")
        parts = pairwise([0, *ends.tolist(), len(numbers)])
        found = [_summary(numbers[a:b], counts[a:b]) for a, b in parts]
        return cls(tuple(m for m, _ in found), tuple(q for _, q in found))

    def at(self, interval: int, shares: Floats) -> Floats:
        """Numbers of an interval at shares of its distribution from 0 to 1."""
        own = self.quantiles[interval]
        return np.interp(shares, np.linspace(0.0, 1.0, len(own)), own)

    @cached_property
    def are_whole(self) -> bool:
        """Whether all numbers seem to be whole ones."""
        return all(number.is_integer() for own in self.quantiles for number in own)


def _summary(numbers: Floats, counts: Floats) -> tuple[float, tuple[float, ...]]:
    """Mean and quantiles of sorted numbers that count so often."""
    if not len(numbers):
        return 0.0, ()
    totals = np.cumsum(counts)
    places = np.searchsorted(totals, _SHARES * totals[-1] * (1.0 - 1e-12))
    mean = float((numbers * counts).sum() / totals[-1])
    quantiles = numbers[np.minimum(places, len(numbers) - 1)]
    return mean, tuple(quantiles.tolist())
