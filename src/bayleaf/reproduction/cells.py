"""Cells of a paper's table: what is to be run, what is finished, where it is kept."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.atomic import text_file, write_text

Value = str | int | float | None

# Column of the CSV file that says where a cell's data came from.
ORIGIN = "data"
# Figures are rounded to so many digits, so that text and file hold the same number.
_DIGITS = 10


@dataclass(frozen=True)
class Cell:
    """One run of one method on one split of one table.

    `values` distinguish the cell from others; None is for what does not apply. `tables`
    are the data tables that it reads; `quick` cells belong to the short run too.
    """

    values: tuple[tuple[str, Value], ...]
    tables: tuple[str, ...] = field(compare=False)
    quick: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, tables: Sequence[str], *, quick: bool = False, **values: Value) -> Cell:
        """Make a cell from its values by name."""
        return cls(tuple(values.items()), tuple(tables), quick)

    def __getitem__(self, name: str) -> Value:
        return dict(self.values)[name]

    def text(self, name: str) -> str:
        """A value as text; empty where it does not apply."""
        value = dict(self.values).get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> int:
        """A value that is an integer."""
        value = self[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} of the cell {self} is not an integer")
        return value

    def fits(self, wanted: Mapping[str, Value]) -> bool:
        """Whether the cell has these values."""
        own = dict(self.values)
        return all(own.get(name) == value for name, value in wanted.items())

    def __str__(self) -> str:
        return ", ".join(f"{k} {v}" for k, v in self.values if v is not None)

    @property
    def file_name(self) -> str:
        """Name of the cell's result file."""
        words = "-".join(str(v) for _, v in self.values if v is not None)
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", words)[:80]
        # Values that differ in signs alone would share a readable name.
        exact = hashlib.sha256(json.dumps(self.values).encode()).hexdigest()[:10]
        return f"{readable}-{exact}.json"


@dataclass(frozen=True)
class Result:
    """The figures of a finished cell, and where its data came from."""

    cell: Cell
    figures: dict[str, float]
    origin: str


class Results:
    """Finished cells, in the order of the protocol's cells."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._results = tuple(results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def where(self, **values: Value) -> list[Result]:
        """Results of the cells that have these values."""
        return [r for r in self._results if r.cell.fits(values)]

    def figures(self, name: str, **values: Value) -> NDArray[np.float64]:
        """One figure of the cells that have these values, shape (n_cells,)."""
        found = [r.figures[name] for r in self.where(**values) if name in r.figures]
        return np.array(found, dtype=np.float64)


class CellStore:
    """Finished cells in a folder, one file each, and in a CSV file of all of them.

    The folder is made with the first file; earlier runs wrote the CSV file `table`.
    """

    def __init__(self, folder: Path, table: Path) -> None:
        self.folder = folder
        self.table = table

    def write(self, result: Result) -> None:
        """Keep a finished cell; its file appears whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        figures = {k: float(f"{v:.{_DIGITS}g}") for k, v in result.figures.items()}
        record = {
            "cell": dict(result.cell.values),
            "figures": figures,
            ORIGIN: result.origin,
        }
        text = json.dumps(record, indent=1) + "\n"
        write_text(self.folder / result.cell.file_name, text)

    def prepare(self) -> None:
        """Make the folder, and keep it out of repositories: the CSV has all cells."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / ".gitignore", "*\n")

    def remove_partial_files(self) -> None:
        """Remove what processes that were stopped while they wrote have left."""
        for path in self.folder.glob(".*.part"):
            path.unlink(missing_ok=True)

    def read(self, cells: Sequence[Cell]) -> dict[Cell, Result]:
        """Those of the cells that are finished.

        ValueError if a file of the folder, or the CSV file, cannot be understood.
        """
        found = self._from_table(cells)
        for cell in cells:
            path = self.folder / cell.file_name
            if path.exists():
                found[cell] = _read_result(path, cell)
        return found

    def _from_table(self, cells: Sequence[Cell]) -> dict[Cell, Result]:
        """Those of the cells that the CSV file has."""
        if not self.table.exists():
            return {}
        names = value_names(cells)
        by_text = {tuple(cell.text(name) for name in names): cell for cell in cells}
        heading, rows = self._rows()
        if heading == [ORIGIN]:
            # What a run leaves that found no data at all.
            return {}
        lacking = [name for name in (*names, ORIGIN) if name not in heading]
        if lacking:
            raise ValueError(
                f"{self.table} has no column {lacking[0]!r}, so it is no result "
                "file of this paper; move it away or choose another --output"
            )
        found = {}
        for row in rows:
            cell = by_text.get(tuple(row[name] for name in names))
            if cell is not None:
                found[cell] = _result_of(row, names, cell, self.table)
        return found

    def _rows(self) -> tuple[list[str], list[dict[str, str]]]:
        """Heading and rows of the CSV file."""
        try:
            with self.table.open(newline="", encoding="utf-8") as stream:
                reader = csv.DictReader(stream)
                return list(reader.fieldnames or []), list(reader)
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(
                f"{self.table} is no CSV file of UTF-8 text; move it away or choose "
                "another --output"
            ) from error

    def write_table(self, results: Results) -> None:
        """Write the CSV file: a row for every finished cell, in order."""
        names = value_names([result.cell for result in results])
        figures = list(dict.fromkeys(f for r in results for f in r.figures))
        with text_file(self.table) as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow([*names, *figures, ORIGIN])
            for result in results:
                values = [result.cell.text(name) for name in names]
                found = [result.figures.get(name, "") for name in figures]
                writer.writerow([*values, *found, result.origin])


def value_names(cells: Iterable[Cell]) -> list[str]:
    """Names of all values that cells have, in order of appearance."""
    return list(dict.fromkeys(name for cell in cells for name, _ in cell.values))


def _figure(value: str | float) -> float:
    """A kept figure; one that is not finite was never written by a run."""
    figure = float(value)
    if not math.isfinite(figure):
        raise ValueError(f"a figure is {figure}")
    return figure


def _result_of(
    row: Mapping[str, str], names: Sequence[str], cell: Cell, path: Path
) -> Result:
    """The result in a row of the CSV file."""
    texts = {k: v for k, v in row.items() if k not in names and k != ORIGIN and v}
    try:
        figures = {name: _figure(text) for name, text in texts.items()}
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path} holds something that is no number for {cell}; move the file away"
        ) from error
    return Result(cell, figures, row[ORIGIN])


def _read_result(path: Path, cell: Cell) -> Result:
    """The result in the file of one cell."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        figures = {str(k): _figure(v) for k, v in record["figures"].items()}
        return Result(cell, figures, str(record[ORIGIN]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is no result file of a cell; delete it and run the command again"
        ) from error
