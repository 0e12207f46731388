"""Compiled search for the cut of least class entropy in a long column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

if TYPE_CHECKING:
    from bayleaf.data.cut_points import BlockTable, Segment

# More parts than halving any segment can leave waiting at once.
_MAX_WAITING = 128


@compiled
def n_log_n(count: float) -> float:
    """``count * log2(count)``, zero for an empty cell."""
    return count * math.log2(count) if count > 0.0 else 0.0


@compiled
def split_bits(left: NDArray[np.float64], total: NDArray[np.float64]) -> float:
    """Bits that the classes of both sides of a cut take, given the sides."""
    n_left = 0.0
    n_right = 0.0
    bits = 0.0
    for c in range(len(total)):
        right = total[c] - left[c]
        n_left += left[c]
        n_right += right
        bits -= n_log_n(left[c]) + n_log_n(right)
    return bits + n_log_n(n_left) + n_log_n(n_right)


@compiled
def least_bits(
    low: NDArray[np.float64], high: NDArray[np.float64], total: NDArray[np.float64]
) -> float:
    """Lower bound of `split_bits` over all counts between `low` and `high`.

    With L of n rows on the left, the bits are L log L + (n - L) log(n - L) less a sum
    of the same convex function over the cells. The first part lies above its tangent
    at the middle of the box, which is linear in the counts; what then remains is
    concave in each count by itself, so that its minimum lies at one of the two ends.
    """
    n_left: float = 0.5 * (low.sum() + high.sum())
    n_right: float = total.sum() - n_left
    if n_left <= 0.0 or n_right <= 0.0:
        return 0.0
    slope = math.log2(n_left / n_right)
    bits = n_log_n(n_left) + n_log_n(n_right) - slope * n_left
    for c in range(len(total)):
        at_low = slope * low[c] - n_log_n(low[c]) - n_log_n(total[c] - low[c])
        at_high = slope * high[c] - n_log_n(high[c]) - n_log_n(total[c] - high[c])
        bits += min(at_low, at_high)
    return bits


@compiled
def count_left(
    table: BlockTable,
    segment: Segment,
    checkpoint: int,
    counts: NDArray[np.float64],
) -> None:
    """Write the class counts of a segment's blocks before a checkpoint to `counts`."""
    block = checkpoint * table.stride
    for c in range(len(counts)):
        if block <= segment.start:
            counts[c] = 0.0
        elif block >= segment.stop:
            counts[c] = segment.total[c]
        else:
            counts[c] = table.checkpoints[checkpoint, c] - segment.base[c]


@compiled
def walk(
    table: BlockTable,
    segment: Segment,
    checkpoint: int,
    left: NDArray[np.float64],
    limit: float,
    lowest: bool,
) -> tuple[int, float]:
    """Try the cuts between a checkpoint and the next, block by block.

    `left` holds the counts before the first of these blocks and is used up. Returns
    the best cut within the limit, or the first if `lowest`, and its bits; -1 if none.
    """
    begin = max(checkpoint * table.stride, segment.start)
    end = min((checkpoint + 1) * table.stride, segment.stop)
    found = -1
    for block in range(begin, end - 1):
        for row in range(table.first_row[block], table.first_row[block + 1]):
            left[table.row_class[row]] += table.row_weight[row]
        bits = split_bits(left, segment.total)
        if bits <= limit:
            found, limit = block + 1, bits
            if lowest:
                break
    return found, limit


@compiled
def search(
    table: BlockTable, segment: Segment, limit: float, slack: float, lowest: bool
) -> tuple[int, float]:
    """Find a cut of a segment by branch and bound.

    Halves the segment at checkpoints and leaves out every part whose lower bound
    exceeds the limit, so that few cuts are ever tried.

    Parameters
    ----------
    table : BlockTable
        The blocks of a column.
    segment : Segment
        The blocks to part, at least two.
    limit : float
        Bits that a cut may take.
    slack : float
        Rounding that a bound is allowed.
    lowest : bool
        Whether to find the first cut within the limit rather than the best.

    Returns
    -------
    cut : int
        First block on the right of the cut, -1 if no cut is within the limit.
    bits : float
        Bits of the cut.
    """
    low = np.empty_like(segment.total)
    high = np.empty_like(segment.total)
    waiting = np.empty((_MAX_WAITING, 2), dtype=np.int64)
    waiting[0] = segment.start // table.stride, -(-segment.stop // table.stride)
    n_waiting = 1
    found = -1
    while n_waiting > 0:
        n_waiting -= 1
        first, last = waiting[n_waiting]
        count_left(table, segment, first, low)
        count_left(table, segment, last, high)
        if least_bits(low, high, segment.total) > limit + slack:
            continue
        middle = (first + last) // 2
        if middle == first:
            cut, bits = walk(table, segment, first, low, limit, lowest)
        else:
            count_left(table, segment, middle, low)
            bits = split_bits(low, segment.total)
            cut = middle * table.stride if bits <= limit else -1
            waiting[n_waiting] = middle, last
            n_waiting += 1
        if cut >= 0:
            found, limit = cut, bits
            # Whatever waits lies above a cut that is good enough.
            n_waiting = 0 if lowest else n_waiting
        if middle > first:
            waiting[n_waiting] = first, middle
            n_waiting += 1
    return found, limit


@compiled
def class_counts(
    table: BlockTable, segment: Segment, block: int
) -> NDArray[np.float64]:
    """Class counts of a segment's blocks before a given one."""
    counts = np.empty_like(segment.total)
    checkpoint = block // table.stride
    count_left(table, segment, checkpoint, counts)
    begin = max(checkpoint * table.stride, segment.start)
    for row in range(table.first_row[begin], table.first_row[block]):
        counts[table.row_class[row]] += table.row_weight[row]
    return counts
