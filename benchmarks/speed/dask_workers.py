"""Fits on the workers of Dask: one worker against two, each a process of one thread.

    python benchmarks/speed/dask_workers.py [rows]

The Parquet files, of 20 columns each, are made in a temporary folder: 24 of them, so
that every worker has the same to do. A fit to a small table comes first, in which
workers import what they need; of five fits the median counts. The ratio should be at
least 1.6 where nothing else runs.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from distributed import Client, LocalCluster

from bayleaf import KDBClassifier, NaiveBayesClassifier, TANClassifier
from streams import make

N_FILES, N_FITS, N_FEW = 24, 5, 1_000
LEARNERS = {
    "nb": NaiveBayesClassifier(),
    "tan": TANClassifier(),
    "kdb": KDBClassifier(k=2),
}


def seconds(client: Client, few: Path, table: Path) -> dict[str, float]:
    """The median time of each learner's fits."""
    found = {}
    for name, learner in LEARNERS.items():
        learner.fit(few, target="label", client=client)
        times = []
        for _ in range(N_FITS):
            start = time.perf_counter()
            learner.fit(table, target="label", client=client)
            times.append(time.perf_counter() - start)
        found[name] = statistics.median(times)
    return found


def main(n_rows: int) -> None:
    """Print seconds with one worker and with two, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        few, table = Path(folder) / "few.parquet", Path(folder) / "table"
        make(few, N_FEW)
        table.mkdir()
        for place in range(N_FILES):
            make(table / f"{place:02d}.parquet", n_rows // N_FILES)
        found = []
        for n_workers in (1, 2):
            with (
                LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    host="127.0.0.1",
                ) as cluster,
                Client(cluster) as client,
            ):
                found.append(seconds(client, few, table))
    print(f"{n_rows // N_FILES * N_FILES:,} rows of 20 columns, {N_FILES} files")
    print(f"{'':8}{'one worker':>12}{'two':>8}{'ratio':>8}")
    for name in LEARNERS:
        one, two = (times[name] for times in found)
        print(f"{name:8}{one:12.2f}{two:8.2f}{one / two:8.2f}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
