"""Short columns that stand for long ones: every value once in each class it is met in.

What is learned of them, with the number of cells and the weight of each entry, is what
would be learned of the long ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.table_counts import TableCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.reading.dates import HOUR
from bayleaf.data.reading.learning import COUNTED_ROWS
from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    Repeats,
    TimeColumn,
    ValueColumn,
)
from bayleaf.streams.number_spool import NumberSpool
from bayleaf.streams.number_summary import NumberSummary
from bayleaf.streams.spool import MISSING, ValueSpool, blocks

_BLOCK_ROWS = 1 << 18
# Cells that are sorted at a time.
_SORTED_ROWS = 1 << 21


class StandIn(NamedTuple):
    """A short column for a long one."""

    column: Column  # entry per value and class, missing last
    classes: NDArray[np.intp]  # (n_entries,)
    weights: NDArray[np.float64]  # (n_entries,), of the cells
    numbers: NDArray[np.int64]  # (n_entries,), in the spool; () for numbers
    rank_error: int = 0  # cells; 0 where every number is there


class RowClasses:
    """The class and weight of every row, read stretch by stretch.

    `table` maps numbers of `target` to classes; None puts all rows into one. Weights
    are multiplied by `scale`.
    """

    def __init__(
        self,
        target: ValueSpool | None,
        table: NDArray[np.intp],
        n_classes: int,
        weights: NumberSpool | None,
        scale: float = 1.0,
    ) -> None:
        self._target, self._table, self.n_classes = target, table, n_classes
        self._weights, self._scale = weights, scale

    def classes(self, first: int, last: int) -> NDArray[np.intp]:
        """Classes of some rows."""
        if self._target is None:
            return np.zeros(last - first, dtype=np.intp)
        found: NDArray[np.intp] = self._table[self._target.codes(first, last)]
        return found

    def weights(self, first: int, last: int) -> NDArray[np.float64] | None:
        """Weights of some rows; None where each counts once."""
        if self._weights is None:
            return None
        column = self._weights.cells(first, last)
        assert isinstance(column, NumberColumn)
        return column.values * self._scale


def count_values(
    spools: Sequence[ValueSpool], rows: RowClasses, n_rows: int, n_jobs: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
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
) -> list[NDArray[np.float64]]:
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
    classes: NDArray[np.intp],
    n_classes: int,
    weights: NDArray[np.float64] | None,
) -> list[NDArray[np.float64]]:
    """Cells and weight of every code in every class, (2, n_codes, n_classes) each.

    No column may have more codes than `Codes` allows.
    """
    if not columns:
        return []
    families = [(len(columns), place) for place in range(len(columns))]
    counted = []
    for own in (None, weights) if weights is not None else (None,):
        codes = Codes.from_columns([*columns, classes], [*n_codes, n_classes], own)
        counted.append(TableCounts(codes, 1).family_counts(families))
    return [
        np.stack([each[place].T for each in (counted[0], counted[-1])])
        for place in range(len(columns))
    ]


class Entries(NamedTuple):
    """The values of a column, each in every class that it is met in."""

    numbers: NDArray[np.int64]  # (n_entries,), of values, from 1 on; 0: missing
    classes: NDArray[np.intp]  # (n_entries,)
    cells: NDArray[np.int64]  # (n_entries,), number of them
    weights: NDArray[np.float64]  # (n_entries,), of the cells

    @classmethod
    def of_table(
        cls, cells: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> Entries:
        """Those of tables of shape (n_codes, n_classes)."""
        places = np.nonzero(cells)
        numbers, classes = places
        return cls(numbers, classes, cells[places].astype(np.int64), weights[places])

    def chosen(self, places: NDArray[Any]) -> Entries:
        """Some of them."""
        return Entries(*(own[places] for own in self))


def stand_in_of_values(
    spool: ValueSpool, cells: NDArray[np.float64], weights: NDArray[np.float64]
) -> StandIn:
    """The short column for one whose cells are numbered by their values."""
    n_listed = len(spool.values) + 1
    entries = Entries.of_table(cells[:n_listed], weights[:n_listed])
    early = _early_numbers(spool)
    if not spool.numbers:
        return stand_in_of_entries(
            spool.name, spool.values, entries, early, ordered=spool.ordered
        )
    entries, n_early = _in_order(entries, early)
    values = np.array([0, *spool.values], dtype=np.int64)[entries.numbers]
    missing = entries.numbers == MISSING
    column = NumberColumn(
        spool.name,
        values,
        missing if missing.any() else None,
        Repeats(entries.cells, n_early),
    )
    return StandIn(column, entries.classes, entries.weights, entries.numbers)


def stand_in_of_entries(
    name: Name,
    values: list[Hashable],
    entries: Entries,
    early: NDArray[np.bool_],
    *,
    ordered: bool,
) -> StandIn:
    """The short column for one of values, the first of which has number 1.

    `early` (n_values + 1,) marks the numbers met in the first cells, in which distinct
    values are counted for reports. `ordered` values have the order of the table.
    """
    entries, n_early = _in_order(entries, early)
    indices = (entries.numbers - 1).astype(np.int32)
    repeats = Repeats(entries.cells, n_early)
    column = ValueColumn(name, indices, values, ordered, repeats)
    return StandIn(column, entries.classes, entries.weights, entries.numbers)


def _in_order(entries: Entries, early: NDArray[np.bool_]) -> tuple[Entries, int]:
    """Entries, early values first and missing cells last; how many are early."""
    missing = entries.numbers == MISSING
    is_early = early[entries.numbers] & ~missing
    order = np.argsort(np.where(missing, 2, ~is_early), kind="stable")
    return entries.chosen(order), int(np.count_nonzero(is_early))


def _early_numbers(spool: ValueSpool) -> NDArray[np.bool_]:
    """Which numbers are met in the first cells in which distinct values are counted."""
    n_seen, early = 0, np.zeros(spool.n_codes, dtype=bool)
    for first, last in blocks(spool.n_rows, COUNTED_ROWS):
        codes = spool.codes(first, last)
        codes = codes[codes != MISSING][: COUNTED_ROWS - n_seen]
        n_seen += len(codes)
        early[codes] = True
        if n_seen == COUNTED_ROWS:
            break
    return early


def stand_in_of_numbers(spool: NumberSpool, rows: RowClasses) -> StandIn:
    """The short column for one of numbers or times."""
    summary, absent = _summarised(spool, rows, 1)
    if spool.times == "dates" and summary.rank_error:
        # Whole hours are few, and tell all parts of a date but fractions of its day.
        summary, absent = _summarised(spool, rows, HOUR)
    return stand_in_of_summary(
        spool.name, summary, absent, _first_values(spool), spool.times
    )


def stand_in_of_summary(
    name: Name,
    summary: NumberSummary,
    absent: NDArray[np.float64],
    first_values: NDArray[Any],
    times: str,
) -> StandIn:
    """The short column for one of numbers or times.

    `absent` (2, n_classes) has number and weight of missing cells; `first_values` are
    the distinct ones in the first cells, in which they are counted for reports; `times`
    is "" for numbers, "dates" or "durations".
    """
    places, classes = np.nonzero(summary.n_cells)
    early = np.isin(summary.values, first_values)[places]
    order = np.argsort(~early, kind="stable")
    places, classes = places[order], classes[order]
    lacking = np.flatnonzero(absent[0])
    values = np.append(summary.values[places], np.zeros(len(lacking), summary.dtype))
    missing = np.arange(len(values)) >= len(places)
    counts = np.append(
        summary.n_cells[places, classes], absent[0][lacking].astype(np.int64)
    )
    weights = np.append(summary.weights[places, classes], absent[1][lacking])
    repeats = Repeats(counts, int(np.count_nonzero(early)))
    column = _column_of(name, values, missing, times, repeats)
    every = np.append(classes, lacking)
    nothing = np.zeros(0, np.int64)
    return StandIn(column, every, weights, nothing, summary.rank_error)


def _column_of(
    name: Name,
    values: NDArray[Any],
    missing: NDArray[np.bool_],
    times: str,
    repeats: Repeats,
) -> Column:
    """Numbers or times as a column."""
    if times:
        return TimeColumn(name, values, missing, times == "durations", repeats)
    if values.dtype.kind == "f":
        values = np.where(missing, np.nan, values)
    return NumberColumn(name, values, missing if missing.any() else None, repeats)


def _summarised(
    spool: NumberSpool, rows: RowClasses, unit: int
) -> tuple[NumberSummary, NDArray[np.float64]]:
    """Numbers by class, rounded down to a unit; missing cells and weight by class."""
    summary = NumberSummary(spool.dtype, rows.n_classes)
    absent = np.zeros((2, rows.n_classes))
    for first, last in blocks(spool.n_rows, _SORTED_ROWS):
        column = spool.cells(first, last)
        classes, weights = rows.classes(first, last), rows.weights(first, last)
        values, missing = values_of(column)
        if unit != 1:
            values = values // unit * unit
        if missing is not None and missing.any():
            own = None if weights is None else weights[missing]
            absent[0] += np.bincount(classes[missing], minlength=rows.n_classes)
            absent[1] += np.bincount(classes[missing], own, rows.n_classes)
            values, classes = values[~missing], classes[~missing]
            weights = None if weights is None else weights[~missing]
        summary.add(values, classes, weights)
    return summary, absent


def values_of(column: Column) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Numbers or microseconds, and which cells are missing."""
    if isinstance(column, TimeColumn):
        return column.microseconds, column.missing
    assert isinstance(column, NumberColumn)
    return column.values, column.missing


def _first_values(spool: NumberSpool) -> NDArray[Any]:
    """The distinct numbers in the first cells that are counted for reports."""
    found: list[NDArray[Any]] = []
    n_seen = 0
    for first, last in blocks(spool.n_rows, COUNTED_ROWS):
        values, missing = values_of(spool.cells(first, last))
        present = values if missing is None else values[~missing]
        found.append(present[: COUNTED_ROWS - n_seen])
        n_seen += len(found[-1])
        if n_seen == COUNTED_ROWS:
            break
    return np.unique(np.concatenate(found)) if found else np.zeros(0)
