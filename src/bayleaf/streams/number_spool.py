"""Columns of numbers or times on their way to codes, as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.tables.columns import Column, Name, NumberColumn, TimeColumn
from bayleaf.wording import shown_name


class NumberSpool:
    """A column of numbers, or of times in microseconds, as they are.

    `path` has no ending; `times` is "" for numbers, or "dates" or "durations".
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

    @classmethod
    def of_column(cls, column: Column, path: Path) -> NumberSpool:
        """An empty spool for columns like this one."""
        if isinstance(column, TimeColumn):
            times = "durations" if column.is_duration else "dates"
            return cls(column.name, path, "i8", times)
        assert isinstance(column, NumberColumn)
        kind = column.values.dtype
        return cls(column.name, path, "<i8" if kind.kind == "i" else kind.str)

    def append(self, column: Column) -> bool:
        """Write the cells of a batch."""
        missing: NDArray[np.bool_] | None
        if isinstance(column, TimeColumn):
            values, missing = column.microseconds, column.missing
        else:
            assert isinstance(column, NumberColumn)
            values, missing = column.values, column.missing
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
            return TimeColumn(self.name, values, missing, self.times == "durations")
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
