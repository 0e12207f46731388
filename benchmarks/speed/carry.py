"""Time, memory and file of averaged KDB on numeric tables, beside boosting.

Each table is a process of its own, so that its memory is its own; times are CPU seconds
of one thread. Usage: python carry.py [--large]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
# Rows, columns and classes.
TABLES = [
    (2_000, 10, 2),
    (2_000, 30, 2),
    (2_000, 100, 2),
    (200, 300, 2),
    (2_000, 20, 10),
    (5_000, 20, 50),
    (10_000, 20, 2),
    (100_000, 20, 2),
]
LARGE = [(2_000, 300, 2), (200, 2_000, 2), (2_000, 1_000, 2), (5_000, 20, 200)]
MODELS = ("AveragedKDB", "HistGradientBoosting", "LightGBM")
N_PREDICTED, N_REPEATS = 1_000, 5


def numeric_table(n_rows: int, n_columns: int, n_classes: int) -> tuple[Any, Any]:
    """Normal columns with latent factors, whose spread and means the class changes."""
    import numpy as np

    rng = np.random.default_rng(0)
    n_factors = max(2, n_columns // 6)
    loadings = rng.normal(size=(n_factors, n_columns))
    y = rng.integers(n_classes, size=n_rows)
    y[:n_classes] = np.arange(n_classes)
    means = rng.normal(size=(n_classes, n_columns)) * 0.35
    factors = rng.normal(size=(n_rows, n_factors)) * (1 + 0.3 * (y[:, None] == 0))
    noise = rng.normal(size=(n_rows, n_columns))
    return factors @ loadings * 0.6 + noise + means[y], y


def fitted(name: str) -> Any:
    """An estimator that uses one thread."""
    if name == "AveragedKDB":
        from bayleaf import AveragedKDBClassifier

        return AveragedKDBClassifier(random_state=0, n_jobs=1)
    if name == "HistGradientBoosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=0)
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)


def cpu_seconds(work: Callable[[], object], n_calls: int = 1) -> float:
    """CPU seconds of a call, the mean of several."""
    start = time.process_time()
    for _ in range(n_calls):
        work()
    return (time.process_time() - start) / n_calls


def peak_bytes() -> int:
    """The most resident memory so far."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measured(name: str, n_rows: int, n_columns: int, n_classes: int) -> dict[str, Any]:
    """The figures of one estimator on one table, in this process."""
    X, y = numeric_table(n_rows, n_columns, n_classes)
    some = X[:N_PREDICTED]
    model = fitted(name)
    # What is imported at the first use counts neither as time nor as memory.
    small = [*range(n_classes)] * 20
    small_X, _ = numeric_table(len(small), 4, n_classes)
    fitted(name).fit(small_X, small).predict_proba(small_X)
    before = peak_bytes()
    found: dict[str, Any] = {"fit": cpu_seconds(lambda: model.fit(X, y))}
    found["first"] = cpu_seconds(lambda: model.predict_proba(some))
    warm = cpu_seconds(lambda: model.predict_proba(some), N_REPEATS)
    found["row"] = warm / len(some)
    if name == "AveragedKDB":
        row = X[:1]
        model.explain(row)
        found["explain"] = cpu_seconds(lambda: model.explain(row), N_REPEATS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.json")
            found["save"] = cpu_seconds(lambda: model.save(path))
            found["file"] = path.stat().st_size
        found["networks"] = model.n_networks_, model.min_rows_
    found["memory"] = peak_bytes() - before
    return found


def in_own_process(name: str, table: tuple[int, int, int]) -> dict[str, Any]:
    """The figures of an estimator on a table, from a process of its own."""
    words = [sys.executable, __file__, "--measure", name, *map(str, table)]
    done = subprocess.run(
        words, env=os.environ | ONE_THREAD, check=True, capture_output=True, text=True
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def line(name: str, table: tuple[int, int, int]) -> list[str]:
    """The line of an estimator on a table."""
    n_rows, n_columns, n_classes = table
    figures = in_own_process(name, table)
    head = [f"{n_rows} x {n_columns}, {n_classes} classes", name]
    ours = ["-"] * 4
    if "file" in figures:
        n_networks, min_rows = figures["networks"]
        ours = [
            f"{n_networks}, {min_rows}",
            f"{figures['explain'] * 1e3:.1f}",
            f"{figures['file'] / 1e6:.1f}",
            f"{figures['save']:.2f}",
        ]
    seconds = [f"{figures['fit']:.2f}", f"{figures['first']:.3f}"]
    per_row = f"{figures['row'] * 1e3:.3f}"
    memory = f"{figures['memory'] / 1e6:.0f}"
    return [*head, ours[0], *seconds, per_row, *ours[1:], memory]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="wide tables as well")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, *sizes = options.measure
        print(json.dumps(measured(name, *map(int, sizes))))
        return
    from importlib.util import find_spec

    from machine import describe_processor, markdown_table

    models = list(MODELS)
    if find_spec("lightgbm") is None:
        models.remove("LightGBM")
        print("LightGBM is not installed and was left out.\n")
    tables = [*TABLES, *(LARGE if options.large else [])]
    print(f"{describe_processor()}\n")
    heading = [
        "table",
        "model",
        "networks, least rows",
        "fit, s",
        f"first {N_PREDICTED} rows, s",
        "per row, ms",
        "explanation, ms",
        "file, MB",
        "written in, s",
        "memory, MB",
    ]
    lines = [line(name, table) for table in tables for name in models]
    print(markdown_table(heading, lines))


if __name__ == "__main__":
    main()
