"""Columns on their way to codes: what each cell held, in files that only grow.

Values are numbered in the order in which they first occur, so that a table is written
in one pass; which value becomes which code is known at its end.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.tables.columns import (
    Column,
    Name,
    NumberColumn,
    PlainColumn,
    TimeColumn,
    ValueColumn,
)
from bayleaf.native.data import look_up
from bayleaf.wording import shown_name


class NumberSpool:
    """A column of numbers, or of times in microseconds, as they are.

    `path` has no ending; `times` is "" for numbers, else as `TimeColumn.times`.
    """

    kind = "numbers"

    def __init__(self, name: Name, path: Path, dtype: str, times: str = "") -> None:
        self.name = name
        self.dtype = np.dtype(dtype)
        self.times = times
        self.n_rows = 0
        self.n_missing = 0
        self._path = path
        self._file: Any = None
        self._missing: Any = None

    def append(self, column: Column) -> bool:
        """Write the cells of a batch."""
        values, missing = values_of(column)
        if self._file is None:
            self._file = self._path.with_suffix(".numbers").open("ab")
            self._missing = self._path.with_suffix(".missing").open("ab")
        if missing is None:
            missing = np.zeros(len(values), dtype=bool)
        self._file.write(np.ascontiguousarray(values, self.dtype).data)
        # Floats tell by themselves which are missing.
        if self.dtype.kind != "f":
            self._missing.write(np.ascontiguousarray(missing).data)
        self.n_missing += int(np.count_nonzero(missing))
        self.n_rows += len(values)
        return True

    def cells(self, first: int, last: int) -> Column:
        """Some rows as a column."""
        path = self._path.with_suffix(".numbers")
        values = read_items(path, self.dtype, first, last)
        if self.dtype.kind == "f":
            missing = np.isnan(values)
        else:
            path = self._path.with_suffix(".missing")
            missing = read_items(path, np.dtype(bool), first, last)
        if self.times:
            return TimeColumn.of_times(self.name, values, missing, self.times)
        return NumberColumn(self.name, values, missing if missing.any() else None)

    def close(self) -> None:
        """Let go of the files."""
        if self._file is not None:
            self._file.close()
            self._missing.close()
            self._file = None

    def discard(self) -> None:
        """Remove what was written."""
        self.close()
        for suffix in (".numbers", ".missing"):
            self._path.with_suffix(suffix).unlink(missing_ok=True)

    def state(self) -> dict[str, Any]:
        """What is needed to go on after the rows so far."""
        self.close()
        return {
            "kind": self.kind,
            "dtype": self.dtype.str,
            "times": self.times,
            "n_rows": self.n_rows,
            "n_missing": self.n_missing,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, leaving out what was written after it."""
        self.n_rows, self.n_missing = state["n_rows"], state["n_missing"]
        truncate(self._path.with_suffix(".numbers"), self.n_rows * self.dtype.itemsize)
        if self.dtype.kind != "f":
            truncate(self._path.with_suffix(".missing"), self.n_rows)


