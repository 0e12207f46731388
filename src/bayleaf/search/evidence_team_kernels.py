"""One descent over the weights of evidence, led by a thread and helped by another.

A point costs a few tenths of a millisecond, less than waking a thread takes: the helper
stays awake and watches for the next point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled_sums
from bayleaf.counts.intrinsics import load_acquired, store_released
from bayleaf.search.evidence_kernels import (
    N_SIGNALS,
    NEW_SLOPE,
    THERE,
    Aim,
    Path,
    add_penalty,
    add_range_losses,
    advance,
)

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# Places of the signals, each on a line of the cache for itself: how many points were
# set (or that there are no more), how many the helper has seen to, whether there is a
# helper.
_SET, _SEEN_TO, _PRESENT = 0, N_SIGNALS // 3, 2 * N_SIGNALS // 3
NO_MORE = -1


@compiled_sums
def lead(
    contrasts: NDArray[np.float32],
    own: Whole,
    row_weights: Floats,
    halves: Whole,
    path: Path,
    aim: Aim,
    signals: Whole,
    share: Floats,
) -> None:
    """Follow `advance` over ranges of rows, the second half of them left to a helper.

    `halves` (2, n, 2) holds the ranges. `share` (n + 1,) takes the slope and the loss
    of the second half, whoever adds them up, so that the result is the same. `signals`
    (N_SIGNALS,) begins at zero.
    """
    there, slope = path[0][THERE], path[0][NEW_SLOPE]
    centre, pull, max_steps, tolerance = aim
    n_set = np.int64(0)
    is_open = True
    while is_open:
        is_helped = load_acquired(signals, _PRESENT) == 1
        if is_helped:
            n_set += 1
            store_released(signals, _SET, n_set)
        loss = add_penalty(there, centre, pull, slope)
        loss += add_range_losses(contrasts, own, row_weights, there, halves[0], slope)
        if is_helped:
            while load_acquired(signals, _SEEN_TO) != n_set:
                pass
        else:
            see_to(contrasts, own, row_weights, halves[1], there, share)
        for f in range(slope.size):
            slope[f] += share[f]
        loss += share[slope.size]
        is_open = advance(loss, path, contrasts.shape[2], max_steps, tolerance)
    store_released(signals, _SET, NO_MORE)


@compiled_sums
def see_to(
    contrasts: NDArray[np.float32],
    own: Whole,
    row_weights: Floats,
    ranges: Whole,
    there: Floats,
    share: Floats,
) -> None:
    """Write the slope of some rows, and their loss behind it."""
    share[:] = 0.0
    share[-1] = add_range_losses(contrasts, own, row_weights, there, ranges, share[:-1])


@compiled_sums
def help_out(
    contrasts: NDArray[np.float32],
    own: Whole,
    row_weights: Floats,
    halves: Whole,
    points: Floats,
    signals: Whole,
    share: Floats,
) -> None:
    """See to the second half of the rows at each point that `lead` sets."""
    seen_to = np.int64(0)
    store_released(signals, _PRESENT, 1)
    n_set = load_acquired(signals, _SET)
    while n_set >= 0:
        if n_set != seen_to:
            there = points[THERE]
            see_to(contrasts, own, row_weights, halves[1], there, share)
            seen_to = n_set
            store_released(signals, _SEEN_TO, seen_to)
        n_set = load_acquired(signals, _SET)
