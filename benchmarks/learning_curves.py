"""Held-out log-loss by the number of training rows, beside boosting and forests.

    python benchmarks/learning_curves.py [--models ...] [--tables ...] [--page]

Of each large table a fifth, at most 10 000 rows, is held out once; models are fitted to
the first 500, 1 000, ... of the others in a random order. What is finished is appended
to the CSV file at once, and a later run takes up where this one stopped.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray
from sklearn.metrics import log_loss

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "speed"))
from machine import describe_processor, markdown_table

from accuracy import MODELS, RESULTS
from accuracy_page import versions

SIZES = [500 * 2**step for step in range(9)]
MOST_HELD_OUT = 10_000
TABLES = {
    "adult": "small/adult.csv",
    "connect-4": "scale/connect-4.parquet",
    "covertype": "scale/covertype-15k.parquet",
    "kddcup99": "scale/kddcup99-10pct.parquet",
}
CURVES = (
    "averaged KDB",
    "LightGBM, calibrated",
    "random forest",
    "logistic regression",
)
FIELDS = ("table", "rows", "model", "log_loss", "accuracy", "fit_seconds")

HEADER = """# Learning curves

Held-out log-loss (nats) by the number of training rows. Of each table a fifth, at most
10 000 rows, is held out once (seed 0); the models are those of [accuracy](accuracy.md).
Classes that the training rows lack get probability 1e-15. Measured on {processor}, with
{packages}. `benchmarks/learning_curves.py` writes this page.
"""


def load(folder: Path, table: str) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Features and class of a whole table, in a random order."""
    path = folder / TABLES[table]
    is_text = path.suffix == ".csv"
    read = pa_csv.read_csv if is_text else pa_parquet.read_table
    frame = read(path).to_pandas()
    order = np.random.default_rng(0).permutation(len(frame))
    frame = frame.iloc[order].reset_index(drop=True)
    target = frame.pop("class").astype(str).to_numpy(dtype=object)
    for column in frame:
        is_number = pd.api.types.is_numeric_dtype(frame[column])
        if not is_number or frame[column].dtype == bool:
            frame[column] = frame[column].astype("category")
    return frame, target


def run_cell(
    folder: Path, table: str, n_rows: int, model: str
) -> dict[str, Any] | None:
    """Scores of one model on one number of rows; None if the table has fewer."""
    X, y = load(folder, table)
    n_held_out = min(MOST_HELD_OUT, len(y) // 5)
    rows = slice(n_held_out, n_held_out + n_rows)
    if n_held_out + n_rows > len(y):
        return None
    fitted = MODELS[model]()
    start = time.process_time()
    fitted.fit(X.iloc[rows], y[rows])
    seconds = time.process_time() - start
    held_out, own = X.iloc[:n_held_out], y[:n_held_out]
    labels = np.unique(y)
    found = np.full((n_held_out, len(labels)), 1e-15)
    found[:, np.searchsorted(labels, fitted.classes_)] = fitted.predict_proba(held_out)
    found = np.maximum(found, 1e-15)
    found /= found.sum(axis=1, keepdims=True)
    return {
        "table": table,
        "rows": n_rows,
        "model": model,
        "log_loss": f"{log_loss(own, found, labels=labels):.6f}",
        "accuracy": f"{np.mean(labels[found.argmax(axis=1)] == own):.6f}",
        "fit_seconds": f"{seconds:.3f}",
    }


def finished(path: Path) -> set[tuple[str, int, str]]:
    """What the file holds."""
    if not path.exists():
        return set()
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {(row["table"], int(row["rows"]), row["model"]) for row in rows}


def run(folder: Path, path: Path, tables: list[str], models: list[str]) -> None:
    """Fill what the file lacks, small numbers of rows first."""
    done = finished(path)
    for n_rows in SIZES:
        for table in tables:
            for model in models:
                if model not in MODELS or (table, n_rows, model) in done:
                    continue
                row = run_cell(folder, table, n_rows, model)
                if row is None:
                    continue
                is_new = not path.exists()
                with path.open("a", newline="") as stream:
                    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
                    if is_new:
                        writer.writeheader()
                    writer.writerow(row)
                print(*row.values(), flush=True)


def write_page(results: Path, page: Path) -> None:
    """Write the Markdown page from the CSV file."""
    cells = pd.read_csv(results)
    parts = [
        HEADER.format(processor=describe_processor(), packages=", ".join(versions()))
    ]
    for table, own in cells.groupby("table", sort=False):
        wide = own.pivot_table(index="rows", columns="model", values="log_loss")
        models = [model for model in CURVES if model in wide]
        rows = [
            [str(n_rows), *(f"{v:.3f}" if v == v else "-" for v in line)]
            for n_rows, line in wide[models].iterrows()
        ]
        parts += [f"## {table}\n", markdown_table(["rows", *models], rows), ""]
    page.write_text("\n".join(parts), encoding="utf-8")


def main() -> None:
    """Run what is missing, then write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", choices=CURVES, default=list(CURVES))
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--out", type=Path, default=RESULTS / "learning_curves.csv")
    parser.add_argument("--page", action="store_true", help="write the page only")
    arguments = parser.parse_args()
    if arguments.page:
        write_page(arguments.out, RESULTS / "learning_curves.md")
        return
    folder = os.environ.get("BAYLEAF_DATA")
    if not folder:
        sys.exit("set BAYLEAF_DATA to the folder with the published tables")
    run(Path(folder), arguments.out, arguments.tables, arguments.models)


if __name__ == "__main__":
    main()
