"""Probability tables and experience counts as a person gives them, checked."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayleaf.wording import quoted

# How far a given distribution may be from summing to one.
SUM_TOLERANCE = 1e-5
# Larger counts would leave the range of numbers when summed up.
MOST_EXPERIENCE = 1e300


def checked_table(
    table: ArrayLike, shape: tuple[int, ...], name: str | int
) -> NDArray[np.float64]:
    """A table as an array of the right shape that holds distributions."""
    try:
        values = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"the table of variable {quoted(name)} holds something that is no number, "
            "or rows of different lengths"
        ) from None
    if values.shape not in (shape, (prod(shape),)):
        raise ValueError(
            f"the table of variable {quoted(name)} has shape {values.shape}, but its "
            f"parents and states ask for {shape}"
        )
    values = values.reshape(shape)
    # Comparisons that NaN fails as well.
    if not (values >= 0).all() or not np.isfinite(values).all():
        raise ValueError(
            f"the table of variable {quoted(name)} holds a negative number or NaN, or "
            "one that is not finite; give probabilities"
        )
    sums = values.sum(axis=-1)
    if not (np.abs(sums - 1.0) <= SUM_TOLERANCE).all():
        where = np.unravel_index(np.argmax(np.abs(sums - 1.0)), sums.shape)
        raise ValueError(
            f"the table of variable {quoted(name)} sums to {sums[where]:.6g} at parent "
            f"configuration {tuple(map(int, where))}; every distribution sums to 1"
        )
    return values


def spread_experience(
    counts: ArrayLike | None, shape: tuple[int, ...], name: str | int
) -> NDArray[np.float64]:
    """Experience counts as an array of the parents' shape."""
    try:
        spread = np.broadcast_to(np.asarray(counts, dtype=np.float64), shape)
    except (TypeError, ValueError, OverflowError):
        spread = np.full(shape, np.nan)
    # Comparisons that NaN fails as well.
    if not ((spread >= 0) & (spread <= MOST_EXPERIENCE)).all():
        raise ValueError(
            f"the experience of variable {quoted(name)} must be a number of at least 0 "
            f"and at most {MOST_EXPERIENCE:.0e}, or an array of them of shape {shape}"
        )
    return spread


def check_distributions(table: NDArray[np.float64], what: str) -> None:
    """Raise ValueError unless a table holds distributions along its last axis."""
    if (table < 0).any():
        raise ValueError(f"{what} holds a negative probability")
    # A comparison that NaN fails as well.
    sums_to_one = np.abs(table.sum(axis=-1) - 1.0) <= SUM_TOLERANCE
    if table.size and not sums_to_one.all():
        raise ValueError(f"{what} holds probabilities that do not sum to 1")


def check_shape(table: ArrayLike, shape: Sequence[int], what: str) -> None:
    """Raise ValueError unless an array has a shape."""
    if np.shape(table) != tuple(shape):
        raise ValueError(
            f"{what} should be of the shape {tuple(shape)}, not {np.shape(table)}"
        )
