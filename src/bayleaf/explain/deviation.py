"""How far counts are from a distribution, and how surprising that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Expected rows in a cell below which p-values are drawn, not looked up.
_FEW_EXPECTED = 5.0
_DRAWS = 999
# Cells of a table times draws beyond which p-values are looked up all the same.
_MOST_DRAWN = 50_000_000
# Probabilities below this are taken for ones that the model rules out.
_RULED_OUT = 1e-300


@dataclass(frozen=True)
class Deviation:
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

    def to_dict(self) -> dict[str, Any]:
        """The deviation as plain values, ready for JSON."""
        return {
            "g2": self.g2 if math.isfinite(self.g2) else None,
            "degrees": self.degrees,
            "p_value": self.p_value,
            "bits": self.bits if math.isfinite(self.bits) else None,
            "rows": self.rows,
        }


def deviation_of(counts: Floats, expected: Floats, rng: Any) -> Deviation:
    """How far tables of counts are from distributions.

    Parameters
    ----------
    counts : ndarray of shape (n_tables, n_states)
        One table for each state of the parents.
    expected : ndarray of shape (n_tables, n_states)
        Distributions.
    rng : Generator
        Draws tables where cells hold few rows.
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
    # Loaded where it is needed: a model is explained without it.
    from scipy.stats import chi2

    looked_up = float(chi2.sf(found, degrees))
    few = (expected * totals[:, None])[possible].min() < _FEW_EXPECTED
    whole = bool((counts == np.rint(counts)).all())
    if few and whole and counts.size * _DRAWS <= _MOST_DRAWN:
        drawn = _drawn_p_value(found, expected, totals, rng)
        # Beyond what draws can tell, which is small in any case.
        p_value = min(drawn, looked_up) if drawn < 1.0 / _DRAWS else drawn
    else:
        p_value = looked_up
    return Deviation(found, degrees, p_value, bits, rows)


def _g2(counts: Floats, expected: Floats, totals: Floats) -> float:
    """The likelihood-ratio statistic."""
    seen = counts > 0
    means = (expected * totals[:, None])[seen]
    return max(0.0, 2.0 * float((counts[seen] * np.log(counts[seen] / means)).sum()))


def _drawn_p_value(found: float, expected: Floats, totals: Floats, rng: Any) -> float:
    """Share of tables drawn from the distributions that deviate as much."""
    statistics = np.zeros(_DRAWS)
    for own, total in zip(expected, totals, strict=True):
        shares = own / own.sum()
        drawn = rng.multinomial(int(total), shares, _DRAWS)
        means = shares * total
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(drawn > 0, drawn * np.log(drawn / means), 0.0)
        statistics += 2.0 * terms.sum(axis=1)
    # Rounding must not tell equal tables apart.
    near = 1e-9 * max(1.0, found)
    more = int((statistics > found + near).sum())
    equal = int((np.abs(statistics - found) <= near).sum())
    # Of those that deviate equally a random share counts, which keeps the level.
    return float((more + rng.random() * (equal + 1)) / (_DRAWS + 1))
