"""What learning must know of a column, in a form in which two halves add up."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.reading.learning import COUNTED_ROWS
from bayleaf.data.tables.columns import Name
from bayleaf.streams import spool
from bayleaf.streams.number_summary import NumberSummary
from bayleaf.streams.stand_ins import (
    Entries,
    StandIn,
    stand_in_of_entries,
    stand_in_of_summary,
)
from bayleaf.wording import quoted

Places = NDArray[np.intp]


@dataclass(frozen=True)
class ValueSummary:
    """A column of values."""

    name: Name
    values: list[Hashable]  # as they first occur, or as categories are ordered
    ordered: bool  # the table declares the order
    entries: Entries  # in increasing order of number and class
    places: NDArray[np.int64]  # (n_values,), present cells before the first
    n_present: int  # cells

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(self.entries.cells[self.entries.numbers == spool.MISSING].sum())

    @property
    def overflows(self) -> bool:
        """Whether there may be values beyond those that are listed."""
        return len(self.values) >= spool.MOST_VALUES

    def plus(
        self, other: ValueSummary, classes: Places, n_classes: int
    ) -> ValueSummary:
        """Both columns, one after the other; see `NumberSummary.plus`."""
        index = dict.fromkeys([*self.values, *other.values])
        values = list(index)[: spool.MOST_VALUES]
        index = {value: number for number, value in enumerate(values, 1)}
        moved = np.array([0, *(index.get(v, -1) for v in other.values)], np.int64)
        own = other.entries
        own = own._replace(numbers=moved[own.numbers], classes=classes[own.classes])
        entries = _added(self.entries, own.chosen(own.numbers >= 0), n_classes)
        places = np.full(len(values), COUNTED_ROWS, np.int64)
        places[: len(self.places)] = self.places
        at, listed = moved[1:] - 1, moved[1:] > 0
        places[at[listed]] = np.minimum(
            places[at[listed]], other.places[listed] + self.n_present
        )
        return ValueSummary(
            self.name,
            values,
            self.ordered or other.ordered,
            entries,
            places,
            self.n_present + other.n_present,
        )

    def stand_in(self, classes: Places, n_classes: int) -> StandIn:
        """The short column for this one, whose classes get other numbers."""
        early = np.concatenate([[False], self.places < COUNTED_ROWS])
        entries = self.entries._replace(classes=classes[self.entries.classes])
        return stand_in_of_entries(
            self.name, self.values, entries, early, ordered=self.ordered
        )


@dataclass(frozen=True)
class NumbersSummary:
    """A column of numbers or times; `first` are among `COUNTED_ROWS` present cells."""

    name: Name
    times: str  # "" for numbers, "dates" or "durations"
    numbers: NumberSummary  # or microseconds
    hours: NumberSummary | None  # of dates, microseconds at the starts of hours
    absent: NDArray[np.float64]  # (2, n_classes), missing cells and their weight
    first: NDArray[Any]  # (n_first,), distinct numbers
    places: NDArray[np.int64]  # (n_first,), present cells before the first of each
    n_present: int  # cells

    overflows = False

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(self.absent[0].sum())

    def plus(
        self, other: NumbersSummary, classes: Places, n_classes: int
    ) -> NumbersSummary:
        """Both columns, one after the other; see `NumberSummary.plus`."""
        hours = None
        if self.hours is not None and other.hours is not None:
            hours = self.hours.plus(other.hours, classes, n_classes)
        absent = np.zeros((2, n_classes))
        absent[:, : self.absent.shape[1]] = self.absent
        absent[:, classes] += other.absent
        # Those of the left half come first, so that their places are kept.
        first, at = np.unique(
            np.concatenate([self.first, other.first]), return_index=True
        )
        places = np.concatenate([self.places, other.places + self.n_present])[at]
        counted = places < COUNTED_ROWS
        return NumbersSummary(
            self.name,
            self.times,
            self.numbers.plus(other.numbers, classes, n_classes),
            hours,
            absent,
            first[counted],
            places[counted],
            self.n_present + other.n_present,
        )

    def stand_in(self, classes: Places, n_classes: int) -> StandIn:
        """The short column for this one, whose classes get other numbers."""
        summary = self.numbers
        if self.hours is not None and summary.rank_error:
            # Whole hours are few, and tell all parts of a date but fractions of a day.
            summary = self.hours
        nothing = NumberSummary(summary.dtype, 0)
        absent = np.zeros((2, n_classes))
        absent[:, classes] = self.absent
        placed = nothing.plus(summary, classes, n_classes)
        return stand_in_of_summary(self.name, placed, absent, self.first, self.times)


ColumnSummary = ValueSummary | NumbersSummary


def columns_added(
    left: ColumnSummary, right: ColumnSummary, classes: Places, n_classes: int
) -> ColumnSummary:
    """The summary of both, one after the other; TypeError for numbers and text."""
    if _kind(left) != _kind(right):
        if not left.n_present:
            left = _as_empty(left, right)
        elif not right.n_present:
            right = _as_empty(right, left)
    if isinstance(left, ValueSummary) and isinstance(right, ValueSummary):
        return left.plus(right, classes, n_classes)
    numbers = isinstance(left, NumbersSummary) and isinstance(right, NumbersSummary)
    if not numbers or _sort(left) != _sort(right):
        raise TypeError(
            f"column {quoted(left.name)} holds {_sort(left)} in some partitions and "
            f"{_sort(right)} in others; give it one type with astype"
        )
    assert isinstance(left, NumbersSummary)
    assert isinstance(right, NumbersSummary)
    return left.plus(right, classes, n_classes)


def _kind(column: ColumnSummary) -> Any:
    """What two columns without a value must share to be alike."""
    if isinstance(column, ValueSummary):
        return "values"
    return column.times, column.numbers.dtype


def _as_empty(column: ColumnSummary, like: ColumnSummary) -> ColumnSummary:
    """A column without a value, as one of the same sort as another."""
    absent = column.absent if isinstance(column, NumbersSummary) else None
    n_classes = 0
    if isinstance(column, ValueSummary):
        entries = column.entries
        n_classes = int(entries.classes.max(initial=-1)) + 1
        absent = np.zeros((2, n_classes))
        absent[:, entries.classes] = entries.cells, entries.weights
    assert absent is not None
    if isinstance(like, ValueSummary):
        (lacking,) = np.nonzero(absent[0])
        numbers = np.zeros(len(lacking), np.int64)
        cells = absent[0][lacking].astype(np.int64)
        entries = Entries(numbers, lacking, cells, absent[1][lacking])
        return ValueSummary(
            column.name, [], like.ordered, entries, np.zeros(0, np.int64), 0
        )
    n_classes = absent.shape[1]
    return replace(
        like,
        numbers=NumberSummary(like.numbers.dtype, n_classes),
        hours=like.hours and NumberSummary(like.hours.dtype, n_classes),
        absent=absent,
        first=like.first[:0],
        places=like.places[:0],
        n_present=0,
    )


def _sort(column: ColumnSummary) -> str:
    """What a column holds."""
    if isinstance(column, ValueSummary):
        return "text or categories"
    return column.times or "numbers"


def _added(one: Entries, other: Entries, n_classes: int) -> Entries:
    """The entries of both, each value and class once."""
    numbers, classes, cells, weights = (
        np.concatenate(pair) for pair in zip(one, other, strict=True)
    )
    keys = numbers * n_classes + classes
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if not len(keys):
        return one
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return Entries(
        numbers[order][first],
        classes[order][first],
        np.add.reduceat(cells[order], first),
        np.add.reduceat(weights[order], first),
    )
