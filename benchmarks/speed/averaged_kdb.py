"""Fit and prediction of averaged KDB: two published tables, and growing made-up ones.

    python benchmarks/speed/averaged_kdb.py [--rows 1000000] [--repeats 15]

prints a Markdown table. The published tables are read from the folder that the
environment variable BAYLEAF_DATA names and left out without it. Fits on one and two
threads take turns after one warm-up fit; every time is the least of the repeats, the
ratio the median of those of the pairs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayleaf import AveragedKDBClassifier

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from machine import describe_processor, markdown_table, paired_times

N_FEATURES = 20
TRAIN_ROWS, PREDICTED_ROWS = 39_000, 100_000


def made_up(n_rows: int) -> tuple[pd.DataFrame, Any]:
    """Ten numeric and ten nominal columns of which half tell of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_rows)
    columns: dict[str, Any] = {}
    for j in range(N_FEATURES // 2):
        columns[f"x{j}"] = rng.normal(size=n_rows) + (y * (j % 2)) / 2
        words = (rng.integers(5, size=n_rows) + y * (j % 2)) % 6
        columns[f"w{j}"] = pd.Categorical.from_codes(words, list("abcdef"))
    return pd.DataFrame(columns), y


def fit_times(X: Any, y: Any, repeats: int) -> tuple[float, float, float]:
    """Seconds of a fit on one thread and on two, and their ratio."""
    one, two = (
        AveragedKDBClassifier(n_jobs=n_jobs, random_state=0) for n_jobs in (1, 2)
    )
    return paired_times(lambda: one.fit(X, y), lambda: two.fit(X, y), repeats)


def row(what: str, times: tuple[float, float, float]) -> list[str]:
    """One line of the table."""
    return [what, f"{times[0]:.3f}", f"{times[1]:.3f}", f"{times[2]:.2f}"]


def published_rows(folder: Path, repeats: int) -> list[list[str]]:
    """Adult and kr-vs-kp."""
    from accuracy import load_table

    X, y = load_table(folder, "adult")
    train = slice(0, TRAIN_ROWS)
    rows = [
        row(
            f"fit adult, {TRAIN_ROWS} rows x {X.shape[1]}",
            fit_times(X[train], y[train], repeats),
        )
    ]
    many = pd.concat([X] * (PREDICTED_ROWS // len(X) + 1))[:PREDICTED_ROWS]
    one, two = (
        AveragedKDBClassifier(n_jobs=n_jobs, random_state=0).fit(X[train], y[train])
        for n_jobs in (1, 2)
    )
    one.predict_proba(X)
    times = paired_times(
        lambda: one.predict_proba(many), lambda: two.predict_proba(many), repeats
    )
    rows.append(row(f"predict adult, {PREDICTED_ROWS} rows", times))
    X, y = load_table(folder, "kr-vs-kp")
    what = f"fit kr-vs-kp, {len(X)} rows x {X.shape[1]}"
    rows.append(row(what, fit_times(X, y, repeats)))
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    X, y = made_up(5000)
    AveragedKDBClassifier(random_state=0).fit(X, y).predict_proba(X)
    rows = []
    folder = os.environ.get("BAYLEAF_DATA")
    if folder:
        rows += published_rows(Path(folder), arguments.repeats)
    n_rows = arguments.rows // 100
    while n_rows <= arguments.rows:
        repeats = arguments.repeats if n_rows < 1_000_000 else 1
        times = fit_times(*made_up(n_rows), repeats)
        rows.append(row(f"fit made-up, {n_rows} rows x {N_FEATURES}", times))
        n_rows *= 10
    print(describe_processor())
    print()
    print(markdown_table(["", "one thread, s", "two threads, s", "ratio"], rows))


if __name__ == "__main__":
    main()
