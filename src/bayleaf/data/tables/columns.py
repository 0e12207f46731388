"""Columns of numbers or of distinct values, whatever table they were part of."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.typing import Name as Name

# Integers that are looked up in a table over their range at most.
_MOST_IN_RANGE = 1 << 16


@dataclass(frozen=True)
class Repeats:
    """How many cells of a long column each entry of a short one stands for."""

    counts: NDArray[np.int64]  # (n_entries,), cells


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers."""

    name: Name
    values: NDArray[Any]  # (n_rows,), int64, uint64 or float64; any if missing
    missing: NDArray[np.bool_] | None  # (n_rows,); None if none is
    repeats: Repeats | None = None  # where entries stand for many cells

    @property
    def n_rows(self) -> int:
        """Number of cells."""
        return len(self.values)

    @property
    def is_integer(self) -> bool:
        """Whether the column was declared to hold integers."""
        return self.values.dtype.kind in "iu"

    def floats(self) -> NDArray[np.float64]:
        """Values as float64, NaN where missing."""
        floats = self.values.astype(np.float64)
        if self.missing is not None:
            floats[self.missing] = np.nan
        return floats

    def distinct(self) -> ValueColumn:
        """The same column as indices into its distinct values, in increasing order."""
        places = self.places_in_range()
        if places is not None:
            # A table over the range is several times faster than a sort.
            every, offsets = places
            seen = np.zeros(len(every), dtype=bool)
            seen[offsets if self.missing is None else offsets[~self.missing]] = True
            distinct: NDArray[Any] = every[seen]
            indices = (np.cumsum(seen, dtype=np.int32) - 1).astype(np.int32)[offsets]
        else:
            present = self.present()
            distinct, inverse = np.unique(present, return_inverse=True)
            indices = np.zeros(len(self.values), dtype=np.int32)
            indices[slice(None) if self.missing is None else ~self.missing] = inverse
        if self.missing is not None:
            indices[self.missing] = -1
        values = distinct.tolist()
        return ValueColumn(self.name, indices, values, repeats=self.repeats)

    def places_in_range(self) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
        """The integers from the least to the greatest, and each cell's place.

        Missing cells have place 0. None where numbers may be fractions, or are too many
        for a table.
        """
        present = self.present()
        if not self.is_integer or not len(present):
            return None
        low, high = present.min(), present.max()
        n_numbers = int(high) - int(low) + 1
        if n_numbers > _MOST_IN_RANGE:
            return None
        offsets = (self.values - low).astype(np.int64)
        if self.missing is not None:
            offsets[self.missing] = 0
        return np.arange(n_numbers, dtype=self.values.dtype) + low, offsets

    def present(self) -> NDArray[Any]:
        """The cells that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]


class TextValues(Sequence[Hashable]):
    """Distinct texts as Arrow has them, objects of Python once they are asked for.

    A column of numbers written as text has many, and no use of them as such.
    """

    def __init__(self, texts: pa.Array) -> None:
        self.texts = texts  # without nulls

    @cached_property
    def _list(self) -> list[Hashable]:
        """The texts as objects."""
        found: list[Hashable] = self.texts.to_pylist()
        return found

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> list[Hashable]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._list[index]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._list)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._list == list(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ValueColumn:
    """A column as indices into its distinct values."""

    name: Name
    indices: NDArray[np.int32]  # (n_rows,), -1 where missing
    values: Sequence[Hashable]  # some may occur in no row
    ordered: bool = False  # in an order that the table declares
    repeats: Repeats | None = None  # where entries stand for many cells
    declared: bool = False  # as categories, which stay what they are

    @property
    def n_rows(self) -> int:
        """Number of cells."""
        return len(self.indices)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts whose meaning is to be found out."""
        if self.ordered or self.declared:
            return False
        return isinstance(self.values, TextValues) or all(
            isinstance(v, str) or v is None for v in self.values
        )

    def distinct(self) -> ValueColumn:
        """The column itself; see `NumberColumn.distinct`."""
        return self


