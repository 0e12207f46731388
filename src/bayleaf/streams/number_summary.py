"""The distinct numbers of a long column, by class, within a bound of memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# Most numbers that are told apart, and counts that go with them.
MOST_NUMBERS, _MOST_COUNTS = 1 << 20, 1 << 23
# Whole numbers in a range of so many are all told apart.
SHORT_RANGE = 1 << 16


@dataclass
class NumberSummary:
    """Distinct numbers with their cells and weight in each class.

    Exact up to `most` distinct numbers. Beyond, neighbours are joined into at most half
    as many intervals of about equal weight, each represented by its greatest number; a
    rank is then wrong by at most `rank_error` cells.
    """

    dtype: Any
    n_classes: int
    values: NDArray[Any] = field(init=False)
    n_cells: NDArray[np.int64] = field(init=False)
    weights: NDArray[np.float64] = field(init=False)
    rank_error: int = 0

    def __post_init__(self) -> None:
        self.dtype = np.dtype(self.dtype)
        self.values = np.zeros(0, self.dtype)
        self.n_cells = np.zeros((0, self.n_classes), np.int64)
        self.weights = np.zeros((0, self.n_classes))

    @property
    def most(self) -> int:
        """How many numbers are told apart."""
        return max(1 << 12, min(MOST_NUMBERS, _MOST_COUNTS // self.n_classes))

    def add(
        self,
        values: NDArray[Any],
        classes: NDArray[np.intp],
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Add the cells of some rows, none of them missing."""
        if not len(values):
            return
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        # Adding zero turns -0.0 into 0.0, which it equals but does not look like.
        new = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        place = np.cumsum(new) - 1
        n_values = int(place[-1]) + 1
        cells = place * self.n_classes + classes[order]
        size = n_values * self.n_classes
        counts = np.bincount(cells, minlength=size).astype(np.int64)
        total = counts.astype(np.float64)
        if weights is not None:
            total = np.bincount(cells, weights[order], size).astype(np.float64)
        shape = n_values, self.n_classes
        self.merge(ordered[new] + 0, counts.reshape(shape), total.reshape(shape))

    def plus(self, other: Self, classes: NDArray[np.intp], n_classes: int) -> Self:
        """The summary of both columns, one after the other.

        `classes` are the places here of the other's classes; this one's classes come
        first among `n_classes`.
        """
        dtype = np.result_type(self.dtype, other.dtype)
        both = type(self)(dtype, n_classes)
        both.rank_error = self.rank_error + other.rank_error
        for one, places in ((self, np.arange(self.n_classes)), (other, classes)):
            n_cells = np.zeros((len(one.values), n_classes), np.int64)
            weights = np.zeros((len(one.values), n_classes))
            n_cells[:, places], weights[:, places] = one.n_cells, one.weights
            both.merge(one.values.astype(dtype), n_cells, weights)
        return both

    def merge(
        self,
        values: NDArray[Any],
        n_cells: NDArray[np.int64],
        weights: NDArray[np.float64],
    ) -> None:
        """Take in numbers in increasing order, with their cells and weights."""
        if not len(values):
            return
        every = np.concatenate([self.values, values])
        order = np.argsort(every, kind="stable")
        every = every[order]
        first = np.flatnonzero(np.concatenate(([True], every[1:] != every[:-1])))
        self.values = every[first]
        self.n_cells = np.add.reduceat(
            np.concatenate([self.n_cells, n_cells])[order], first
        )
        self.weights = np.add.reduceat(
            np.concatenate([self.weights, weights])[order], first
        )
        if len(self.values) > self.most and not self._are_in_short_range():
            self._join_neighbours()

    def _are_in_short_range(self) -> bool:
        """Whether these are whole numbers of which there cannot be too many."""
        whole = self.dtype.kind in "iu"
        return whole and int(self.values[-1]) - int(self.values[0]) < SHORT_RANGE

    def _join_neighbours(self) -> None:
        """Join neighbours into intervals of about equal weight."""
        per_value = self.n_cells.sum(axis=1)
        below = np.cumsum(per_value)
        interval = (below - 1) * (self.most // 2) // below[-1]
        first = np.flatnonzero(np.concatenate(([True], interval[1:] != interval[:-1])))
        last = np.append(first[1:], len(interval)) - 1
        joined = np.add.reduceat(per_value, first)
        # What lies below the greatest number of an interval may lie above a number in
        # it; numbers that stand alone are told exactly.
        self.rank_error += int((joined - per_value[last]).max())
        self.values = self.values[last]
        self.n_cells = np.add.reduceat(self.n_cells, first)
        self.weights = np.add.reduceat(self.weights, first)
