"""Where to cut a numeric column into intervals.

Every function takes ``values`` (n_rows,) with NaN for missing cells and no infinities,
and ``weights`` (n_rows,), finite and not negative. It returns increasing cut points;
interval ``i`` holds ``cuts[i-1] < value <= cuts[i]``. Rows that miss the value or have
weight zero are as good as absent, a row of weight two counts as two rows, and the
order of the rows does not matter: all three hold bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Cuts whose class entropies differ by at most this many bits a row are tied. Far above
# what two ways of summing differ by, far below any difference that tells something.
_TIE_BITS = 1e-12

# So many counts (blocks x classes) of a column are looked at with plain arrays before
# the compiled search takes over: a small table never waits for a compiler.
_PLAIN_EFFORT = 1_000_000

# Counts (checkpoints x classes) that the compiled search may keep: 32 MB.
_MAX_CHECKPOINT_COUNTS = 4_000_000


class BlockTable(NamedTuple):
    """Rows in the order of their values, in blocks that no good cut divides.

    Parameters
    ----------
    row_class : ndarray of shape (n_rows,), dtype intp
        Class of each row.
    row_weight : ndarray of shape (n_rows,), dtype float64
        Weight of each row.
    first_row : ndarray of shape (n_blocks + 1,), dtype int64
        First row of each block, and the number of rows.
    stride : int
        Blocks from one checkpoint to the next.
    checkpoints : ndarray of shape (n_blocks // stride + 1, n_classes), dtype float64
        Class counts of all blocks before block ``i * stride``.
    """

    row_class: NDArray[np.intp]
    row_weight: Floats
    first_row: NDArray[np.int64]
    stride: int
    checkpoints: Floats


class Segment(NamedTuple):
    """The blocks ``start .. stop-1``, with the class counts before and in them."""

    start: int
    stop: int
    base: Floats
    total: Floats


class Cut(NamedTuple):
    """A cut before `block`, with the class counts of the segment on its left."""

    block: int
    left: Floats


def mdlp_cut_points(
    values: Floats,
    class_codes: NDArray[np.integer[Any]],
    n_classes: int,
    weights: Floats,
) -> tuple[float, ...]:
    """Cut where the classes change, as long as a cut shortens their description.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The column; NaN where missing.
    class_codes : ndarray of shape (n_rows,), dtype integer
        Class of each row, in ``0 .. n_classes-1``.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_rows,)
        Row weights.

    Returns
    -------
    tuple of float
        Empty where no cut pays.

    Notes
    -----
    A set of weight N is cut where the entropy of the class given the side is least,
    and both sides in turn, while ``gain > log2(N - 1)/N + delta/N`` with
    ``delta = log2(3**k - 2) - (k Ent(S) - k1 Ent(S1) - k2 Ent(S2))``, where k, k1 and
    k2 count the classes present [1]_. Only boundary points are tried, that is cuts
    between values that are not both wholly of one and the same class, since the best
    cut is one of them. Of cuts that tie, within 1e-12 bits a row, the lowest is
    taken. A cut lies midway between its two neighbours among the values.

    N counts rows: weights that sum to one describe a single row, which nothing is
    learned from. Below N = 2 the position of a cut is taken to cost no bits.

    References
    ----------
    .. [1] U. M. Fayyad, K. B. Irani (1993). Multi-interval discretization of
       continuous-valued attributes for classification learning. IJCAI, 1022-1027.
    """
    rows = _weighty_rows(values, weights).ordered()
    ordered, weights = rows.values, rows.weights
    if not len(ordered) or ordered[0] == ordered[-1]:
        return ()
    codes = class_codes[rows.rows]
    first_row = _block_starts(ordered, codes)
    table = _block_table(codes, weights, first_row, n_classes)
    blocks = _accepted_cuts(table)
    highest_left = ordered[first_row[blocks] - 1]
    lowest_right = ordered[first_row[blocks]]
    return midpoints(highest_left, lowest_right)


def standard_deviation_cut_points(values: Floats, weights: Floats) -> tuple[float, ...]:
    """Cut at whole numbers of standard deviations from the mean.

    Parameters
    ----------
    values, weights : ndarray of shape (n_rows,)
        The column, NaN where missing, and the row weights.

    Returns
    -------
    tuple of float
        ``mean + z * sd`` for whole z; empty for a constant column.

    Notes
    -----
    The intervals are those of ``floor((value - mean) / sd)``, with the deviation of
    the population (divided by the sum of the weights). A value at ``mean + z * sd``
    belongs above the cut there, so such a cut is put at the next number below. Of
    several cuts between the same two observed values only the lowest is kept: every
    interval holds a row, and a new value beyond the range belongs to the last
    interval on its side.
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
    """Cut into intervals of nearly equal weight.

    Parameters
    ----------
    values, weights : ndarray of shape (n_rows,)
        The column, NaN where missing, and the row weights.
    n_bins : int
        Number of intervals, at least 1.

    Returns
    -------
    tuple of float
        At most ``n_bins - 1`` cut points; fewer where many rows share a value.

    Notes
    -----
    Cut ``i`` stands above the smallest value below or at which ``i / n_bins`` of the
    weight lies, midway to the next value.
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
    """Cut the range of the values into intervals of equal width.

    Parameters
    ----------
    values, weights : ndarray of shape (n_rows,)
        The column, NaN where missing, and the row weights.
    n_bins : int
        Number of intervals, at least 1.

    Returns
    -------
    tuple of float
        ``n_bins - 1`` cut points, empty for a constant column; fewer only where the
        range holds fewer floating-point numbers. An interval may hold no row.
    """
    present = _weighty_rows(values, weights).values
    if not len(present):
        return ()
    ends = np.array([present.min(), present.max()])
    (low, high), exponent = _scaled(ends)
    shares = (high - low) * np.arange(1, n_bins) / n_bins
    cuts = np.unique(np.ldexp(low + shares, exponent))
    return tuple(cuts[(cuts >= ends[0]) & (cuts < ends[1])].tolist())


@dataclass(frozen=True)
class _WeightyRows:
    """The rows that count."""

    rows: NDArray[np.intp]
    values: Floats
    weights: Floats

    def ordered(self) -> _WeightyRows:
        """The same in increasing order of their values."""
        order = np.argsort(self.values)
        return _WeightyRows(self.rows[order], self.values[order], self.weights[order])


def _weighty_rows(values: Floats, weights: Floats) -> _WeightyRows:
    """Rows with a value and a weight, with weights that add up exactly."""
    rows = np.flatnonzero((weights > 0.0) & ~np.isnan(values))
    exact = _exact_weights(weights[rows])
    if not exact.all():
        rows, exact = rows[exact > 0.0], exact[exact > 0.0]
    # Adding zero turns -0.0 into 0.0, which it equals but does not look like.
    return _WeightyRows(rows, values[rows] + 0.0, exact)


def _exact_weights(weights: Floats) -> Floats:
    """Weights rounded so that they sum without error, in whatever order.

    All become multiples of one power of two, about 2**-52 of their total (far smaller
    ones become zero), so that every partial sum is a float64. Whole numbers stay as
    they are. Differences of sums are then exact as well, and a class that is used up
    has weight zero.
    """
    if not len(weights):
        return weights
    shift = 52 - math.frexp(float(weights.sum()))[1]
    return np.ldexp(np.rint(np.ldexp(weights, shift)), -shift)


def distinct_values(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Distinct values in increasing order, and the weight of each."""
    rows = _weighty_rows(values, weights)
    if not len(rows.values):
        return rows.values, rows.weights
    low = rows.values.min()
    if rows.values.max() < low + len(rows.values):
        # Whole numbers, or others that lie whole steps apart, are counted unsorted.
        steps = (rows.values - low).astype(np.int64)
        if (steps + low == rows.values).all():
            counts = np.bincount(steps, rows.weights).astype(np.float64, copy=False)
            seen = np.flatnonzero(counts)
            return seen + low, counts[seen]
    rows = rows.ordered()
    first = _first_of_each(rows.values)
    return rows.values[first], np.add.reduceat(rows.weights, first)


