"""Mixtures of naive Bayes that learn row by row: spambase, and growing made-up tables.

    python benchmarks/speed/mixtures.py [--rows 20000] [--repeats 5]

prints Markdown tables of seconds on one thread, from codes to distributions. Spambase
is read from the folder that the environment variable BAYLEAF_DATA names and left out
without it; half of its rows, drawn at random, are learned from. In the second table
rows, features and experts are doubled one after the other: a ratio of 2 is linear
growth. Every time is the least of the repeats, after one warm-up.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv

from bayleaf.data.codes import Codes
from bayleaf.data.discretizers import StandardDeviationDiscretizer
from bayleaf.latent.online_mixture import OnlineOptions, learn_counters

sys.path.insert(0, str(Path(__file__).parent))
from machine import best_time, describe_processor, markdown_table

SPAMBASE_ROWS = 2300
N_STATES, N_CLASSES = 5, 2


def spambase(folder: Path) -> Codes:
    """Half of spambase, cut at whole standard deviations from the mean."""
    table = pa_csv.read_csv(folder / "small" / "spambase.csv")
    *numbers, own = [column.to_numpy() for column in table.columns]
    rows = np.random.default_rng(0).permutation(len(own))[:SPAMBASE_ROWS]
    discretizer = StandardDeviationDiscretizer()
    columns, cards = [], []
    for number in numbers:
        values = number[rows].astype(np.float64)[:, None]
        column = discretizer.fit_transform(values).ravel().astype(np.int64)
        columns.append(column - column.min())
        cards.append(int(columns[-1].max()) + 1)
    classes = np.unique(own[rows].astype(str), return_inverse=True)[1]
    return Codes.from_columns([*columns, classes], (*cards, N_CLASSES))


def made_up(n_rows: int, n_features: int) -> Codes:
    """Features of five states that tell something of two classes."""
    rng = np.random.default_rng(0)
    own = rng.integers(N_CLASSES, size=n_rows)
    columns = [
        (rng.integers(N_STATES, size=n_rows) + own) % N_STATES
        for _ in range(n_features)
    ]
    return Codes.from_columns([*columns, own], (*[N_STATES] * n_features, N_CLASSES))


def seconds(codes: Codes, architecture: tuple[int, ...], repeats: int) -> float:
    """Least time of five passes over all rows."""
    order = np.random.default_rng(0).permutation(codes.n_rows)

    def learn() -> None:
        rng = np.random.default_rng(1)
        learn_counters(codes, order, architecture, OnlineOptions(), rng)

    learn()
    return best_time(learn, repeats)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print(describe_processor(), end="; five passes, one thread\n\n")
    if folder := os.environ.get("BAYLEAF_DATA"):
        codes = spambase(Path(folder))
        rows = [
            ["-".join(map(str, tree)), f"{seconds(codes, tree, arguments.repeats):.3f}"]
            for tree in ((4,), (2, 2), (2, 2, 2))
        ]
        what = f"spambase, {codes.n_rows} x {codes.n_variables - 1}"
        print(markdown_table([what, "s"], rows), end="\n\n")
    sizes = {
        "as it is": (arguments.rows, 20, 8),
        "rows doubled": (2 * arguments.rows, 20, 8),
        "features doubled": (arguments.rows, 40, 8),
        "experts doubled": (arguments.rows, 20, 16),
    }
    times = {
        name: seconds(made_up(n_rows, n_features), (n_experts,), arguments.repeats)
        for name, (n_rows, n_features, n_experts) in sizes.items()
    }
    least = times["as it is"]
    what = f"made up, {arguments.rows} x 20, 8 experts"
    rows = [[n, f"{time:.3f}", f"{time / least:.2f}"] for n, time in times.items()]
    print(markdown_table([what, "s", "ratio"], rows))


if __name__ == "__main__":
    main()
