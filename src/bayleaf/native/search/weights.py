"""Native loss of weighted log-probabilities, and the descent to its least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F4, F8, I8, readable, writable
from bayleaf.native.library import INTEGER, POINTER, REAL, Function

Floats = NDArray[np.float64]

# Weights are worked off so many at a time.
_LANES = 8

_ROWS = (POINTER, *[INTEGER] * 3, *[POINTER] * 3, INTEGER)
_weighted_loss = Function("bl_weighted_loss", *_ROWS, POINTER, INTEGER, *[POINTER] * 2)
_weights_descent = Function(
    "bl_weights_descent",
    *_ROWS,
    POINTER,
    INTEGER,
    *[POINTER] * 2,
    INTEGER,
    REAL,
    INTEGER,
)


def contrast_width(n_weights: int) -> int:
    """Length of a row of contrasts: the weights, and what fills them up.

    Parameters
    ----------
    n_weights : int
        Number of weights.
    """
    return -(-n_weights // _LANES) * _LANES


def weighted_loss(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    ranges: NDArray[np.int64],
    parameters: Floats,
    gradient: Floats,
) -> float:
    """Log-loss of ``softmax(biases + contrasts @ weights)``.

    Parameters
    ----------
    contrasts : ndarray of shape (n_rows, n_classes - 1, width), dtype float32
        The log-probabilities under each class less that under the first, filled up
        with zeros to `contrast_width`.
    own : ndarray of shape (n_rows,), dtype int64
        True class of each row.
    row_weights : ndarray of shape (n_rows,), dtype float64
        What each row counts.
    ranges : ndarray of shape (n_ranges, 2), dtype int64
        First row and end of each range that counts.
    parameters : ndarray of shape (n_weights + n_classes,), dtype float64
        The weights, then a bias for each class.
    gradient : ndarray of the same shape, dtype float64
        Filled.

    Returns
    -------
    float
        In nats, the weighted sum.

    Raises
    ------
    ValueError
        If a range or a class lies outside the rows and classes, or shapes do not fit.
    """
    loss = np.empty(1)
    n_weights = _weight_count(contrasts, parameters)
    _weighted_loss(
        *_rows(contrasts, own, row_weights, ranges),
        readable(parameters, F8, parameters.shape),
        n_weights,
        writable(gradient, F8, parameters.shape),
        writable(loss, F8, (1,)),
    )
    return float(loss[0])


def weights_descent(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    ranges: NDArray[np.int64],
    parameters: Floats,
    centre: Floats,
    pull: Floats,
    max_steps: int,
    tolerance: float,
    n_threads: int,
) -> None:
    """Take parameters to the least penalised log-loss, weights staying above zero.

    Parameters
    ----------
    contrasts, own, row_weights, ranges : ndarray
        Rows and which of them count, see `weighted_loss`.
    parameters : ndarray of shape (n_weights + n_classes,), dtype float64
        Where the descent begins, and then where it ended.
    centre : ndarray of the same shape, dtype float64
        Where the penalty pulls to.
    pull : ndarray of the same shape, dtype float64
        How strongly: half of it times the squared distance is the penalty.
    max_steps : int
        Most steps.
    tolerance : float
        Gain of a step, as a share of the loss, below which the descent ends.
    n_threads : int
        Threads that are used; the result does not depend on it.

    Raises
    ------
    ValueError
        If a range or a class lies outside the rows and classes, or shapes do not fit.
    KeyboardInterrupt
        If Ctrl-C is pressed.
    """
    n_weights = _weight_count(contrasts, parameters)
    _weights_descent(
        *_rows(contrasts, own, row_weights, ranges),
        writable(parameters, F8, parameters.shape),
        n_weights,
        readable(centre, F8, parameters.shape),
        readable(pull, F8, parameters.shape),
        max_steps,
        tolerance,
        n_threads,
    )


def _weight_count(contrasts: NDArray[np.float32], parameters: Floats) -> int:
    """Number of weights among the parameters.

    Raises
    ------
    ValueError
        If they are too few, or the contrasts are not as wide as these need.
    """
    if contrasts.ndim != 3 or parameters.ndim != 1:
        raise ValueError(
            "contrasts of shape (n_rows, n_classes - 1, width) and a row of parameters "
            f"are needed here, got shapes {contrasts.shape} and {parameters.shape}"
        )
    n_weights = len(parameters) - int(contrasts.shape[1]) - 1
    if n_weights < 0 or contrasts.shape[2] != contrast_width(n_weights):
        raise ValueError(
            f"{len(parameters)} parameters do not fit contrasts of shape "
            f"{contrasts.shape}"
        )
    return n_weights


def _rows(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    ranges: NDArray[np.int64],
) -> tuple[int, ...]:
    """Addresses and sizes of rows, as both functions take them."""
    n_rows, n_ranges = len(contrasts), len(ranges)
    return (
        readable(contrasts, F4, contrasts.shape),
        *contrasts.shape,
        readable(own, I8, (n_rows,)),
        readable(row_weights, F8, (n_rows,)),
        readable(ranges, I8, (n_ranges, 2)),
        n_ranges,
    )
