"""How far counts are from a distribution, and how surprising that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.results.result import Record

Floats = NDArray[np.float64]

# Where G² follows its chi-square distribution closely enough to look it up: expected
# rows in every cell, the shift of its mean in standard deviations, and the probability
# of one single table.
_LEAST_EXPECTED, _MOST_SHIFTED, _MOST_LIKELY = 5.0, 0.02, 0.01
# Otherwise tables are drawn: as many, fewer where they have more cells than this.
_MOST_DRAWS, _LEAST_DRAWS, _DRAWN_CELLS = 999, 49, 5_000_000
_CELLS_AT_ONCE = 1_000_000
# Probabilities below this are taken for ones that the model rules out.
_RULED_OUT = 1e-300


@dataclass(frozen=True)
class Deviation(Record):
    """How far counts are from a distribution.

    Parameters
    ----------
    g2 : float
        Likelihood-ratio statistic; infinite where rows are in a state that the model
        rules out.
    degrees : int
        Its degrees of freedom.
    p_value : float
        Probability of so large a statistic, if rows follow the model.
    bits : float
        What a row takes more, coded by the model in the place of its own distribution.
    rows : float
        Weight of the rows that were counted.
    """

    g2: float
    degrees: int
    p_value: float
    bits: float
    rows: float

    @property
    def rank(self) -> tuple[float, float]:
        """What deviations are ordered by, the most surprising first."""
        spread = math.sqrt(2.0 * max(self.degrees, 1))
        return self.p_value, -(self.g2 - self.degrees) / spread


def deviation_of(counts: Floats, expected: Floats, rng: Any) -> Deviation:
    """How far tables of counts are from the distributions `expected`.

    Both have shape (n_tables, n_states), one table for each state of the parents.

    The p-value is that of the chi-square distribution where every cell expects at least
    5 rows, the mean of G² is near the degrees of freedom (Williams 1976), and G² takes
    many values. Otherwise, as in sparse families and on days of few rows, tables with
    the same totals are drawn from the distributions: the share of those that deviate
    more, ties broken at random, is exactly uniform if rows follow the model, whatever
    the number of draws (Dwass 1957; Besag & Clifford 1989). Where the table deviates
    more than all draws, a gamma distribution with their mean and variance shows how
    much (Winkler et al. 2016). Totals that are not whole, of fractional weights, are
    rounded for the draws.

    Sources: D. A. Williams (1976). Improved likelihood ratio tests for complete
    contingency tables. Biometrika 63. M. Dwass (1957). Modified randomization tests for
    nonparametric hypotheses. Annals of Mathematical Statistics 28. J. Besag & P.
    Clifford (1989). Generalized Monte Carlo significance tests. Biometrika 76. A. M.
    Winkler, G. R. Ridgway, G. Douaud, T. E. Nichols & S. M. Smith (2016). Faster
    permutation inference in brain imaging. NeuroImage 141.
    """
    totals = counts.sum(axis=1)
    met = totals > 0
    counts, expected, totals = counts[met], expected[met], totals[met]
    rows = float(totals.sum())
    if not rows:
        return Deviation(0.0, 0, 1.0, 0.0, 0.0)
    possible = expected > _RULED_OUT
    degrees = int((possible.sum(axis=1) - 1).sum())
    if (counts[~possible] > 0).any():
        return Deviation(math.inf, degrees, 0.0, math.inf, rows)
    found = _g2(counts, expected, totals)
    bits = found / (2.0 * rows * math.log(2.0))
    if not degrees:
        return Deviation(0.0, 0, 1.0, 0.0, rows)
    p_value = (
        _looked_up(found, degrees)
        if _follows_chi_square(expected, totals, degrees)
        else _rank(found, _drawn(expected, totals, rng), rng)
    )
    return Deviation(found, degrees, p_value, bits, rows)


def deviation_between(counts: Floats, training: Floats, rng: Any) -> Deviation:
    """How far counts (n_states,) are from those of the training rows.

    G² of homogeneity; its p-value is that of the chi-square distribution where every
    cell expects at least 5 rows, and otherwise the rank among samples of as many rows
    drawn from all without replacement, exactly uniform if both have one source. Bits
    are those that today's rows take more by the distribution of both together.
    """
    pooled = counts + training
    counts, training = counts[pooled > 0], training[pooled > 0]
    tables = np.stack([counts, training])
    totals, pooled = tables.sum(axis=1), tables.sum(axis=0)
    if not totals[0]:
        return Deviation(0.0, 0, 1.0, 0.0, 0.0)
    degrees = len(pooled) - 1
    expected = np.broadcast_to(pooled / pooled.sum(), tables.shape)
    found = _g2(tables, expected, totals)
    rows = float(totals[0])
    bits = _g2(tables[:1], expected[:1], totals[:1]) / (2.0 * rows * math.log(2.0))
    if not degrees:
        return Deviation(0.0, 0, 1.0, 0.0, rows)
    if _follows_chi_square(expected, totals, degrees):
        return Deviation(found, degrees, _looked_up(found, degrees), bits, rows)
    # Loaded where it is needed: a model is explained without it.
    from scipy.special import xlogy

    whole = np.rint(tables).astype(np.int64)
    both = whole.sum(axis=0)
    drawn = rng.multivariate_hypergeometric(
        both, int(whole[0].sum()), _MOST_DRAWS, method="marginals"
    )
    # All have the margins of the table, and G² rises with the cells' sum of N ln N.
    sums = (xlogy(drawn, drawn) + xlogy(both - drawn, both - drawn)).sum(axis=1)
    statistics = found + 2.0 * (sums - float(xlogy(whole, whole).sum()))
    return Deviation(found, degrees, _rank(found, statistics, rng), bits, rows)


def _looked_up(found: float, degrees: int) -> float:
    """Probability of so large a statistic by its limit distribution."""
    # Loaded where it is needed: a model is explained without it.
    from scipy.stats import chi2

    return float(chi2.sf(found, degrees))


def _follows_chi_square(expected: Floats, totals: Floats, degrees: int) -> bool:
    """Whether G² is near enough its limit."""
    possible = expected > _RULED_OUT
    means = (expected * totals[:, None])[possible]
    if means.min() < _LEAST_EXPECTED:
        return False
    # E[G²] - degrees is (sum of 1/p, less 1) / 6n for each table (Williams 1976).
    shift = float(((1.0 / means).sum() - (1.0 / totals).sum()) / 6.0)
    # Stirling's approximation of the multinomial probability of the likeliest table.
    likeliest = 0.5 * (
        np.log(totals).sum() - np.log(means).sum() - degrees * math.log(2.0 * math.pi)
    )
    return shift <= _MOST_SHIFTED * math.sqrt(2.0 * degrees) and likeliest <= math.log(
        _MOST_LIKELY
    )


def _g2(counts: Floats, expected: Floats, totals: Floats) -> float:
    """The likelihood-ratio statistic."""
    seen = counts > 0
    means = (expected * totals[:, None])[seen]
    return max(0.0, 2.0 * float((counts[seen] * np.log(counts[seen] / means)).sum()))


def _rank(found: float, statistics: Floats, rng: Any) -> float:
    """Share of drawn statistics that are as large, ties broken at random."""
    # Rounding must not tell equal tables apart.
    near = 1e-9 * max(1.0, found)
    more = int((statistics > found + near).sum())
    equal = int((np.abs(statistics - found) <= near).sum())
    if not more + equal:
        return min(1.0 / (len(statistics) + 1), _tail(found, statistics))
    # Of those that deviate equally, the table among them, a random share counts.
    return float((more + rng.random() * (equal + 1)) / (len(statistics) + 1))


def _drawn(expected: Floats, totals: Floats, rng: Any) -> Floats:
    """G² of tables drawn with the same totals."""
    # Loaded where it is needed: a model is explained without it.
    from scipy.special import xlogy

    shares = expected / expected.sum(axis=1, keepdims=True)
    whole = np.maximum(np.rint(totals), 1.0)
    means = whole[:, None] * shares
    # A ruled-out state is never drawn, and adds nothing.
    log_means = np.log(np.where(means > 0.0, means, 1.0))
    n_draws = int(np.clip(_DRAWN_CELLS // shares.size, _LEAST_DRAWS, _MOST_DRAWS))
    step = max(1, _CELLS_AT_ONCE // shares.size)
    parts = []
    for first in range(0, n_draws, step):
        size = min(step, n_draws - first), len(totals)
        tables = rng.multinomial(whole.astype(np.int64), shares, size).astype(float)
        terms = xlogy(tables, tables) - tables * log_means
        parts.append(2.0 * terms.sum(axis=2) @ (totals / whole))
    return np.concatenate(parts)


def _tail(found: float, statistics: Floats) -> float:
    """Probability of a statistic beyond all drawn ones."""
    # Loaded where it is needed: a model is explained without it.
    from scipy.stats import gamma

    mean, variance = float(statistics.mean()), float(statistics.var())
    if not variance > 0.0:
        return 0.0
    return float(gamma.sf(found, mean**2 / variance, scale=variance / mean))
