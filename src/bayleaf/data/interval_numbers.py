"""The training numbers inside the intervals that a column was cut into."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.interruptible import interruptible
from bayleaf.results.result import Shown

Floats = NDArray[np.float64]
# Quantiles of each interval, its least and greatest number included; of many intervals
# fewer each, about so many steps in all, and at least two.
N_QUANTILES = 17
_STEPS, _LEAST_STEPS = 256, 2
_SHARES = np.linspace(0.0, 1.0, N_QUANTILES)
# Sums of weights that are rounded up must not lead to the next number.
_JUST_BELOW = 1.0 - 1e-12


@dataclass(frozen=True)
class IntervalNumbers(Shown):
    """Mean and quantiles of the training numbers in each interval."""

    means: tuple[float, ...]  # one per interval, 0 without rows
    quantiles: tuple[tuple[float, ...], ...]  # from least to greatest; () without rows

    def check_content(self) -> None:
        """Raise ValueError unless quantiles rise, and there are as many as means."""
        if len(self.means) != len(self.quantiles):
            raise ValueError("there should be one mean for each list of quantiles")
        for own in self.quantiles:
            if own and (len(own) < 2 or sorted(own) != [*own]):
                raise ValueError(
                    "quantiles of an interval should be two or more, rising"
                )

    @classmethod
    def of_column(
        cls, values: Floats, weights: Floats, cut_points: Sequence[float]
    ) -> IntervalNumbers:
        """The numbers of a training column, `values` (n_rows,), NaN where missing.

        `cut_points` increase; `weights` (n_rows,) count rows.
        """
        missing = np.isnan(values)
        if missing.any():
            values, weights = values[~missing], weights[~missing]
        return cls.of_distinct(*weight_by_value(values, weights), cut_points)

    @classmethod
    def of_distinct(
        cls, numbers: Floats, counts: Floats, cut_points: Sequence[float]
    ) -> IntervalNumbers:
        """The numbers of a column from its distinct ones, rising, and their weights."""
        if not len(numbers):
            n_intervals = len(cut_points) + 1
            return cls((0.0,) * n_intervals, ((),) * n_intervals)
        totals = np.cumsum(counts)
        # Sums of large numbers and weights could overflow.
        shares = counts / totals[-1]
        ends = np.searchsorted(numbers, cut_points, side="right")
        starts = np.concatenate([[0], ends])
        filled = np.diff(starts, append=len(numbers)) > 0
        bounds = np.concatenate([[0.0], totals])[[*starts.tolist(), len(numbers)]]
        sizes = np.diff(bounds)
        n_steps = min(N_QUANTILES - 1, max(_LEAST_STEPS, _STEPS // len(starts)))
        shares_inside = np.linspace(0.0, 1.0, n_steps + 1)
        wanted = bounds[:-1, None] + sizes[:, None] * shares_inside * _JUST_BELOW
        # The least number of an interval is at its beginning, whatever is rounded.
        places = np.maximum(np.searchsorted(totals, wanted), starts[:, None])
        quantiles = numbers[np.minimum(places, len(numbers) - 1)].tolist()
        means = np.zeros(len(starts))
        own = np.add.reduceat(shares, starts[filled])
        means[filled] = np.add.reduceat(numbers * shares, starts[filled]) / own
        return cls(
            tuple(means.tolist()),
            tuple(
                tuple(q) if f else () for q, f in zip(quantiles, filled, strict=True)
            ),
        )

    @classmethod
    def spread_evenly(
        cls, ends: Sequence[float], *, integers: bool = False
    ) -> IntervalNumbers:
        """The numbers of intervals of which only the ends are known.

        `ends` increase: the least number, the cut points, the greatest number.
        ValueError if an interval contains no integer, but all numbers are `integers`.
        """
        quantiles = []
        for place, (low, high) in enumerate(pairwise(ends)):
            if integers:
                # A cut point belongs to the interval below it.
                first = math.floor(low) + 1 if place else math.ceil(low)
                last = math.floor(high)
                if first > last:
                    raise ValueError(
                        f"no integer lies between {low:.6g} and {high:.6g}; give "
                        "other cut points"
                    )
                # As many of each: steps of a share of one number each.
                whole = np.arange(first, last + 1, dtype=np.float64)
                steps = np.minimum(_SHARES * len(whole), len(whole) - 1)
                quantiles.append(whole[steps.astype(np.intp)])
                continue
            n_steps = N_QUANTILES - 1
            # Quantiles that are whole by chance would pass for integers alone.
            while not (np.linspace(low, high, n_steps + 1) % 1).any():
                n_steps += 1
            quantiles.append(np.linspace(low, high, n_steps + 1))
        means = [(float(own[0]) + float(own[-1])) / 2 for own in quantiles]
        return cls(tuple(means), tuple(tuple(own.tolist()) for own in quantiles))

    def at(self, interval: int, shares: Floats) -> Floats:
        """Numbers of an interval at shares of its distribution from 0 to 1."""
        own = self.quantiles[interval]
        return np.interp(shares, np.linspace(0.0, 1.0, len(own)), own)

    @cached_property
    def are_whole(self) -> bool:
        """Whether all numbers seem to be whole ones."""
        return all(number.is_integer() for own in self.quantiles for number in own)


def weight_by_value(
    values: Floats, weights: Floats, *, exact: bool = False
) -> tuple[Floats, Floats]:
    """Distinct values, of which none is NaN, and the sum of the weights of each.

    Sums are the same to the last bit in any order of rows if they are `exact`.
    """
    if not len(values):
        return values, weights
    if weights.strides == (0,) or (weights == weights[0]).all():
        # Numbers alone are sorted faster than positions.
        ordered = interruptible(lambda: np.sort(values), len(values))
        first = _first_of_each(ordered)
        # Adding zero turns -0.0 into 0.0, which it equals but does not look like.
        return ordered[first] + 0.0, np.diff(first, append=len(ordered)) * weights[0]
    low = values.min()
    if exact and values.max() < low + len(values):
        # Integers, or others that lie whole steps apart, are counted unsorted.
        steps = (values - low).astype(np.int64)
        if (steps + low == values).all():
            sums = np.bincount(steps, weights).astype(np.float64, copy=False)
            seen = np.flatnonzero(sums)
            return seen + low, sums[seen]
    kind: Literal["stable"] | None = None if exact else "stable"
    order = interruptible(lambda: np.argsort(values, kind=kind), len(values))
    ordered = values[order]
    first = _first_of_each(ordered)
    return ordered[first] + 0.0, np.add.reduceat(weights[order], first)


def _first_of_each(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Positions in a sorted array where a new value begins."""
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))
