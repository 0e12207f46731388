"""Time of cutting ten numeric columns, by rule and by what the columns are like.

    python benchmarks/speed/discretize.py [--rows 1000000] [--repeats 3]

prints a Markdown table. Every time is the least of the repeats on one thread, after one
warm-up call.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table

from bayleaf import (
    EqualFrequencyDiscretizer,
    EqualWidthDiscretizer,
    MDLPDiscretizer,
    StandardDeviationDiscretizer,
)

N_COLUMNS = 10
Table = tuple[Any, Any]
Maker = Callable[[np.random.Generator, int], Table]


def mixture(rng: np.random.Generator, n_rows: int) -> Table:
    """Normal columns whose mean depends on the class."""
    classes = rng.integers(0, 2, n_rows)
    return rng.normal(size=(n_rows, N_COLUMNS)) + classes[:, None], classes


def five_classes(rng: np.random.Generator, n_rows: int) -> Table:
    """Normal columns whose mean is the number of the class, one of five."""
    classes = rng.integers(0, 5, n_rows)
    return rng.normal(size=(n_rows, N_COLUMNS)) + classes[:, None], classes


def noise(rng: np.random.Generator, n_rows: int) -> Table:
    """Columns that tell nothing about the class."""
    return rng.normal(size=(n_rows, N_COLUMNS)), rng.integers(0, 2, n_rows)


def whole_numbers(rng: np.random.Generator, n_rows: int) -> Table:
    """Columns of a hundred distinct values, bell-shaped, shifted by the class."""
    table, classes = mixture(rng, n_rows)
    return np.clip(np.round(table * 15 + 50), 0, 99), classes


def many_cuts(rng: np.random.Generator, n_rows: int) -> Table:
    """Distinct values along which the class changes 2000 times, one row in ten astray.

    Cuts split off one end after the other, so that trying every cut of what remains
    would take time quadratic in the number of cuts.
    """
    table = rng.random((n_rows, N_COLUMNS))
    table[:, 1:] = table[:, :1] + rng.normal(scale=1e-7, size=(n_rows, N_COLUMNS - 1))
    classes = (table[:, 0] * 2000).astype(np.intp) % 2
    return table, classes ^ (rng.random(n_rows) < 0.1)


REGIMES: dict[str, Maker] = {
    "normal mixture, 2 classes": mixture,
    "normal mixture, 5 classes": five_classes,
    "pure noise": noise,
    "integers, many ties": whole_numbers,
    "2000 changes of class": many_cuts,
}
DISCRETIZERS = (
    MDLPDiscretizer,
    StandardDeviationDiscretizer,
    EqualFrequencyDiscretizer,
    EqualWidthDiscretizer,
)


def cut_all(discretizer: Any, columns: Any, classes: Any, weights: Any) -> int:
    """Cut every column, and count the cut points."""
    n_classes = int(classes.max()) + 1
    cuts = [discretizer.cut_points(c, classes, n_classes, weights) for c in columns]
    return sum(map(len, cuts))


def table_row(name: str, table: Table, repeats: int) -> list[str]:
    """Seconds of every rule on one table, and the cut points of MDLP in a column."""
    values, classes = table
    columns = np.ascontiguousarray(values.T)
    weights = np.ones(len(classes))
    row = [name]
    for kind in DISCRETIZERS:
        discretizer = kind()
        cut_all(discretizer, columns[:1], classes, weights)
        times, n_cuts = [], 0
        for _ in range(repeats):
            start = time.perf_counter()
            n_cuts = cut_all(discretizer, columns, classes, weights)
            times.append(time.perf_counter() - start)
        row.append(f"{min(times):.2f}")
        if kind is MDLPDiscretizer:
            row.append(f"{n_cuts / N_COLUMNS:.0f}")
    return row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(f"{describe_processor()}; one thread\n")
    rows = [
        table_row(name, make(np.random.default_rng(0), options.rows), options.repeats)
        for name, make in REGIMES.items()
    ]
    heading = [
        f"seconds for {options.rows:,} x {N_COLUMNS}",
        "MDLP",
        "its cuts a column",
    ]
    heading += ["standard deviation", "equal frequency", "equal width"]
    print(markdown_table(heading, rows))


if __name__ == "__main__":
    main()