def values_of(column: Column) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Numbers or microseconds, and which cells are missing."""
    if isinstance(column, TimeColumn):
        return column.microseconds, column.missing
    assert isinstance(column, NumberColumn)
    return column.values, column.missing


def first_missing(column: Column) -> int | None:
    """The first row in which a column is missing; None if it never is."""
    missing = column.indices < 0 if isinstance(column, ValueColumn) else column.missing
    if missing is None or not missing.any():
        return None
    return int(np.argmax(missing))


def read_items(path: Path, dtype: np.dtype[Any], first: int, last: int) -> NDArray[Any]:
    """Read some items of a file; ValueError if it does not contain all of them."""
    offset = first * dtype.itemsize
    items: NDArray[Any] = np.fromfile(path, dtype, last - first, offset=offset)
    if len(items) < last - first:
        raise ValueError(
            f"the temporary file {shown_name(str(path))} is incomplete: another "
            "program changed it, or the disk lost part of it; read the table again"
        )
    return items


def truncate(path: Path, size: int) -> None:
    """Cut a file that grew after it was noted how long it was."""
    if size == 0 and not path.exists():
        return
    if path.stat().st_size < size:
        raise ValueError(f"{path.name} is shorter than it was")
    with path.open("r+b") as file:
        file.truncate(size)


# The number of a cell that is missing, and of values beyond those that are listed.
MISSING = 0
# Most values of a column that are told apart.
MOST_VALUES = 1 << 20
# Integers in a range of so many are all told apart.
SHORT_RANGE = 1 << 16
_BYTE = 256


class ValueSpool:
    """A column whose cells are numbered by their values.

    `path` has no ending; `numbers` are integers in the place of other values.
    """

    kind = "values"

    def __init__(self, name: Name, path: Path, *, numbers: bool = False) -> None:
        self.name = name
        self.numbers = numbers
        self.ordered = False
        self.declared = False  # as categories
        self.n_rows = 0
        self.n_missing = 0
        self.values: list[Hashable] = []
        self._index: dict[Hashable, int] = {}
        self._path = path
        self.width = 1  # bytes per cell
        self.cell_file = path.with_suffix(".values")  # the numbers of cells
        self._file: Any = None
        self._n_kept = 0
        self._low = 0
        self._lookup: NDArray[np.uint32] = np.zeros(0, np.uint32)

    @property
    def n_codes(self) -> int:
        """How many numbers cells have: missing, the values, and those beyond."""
        return len(self.values) + 1 + self.overflows

    @property
    def overflows(self) -> bool:
        """Whether there may be values beyond those that are listed."""
        return len(self.values) >= MOST_VALUES

    def append(self, column: PlainColumn) -> bool:
        """Write the cells of a batch; False if it holds too many distinct numbers."""
        if isinstance(column, NumberColumn):
            codes = self._number_codes(column)
            if codes is None:
                return False
        else:
            codes = self._value_codes(column)
        # As many bytes as the largest number takes.
        width = _bytes_of(self.n_codes)
        if width > self.width:
            self._rewrite(width)
        if self._file is None:
            self._file = self.cell_file.open("ab")
        self._file.write(codes.astype(f"u{self.width}", copy=False).data)
        self.n_rows += len(codes)
        return True

    def _value_codes(self, column: ValueColumn) -> NDArray[Any]:
        """Numbers of the cells of a batch of values."""
        self.ordered, self.declared = column.ordered, column.declared
        if column.ordered:
            # The order of all categories, whether they occur or not, is the column's.
            new = [value for value in column.values if value is not None]
        else:
            new = self._in_order_of_rows(column)
        self._add(new)
        beyond = len(self.values) + 1
        # The first entry is for the index -1 of a missing cell.
        table = [MISSING, *(self._index.get(value, beyond) for value in column.values)]
        codes, n_missing = self._looked_up(column.indices, -1, table)
        self.n_missing += n_missing
        return codes

    def _looked_up(
        self, places: NDArray[Any], low: int, table: Any
    ) -> tuple[NDArray[Any], int]:
        """Numbers by their places in a table, and how many of them are missing."""
        codes = np.empty(len(places), f"u{_bytes_of(self.n_codes)}")
        entries = np.asarray(table, np.uint32)
        return codes, look_up(np.ascontiguousarray(places), low, entries, codes)

    def _in_order_of_rows(self, column: ValueColumn) -> list[Hashable]:
        """Values that are new, in the order in which they first occur."""
        fresh = [p for p, v in enumerate(column.values) if v not in self._index]
        if not fresh:
            return []
        if len(fresh) == 1:
            used = np.any(column.indices == fresh[0])
            return [column.values[fresh[0]]] if used else []
        is_fresh = np.zeros(len(column.values) + 1, dtype=bool)
        is_fresh[fresh] = True
        # The place -1 of missing cells is the last one, which is not fresh.
        cells = column.indices[is_fresh[column.indices]]
        places, first = np.unique(cells, return_index=True)
        return [column.values[p] for p in places[np.argsort(first)].tolist()]

    def _number_codes(self, column: NumberColumn) -> NDArray[Any] | None:
        """Numbers of the cells of a batch of integers; None if they are many."""
        values, missing = column.values, column.missing
        present = values if missing is None else values[~missing]
        self.n_missing += len(values) - len(present)
        codes, n_zero = self._looked_up(values, self._low, self._lookup)
        if n_zero and len(present):
            low, high = int(present.min()), int(present.max())
            if len(self._lookup):
                low = min(low, self._low)
                high = max(high, self._low + len(self._lookup) - 1)
            if high - low >= SHORT_RANGE:
                return None
            self._widen(low, high)
            self._add_numbers(present)
            codes, _ = self._looked_up(values, self._low, self._lookup)
        if missing is not None:
            codes[missing] = MISSING
        return codes

    def _add_numbers(self, present: NDArray[Any]) -> None:
        """Number integers that are new, in the order in which they first occur."""
        codes, n_zero = self._looked_up(present, self._low, self._lookup)
        if not n_zero:
            return
        new, first = np.unique(present[codes == MISSING], return_index=True)
        order = new[np.argsort(first)].astype(np.int64)
        self._add(order.tolist())
        self._lookup[order - self._low] = [self._index[n] for n in order.tolist()]

    def _widen(self, low: int, high: int) -> None:
        """Make the table of integers cover a range."""
        lookup = np.zeros(high - low + 1, np.uint32)
        if len(self._lookup):
            start = self._low - low
            lookup[start : start + len(self._lookup)] = self._lookup
        self._low, self._lookup = low, lookup

    def _add(self, values: list[Hashable]) -> None:
        """Number new values, as long as there is room for them."""
        for value in values[: MOST_VALUES - len(self.values)]:
            if value not in self._index:
                self.values.append(value)
                self._index[value] = len(self.values)

    def _rewrite(self, width: int) -> None:
        """Give the cells that are written already more bytes."""
        if self.n_rows:
            self.close()
            old = self.codes(0, self.n_rows)
            old.astype(f"u{width}").tofile(self.cell_file)
        self.width = width

    def codes(self, first: int, last: int) -> NDArray[Any]:
        """Numbers of the cells of some rows."""
        return read_items(self.cell_file, np.dtype(f"u{self.width}"), first, last)

    def cells(self, first: int, last: int) -> PlainColumn:
        """Some rows as a column."""
        codes = self.codes(first, last).astype(np.int64)
        if not self.numbers:
            indices = (codes - 1).astype(np.int32)
            column = ValueColumn(self.name, indices, self.values, self.ordered)
            return replace(column, declared=self.declared)
        table = np.array([0, *self.values], dtype=np.int64)
        missing = codes == MISSING
        return NumberColumn(self.name, table[codes], missing if missing.any() else None)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def discard(self) -> None:
        """Remove what was written; values stay known."""
        self.close()
        self.cell_file.unlink(missing_ok=True)

    def state(self) -> dict[str, Any]:
        """What is needed to go on after the rows so far; values go into a file."""
        self.close()
        path = self._path.with_suffix(".list")
        with path.open("a", encoding="utf-8", newline="\n") as file:
            for value in self.values[self._n_kept :]:
                file.write(json.dumps(value) + "\n")
        self._n_kept = len(self.values)
        return {
            "kind": self.kind,
            "numbers": self.numbers,
            "ordered": self.ordered,
            "declared": self.declared,
            "n_rows": self.n_rows,
            "n_missing": self.n_missing,
            "n_values": len(self.values),
            "width": self.width,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state, leaving out what was written after it."""
        path = self._path.with_suffix(".list")
        with path.open(encoding="utf-8") as file:
            values = [
                json.loads(line) for line, _ in zip(file, range(state["n_values"]))
            ]
        if len(values) < state["n_values"]:
            raise ValueError("values are missing")
        self._add(values)
        lines = "".join(json.dumps(value) + "\n" for value in values)
        path.write_text(lines, "utf-8", newline="\n")
        self._n_kept = len(values)
        self.ordered, self.declared = state["ordered"], state["declared"]
        self.width = state["width"]
        self.n_rows, self.n_missing = state["n_rows"], state["n_missing"]
        if self.numbers and values:
            whole = [int(value) for value in values]
            self._widen(min(whole), max(whole))
            self._lookup[np.array(whole) - min(whole)] = range(1, len(whole) + 1)
        truncate(self.cell_file, self.n_rows * self.width)


