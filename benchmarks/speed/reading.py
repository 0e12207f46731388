"""Time from a table to a fitted model, next to what only decodes the same table.

    python benchmarks/speed/reading.py [--rows 100000] [--repeats 5]

prints a Markdown table: naive Bayes is fitted from a frame of texts, a CSV file and a
Parquet file of the same rows. The peers decode these and learn nothing. Calls are taken
in turn; times are those of the processor, of all threads together.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pyarrow.csv
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table, paired_times

from bayleaf import NaiveBayesClassifier

Call = Callable[[], object]


def mixed_table(n_rows: int) -> pd.DataFrame:
    """Five columns of words, four of numbers, three of integers, dates, a class."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n_rows)
    words = np.array([f"v{k}" for k in range(8)])
    days = np.datetime64("2015-01-01") + rng.integers(0, 3000, n_rows)
    return pd.DataFrame(
        {
            **{
                f"t{j}": words[(rng.integers(0, 8, n_rows) + label * j) % 8]
                for j in range(5)
            },
            **{f"f{j}": np.round(rng.normal(label * j), 4) for j in range(4)},
            **{f"i{j}": rng.integers(0, 50, n_rows) + label for j in range(3)},
            "day": days.astype(str),
            "label": np.array(["a", "b"])[label],
        }
    )


def decoded(texts: pd.DataFrame) -> None:
    """Texts as pandas converts them: numbers, dates and categories."""
    for name, column in texts.items():
        if str(name)[0] in "fi":
            pd.to_numeric(column)
        elif name == "day":
            pd.to_datetime(column)
        else:
            column.astype("category")


def jobs(folder: Path, n_rows: int) -> list[tuple[str, Call, str, Call]]:
    """What is timed: a fit, and the peer that decodes the same table."""
    table = mixed_table(n_rows)
    csv, parquet = str(folder / "table.csv"), str(folder / "table.parquet")
    table.to_csv(csv, index=False)
    table.to_parquet(parquet, index=False)
    texts = pd.read_csv(csv, dtype=str).drop(columns="label")
    label = table["label"]

    def fit(path: str) -> Call:
        return lambda: NaiveBayesClassifier().fit(path, target="label")

    return [
        (
            "frame of texts",
            lambda: NaiveBayesClassifier().fit(texts, label),
            "pandas, each column converted",
            lambda: decoded(texts),
        ),
        ("CSV file", fit(csv), "pandas.read_csv", lambda: pd.read_csv(csv)),
        (
            "CSV file",
            fit(csv),
            "pyarrow.csv.read_csv",
            lambda: pyarrow.csv.read_csv(csv),
        ),
        (
            "Parquet file",
            fit(parquet),
            "pyarrow.parquet.read_table",
            lambda: pyarrow.parquet.read_table(parquet),
        ),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for source, fit, peer, decode in jobs(Path(folder), options.rows):
            fit(), decode()
            own, other, ratio = paired_times(fit, decode, options.repeats, process_time)
            figures = [f"{own:.3f}", f"{other:.3f}", f"{ratio:.2f}"]
            rows.append([source, figures[0], peer, *figures[1:]])
    print(f"{options.rows} rows, {describe_processor()}\n")
    heading = ["source", "fit, s", "peer that only decodes", "peer, s", "fit / peer"]
    print(markdown_table(heading, rows))


if __name__ == "__main__":
    main()
