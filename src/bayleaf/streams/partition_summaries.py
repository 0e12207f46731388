"""Summaries of partitions: what learning must know of them, in halves that add up."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.counts.planes import are_small_and_whole
from bayleaf.data.codes import Codes
from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    TimeColumn,
    ValueColumn,
)
from bayleaf.data.tables.date_parts import HOUR
from bayleaf.streams import spool
from bayleaf.streams.spilling import TableRoles, checked_target, checked_weights
from bayleaf.streams.spool import MISSING, first_missing, values_of
from bayleaf.streams.stand_ins import (
    Entries,
    NumberSummary,
    StandIn,
    counts_by_class,
    stand_in_of_entries,
    stand_in_of_summary,
)
from bayleaf.wording import quoted


@dataclass(frozen=True)
class PartitionRows:
    """The rows of weight above zero of a partition."""

    batch: pa.RecordBatch
    labels: ValueColumn  # one for all rows if there is no target
    weights: NDArray[np.float64] | None  # (n_rows,); None: each counts once
    roles: TableRoles

    @classmethod
    def of(cls, partition: Any, roles: TableRoles, place: int) -> PartitionRows:
        """Those of a data frame of pandas or a table of Arrow.

        ValueError or TypeError names the partition if labels or weights cannot be used.
        """
        try:
            batch, weights = _batch_of(partition), None
            if roles.weight is not None:
                weights = checked_weights(batch, roles.weight, 0)
                kept = weights > 0
                if not kept.all():
                    batch, weights = batch.filter(pa.array(kept)), weights[kept]
            labels = ValueColumn("", np.zeros(batch.num_rows, np.int32), ["all rows"])
            if roles.target is not None:
                labels = checked_target(batch, roles.target, 0)
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"in partition {place}, {error}") from error
        return cls(batch, labels, weights, roles)

    def features(self) -> Iterator[Column]:
        """The columns to learn from."""
        for name in self.roles.features_of(self.batch.schema.names):
            yield self.roles.feature(name, self.batch.column(name))


def _batch_of(partition: Any) -> pa.RecordBatch:
    """A partition as one batch of Arrow."""
    table = partition
    if not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(partition, preserve_index=False)
    batches = table.unify_dictionaries().combine_chunks().to_batches()
    if batches:
        return batches[0]
    return pa.RecordBatch.from_pylist([], schema=table.schema)


# Integers in a range of so many are counted in a table, others are sorted.
_COUNTED_RANGE = 1 << 10
# Rows in which all values of a column are looked for first.
_SCANNED_ROWS = 1 << 12


@dataclass(frozen=True)
class TableSummary:
    """What learning must know of some partitions."""

    n_rows: tuple[int, ...]  # of weight above zero, per partition
    labels: tuple[Hashable, ...]  # in the order in which they first occur
    label_type: pa.DataType | None  # None where there are no rows
    weight: float  # in total
    whole_weights: bool  # all are integers in a byte
    first_missing: Mapping[Any, int]  # row, by column
    columns: tuple[ColumnSummary, ...]

    @property
    def overflowing(self) -> list[Any]:
        """Names of the columns with values beyond those that are listed."""
        return [own.name for own in self.columns if own.overflows]

    def plus(self, other: TableSummary) -> TableSummary:
        """What is known of these partitions and those that come after."""
        labels = tuple(dict.fromkeys((*self.labels, *other.labels)))
        _check_classes(labels)
        index = {label: place for place, label in enumerate(labels)}
        classes = np.array([index[label] for label in other.labels], np.intp)
        before = sum(self.n_rows)
        later = {name: row + before for name, row in other.first_missing.items()}
        return TableSummary(
            (*self.n_rows, *other.n_rows),
            labels,
            self.label_type if self.label_type is not None else other.label_type,
            self.weight + other.weight,
            self.whole_weights and other.whole_weights,
            {**later, **self.first_missing},
            tuple(
                columns_added(one, own, classes, len(labels))
                for one, own in zip(self.columns, other.columns, strict=True)
            ),
        )

    def with_columns(self, other: TableSummary) -> TableSummary:
        """The same with some columns as another summary of the partitions has them."""
        own = {column.name: column for column in (*self.columns, *other.columns)}
        return replace(self, columns=tuple(own[c.name] for c in self.columns))


class _Numbered(NamedTuple):
    """A column whose cells have the numbers of their values, 0 where missing."""

    column: Column
    codes: NDArray[Any]
    n_codes: int
    values: list[Hashable]


def summarised(
    roles: TableRoles,
    place: int,
    partition: Any,
    listed: Mapping[Any, Collection[Hashable]] | None = None,
) -> TableSummary:
    """Summarise one partition; `place` is its number.

    `listed` limits the summary to these columns, and in each to these values.
    """
    rows = PartitionRows.of(partition, roles, place)
    occurring = _numbered_values(rows.labels, None)
    labels, classes = tuple(occurring.values), occurring.codes.astype(np.intp) - 1
    _check_classes(labels)
    columns = [c for c in rows.features() if listed is None or c.name in listed]
    wanted: Mapping[Any, Collection[Hashable] | None] = listed or {}
    numbered = [_numbered(column, wanted.get(column.name)) for column in columns]
    small = [
        own for own in numbered if own is not None and own.n_codes <= Codes.MAX_STATES
    ]
    counted = iter(
        counts_by_class(
            [own.codes for own in small],
            [own.n_codes for own in small],
            classes,
            max(len(labels), 1),
            rows.weights,
        )
    )
    found: list[ColumnSummary] = []
    n_classes = len(labels)
    for column, own in zip(columns, numbered, strict=True):
        if own is None:
            found.append(_of_numbers(column, classes, n_classes, rows.weights))
        elif isinstance(column, NumberColumn):
            found.append(_of_few_numbers(column, own, next(counted)[:, :, :n_classes]))
        elif own.n_codes <= Codes.MAX_STATES:
            found.append(_of_values(own, Entries.of_table(*next(counted))))
        else:
            found.append(_of_values(own, _many(own, classes, n_classes, rows.weights)))
    missing = {column.name: first_missing(column) for column in columns}
    weights, target, label_type = rows.weights, rows.roles.target, None
    if target is not None and rows.batch.num_rows:
        label_type = rows.batch.schema.field(target).type
    return TableSummary(
        (rows.batch.num_rows,),
        labels,
        label_type,
        float(rows.batch.num_rows if weights is None else weights.sum()),
        weights is None or are_small_and_whole(weights),
        {name: row for name, row in missing.items() if row is not None},
        tuple(found),
    )


def _check_classes(labels: tuple[Hashable, ...]) -> None:
    """Raise if there are more classes than a variable may have states."""
    if len(labels) > Codes.MAX_STATES:
        raise ValueError(
            f"the target has more than {Codes.MAX_STATES:,} values; cut it into "
            "classes first"
        )


def _numbered(column: Column, wanted: Collection[Hashable] | None) -> _Numbered | None:
    """A column of values or of few integers, numbered; None for others."""
    if isinstance(column, ValueColumn):
        return _numbered_values(column, wanted)
    if isinstance(column, TimeColumn) or not _is_signed(column.values):
        return None
    present = column.values
    if column.missing is not None:
        present = present[~column.missing]
    if not len(present):
        return None
    low, high = int(present.min()), int(present.max())
    if high - low >= _COUNTED_RANGE:
        return None
    codes = (column.values.astype(np.int64) - (low - 1)).astype(np.uint16)
    if column.missing is not None:
        codes[column.missing] = MISSING
    values: list[Hashable] = list(range(low, high + 1))
    return _Numbered(column, codes, len(values) + 1, values)


def _is_signed(values: NDArray[Any]) -> bool:
    """Whether these are integers that are kept as signed ones."""
    return values.dtype.kind in "iu" and values.dtype != np.uint64


def _numbered_values(
    column: ValueColumn, wanted: Collection[Hashable] | None
) -> _Numbered:
    """Values in the order in which they first occur, or in their own."""
    n_values, n_rows = len(column.values), len(column.indices)
    first = _first_rows(column.indices, n_values)
    if column.ordered:
        order = [i for i, value in enumerate(column.values) if value is not None]
    else:
        used = np.flatnonzero(first < n_rows)
        order = used[np.argsort(first[used])].tolist()
    index: dict[Hashable, int] = {}
    numbers = np.zeros(n_values + 1, np.uint32)
    n_beyond = 0
    for i in order:
        value = column.values[i]
        if wanted is not None and value not in wanted:
            n_beyond = 1
            numbers[i] = np.iinfo(np.uint32).max
            continue
        if value not in index:
            index[value] = len(index) + 1
        numbers[i] = index[value]
    if n_beyond:
        numbers = np.minimum(numbers, len(index) + 1).astype(np.uint32)
    n_codes = len(index) + 1 + n_beyond
    kind = np.uint8 if n_codes <= 1 << 8 else np.uint32
    codes = numbers.astype(kind)[column.indices]
    return _Numbered(column, codes, n_codes, list(index))


def _first_rows(indices: NDArray[np.int32], n_values: int) -> NDArray[np.int64]:
    """The first row of each value; the number of rows for those that have none."""
    n_rows, n_scanned = len(indices), _SCANNED_ROWS
    while True:
        head = indices[:n_scanned]
        # Missing cells, whose index is -1, go to the place after all values.
        first = np.full(n_values + 1, n_rows, np.int64)
        # Of repeated places the last one assigned counts, which is the first row.
        first[head[::-1]] = np.arange(len(head) - 1, -1, -1)
        if n_scanned >= n_rows or (first[:-1] < n_rows).all():
            return first[:-1]
        n_scanned *= 16


def _many(
    own: _Numbered,
    classes: NDArray[np.intp],
    n_classes: int,
    weights: NDArray[np.float64] | None,
) -> Entries:
    """Entries of a column of more values than a table of counts is for."""
    key = own.codes.astype(np.int64) * n_classes + classes
    keys, inverse = np.unique(key, return_inverse=True)
    cells = np.bincount(inverse, minlength=len(keys)).astype(np.int64)
    total = np.bincount(inverse, weights, len(keys)).astype(np.float64)
    return Entries(keys // n_classes, keys % n_classes, cells, total)


def _of_values(own: _Numbered, entries: Entries) -> ValueSummary:
    """The summary of a column of values; what is beyond the list is left out."""
    column = own.column
    assert isinstance(column, ValueColumn)
    return ValueSummary(
        column.name,
        own.values,
        column.ordered,
        column.declared,
        entries.chosen(entries.numbers <= len(own.values)),
        int(entries.cells[entries.numbers != MISSING].sum()),
    )


def _of_few_numbers(
    column: NumberColumn, own: _Numbered, counts: NDArray[np.float64]
) -> NumbersSummary:
    """The summary of a column of integers that were counted in a table."""
    cells, weights = counts
    numbers = NumberSummary(np.dtype(np.int64), cells.shape[1])
    used = 1 + np.flatnonzero(cells[1:].any(axis=1))
    low = own.values[0]
    assert isinstance(low, int)
    numbers.merge(low - 1 + used, cells[used].astype(np.int64), weights[used])
    numbers.absent = counts[:, MISSING]
    return NumbersSummary(column.name, "", numbers, None)


def _of_numbers(
    column: Column,
    classes: NDArray[np.intp],
    n_classes: int,
    weights: NDArray[np.float64] | None,
) -> NumbersSummary:
    """The summary of a column of numbers or times."""
    times = column.times if isinstance(column, TimeColumn) else ""
    values, missing = values_of(column)
    if _is_signed(values):
        values = values.astype(np.int64, copy=False)
    numbers, hours = NumberSummary(values.dtype, n_classes), None
    numbers.add(values, classes, weights, missing)
    if times.startswith("dates"):
        hours = NumberSummary(values.dtype, n_classes)
        hours.add(values // HOUR * HOUR, classes, weights, missing)
    return NumbersSummary(column.name, times, numbers, hours)


Places = NDArray[np.intp]


@dataclass(frozen=True)
class ValueSummary:
    """A column of values."""

    name: Name
    values: list[Hashable]  # as they first occur, or as categories are ordered
    ordered: bool  # the table declares the order
    declared: bool  # as categories
    entries: Entries  # in increasing order of number and class
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
        return ValueSummary(
            self.name,
            values,
            self.ordered or other.ordered,
            self.declared or other.declared,
            entries,
            self.n_present + other.n_present,
        )

    def stand_in(self, classes: Places, n_classes: int) -> StandIn:
        """The short column for this one, whose classes get other numbers."""
        entries = self.entries._replace(classes=classes[self.entries.classes])
        return stand_in_of_entries(
            self.name,
            self.values,
            entries,
            ordered=self.ordered,
            declared=self.declared,
        )


@dataclass(frozen=True)
class NumbersSummary:
    """A column of numbers or times."""

    name: Name
    times: str  # "" for numbers, else as `TimeColumn.times`
    numbers: NumberSummary  # or microseconds
    hours: NumberSummary | None  # of dates, microseconds at the starts of hours

    overflows = False

    @property
    def n_present(self) -> int:
        """Number of cells that are not missing."""
        return int(self.numbers.n_cells.sum())

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(self.numbers.absent[0].sum())

    def plus(
        self, other: NumbersSummary, classes: Places, n_classes: int
    ) -> NumbersSummary:
        """Both columns, one after the other; see `NumberSummary.plus`."""
        hours = None
        if self.hours is not None and other.hours is not None:
            hours = self.hours.plus(other.hours, classes, n_classes)
        numbers = self.numbers.plus(other.numbers, classes, n_classes)
        return NumbersSummary(self.name, self.times, numbers, hours)

    def stand_in(self, classes: Places, n_classes: int) -> StandIn:
        """The short column for this one, whose classes get other numbers."""
        nothing = NumberSummary(self.numbers.dtype, 0)
        placed = nothing.plus(self.numbers, classes, n_classes)
        hours = self.hours and nothing.plus(self.hours, classes, n_classes)
        return stand_in_of_summary(self.name, placed, self.times, hours)


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
    if (
        isinstance(left, NumbersSummary)
        and isinstance(right, NumbersSummary)
        and left.times == right.times
    ):
        return left.plus(right, classes, n_classes)
    raise TypeError(
        f"column {quoted(left.name)} holds {_sort(left)} in some partitions and "
        f"{_sort(right)} in others; give it one type with astype"
    )


def _kind(column: ColumnSummary) -> Any:
    """What two columns without a value must share to be alike."""
    if isinstance(column, ValueSummary):
        return "values"
    return column.times, column.numbers.dtype


def _as_empty(column: ColumnSummary, like: ColumnSummary) -> ColumnSummary:
    """A column without a value, as one of the same sort as another."""
    if isinstance(column, NumbersSummary):
        absent = column.numbers.absent
    else:
        entries = column.entries
        absent = np.zeros((2, int(entries.classes.max(initial=-1)) + 1))
        absent[:, entries.classes] = entries.cells, entries.weights
    if isinstance(like, ValueSummary):
        (lacking,) = np.nonzero(absent[0])
        numbers = np.zeros(len(lacking), np.int64)
        cells = absent[0][lacking].astype(np.int64)
        entries = Entries(numbers, lacking, cells, absent[1][lacking])
        return ValueSummary(column.name, [], like.ordered, like.declared, entries, 0)
    empty = NumberSummary(like.numbers.dtype, absent.shape[1])
    empty.absent = absent
    return replace(like, numbers=empty, hours=like.hours and empty)


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
