"""Short columns that stand for long ones: every value once in each class it is met in.

What is learned of them, with the number of cells and the weight of each entry, is what
would be learned of the long ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import RowCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.partial_values import Hierarchies, take_groups_out
from bayleaf.data.tables.columns import (
    Column,
    Matrix,
    Name,
    NumberColumn,
    Repeats,
    TimeColumn,
    ValueColumn,
)
from bayleaf.data.tables.date_parts import HOUR
from bayleaf.streams.spool import (
    MISSING,
    SHORT_RANGE,
    NumberSpool,
    ValueSpool,
    blocks,
    values_of,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# Most numbers that are told apart, and counts that go with them.
MOST_NUMBERS, _MOST_COUNTS = 1 << 20, 1 << 23
# Least hashes of numbers that are kept to estimate how many are distinct; the standard
# error is one part in the square root of that.
_N_HASHES = 1 << 12


@dataclass
class NumberSummary:
    """Distinct numbers with their cells and weight in each class.

    Exact up to `most` distinct numbers. Beyond, neighbours are joined into at most half
    as many intervals of about equal weight, each represented by its greatest number; a
    rank is then wrong by at most `rank_error` cells. Where the summary is split, up to
    `widest` cells more may be on one side than the numbers in it show.
    """

    dtype: Any
    n_classes: int
    values: NDArray[Any] = field(init=False)
    n_cells: NDArray[np.int64] = field(init=False)
    weights: Floats = field(init=False)
    absent: Floats = field(init=False)  # (2, n_classes), missing cells, their weight
    rank_error: int = 0
    widest: int = 0  # cells of an interval of several numbers
    hashes: NDArray[np.uint64] | None = None  # the least ones, once numbers are joined

    def __post_init__(self) -> None:
        self.dtype = np.dtype(self.dtype)
        self.values = np.zeros(0, self.dtype)
        self.n_cells = np.zeros((0, self.n_classes), np.int64)
        self.weights = np.zeros((0, self.n_classes))
        self.absent = np.zeros((2, self.n_classes))

    @property
    def most(self) -> int:
        """How many numbers are told apart."""
        return max(1 << 12, min(MOST_NUMBERS, _MOST_COUNTS // self.n_classes))

    def add(
        self,
        values: NDArray[Any],
        classes: Indices,
        weights: Floats | None,
        missing: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add the cells of some rows."""
        if missing is not None and missing.any():
            own = None if weights is None else weights[missing]
            self.absent[0] += np.bincount(classes[missing], minlength=self.n_classes)
            self.absent[1] += np.bincount(classes[missing], own, self.n_classes)
            values, classes = values[~missing], classes[~missing]
            weights = None if weights is None else weights[~missing]
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

    def plus(self, other: Self, classes: Indices, n_classes: int) -> Self:
        """The summary of both columns, one after the other.

        `classes` are the places here of the other's classes; this one's classes come
        first among `n_classes`.
        """
        dtype = np.result_type(self.dtype, other.dtype)
        both = type(self)(dtype, n_classes)
        both.rank_error = self.rank_error + other.rank_error
        both.widest = self.widest + other.widest
        if self.hashes is not None or other.hashes is not None:
            both.hashes = _least(self._own_hashes(), other._own_hashes())
        for one, places in ((self, np.arange(self.n_classes)), (other, classes)):
            n_cells = np.zeros((len(one.values), n_classes), np.int64)
            weights = np.zeros((len(one.values), n_classes))
            n_cells[:, places], weights[:, places] = one.n_cells, one.weights
            both.absent[:, places] += one.absent
            both.merge(one.values.astype(dtype), n_cells, weights)
        return both

    def merge(
        self, values: NDArray[Any], n_cells: NDArray[np.int64], weights: Floats
    ) -> None:
        """Take in numbers in increasing order, with their cells and weights."""
        if not len(values):
            return
        if self.hashes is not None:
            self.hashes = _least(self.hashes, _hashed(values))
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
        if len(self.values) <= self.most:
            return
        # Integers in a short range cannot become too many.
        is_whole = self.dtype.kind in "iu"
        if not (is_whole and int(self.values[-1]) - int(self.values[0]) < SHORT_RANGE):
            self._join_neighbours()

    def _join_neighbours(self) -> None:
        """Join neighbours into intervals of about equal weight.

        Numbers of more cells than that stay alone: there are at most as many of these,
        and intervals between them, as of intervals without them.
        """
        self.hashes = self._own_hashes()
        per_value = self.n_cells.sum(axis=1)
        n_intervals, total = self.most // 2, int(per_value.sum())
        is_heavy = per_value * n_intervals >= total
        below = np.cumsum(np.where(is_heavy, 0, per_value))
        interval = np.maximum(below - 1, 0) * n_intervals // total
        new = is_heavy[1:] | is_heavy[:-1] | (interval[1:] != interval[:-1])
        new[0] = True  # the least number bounds the range
        first = np.flatnonzero(np.concatenate(([True], new)))
        last = np.append(first[1:], len(interval)) - 1
        joined = np.add.reduceat(per_value, first)
        # Cells below the greatest number of an interval may lie above a number in it.
        self.rank_error += int((joined - per_value[last]).max())
        self.widest = max(self.widest, int(joined[first < last].max(initial=0)))
        self.values = self.values[last]
        self.n_cells = np.add.reduceat(self.n_cells, first)
        self.weights = np.add.reduceat(self.weights, first)

    def _own_hashes(self) -> NDArray[np.uint64]:
        """The least hashes of all numbers so far."""
        return self.hashes if self.hashes is not None else _least(_hashed(self.values))

    @property
    def n_distinct(self) -> int:
        """Number of distinct numbers, to two digits where they were joined.

        An estimate from the least hashes (Bar-Yossef et al. 2002, algorithm 2).
        """
        if self.hashes is None or len(self.hashes) < _N_HASHES:
            return len(self.values if self.hashes is None else self.hashes)
        share = float(self.hashes[-1]) / 2.0**64
        about = int(float(f"{(_N_HASHES - 1) / share:.1e}"))
        return min(max(len(self.values), about), int(self.n_cells.sum()))


