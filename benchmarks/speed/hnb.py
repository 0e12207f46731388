"""Searches for latent variables, and whole fits of a table with missing cells.

    python benchmarks/speed/hnb.py [--rows 1000000] [--repeats 3]

prints two Markdown tables of seconds on one thread. Chess and adult are read from the
folder that the environment variable BAYLEAF_DATA names and left out without it. Every
time is the least of the repeats, after one warm-up run. The first table is of searches
in chess and in growing made-up tables; its last row is the slope of log time over log
rows: 1 is linear growth, though with more rows there are also more latent variables.
The second is of `HNBClassifier.fit` on adult as it is, missing cells included, with the
parameters by expectation maximisation (the default) and by counting.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv

from bayleaf import HNBClassifier
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.search.latents.latent_search import LatentSearchOptions, search_latents
from bayleaf.search.latents.moves import LatentSearchResult

sys.path.insert(0, str(Path(__file__).parent))
from machine import best_time, describe_processor, markdown_table

SEARCHES = ("significance", "top_pairs", "hill_climbing", "algorithm3")
N_FEATURES, N_STATES = 50, 4
CHESS_ROWS = 2130
ESTIMATIONS = ("em", "counting")


def made_up(n_rows: int) -> Codes:
    """Fifty features of four states, pairs of which depend on each other and the class.

    Parts of every pair agree more often in one class than in the other.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows, dtype=np.uint8)
    columns = []
    for _ in range(N_FEATURES // 2):
        first = rng.integers(N_STATES, size=n_rows, dtype=np.uint8)
        noise = rng.integers(N_STATES, size=n_rows, dtype=np.uint8)
        related = rng.random(n_rows) < 0.2 + 0.1 * y
        columns += [first, np.where(related, first, noise)]
    return Codes.from_columns([*columns, y], (*[N_STATES] * N_FEATURES, 2))


def chess(folder: Path) -> Codes:
    """A random two thirds of kr-vs-kp."""
    table = pa_csv.read_csv(folder / "small" / "kr-vs-kp.csv")
    columns = [
        np.unique(column.to_numpy().astype(str), return_inverse=True)[1]
        for column in table.columns
    ]
    rows = np.random.default_rng(0).permutation(len(columns[0]))[:CHESS_ROWS]
    cards = [int(column.max()) + 1 for column in columns]
    return Codes.from_columns([column[rows] for column in columns], cards)


def search(codes: Codes, name: str) -> LatentSearchResult:
    """Run one search."""
    names = [f"x{j}" for j in range(codes.n_variables - 1)]
    options = LatentSearchOptions(search=name)
    return search_latents(
        RowCounts(codes, n_jobs=1), options, np.random.default_rng(0), names
    )


def time_of(codes: Codes, name: str, repeats: int) -> tuple[float, int]:
    """Seconds of a search, and how many latent variables it makes."""
    n_latents = len(search(codes, name).tree.latents)
    return best_time(lambda: search(codes, name), repeats), n_latents


def adult_table(folder: Path, repeats: int) -> str:
    """Seconds of whole fits of adult, whose missing cells are empty."""
    options = pa_csv.ConvertOptions(strings_can_be_null=True, null_values=[""])
    path = folder / "small" / "adult.csv"
    table = pa_csv.read_csv(path, convert_options=options)
    features, target = table.drop_columns(["class"]), table["class"]
    n_missing = sum(column.null_count for column in features.columns)
    size = f"{table.num_rows} x {features.num_columns}"
    rows = []
    for estimation in ESTIMATIONS:
        row = [f"adult, {size}, {n_missing} cells missing, {estimation}"]
        for name in SEARCHES:
            model = HNBClassifier(
                search=name, estimation=estimation, n_jobs=1, random_state=0
            )
            n_latents = len(model.fit(features, target).tree_.latents)
            seconds = best_time(partial(model.fit, features, target), repeats)
            row.append(f"{seconds:.3f} ({n_latents})")
            print(*row[:1], name, row[-1], file=sys.stderr)
        rows.append(row)
    return markdown_table(["whole fit", *SEARCHES], rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    tables = {}
    if folder := os.environ.get("BAYLEAF_DATA"):
        tables[f"chess, {CHESS_ROWS} x 36"] = chess(Path(folder))
    sizes = [arguments.rows // 100, arguments.rows // 10, arguments.rows]
    for size in sizes:
        tables[f"made up, {size} x {N_FEATURES}"] = made_up(size)
    rows = []
    times: dict[str, list[float]] = {name: [] for name in SEARCHES}
    for what, codes in tables.items():
        row = [what]
        for name in SEARCHES:
            seconds, n_latents = time_of(codes, name, arguments.repeats)
            times[name].append(seconds)
            row.append(f"{seconds:.3f} ({n_latents})")
            print(what, name, row[-1], file=sys.stderr)
        rows.append(row)
    slopes = [
        f"{math.log(times[name][-1] / times[name][-2]) / math.log(10):.2f}"
        for name in SEARCHES
    ]
    rows.append(["slope of the last tenfold", *slopes])
    print(describe_processor(), end="; seconds (latent variables)\n\n")
    print(markdown_table(["table", *SEARCHES], rows))
    if folder:
        print()
        print(adult_table(Path(folder), arguments.repeats))


if __name__ == "__main__":
    main()
