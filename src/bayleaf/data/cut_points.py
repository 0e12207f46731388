"""Where to cut a numeric column: with an eye on the class, or by its values alone.

All functions take a column as float64 with NaN for missing cells, and row weights; a
weight of two counts exactly like a repeated row. They return increasing cut points, and
a value equal to a cut lies left of it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Weighted entropies that agree to this part of their scale count as equal, so that
# rounding does not choose between cuts; the lowest of them is taken.
_TIE = 1e-12
# With fewer candidates NumPy is as fast, and numba need not be loaded.
_MIN_COMPILED = 20_000
# Largest table of logarithms, in entries.
_MAX_TABLE = 10_000_000


def mdlp_cut_points(
    values: Floats, class_codes: NDArray[np.intp], n_classes: int, weights: Floats
) -> tuple[float, ...]:
    """Cut where the class entropy falls by more than the cut costs to describe.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The column.
    class_codes : ndarray of shape (n_rows,)
        Class of each row.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_rows,)
        Row weights.

    Returns
    -------
    tuple of float
        Midpoints between neighbouring values, increasing.

    References
    ----------
    Fayyad, U. M., Irani, K. B. (1993). Multi-interval discretization of
    continuous-valued attributes for classification learning. IJCAI-93, 1022-1027.
    """
    lowest, highest, counts = _blocks(values, class_codes, n_classes, weights)
    if len(counts) < 2:
        return ()
    cumulated = np.zeros((len(counts) + 1, n_classes))
    np.cumsum(counts, axis=0, out=cumulated[1:])
    logarithms = _logarithm_table(counts)
    open_segments = [(0, len(counts))]
    cuts: list[int] = []
    while open_segments:
        first, stop = open_segments.pop()
        if stop - first < 2:
            continue
        cut = _best_cut(cumulated, first, stop, logarithms)
        if _pays(cumulated[[first, cut, stop]]):
            cuts.append(cut)
            open_segments += [(first, cut), (cut, stop)]
    return tuple(_middle(highest[cut - 1], lowest[cut]) for cut in sorted(cuts))


def standard_deviation_cut_points(values: Floats, weights: Floats) -> tuple[float, ...]:
    """Cut at whole standard deviations from the mean.

    Bins are those of ``floor((value - mean) / sd)``, empty ones merged with their
    neighbours; mean and standard deviation divide by the total weight. A value that
    lies exactly on a boundary belongs above it, so cuts stand just below.
    """
    distinct, sums = _distinct(values, weights)
    if len(distinct) < 2:
        return ()
    total = sums.sum()
    mean = float((distinct * sums).sum() / total)
    deviation = math.sqrt(float(((distinct - mean) ** 2 * sums).sum() / total))
    if deviation == 0.0:
        return ()
    bins = np.floor((distinct - mean) / deviation)
    changes = np.flatnonzero(bins[1:] != bins[:-1])
    cuts = [np.nextafter(mean + bins[i + 1] * deviation, -np.inf) for i in changes]
    # Rounding may put a boundary on the wrong side of a value that lies on it.
    pairs = zip(cuts, changes, strict=True)
    return tuple(
        float(cut) if distinct[i] <= cut < distinct[i + 1] else float(distinct[i])
        for cut, i in pairs
    )


def equal_frequency_cut_points(
    values: Floats, weights: Floats, n_bins: int
) -> tuple[float, ...]:
    """Cut so that bins hold about equal weight; a value is never split between bins."""
    distinct, sums = _distinct(values, weights)
    if len(distinct) < 2:
        return ()
    reached = np.cumsum(sums)
    # Both sides times n_bins, so that whole weights are compared without rounding.
    wanted = np.arange(1, n_bins) * reached[-1]
    places = np.unique(np.searchsorted(reached * n_bins, wanted))
    return tuple(
        _middle(distinct[i], distinct[i + 1]) for i in places if i + 1 < len(distinct)
    )


def equal_width_cut_points(
    values: Floats, weights: Floats, n_bins: int
) -> tuple[float, ...]:
    """Cut the range of the values into bins of equal width."""
    distinct, _ = _distinct(values, weights)
    if len(distinct) < 2:
        return ()
    low, high = float(distinct[0]), float(distinct[-1])
    shares = np.arange(1, n_bins) / n_bins
    cuts = np.unique(low * (1 - shares) + high * shares)
    return tuple(float(cut) for cut in cuts if low <= cut < high)


def _distinct(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Distinct values of positive weight in increasing order, and their weights."""
    known = ~np.isnan(values) & (weights > 0)
    distinct, inverse = np.unique(values[known], return_inverse=True)
    return distinct, np.bincount(
        inverse, weights=weights[known], minlength=len(distinct)
    )