@dataclass(frozen=True)
class TimeColumn:
    """A column of dates, of times of a day, or of durations.

    Dates count from the start of 1970, by the clock that they show or, where the column
    has a time zone, by that of UTC; times of a day are durations since midnight.
    """

    name: Name
    microseconds: NDArray[np.int64]  # (n_rows,); any if missing
    missing: NDArray[np.bool_]  # (n_rows,)
    is_duration: bool
    repeats: Repeats | None = None  # where entries stand for many cells
    zone: str | None = None  # of instants, as Arrow names it

    @property
    def n_rows(self) -> int:
        """Number of cells."""
        return len(self.missing)

    @property
    def times(self) -> str:
        """Durations, dates, or dates with their zone, in a text that is kept."""
        if self.is_duration:
            return "durations"
        return "dates" if self.zone is None else f"dates {self.zone}"

    @classmethod
    def of_times(
        cls,
        name: Name,
        microseconds: NDArray[np.int64],
        missing: NDArray[np.bool_],
        times: str,
        repeats: Repeats | None = None,
    ) -> TimeColumn:
        """The column that such a text describes."""
        zone = times.partition(" ")[2] or None
        return cls(name, microseconds, missing, times == "durations", repeats, zone)


PlainColumn = NumberColumn | ValueColumn
Column = PlainColumn | TimeColumn


def cell_of(column: Column, row: int) -> Any:
    """A cell as a value of Python, times as text; None where it is missing."""
    if isinstance(column, ValueColumn):
        index = int(column.indices[row])
        return None if index < 0 else column.values[index]
    if column.missing is not None and column.missing[row]:
        return None
    if isinstance(column, TimeColumn):
        kind = np.timedelta64 if column.is_duration else np.datetime64
        return str(kind(int(column.microseconds[row]), "us"))
    value = column.values[row].item()
    return None if value != value else value


def n_cells(column: Column, chosen: NDArray[np.bool_]) -> int:
    """Number of cells in the chosen entries of a column."""
    if column.repeats is None:
        return int(np.count_nonzero(chosen))
    return int(column.repeats.counts[chosen].sum())


@dataclass(frozen=True)
class Matrix:
    """An array of integers or booleans, kept whole for the encoder's kernel."""

    values: NDArray[Any]  # (n_rows, n_columns), not uint64; none missing
    names: tuple[Name, ...]

    @property
    def is_truth(self) -> bool:
        """Whether cells are booleans."""
        return bool(self.values.dtype.kind == "b")

    def columns(self) -> list[PlainColumn]:
        """The columns one by one."""
        if self.is_truth:
            return [
                ValueColumn(name, self.values[:, j].astype(np.int32), [False, True])
                for j, name in enumerate(self.names)
            ]
        return [
            NumberColumn(
                name, np.ascontiguousarray(self.values[:, j], dtype=np.int64), None
            )
            for j, name in enumerate(self.names)
        ]


def iterate_names(parts: Matrix | Sequence[Column]) -> Iterator[Name]:
    """Names of the columns of a table that was taken apart."""
    if isinstance(parts, Matrix):
        yield from parts.names
    else:
        yield from (column.name for column in parts)


def select_rows(
    parts: Matrix | list[Column], keep: NDArray[np.bool_]
) -> Matrix | list[Column]:
    """The rows of a table that was taken apart for which `keep` is true."""
    if isinstance(parts, Matrix):
        return Matrix(parts.values[keep], parts.names)
    selected: list[Column] = []
    for column in parts:
        if isinstance(column, ValueColumn):
            selected.append(replace(column, indices=column.indices[keep]))
        elif isinstance(column, TimeColumn):
            times, missing = column.microseconds[keep], column.missing[keep]
            selected.append(replace(column, microseconds=times, missing=missing))
        else:
            lacks = None if column.missing is None else column.missing[keep]
            selected.append(replace(column, values=column.values[keep], missing=lacks))
    return selected
