"""Density models of more and more rows of adult, as in desJardins et al. (2008).

    python benchmarks/papers/desjardins_sizes.py

One fifth of the rows is scored by networks that were learned from 7200 to 36 000 of the
others; each training set holds the smaller ones. The folder with the tables and
hierarchies is named by BAYLEAF_DATA. Finished cells are kept in the CSV file, and a
later run takes up where this one stopped.
"""

from __future__ import annotations

import csv
import itertools
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from desjardins_2008 import deal, load, measure
from desjardins_tables import SHORT, markdown_table

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "desjardins_2008_sizes.csv"
KEYS = ("rows", "method")
COLUMNS = (*KEYS, "log_likelihood", "parameters", "edges", "bits")
SIZES = (7200, 14400, 21600, 28800, 36000)
METHODS = (
    "TCPT",
    "TABS-E",
    "TABS-G hamming",
    "TABS-L hamming",
    "TABS-G information",
    "TABS-L information",
)


def run(folder: Path, out: Path) -> None:
    """Append the cells that the file lacks."""
    if not out.exists():
        out.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with out.open(newline="", encoding="utf-8") as stream:
        done = {tuple(row[: len(KEYS)]) for row in csv.reader(stream)}
    frame, hierarchies = load(folder, "adult"), folder / "avh" / "adult.json"
    rows, test_rows = deal(len(frame), 0)
    order = np.random.default_rng(0).permutation(rows)
    for size, method in itertools.product(SIZES, METHODS):
        if (str(size), method) in done:
            continue
        train, test = frame.iloc[np.sort(order[:size])], frame.iloc[test_rows]
        found = measure(train, test, hierarchies, SHORT["adult"], method)
        with out.open("a", newline="", encoding="utf-8") as stream:
            csv.writer(stream, lineterminator="\n").writerow([size, method, *found])


def table_of_sizes(path: Path) -> str:
    """Log-likelihood, parameters and arcs of every size and method."""
    cells = pd.read_csv(path).set_index(list(KEYS))
    rows = [
        [
            str(size),
            *(
                "{log_likelihood:.0f} / {parameters:.0f} / {edges:.0f}".format(
                    **cells.loc[(size, method)]
                )
                for method in METHODS
            ),
        ]
        for size in SIZES
    ]
    table: str = markdown_table(["rows", *METHODS], rows)
    return table


def main() -> None:
    """Run what is missing, then print the table."""
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    run(Path(folder), RESULTS)
    print(table_of_sizes(RESULTS))


if __name__ == "__main__":
    main()