def _hashed(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Numbers mixed to even 64-bit ones, alike for equal numbers of any type."""
    # Adding zero turns -0.0 into 0.0. Steele et al. (2014), MurmurHash3's mixing.
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    mixed: NDArray[np.uint64] = bits ^ (bits >> np.uint64(31))
    return mixed


def _least(*hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The least of some hashes, each once, in increasing order."""
    least: NDArray[np.uint64] = np.unique(np.concatenate(hashes))[:_N_HASHES]
    return least


_BLOCK_ROWS = 1 << 18
# Cells that are sorted at a time.
_SORTED_ROWS = 1 << 21


class StandIn(NamedTuple):
    """A short column for a long one."""

    column: Column  # entry per value and class, missing last
    classes: Indices  # (n_entries,)
    weights: Floats  # (n_entries,), of the cells
    numbers: NDArray[np.int64]  # (n_entries,), in the spool; () for numbers
    rank_error: int = 0  # cells by which shares are wrong; 0 with every number there
    n_distinct: int | None = None  # about, where not every number is there

    def without_groups(self, hierarchies: Hierarchies) -> StandIn:
        """The same with states in the place of cells that name groups."""
        columns, _ = take_groups_out([self.column], hierarchies)
        assert not isinstance(columns, Matrix)
        return self._replace(column=columns[0])


class RowClasses:
    """The class and weight of every row, read stretch by stretch.

    `table` maps numbers of `target` to classes; None puts all rows into one. Weights
    are multiplied by `scale`.
    """

    def __init__(
        self,
        target: ValueSpool | None,
        table: Indices,
        n_classes: int,
        weights: NumberSpool | None,
        scale: float = 1.0,
    ) -> None:
        self._target, self._table, self.n_classes = target, table, n_classes
        self._weights, self._scale = weights, scale

    def classes(self, first: int, last: int) -> Indices:
        """Classes of some rows."""
        if self._target is None:
            return np.zeros(last - first, dtype=np.intp)
        found: Indices = self._table[self._target.codes(first, last)]
        return found

    def weights(self, first: int, last: int) -> Floats | None:
        """Weights of some rows; None where each counts once."""
        if self._weights is None:
            return None
        column = self._weights.cells(first, last)
        assert isinstance(column, NumberColumn)
        return column.values * self._scale


def count_values(
    spools: Sequence[ValueSpool], rows: RowClasses, n_rows: int, n_jobs: int
) -> list[tuple[Floats, Floats]]:
    """Cells and weight of every value in every class, (n_codes, n_classes) each."""
    totals = [np.zeros((2, spool.n_codes, rows.n_classes)) for spool in spools]
    limits = list(blocks(n_rows, _BLOCK_ROWS))
    step = 4 * n_jobs
    for begin in range(0, len(limits), step):
        tasks = [
            partial(_counted_block, spools, rows, first, last)
            for first, last in limits[begin : begin + step]
        ]
        for part in run_tasks(tasks, n_jobs):
            for total, own in zip(totals, part, strict=True):
                total += own
    return [(total[0], total[1]) for total in totals]


def _counted_block(
    spools: Sequence[ValueSpool], rows: RowClasses, first: int, last: int
) -> list[Floats]:
    """Cells and weight of every value in every class, in some rows."""
    classes, weights = rows.classes(first, last), rows.weights(first, last)
    columns = [spool.codes(first, last) for spool in spools]
    small = [i for i, s in enumerate(spools) if s.n_codes <= Codes.MAX_STATES]
    found: list[Any] = [None] * len(spools)
    cards = [spools[i].n_codes for i in small]
    few = counts_by_class(
        [columns[i] for i in small], cards, classes, rows.n_classes, weights
    )
    for i, own in zip(small, few, strict=True):
        found[i] = own
    for i, spool in enumerate(spools):
        if found[i] is None:
            size = spool.n_codes * rows.n_classes
            key = columns[i].astype(np.int64) * rows.n_classes + classes
            cells = np.bincount(key, minlength=size)
            total = cells if weights is None else np.bincount(key, weights, size)
            shape = spool.n_codes, rows.n_classes
            found[i] = np.stack([cells.reshape(shape), total.reshape(shape)])
    return found


def counts_by_class(
    columns: Sequence[NDArray[Any]],
    n_codes: Sequence[int],
    classes: Indices,
    n_classes: int,
    weights: Floats | None,
) -> list[Floats]:
    """Cells and weight of every code in every class, (2, n_codes, n_classes) each.

    No column may have more codes than `Codes` allows.
    """
    if not columns:
        return []
    families = [(len(columns), place) for place in range(len(columns))]
    counted = []
    for own in (None, weights) if weights is not None else (None,):
        codes = Codes.from_columns([*columns, classes], [*n_codes, n_classes], own)
        counted.append(RowCounts(codes, 1).family_counts(families))
    return [
        np.stack([each[place].T for each in (counted[0], counted[-1])])
        for place in range(len(columns))
    ]


class Entries(NamedTuple):
    """The values of a column, each in every class that it is met in."""

    numbers: NDArray[np.int64]  # (n_entries,), of values, from 1 on; 0: missing
    classes: Indices  # (n_entries,)
    cells: NDArray[np.int64]  # (n_entries,), number of them
    weights: Floats  # (n_entries,), of the cells

    @classmethod
    def of_table(cls, cells: Floats, weights: Floats) -> Entries:
        """Those of tables of shape (n_codes, n_classes)."""
        places = np.nonzero(cells)
        numbers, classes = places
        return cls(numbers, classes, cells[places].astype(np.int64), weights[places])

    def chosen(self, places: NDArray[Any]) -> Entries:
        """Some of them."""
        return Entries(*(own[places] for own in self))


def stand_in_of_values(spool: ValueSpool, cells: Floats, weights: Floats) -> StandIn:
    """The short column for one whose cells are numbered by their values."""
    n_listed = len(spool.values) + 1
    entries = Entries.of_table(cells[:n_listed], weights[:n_listed])
    if not spool.numbers:
        return stand_in_of_entries(
            spool.name,
            spool.values,
            entries,
            ordered=spool.ordered,
            declared=spool.declared,
        )
    values = np.array([0, *spool.values], dtype=np.int64)[entries.numbers]
    missing = entries.numbers == MISSING
    column = NumberColumn(
        spool.name, values, missing if missing.any() else None, Repeats(entries.cells)
    )
    return StandIn(column, entries.classes, entries.weights, entries.numbers)


def stand_in_of_entries(
    name: Name,
    values: list[Hashable],
    entries: Entries,
    *,
    ordered: bool,
    declared: bool,
) -> StandIn:
    """The short column for one of values, the first of which has number 1.

    `ordered` values have the order of the table, and `declared` ones are categories.
    """
    indices = (entries.numbers - 1).astype(np.int32)
    repeats = Repeats(entries.cells)
    column = ValueColumn(name, indices, values, ordered, repeats, declared)
    return StandIn(column, entries.classes, entries.weights, entries.numbers)


def stand_in_of_numbers(spool: NumberSpool, rows: RowClasses) -> StandIn:
    """The short column for one of numbers or times."""
    summary, hours = _summarised(spool, rows, 1), None
    if spool.times.startswith("dates") and summary.rank_error:
        hours = _summarised(spool, rows, HOUR)
    return stand_in_of_summary(spool.name, summary, spool.times, hours)


def stand_in_of_summary(
    name: Name,
    summary: NumberSummary,
    times: str,
    hours: NumberSummary | None = None,
) -> StandIn:
    """The short column for one of numbers or times.

    `times` is "" for numbers, "dates" or "durations". `hours` stand for dates of which
    not all are there.
    """
    error = summary.rank_error + summary.widest
    n_distinct = summary.n_distinct if error else None
    if error and hours is not None:
        # Whole hours are few, and tell all parts of a date but fractions of its day:
        # what lies before a part of an hour is wrong by the cells of the hour.
        summary = hours
        per_hour = int(hours.n_cells.sum(axis=1).max())
        error = hours.rank_error + hours.widest + per_hour
    places, classes = np.nonzero(summary.n_cells)
    absent = summary.absent
    lacking = np.flatnonzero(absent[0])
    values = np.append(summary.values[places], np.zeros(len(lacking), summary.dtype))
    missing = np.arange(len(values)) >= len(places)
    counts = np.append(
        summary.n_cells[places, classes], absent[0][lacking].astype(np.int64)
    )
    weights = np.append(summary.weights[places, classes], absent[1][lacking])
    repeats = Repeats(counts)
    column: Column
    if times:
        column = TimeColumn.of_times(name, values, missing, times, repeats)
    else:
        if values.dtype.kind == "f":
            values = np.where(missing, np.nan, values)
        lacks = missing if missing.any() else None
        column = NumberColumn(name, values, lacks, repeats)
    every = np.append(classes, lacking)
    nothing = np.zeros(0, np.int64)
    return StandIn(column, every, weights, nothing, error, n_distinct)


def _summarised(spool: NumberSpool, rows: RowClasses, unit: int) -> NumberSummary:
    """Numbers by class, rounded down to a unit."""
    summary = NumberSummary(spool.dtype, rows.n_classes)
    for first, last in blocks(spool.n_rows, _SORTED_ROWS):
        values, missing = values_of(spool.cells(first, last))
        if unit != 1:
            values = values // unit * unit
        classes, weights = rows.classes(first, last), rows.weights(first, last)
        summary.add(values, classes, weights, missing)
    return summary