def _first_of_each(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Positions in a sorted array where a new value begins."""
    return np.concatenate(([0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1))


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


def _block_starts(
    ordered: Floats, codes: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """First row of each block of values between which no boundary point lies."""
    value_begins = np.append(True, ordered[1:] != ordered[:-1])
    class_changes = np.append(False, codes[1:] != codes[:-1])
    value_of_row = np.cumsum(value_begins) - 1
    first = np.flatnonzero(value_begins)
    mixed = np.zeros(len(first), dtype=bool)
    mixed[value_of_row[class_changes & ~value_begins]] = True
    head = codes[first]
    boundary = (head[1:] != head[:-1]) | mixed[1:] | mixed[:-1]
    starts = first[np.append(True, boundary)]
    return np.append(starts, len(ordered)).astype(np.int64)


def _block_table(
    codes: NDArray[np.integer[Any]],
    weights: Floats,
    first_row: NDArray[np.int64],
    n_classes: int,
) -> BlockTable:
    """Blocks with as many checkpoints as memory allows."""
    n_blocks = len(first_row) - 1
    stride = 1 + n_blocks * n_classes // _MAX_CHECKPOINT_COUNTS
    block = np.repeat(np.arange(n_blocks) // stride + 1, np.diff(first_row))
    n_checkpoints = (n_blocks - 1) // stride + 2
    cells = np.bincount(
        block * n_classes + codes, weights, minlength=n_checkpoints * n_classes
    )
    checkpoints = cells.reshape(n_checkpoints, n_classes).cumsum(axis=0)
    return BlockTable(
        codes.astype(np.intp, copy=False), weights, first_row, stride, checkpoints
    )


def _accepted_cuts(table: BlockTable) -> NDArray[np.intp]:
    """Blocks before which the description length asks for a cut, in order."""
    total = table.checkpoints[-1]
    waiting = [Segment(0, len(table.first_row) - 1, np.zeros_like(total), total)]
    accepted: list[int] = []
    effort = 0
    while waiting:
        segment = waiting.pop()
        if segment.stop - segment.start < 2:
            continue
        effort += (segment.stop - segment.start) * len(total)
        # Equal cuts from both, so that the choice is one of speed alone.
        find = _best_cut if effort <= _PLAIN_EFFORT else _best_cut_compiled
        block, left = find(table, segment)
        right = segment.total - left
        if not _pays(segment.total, left, right):
            continue
        accepted.append(block)
        waiting.append(Segment(segment.start, block, segment.base, left))
        waiting.append(Segment(block, segment.stop, segment.base + left, right))
    return np.sort(np.array(accepted, dtype=np.intp))


def _pays(whole: Floats, left: Floats, right: Floats) -> bool:
    """Whether a cut shortens the description (Fayyad & Irani 1993, section 3)."""
    sides = (whole, left, right)
    n_whole, n_left, n_right = (float(side.sum()) for side in sides)
    k_whole, k_left, k_right = (int(np.count_nonzero(side)) for side in sides)
    bits_whole, bits_left, bits_right = (_class_bits(side) for side in sides)
    delta = math.log2(3**k_whole - 2) - (
        k_whole * bits_whole / n_whole
        - k_left * bits_left / n_left
        - k_right * bits_right / n_right
    )
    position = math.log2(max(n_whole - 1.0, 1.0))
    return bits_whole - bits_left - bits_right > position + delta


def _class_bits(counts: Floats) -> float:
    """Weight times class entropy, in bits."""
    return float(_n_log_n(counts.sum()) - _n_log_n(counts).sum())


def _n_log_n(counts: Any) -> Any:
    """``count * log2(count)``, zero for an empty cell."""
    return counts * np.log2(np.where(counts > 0.0, counts, 1.0))


def _best_cut(table: BlockTable, segment: Segment) -> Cut:
    """The lowest of the cuts with least entropy, trying all of them."""
    left = table.checkpoints[segment.start + 1 : segment.stop] - segment.base
    right = segment.total - left
    bits = _n_log_n(left.sum(axis=1)) + _n_log_n(right.sum(axis=1))
    bits -= (_n_log_n(left) + _n_log_n(right)).sum(axis=1)
    tolerance = _TIE_BITS * segment.total.sum()
    best = int(np.argmax(bits <= bits.min() + tolerance))
    return Cut(segment.start + 1 + best, left[best])


def _best_cut_compiled(table: BlockTable, segment: Segment) -> Cut:
    """The same cut by branch and bound, compiled."""
    from bayleaf.data.cut_kernels import class_counts, search

    tolerance = _TIE_BITS * float(segment.total.sum())
    _, least = search(table, segment, math.inf, tolerance, False)
    block, _ = search(table, segment, least + tolerance, tolerance, True)
    return Cut(block, class_counts(table, segment, block))