def _blocks(
    values: Floats, class_codes: NDArray[np.intp], n_classes: int, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Runs of values between which a best cut may lie.

    Neighbouring values whose rows all have one and the same class form one block: a
    best cut never lies inside it (Fayyad & Irani 1993, theorem 1).

    Returns
    -------
    lowest, highest : ndarray of shape (n_blocks,)
        Smallest and largest value of each block.
    counts : ndarray of shape (n_blocks, n_classes)
        Weight of each class.
    """
    known = np.flatnonzero(~np.isnan(values) & (weights > 0))
    order = known[np.argsort(values[known])]
    ordered = values[order]
    if not len(ordered):
        return ordered, ordered, np.zeros((0, n_classes))
    starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    codes = class_codes[order]
    smallest = np.minimum.reduceat(codes, starts)
    # The class of a pure value, a number of its own kind for a mixed one.
    pure = np.where(smallest == np.maximum.reduceat(codes, starts), smallest, -1)
    joins = (pure[1:] == pure[:-1]) & (pure[1:] >= 0)
    heads = np.concatenate([[True], ~joins])
    block_starts = starts[heads]
    sizes = np.diff([*block_starts, len(ordered)])
    block = np.repeat(np.arange(len(block_starts)), sizes)
    counts = np.bincount(
        block * n_classes + codes,
        weights=weights[order],
        minlength=len(block_starts) * n_classes,
    ).reshape(-1, n_classes)
    return ordered[block_starts], ordered[block_starts + sizes - 1], counts


def _logarithm_table(counts: Floats) -> Floats:
    """``n ln n`` for whole numbers up to the total weight, if weights are whole.

    Neighbouring candidates have neighbouring counts, so that looking their logarithms
    up is several times faster than computing them.
    """
    total = counts.sum()
    if len(counts) < _MIN_COMPILED or total > _MAX_TABLE or (counts % 1.0).any():
        return np.zeros(1)
    return _n_log_n(np.arange(total + 1.0))


def _best_cut(cumulated: Floats, first: int, stop: int, logarithms: Floats) -> int:
    """First block right of the cut with the least weighted class entropy."""
    if stop - first >= _MIN_COMPILED:
        from bayleaf.data.cut_kernels import weighted_entropies

        entropies = np.empty(stop - first - 1)
        weighted_entropies(cumulated, first, stop, logarithms, entropies)
    else:
        left = cumulated[first + 1 : stop] - cumulated[first]
        right = cumulated[stop] - cumulated[first + 1 : stop]
        entropies = _weighted_entropy(left) + _weighted_entropy(right)
    total = float((cumulated[stop] - cumulated[first]).sum())
    tolerance = _TIE * total * max(1.0, math.log(max(total, 1.0)))
    return first + 1 + int(np.argmax(entropies <= entropies.min() + tolerance))


def _weighted_entropy(counts: Floats) -> Floats:
    """Total weight times class entropy (nats), for each row of class weights."""
    return _n_log_n(counts.sum(axis=1)) - _n_log_n(counts).sum(axis=1)


def _n_log_n(counts: Floats) -> Floats:
    """``n ln n``, and 0 for 0."""
    positive = np.where(counts > 0, counts, 1.0)
    return np.asarray(positive * np.log(positive))


def _pays(bounds: Floats) -> bool:
    """Whether a cut gains more than it costs (Fayyad & Irani 1993, MDLPC criterion).

    `bounds` holds the cumulated class weights before, at, and after the two parts.
    """
    left, right = bounds[1] - bounds[0], bounds[2] - bounds[1]
    whole = bounds[2] - bounds[0]
    total = float(whole.sum())
    if total <= 1.0:
        return False
    parts = np.stack([whole, left, right])
    weights = parts.sum(axis=1)
    entropies = _weighted_entropy(parts) / weights / math.log(2)
    n_present = (parts > 0).sum(axis=1)
    gain = entropies[0] - (weights[1:] * entropies[1:]).sum() / total
    classes = n_present * entropies
    delta = _log2_of_codings(int(n_present[0])) - (classes[0] - classes[1] - classes[2])
    return bool(gain > (math.log2(total - 1.0) + delta) / total)


def _log2_of_codings(n_classes: int) -> float:
    """``log2(3**k - 2)`` without overflow."""
    return n_classes * math.log2(3) + math.log2(1.0 - 2.0 * 3.0**-n_classes)


def _middle(low: float, high: float) -> float:
    """Midpoint of two values, never equal to the upper one."""
    middle = float(low / 2 + high / 2)
    exact = float((low + high) / 2) if math.isfinite(low + high) else middle
    return exact if low <= exact < high else float(low)