Spill = ValueSpool | NumberSpool


def spool_for(column: Column, path: Path) -> Spill:
    """An empty spool for columns like this one."""
    if isinstance(column, ValueColumn):
        return ValueSpool(column.name, path)
    if isinstance(column, TimeColumn):
        return NumberSpool(column.name, path, "i8", column.times)
    if column.is_integer and column.values.dtype != np.uint64:
        return ValueSpool(column.name, path, numbers=True)
    dtype = column.values.dtype
    return NumberSpool(column.name, path, "<i8" if dtype.kind == "i" else dtype.str)


def as_numbers(spool: ValueSpool, path: Path, block_rows: int) -> NumberSpool:
    """The same integers, written as they are."""
    other = NumberSpool(spool.name, path, "<i8")
    spool.close()
    for first, last in blocks(spool.n_rows, block_rows):
        other.append(spool.cells(first, last))
    path.with_suffix(".values").unlink(missing_ok=True)
    path.with_suffix(".list").unlink(missing_ok=True)
    return other


def restored(name: Name, path: Path, state: dict[str, Any]) -> Spill:
    """A spool as it was; raises ValueError or OSError if its files hold less."""
    spool: Spill
    if state["kind"] == ValueSpool.kind:
        spool = ValueSpool(name, path, numbers=state["numbers"])
    else:
        spool = NumberSpool(name, path, state["dtype"], state["times"])
    spool.restore(state)
    return spool


def blocks(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """First and last row of each of the stretches that a table is cut into."""
    for first in range(0, n_rows, size):
        yield first, min(first + size, n_rows)


def _bytes_of(n_codes: int) -> int:
    """Bytes that a number takes."""
    return 1 if n_codes <= _BYTE else 2 if n_codes <= SHORT_RANGE else 4
