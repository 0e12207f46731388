"""A limit of memory holds for the whole process, its file included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PROGRAM = """
import sys
from resource import RUSAGE_SELF, getrusage

import pyarrow.dataset
import bayleaf.classifiers.shared.batches
from bayleaf import AveragedKDBClassifier

model = AveragedKDBClassifier(n_jobs=1, random_state=0)
before = getrusage(RUSAGE_SELF).ru_maxrss
model.fit(sys.argv[1], target="y", memory="100MB").save(sys.argv[2])
print(getrusage(RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts resident kilobytes")
def test_a_fit_within_100_mb_takes_200_mb_more_at_most(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n_rows = 300_000
    y = rng.integers(2, size=n_rows)
    columns = {f"x{i}": rng.normal(size=n_rows) + 0.2 * y for i in range(6)}
    words = pa.array([f"v{i}" for i in range(20)])
    codes = {f"w{i}": rng.integers(20, size=n_rows) for i in range(4)}
    names = {name: words.take(pa.array(own)) for name, own in codes.items()}
    pq.write_table(pa.table({**columns, **names, "y": y}), tmp_path / "t.parquet")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "t.parquet", tmp_path / "m.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 300_000
