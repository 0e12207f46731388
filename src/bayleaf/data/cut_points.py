"""Where to cut a numeric column into intervals.

Every function takes ``values`` (n_rows,) with NaN for missing cells and no infinities,
and ``weights`` (n_rows,), finite and not negative. It returns increasing cut points;
interval ``i`` holds ``cuts[i-1] < value <= cuts[i]``. Rows that miss the value or have
weight zero are as good as absent, a row of weight two counts as two rows, and the
order of the rows does not matter: all three hold bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.interruptible import interruptible
from bayleaf.data.interval_numbers import weight_by_value
from bayleaf.native.data import mdlp_cuts

Floats = NDArray[np.float64]

# Counts (checkpoints x classes) that the search for cuts may keep: 32 MB.
_MAX_CHECKPOINT_COUNTS = 4_000_000


def mdlp_cut_points(
    values: Floats,
    class_codes: NDArray[np.integer[Any]],
    n_classes: int,
    weights: Floats,
) -> tuple[float, ...]:
    """Cut where the classes change, as long as a cut shortens their description.

    `values` (n_rows,) are NaN where missing; the result is empty where no cut pays.

    A set of weight N is cut where the entropy of the class given the side is least, and
    both sides in turn, while ``gain > log2(N - 1)/N + delta/N`` with
    ``delta = log2(3**k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2))``, where k, k1 and
    k2 count the classes present (Fayyad and Irani 1993, Multi-interval discretization
    of continuous-valued attributes for classification learning, IJCAI, 1022-1027). Only
    boundary points are tried, that is cuts between values that are not both wholly of
    one and the same class, since the best cut is one of them. Of cuts that tie, within
    1e-12 bits per row, the lowest is taken. A cut lies midway between its two
    neighbours among the values.

    N counts rows: weights that sum to one describe a single row, which nothing is
    learned from. Below N = 2 the position of a cut is taken to cost no bits.
    """
    rows, present, weights = _weighty_rows(values, weights)
    order = interruptible(lambda: np.argsort(present), len(present))
    ordered = present[order]
    if not len(ordered) or ordered[0] == ordered[-1]:
        return ()
    codes = class_codes[rows[order]].astype(np.int64)
    cuts = mdlp_cuts(ordered, codes, weights[order], n_classes, _MAX_CHECKPOINT_COUNTS)
    return midpoints(ordered[cuts - 1], ordered[cuts])


def standard_deviation_cut_points(values: Floats, weights: Floats) -> tuple[float, ...]:
    """Cut at ``mean + z * sd`` for integer z; nowhere if the column is constant.

    NaN is missing. The intervals are those of ``floor((value - mean) / sd)``, with the
    deviation of the population (divided by the sum of the weights). A value at
    ``mean + z * sd`` belongs above the cut there, so such a cut is put at the next
    number below. Of several cuts between the same two observed values only the lowest
    is kept: every interval has a row, and a new value beyond the range belongs to the
    last interval on its side.
    """
    distinct, counts = distinct_values(values, weights)
    if len(distinct) < 2:
        return ()
    scaled, exponent = _scaled(distinct)
    n = counts.sum()
    mean = (counts * scaled).sum() / n
    deviation = math.sqrt((counts * (scaled - mean) ** 2).sum() / n)
    steps = np.floor((scaled - mean) / deviation)
    last = np.flatnonzero(steps[1:] > steps[:-1])
    # Rounding may carry a cut past the value above it, even past the largest float.
    exact = np.minimum(mean + (steps[last] + 1.0) * deviation, scaled[last + 1])
    below_next = np.nextafter(distinct[last + 1], -np.inf)
    cuts = np.clip(np.ldexp(exact, exponent), distinct[last], below_next)
    return tuple(cuts.tolist())


def equal_frequency_cut_points(
    values: Floats, weights: Floats, n_bins: int
) -> tuple[float, ...]:
    """Cut into intervals of nearly equal weight, fewer where many rows share a value.

    NaN is missing. Cut ``i`` is above the smallest value below or at which
    ``i / n_bins`` of the weight lies, midway to the next value.
    """
    distinct, counts = distinct_values(values, weights)
    if len(distinct) < 2:
        return ()
    below = np.cumsum(counts)
    # Compared as products, which are exact where quotients would be rounded.
    shares = below[-1] * np.arange(1, n_bins)
    last = np.unique(np.searchsorted(below * n_bins, shares))
    last = last[last < len(distinct) - 1]
    return midpoints(distinct[last], distinct[last + 1])


def equal_width_cut_points(
    values: Floats, weights: Floats, n_bins: int
) -> tuple[float, ...]:
    """Cut the range of the values into `n_bins` intervals of equal width.

    NaN is missing. There are no cuts for a constant column, and fewer only where the
    range contains fewer floating-point numbers. An interval may have no row.
    """
    _, present, _ = _weighty_rows(values, weights)
    if not len(present):
        return ()
    ends = np.array([present.min(), present.max()])
    (low, high), exponent = _scaled(ends)
    shares = (high - low) * np.arange(1, n_bins) / n_bins
    cuts = np.unique(np.ldexp(low + shares, exponent))
    return tuple(cuts[(cuts >= ends[0]) & (cuts < ends[1])].tolist())


def _weighty_rows(
    values: Floats, weights: Floats
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Rows with a value and a weight, and these, weights so that they sum exactly."""
    rows = np.flatnonzero((weights > 0.0) & ~np.isnan(values))
    if len(rows) < len(values):
        values, weights = values[rows], weights[rows]
    exact = _exact_weights(weights)
    if not exact.all():
        kept = exact > 0.0
        rows, values, exact = rows[kept], values[kept], exact[kept]
    # Adding zero turns -0.0 into 0.0, which it equals but does not look like.
    return rows, values + 0.0, exact


def _exact_weights(weights: Floats) -> Floats:
    """Weights rounded so that they sum without error, in whatever order.

    All become multiples of one power of two, about 2**-52 of their total (far smaller
    ones become zero), so that every partial sum is a float64. Integers stay as
    they are. Differences of sums are then exact as well, and a class that is used up
    has weight zero.
    """
    if not len(weights) or (weights == 1.0).all():
        return weights
    shift = 52 - math.frexp(float(weights.sum()))[1]
    return np.ldexp(np.rint(np.ldexp(weights, shift)), -shift)


def distinct_values(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Distinct values in increasing order, and the weight of each."""
    _, present, exact = _weighty_rows(values, weights)
    return weight_by_value(present, exact, exact=True)


def _scaled(values: Floats) -> tuple[Floats, int]:
    """Values brought to about one by a power of two, and its exponent.

    The scaling is exact; squares and differences then neither overflow nor vanish.
    """
    exponent = math.frexp(float(np.abs(values).max()))[1]
    return np.ldexp(values, -exponent), exponent


def midpoints(low: Floats, high: Floats) -> tuple[float, ...]:
    """Numbers midway between two values, at least the low and below the high one."""
    middle = low / 2.0 + high / 2.0
    return tuple(np.where((low <= middle) & (middle < high), middle, low).tolist())
