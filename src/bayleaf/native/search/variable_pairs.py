"""Native loops over the joint counts of pairs: their dependence, and their merging."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I8, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

Counts = NDArray[np.float64]
Places = NDArray[np.int64]

_pair_statistics = Function(
    "bl_pair_statistics",
    *[POINTER, INTEGER, INTEGER, INTEGER],
    *[POINTER, INTEGER] * 2,
    *[FLAG, INTEGER, POINTER, POINTER, POINTER],
)
_collapse = Function(
    "bl_collapse", POINTER, *[INTEGER] * 3, REAL, REAL, POINTER, POINTER
)


def pair_statistics(
    dense: Counts,
    left_cards: Places,
    right_cards: Places,
    triangle: bool,
    kind: int,
    results: Counts,
) -> None:
    """Measure how much each left variable depends on each right one given the class.

    Parameters
    ----------
    dense : ndarray of shape (n_classes, n_left_codes, n_right_codes), dtype float64
        Joint counts, the states of each variable and then its missing one, which is
        not looked at.
    left_cards, right_cards : ndarray of shape (n_left,), (n_right,), dtype int64
        Number of states of each variable.
    triangle : bool
        Whether only pairs above the diagonal are filled in.
    kind : int
        0 for G², 1 for the divergence, 2 for the latter with its moments.
    results : ndarray of shape (3, n_left, n_right), dtype float64
        Filled with statistics and, for kind 2, means and variances.

    Raises
    ------
    ValueError
        If the cards do not make up the codes.
    """
    n_classes, left_width, right_width = dense.shape
    n_left, n_right = len(left_cards), len(right_cards)
    place = writable(results, F8, (3, n_left, n_right))
    step = n_left * n_right * F8.itemsize
    _pair_statistics(
        readable(dense, F8, (n_classes, left_width, right_width)),
        n_classes,
        left_width,
        right_width,
        readable(left_cards, I8, (n_left,)),
        n_left,
        readable(right_cards, I8, (n_right,)),
        n_right,
        triangle,
        kind,
        *(place, place + step, place + 2 * step),
    )


def collapse(
    counts: Counts, penalty: float, tolerance: float, states: Places, deltas: Counts
) -> None:
    """Merge joint states of two variables while that gains.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_left, n_right), dtype float64
        Weight of each class and joint state.
    penalty : float
        What a merge saves, nats.
    tolerance : float
        Gains that differ by less are equal, and a merge must gain more.
    states : ndarray of shape (n_left, n_right), dtype int64
        Filled with the state of each cell, numbered by first cells.
    deltas : ndarray of shape (n_left * n_right,), dtype float64
        Filled with the gain of each merge, nats; NaN after the last.

    Raises
    ------
    ValueError
        If no cell has any weight.
    """
    n_classes, n_left, n_right = counts.shape
    _collapse(
        readable(counts, F8, (n_classes, n_left, n_right)),
        n_classes,
        n_left,
        n_right,
        penalty,
        tolerance,
        writable(states, I8, (n_left, n_right)),
        writable(deltas, F8, (n_left * n_right,)),
    )
