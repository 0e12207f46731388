"""NumPy twins of the compiled kernels, for tables too small to wait for a compiler.

They take the same arguments and return the same whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes


def extend_keys(
    keys: NDArray[np.int32], codes: NDArray[np.integer[Any]], n_states: int
) -> None:
    """Make one more variable the fastest digit of each row's key, in place.

    See `bayleaf.counts.kernels.extend_keys`.
    """
    lacking = (keys < 0) | (codes >= n_states)
    keys *= n_states
    keys += codes
    keys[lacking] = -1


def key_counts(
    keys: NDArray[np.int32],
    block: NDArray[np.integer[Any]],
    slots: NDArray[np.int64],
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    weights: NDArray[np.float64],
    tables: NDArray[np.float64],
) -> None:
    """Add up the weight of each key and state, for many columns.

    See `bayleaf.counts.kernels.key_counts`.
    """
    n_keys = len(tables)
    weights = np.broadcast_to(weights, keys.shape)
    for slot, start, width in zip(slots, starts, widths, strict=True):
        places = (keys + np.int64(1)) * width + block[slot]
        counts = np.bincount(places, weights, minlength=n_keys * int(width))
        tables[:, start : start + width] += counts.reshape(n_keys, width)


def dense_pair_counts(
    codes: Codes, left: Sequence[int], right: Sequence[int]
) -> NDArray[np.float64]:
    """Class-pair counts as products of indicator matrices.

    Returns
    -------
    ndarray of shape (n_classes, n_left_states, n_right_states)
        As `PairCounts.dense` lays them out.
    """
    class_codes = codes.column(codes.n_variables - 1)
    indicators = _indicators(codes, left)
    others = indicators if tuple(left) == tuple(right) else _indicators(codes, right)
    shape = (codes.cards[-1], indicators.shape[1], others.shape[1])
    dense = np.empty(shape)
    for state in range(codes.cards[-1]):
        rows = class_codes == state
        weighted = indicators[rows].T * codes.weights[rows]
        dense[state] = weighted @ others[rows]
    return dense


def _indicators(codes: Codes, variables: Sequence[int]) -> NDArray[np.float64]:
    """Whether each row has each state, (n_rows, n_states) with missing states."""
    widths = [codes.cards[v] + 1 for v in variables]
    starts = np.cumsum([0, *widths])
    indicators = np.zeros((codes.n_rows, int(starts[-1])))
    rows = np.arange(codes.n_rows)
    for variable, start in zip(variables, starts[:-1], strict=True):
        indicators[rows, start + codes.column(variable).astype(np.intp)] = 1.0
    return indicators
