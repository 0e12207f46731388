"""Rates and means with credible intervals, and their differences and ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from bayleaf.results.result import Record

Floats = NDArray[np.float64]

# Quantiles of each of two posteriors whose pairs stand for their joint distribution.
_QUANTILES = 400
# Rows that a rounded share needs, in what rounding moves numbers of rows by.
LEAST_ROUNDINGS = 10


@dataclass(frozen=True)
class Estimate(Record):
    """A figure with its credible interval.

    Parameters
    ----------
    value : float or None
        The figure; None where no row tells it.
    low, high : float or None
        Ends of the equal-tailed interval; None where there is none.
    n : int
        Rows that it is computed from.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int


class Share(NamedTuple):
    """How many of `n` rows have something: `hits`."""

    hits: int
    n: int

    def quantiles(self, probabilities: Floats) -> Floats:
        """Quantiles of the posterior under Jeffreys' prior, Beta(1/2, 1/2)."""
        misses = self.n - self.hits
        return np.asarray(betaincinv(self.hits + 0.5, misses + 0.5, probabilities))


class Sample(NamedTuple):
    """Mean, variance and number of some values."""

    mean: float
    variance: float
    n: int

    @classmethod
    def of(cls, values: Floats) -> Sample:
        """The figures of some values; a variance of 0 for less than two."""
        n = len(values)
        mean = float(values.mean()) if n else 0.0
        return cls(mean, float(values.var(ddof=1)) if n > 1 else 0.0, n)


def share_estimate(share: Share, level: float) -> Estimate:
    """A share with the interval of its posterior under Jeffreys' prior.

    Of no or all rows it reaches to 0 or 1 (Brown, Cai and DasGupta 2001, section 4.1.2,
    Interval estimation for a binomial proportion).
    """
    if share.n == 0:
        return Estimate(None, None, None, 0)
    low, high = share.quantiles(_tails(level)).tolist()
    return Estimate(
        share.hits / share.n,
        0.0 if share.hits == 0 else low,
        1.0 if share.hits == share.n else high,
        share.n,
    )


def mean_estimate(sample: Sample, level: float, least: float = -math.inf) -> Estimate:
    """A mean with the interval of its posterior for normal values of unknown variance.

    With the reference prior that posterior is Student's t about the mean, with n - 1
    degrees of freedom (Gelman et al. 2013, Bayesian data analysis, section 3.2). One
    row alone has no interval. `level` is its probability; no mean is below `least`.
    """
    if sample.n == 0:
        return Estimate(None, None, None, 0)
    if sample.n == 1:
        return Estimate(sample.mean, None, None, 1)
    reach = _reach(sample.n - 1, sample.variance / sample.n, level)
    low = max(least, sample.mean - reach)
    return Estimate(sample.mean, low, sample.mean + reach, sample.n)


def share_difference(first: Share, second: Share, level: float) -> Estimate:
    """First share less the second, which is of other rows, with its interval."""
    if first.n == 0 or second.n == 0:
        return Estimate(None, None, None, first.n)
    pairs = np.subtract.outer(*_paired_quantiles(first, second))
    low, high = np.quantile(pairs, _tails(level)).tolist()
    value = first.hits / first.n - second.hits / second.n
    # At the ends of the scale the middle of a posterior lies inside of the share.
    return Estimate(value, min(low, value), max(high, value), first.n)


def share_ratio(first: Share, second: Share, level: float) -> Estimate:
    """First share by the second; None where the second is 0."""
    if first.n == 0 or second.hits == 0:
        return Estimate(None, None, None, first.n)
    pairs = np.divide.outer(*_paired_quantiles(first, second))
    low, high = np.quantile(pairs, _tails(level)).tolist()
    value = (first.hits / first.n) / (second.hits / second.n)
    return Estimate(
        value, 0.0 if first.hits == 0 else min(low, value), max(high, value), first.n
    )


def mean_difference(first: Sample, second: Sample, level: float) -> Estimate:
    """First mean less the second, with Welch's interval."""
    if first.n == 0 or second.n == 0:
        return Estimate(None, None, None, first.n)
    value = first.mean - second.mean
    if first.n == 1 or second.n == 1:
        return Estimate(value, None, None, first.n)
    own, other = first.variance / first.n, second.variance / second.n
    spread = own**2 / (first.n - 1) + other**2 / (second.n - 1)
    degrees = (own + other) ** 2 / spread if spread else first.n + second.n - 2.0
    reach = _reach(degrees, own + other, level)
    return Estimate(value, value - reach, value + reach, first.n)


def moved_by_rounding(*groups: tuple[float, int]) -> float:
    """Rounding of a difference of shares, from (rows counts may be off by, rows)."""
    return sum(2 * off / n for off, n in groups if off)


def _tails(level: float) -> Floats:
    """The two probabilities between which the interval lies."""
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _reach(degrees: float, variance: float, level: float) -> float:
    """Half the width of a Student interval."""
    return float(stdtrit(degrees, (1 + level) / 2)) * float(np.sqrt(variance))


def _paired_quantiles(first: Share, second: Share) -> tuple[Floats, Floats]:
    """Equally probable values of both shares; no draws, so that figures stay alike."""
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    return first.quantiles(middles), second.quantiles(middles)
