"""Small made-up tables with every sort of column, in every sort of container."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Columns = dict[str, list[Any]]

CONTAINERS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def mixed_columns(n_rows: int = 120, seed: int = 0) -> tuple[Columns, list[str]]:
    """Text, booleans, integers and fractions that tell something of three classes.

    Every column but the booleans has missing cells.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    columns: Columns = {
        "weather": _picked(
            ["sun", "rain", "snow", "fog"], (y + rng.integers(2, size=n_rows)) % 4
        ),
        "windy": ((y == 1) ^ (rng.random(n_rows) < 0.2)).tolist(),
        "guests": (y + rng.integers(3, size=n_rows)).tolist(),
        "degrees": (y * 4.0 + rng.normal(size=n_rows).round(2)).tolist(),
        "colour": _picked(["red", "blue"], rng.integers(2, size=n_rows)),
    }
    for name in ("weather", "guests", "degrees", "colour"):
        for row in np.flatnonzero(rng.random(n_rows) < 0.08):
            columns[name][row] = None
    return columns, _picked(["in", "out", "roof"], y)


def nominal_columns(
    n_rows: int = 90, seed: int = 0, *, missing: float = 0.0
) -> tuple[Columns, list[str]]:
    """Four columns of text that depend on each other and on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    first = (y + rng.integers(2, size=n_rows)) % 3
    second = (first + (rng.random(n_rows) < 0.3)) % 2
    third = (second + y * rng.integers(2, size=n_rows)) % 4
    fourth = (third + rng.integers(2, size=n_rows)) % 3
    columns: Columns = {}
    for name, codes in zip("abcd", (first, second, third, fourth), strict=True):
        cells: list[Any] = _picked(["p", "q", "r", "s"], codes)
        for row in np.flatnonzero(rng.random(n_rows) < missing):
            cells[row] = None
        columns[name] = cells
    return columns, _picked(["in", "out", "roof"], y)


def mixed_frame(n_rows: int = 120, seed: int = 0) -> tuple[pd.DataFrame, list[str]]:
    """`mixed_columns` as a data frame."""
    columns, y = mixed_columns(n_rows, seed)
    return pd.DataFrame(columns), y


def nominal_frame(
    n_rows: int = 90, seed: int = 0, *, missing: float = 0.0
) -> tuple[pd.DataFrame, list[str]]:
    """`nominal_columns` as a data frame."""
    columns, y = nominal_columns(n_rows, seed, missing=missing)
    return pd.DataFrame(columns), y


def pick_rows(columns: Columns, rows: Any) -> Columns:
    """Some rows of a table, in the given order."""
    return {name: [cells[row] for row in rows] for name, cells in columns.items()}


def rows_of(columns: Columns) -> list[list[Any]]:
    """The table as a list of rows."""
    return [list(row) for row in zip(*columns.values(), strict=True)]


def object_array(columns: Columns) -> np.ndarray[Any, Any]:
    """The table as an array of Python objects."""
    return np.array(rows_of(columns), dtype=object)


def _picked(values: list[str], codes: Any) -> list[Any]:
    return [values[code] for code in codes]
