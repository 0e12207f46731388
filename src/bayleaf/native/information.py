"""Native loops over the counts of many pairs of variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

Whole = NDArray[np.int64]
Counts = NDArray[np.float64]

# What is known of a variable.
_VARIABLE = 6

_pair_information = Function(
    "bl_pair_information",
    *[POINTER, FLAG, FLAG],
    *[INTEGER] * 3,
    *[POINTER, POINTER, INTEGER, POINTER, INTEGER],
    *[POINTER] * 3,
    *[INTEGER, REAL, INTEGER, INTEGER, POINTER],
    *[INTEGER] * 3,
)


def pair_information(
    stored: NDArray[Any],
    triangle: bool,
    class_counts: Counts,
    left: Whole,
    right: Whole,
    left_margins: Counts,
    right_margins: Counts,
    terms: Whole,
    scale: float,
    stretch: tuple[int, int],
    information: Counts,
    corner: tuple[int, int],
) -> None:
    """Measure the conditional mutual information of some left and all right variables.

    Parameters
    ----------
    stored : ndarray of shape (n_classes, n_rows, n_columns), dtype int32 or float64
        Counts of the stored states, see `PairCounts`.
    triangle : bool
        Whether only pairs that are stored in order are filled in.
    class_counts : ndarray of shape (n_classes,), dtype float64
        Total weight of each class.
    left, right : ndarray of shape (n_variables, 6), dtype int64
        For each variable: where its first state is stored, numbers of stored codes, of
        all codes and of states, whether it is whole (lacks no cell, and its last state
        is not stored), and the sum of its `terms` over class and state.
    left_margins : ndarray of shape (n_classes, n_rows), dtype float64
        Counts of class and stored state.
    right_margins : ndarray of shape (n_classes, n_columns), dtype float64
        Counts of class and stored state.
    terms : ndarray of shape (n_terms,), dtype int64
        n ln n of n = 0, 1, 2, ..., in units of ``1 / scale``.
    scale : float
        Units per nat.
    stretch : tuple of (int, int)
        First and end of the left variables to go through.
    information : ndarray of shape (n_variables, n_variables), dtype float64
        Takes each pair twice, in nats per unit of weight, so that it is symmetric.
    corner : tuple of (int, int)
        Row of the first left variable, and column of the first right one.

    Raises
    ------
    ValueError
        If a variable or its states are out of range.
    """
    n_classes, n_rows, n_columns = stored.shape
    n_left, n_right, n_variables = len(left), len(right), len(information)
    is_real = stored.dtype == F8
    _pair_information(
        readable(stored, F8 if is_real else I4, (n_classes, n_rows, n_columns)),
        is_real,
        triangle,
        n_classes,
        n_rows,
        n_columns,
        readable(class_counts, F8, (n_classes,)),
        readable(left, I8, (n_left, _VARIABLE)),
        n_left,
        readable(right, I8, (n_right, _VARIABLE)),
        n_right,
        readable(left_margins, F8, (n_classes, n_rows)),
        readable(right_margins, F8, (n_classes, n_columns)),
        readable(terms, I8, (len(terms),)),
        len(terms),
        scale,
        *stretch,
        writable(information, F8, (n_variables, n_variables)),
        n_variables,
        *corner,
    )
