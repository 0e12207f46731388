"""Fits to Parquet files larger than they should be for memory, against pyarrow alone.

    python benchmarks/speed/streams.py [rows ...]

Each measure runs in a process of its own, which tells its time and the most memory that
was resident. The files are made in a temporary folder, half a gigabyte for 1e8 rows of
20 columns.
"""

from __future__ import annotations

import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet

N_FEATURES = 19
BATCH = 1_000_000
ROWS = (1_000_000, 10_000_000, 100_000_000)


def make(path: Path, n_rows: int) -> None:
    """A table of 20 columns of few values, text and integers."""
    writer = None
    for first in range(0, n_rows, BATCH):
        rng = np.random.default_rng(first)
        n = min(BATCH, n_rows - first)
        label = rng.integers(0, 2, n, dtype=np.int8)
        columns: dict[str, pa.Array] = {"label": pa.array(label)}
        before = label
        for j in range(N_FEATURES):
            card = 3 + j % 3
            kept = rng.random(n, dtype=np.float32) < 0.6
            drawn = (rng.random(n, dtype=np.float32) ** 2 * card).astype(np.int8)
            values = np.where(kept, before % card, drawn).astype(np.int8)
            if j % 2:
                texts = pa.array([f"level {v}" for v in range(card)])
                columns[f"x{j}"] = pa.DictionaryArray.from_arrays(values, texts)
            else:
                columns[f"x{j}"] = pa.array(values)
            before = values + label if j % 4 else label
        batch = pa.RecordBatch.from_pydict(columns)
        if writer is None:
            plain = [
                pa.field(
                    f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type
                )
                for f in batch.schema
            ]
            writer = pa_parquet.ParquetWriter(
                path, pa.schema(plain), compression="zstd"
            )
        cast = [
            c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c
            for c in batch.columns
        ]
        writer.write_batch(pa.RecordBatch.from_arrays(cast, schema=writer.schema))
    assert writer is not None
    writer.close()


def decode(path: Path, _store: Path) -> None:
    """What pyarrow alone takes, text as text."""
    for _ in pa_dataset.dataset(path).to_batches():
        pass


def decode_dictionaries(path: Path, _store: Path) -> None:
    """The same, text as indices into its values."""
    texts = [f"x{j}" for j in range(1, N_FEATURES, 2)]
    kept = pa_dataset.ParquetReadOptions(dictionary_columns=texts)
    form = pa_dataset.ParquetFileFormat(read_options=kept)
    for _ in pa_dataset.dataset(path, format=form).to_batches():
        pass


def nb(path: Path, _store: Path) -> None:
    """Naive Bayes."""
    from bayleaf import NaiveBayesClassifier

    NaiveBayesClassifier(n_jobs=-1).fit(path, target="label")


def tan(path: Path, _store: Path) -> None:
    """TAN."""
    from bayleaf import TANClassifier

    TANClassifier(n_jobs=-1).fit(path, target="label")


def tan_with_store(path: Path, store: Path) -> None:
    """TAN, which keeps the codes or finds them."""
    from bayleaf import TANClassifier

    TANClassifier(n_jobs=-1).fit(path, target="label", store=store)


def averaged(path: Path, _store: Path) -> None:
    """Averaged KDB."""
    from bayleaf import AveragedKDBClassifier

    AveragedKDBClassifier(n_jobs=-1, random_state=0).fit(path, target="label")


MEASURES = {
    "pyarrow": decode,
    "pyarrow, dictionaries": decode_dictionaries,
    "nb": nb,
    "tan": tan,
    "tan, writing codes": tan_with_store,
    "tan, from codes": tan_with_store,
    "averaged kdb": averaged,
}


def measured(name: str, path: Path, store: Path) -> dict[str, float]:
    """Seconds of a measure, and the most memory in MB, in another process."""
    done = subprocess.run(
        [sys.executable, __file__, "--one", name, path, store],
        check=True,
        capture_output=True,
        text=True,
    )
    return dict(json.loads(done.stdout))


def one(name: str, path: Path, store: Path) -> None:
    """Take a measure in this process."""
    importlib.import_module("bayleaf.classifiers")
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    MEASURES[name](path, store)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": used.ru_maxrss / 1024}))


def main(rows: tuple[int, ...]) -> None:
    """Print a table for each number of rows."""
    for n_rows in rows:
        with tempfile.TemporaryDirectory() as folder:
            path, store = Path(folder) / "table.parquet", Path(folder) / "codes"
            make(path, n_rows)
            size = path.stat().st_size / 1e6
            print(f"\n{n_rows:,} rows of 20 columns, Parquet of {size:.0f} MB")
            print(f"{'':24}{'seconds':>9}{'CPU s':>9}{'MB':>7}{'of pyarrow':>12}")
            alone = 0.0
            for name in MEASURES:
                if name == "averaged kdb" and n_rows > 10_000_000:
                    continue
                found = measured(name, path, store)
                alone = alone or found["seconds"]
                print(
                    f"{name:24}{found['seconds']:9.2f}{found['cpu']:9.2f}"
                    f"{found['mb']:7.0f}{alone / found['seconds']:12.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        main(tuple(int(float(n)) for n in sys.argv[1:]) or ROWS)
