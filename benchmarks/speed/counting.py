"""All class-pair counts of the reference tables, beside NumPy's bincount.

    python benchmarks/speed/counting.py [--repeats 9] [--json]

prints a Markdown table. Every time is the least of the repeats, after one warm-up call;
it covers everything from codes to counts (and, in further columns, to the matrix of
conditional mutual information). bincount is timed in the same run on at most 1500 of
the pairs, with keys of class and first feature made once a feature, and scaled up.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from bayleaf.counts.information import conditional_mutual_information_matrix
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes

sys.path.insert(0, str(Path(__file__).parent))
from machine import describe_processor, markdown_table

BASELINE_PAIRS = 1500


def random_codes(n_rows: int, n_features: int, n_states: int, n_classes: int) -> Codes:
    """Uniformly random codes, class last."""
    rng = np.random.default_rng(0)
    cards = [n_states] * n_features + [n_classes]
    return Codes.from_columns([rng.integers(0, card, n_rows) for card in cards], cards)


def published_codes(file: str) -> Codes | None:
    """Codes of a published table of nominal columns, where the folder has it."""
    folder = os.environ.get("BAYLEAF_DATA")
    path = Path(folder or ".") / "small" / file
    if folder is None or not path.exists():
        return None
    read = pa_csv.read_csv if path.suffix == ".csv" else pa_parquet.read_table
    columns = [
        np.unique(column.to_numpy(), return_inverse=True)
        for column in read(path).columns
    ]
    return Codes.from_columns(
        [codes for _, codes in columns], [len(states) for states, _ in columns]
    )


def jobs() -> dict[str, Codes]:
    """Reference tables by name; random ones of the same shape stand in."""
    tables = {"random": random_codes(1_000_000, 50, 5, 2)}
    dna = published_codes("dna.csv")
    tables["dna" if dna else "random, as dna"] = dna or random_codes(3186, 180, 2, 3)
    text = published_codes("reuters3.train.parquet")
    tables["text" if text else "random, as text"] = text or random_codes(
        1077, 3440, 2, 3
    )
    return tables


def best(function: Callable[[], object], repeats: int) -> float:
    """Least time of several calls, after one more, in seconds."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def bincount_seconds(codes: Codes) -> float:
    """Time of NumPy's bincount for all pairs of features, in seconds."""
    n_features = codes.n_variables - 1
    n_pairs = n_features * (n_features - 1) // 2
    class_codes = codes.column(n_features).astype(np.intp)
    n_timed, first = 0, -1
    start = time.perf_counter()
    for i, j in combinations(range(n_features), 2):
        if n_timed == BASELINE_PAIRS:
            break
        if i != first:
            keys = class_codes * codes.cards[i] + codes.column(i)
            first = i
        card = codes.cards[j]
        n_cells = codes.cards[-1] * codes.cards[i] * card
        np.bincount(keys * card + codes.column(j), minlength=n_cells)
        n_timed += 1
    return (time.perf_counter() - start) * n_pairs / n_timed


def measure(codes: Codes, repeats: int) -> dict[str, float]:
    """Seconds of every way to count one table."""
    features = range(codes.n_variables - 1)
    figures = {"bincount": bincount_seconds(codes)}
    expected = None
    for n_jobs in (1, 2):
        figures[f"counts_{n_jobs}"] = best(
            lambda n=n_jobs: RowCounts(codes, n).pair_counts(features, features),
            repeats,
        )
        figures[f"information_{n_jobs}"] = best(
            lambda n=n_jobs: conditional_mutual_information_matrix(RowCounts(codes, n)),
            max(1, repeats // 3),
        )
        stored = RowCounts(codes, n_jobs).pair_counts(features, features).stored
        if expected is None:
            expected = stored
        elif not np.array_equal(stored, expected):
            raise AssertionError("two threads counted differently from one")
    # A second time, in case the machine was busy during the first.
    figures["bincount"] = min(figures["bincount"], bincount_seconds(codes))
    return figures


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    options = parser.parse_args()
    tables = jobs()
    figures = {name: measure(codes, options.repeats) for name, codes in tables.items()}
    if options.json:
        print(json.dumps({"processor": describe_processor(), "seconds": figures}))
        return
    heading = ["table", "bincount, s", "1 thread, s", "ratio", "2 threads, s"]
    heading += ["speed-up", "with information, s", "2 threads, s"]
    rows = []
    for (name, seconds), codes in zip(figures.items(), tables.values(), strict=True):
        one, two = seconds["counts_1"], seconds["counts_2"]
        shape = f"{codes.n_rows} x {codes.n_variables - 1}"
        ratio = f"{seconds['bincount'] / one:.0f}"
        cells = [f"{name}, {shape}", f"{seconds['bincount']:.3f}", f"{one:.5f}", ratio]
        cells += [f"{two:.5f}", f"{one / two:.2f}"]
        cells += [f"{seconds[f'information_{n}']:.5f}" for n in (1, 2)]
        rows.append(cells)
    print(describe_processor() + "\n")
    print(markdown_table(heading, rows))


if __name__ == "__main__":
    main()
