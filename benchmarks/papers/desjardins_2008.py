"""Density models on nursery, mushroom and adult, as in desJardins et al. (2008).

    python benchmarks/papers/desjardins_2008.py [--sets nursery mushroom]

Rows are dealt into five folds; each fold is scored by a network that was learned from
the other four. It is run twice: with five folds of nursery, three of mushroom, two of
adult, and as many restarts of each search; and, as in the paper, with all folds and
five restarts. The folder with the tables and hierarchies is named by BAYLEAF_DATA.
Finished cells are kept in the CSV file, and a later run takes up where this one
stopped.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from desjardins_tables import (
    FULL,
    METHODS,
    SHORT,
    Results,
    table_of_orderings,
    table_of_set,
)

from accuracy import load_table
from bayleaf import BayesianNetworkEstimator

RESULTS = Path(__file__).parents[2] / "docs" / "results" / "desjardins_2008.csv"
# Folds that the rows are dealt into, whether or not all of them are run.
N_FOLDS = 5
KEYS = ("set", "restarts", "fold", "method")
COLUMNS = (*KEYS, "log_likelihood", "parameters", "edges", "bits")

Intervals = tuple[list[float], list[str]]
# Right ends (inclusive) and names of the intervals of adult's numeric columns.
ADULT_INTERVALS: dict[str, Intervals] = {
    "age": (
        [16, 19, *range(24, 75, 5), np.inf],
        ["17-19", *(f"{low}-{low + 4}" for low in range(20, 75, 5)), "75+"],
    ),
    "hours-per-week": (
        [0, 19, 34, 39, 40, 49, 59, np.inf],
        ["1-19", "20-34", "35-39", "40", "41-49", "50-59", "60+"],
    ),
    "capital-gain": (
        [-np.inf, 0, 4999, 9999, np.inf],
        ["none", "below 5000", "below 10000", "more"],
    ),
    "capital-loss": (
        [-np.inf, 0, 1699, 1999, np.inf],
        ["none", "below 1700", "below 2000", "more"],
    ),
}
NOT_OF_ADULT = ["fnlwgt", "education-num"]


def load(folder: Path, name: str) -> pd.DataFrame:
    """The complete rows of a table, class included, every column nominal."""
    frame, labels = load_table(folder, name)
    frame["class"] = labels
    frame = frame.dropna().reset_index(drop=True)
    if name == "adult":
        frame = frame.drop(columns=NOT_OF_ADULT)
        for column, (ends, names) in ADULT_INTERVALS.items():
            frame[column] = pd.cut(frame[column], ends, labels=names).astype(object)
    # States that only incomplete rows had are none of the domain.
    return frame.astype(str).astype("category")


def deal(n_rows: int, fold: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to learn from and rows of the fold; the deal is the same for all methods."""
    parts = np.array_split(np.random.default_rng(0).permutation(n_rows), N_FOLDS)
    rest = [part for number, part in enumerate(parts) if number != fold]
    return np.sort(np.concatenate(rest)), np.sort(parts[fold])


def measure(
    train: pd.DataFrame,
    test: pd.DataFrame,
    hierarchies: Path,
    n_restarts: int,
    method: str,
) -> list[Any]:
    """Log-likelihood (nats) of test rows, parameters, arcs, bits of the description."""
    given = {"hierarchies": hierarchies} if method.endswith("-E") else {}
    model = BayesianNetworkEstimator(
        **METHODS[method], **given, n_restarts=n_restarts, random_state=0, n_jobs=1
    ).fit(train)
    likelihood = f"{model.score_samples(test).sum():.2f}"
    return [likelihood, model.n_parameters_, len(model.edges_), f"{model.mdl_:.1f}"]


def cell(
    frame: pd.DataFrame, hierarchies: Path, n_restarts: int, method: str, fold: int
) -> list[Any]:
    """Figures of one fold, from a network that was learned from the others."""
    rows, test_rows = deal(len(frame), fold)
    train, test = frame.iloc[rows], frame.iloc[test_rows]
    return measure(train, test, hierarchies, n_restarts, method)


def finished(out: Path) -> set[tuple[str, ...]]:
    """Keys of the cells in the file, which is begun if need be."""
    if not out.exists():
        out.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with out.open(newline="", encoding="utf-8") as stream:
        return {tuple(row[: len(KEYS)]) for row in csv.reader(stream)}


def cells(name: str) -> list[tuple[int, int]]:
    """Restarts and fold of every cell of a set; what both protocols want, once."""
    both = {SHORT[name], FULL[name]}
    return [(n_folds, fold) for n_folds in sorted(both) for fold in range(n_folds)]


def run(folder: Path, out: Path, sets: list[str]) -> None:
    """Append the cells that the file lacks."""
    done = finished(out)
    for name in sets:
        frame = load(folder, name)
        hierarchies = folder / "avh" / f"{name}.json"
        start = time.process_time()
        for (n_restarts, fold), method in itertools.product(cells(name), METHODS):
            if (name, str(n_restarts), str(fold), method) in done:
                continue
            found = cell(frame, hierarchies, n_restarts, method, fold)
            with out.open("a", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow([name, n_restarts, fold, method, *found])
        print(f"{name:9} {time.process_time() - start:7.1f} s", flush=True)


def main() -> None:
    """Run what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SHORT))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    run(Path(folder), arguments.out, arguments.sets)
    for protocol in (SHORT, FULL):
        results = Results(arguments.out, protocol)
        for name in arguments.sets:
            print(f"\n{name}, {protocol[name]} folds\n\n{table_of_set(results, name)}")
        if set(arguments.sets) == set(SHORT):
            print(f"\n{table_of_orderings(results)}")


if __name__ == "__main__":
    main()
