"""Tables of every sort of column, whole and in batches, and what learns from them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st
from sklearn.base import clone

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    HNBClassifier,
    KDBClassifier,
    LatentClassNBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)

CELL = st.sampled_from(["a", "b", "", None])
ROW = st.tuples(CELL, st.integers(-3, 3) | st.none(), st.floats(-2, 2), st.booleans())
N_ROWS = 800
CLASSIFIERS = [
    NaiveBayesClassifier(),
    NaiveBayesClassifier(numeric="gaussian"),
    TANClassifier(),
    TANClassifier(smoothing="auto", calibration="leave_one_out", missing="state"),
    KDBClassifier(k=2),
    KDBClassifier(k="auto", discretizer="equal_frequency"),
    AODEClassifier(),
    A2DEClassifier(discretizer="equal_width"),
    AveragedKDBClassifier(n_networks=3, random_state=0),
    HNBClassifier(random_state=0, search="significance"),
    LatentClassNBClassifier(n_components=2, random_state=0),
]

# Fits to the first argument, batch by batch, slowly enough to be killed meanwhile.
SLOW_FIT = """
import sys, time
from bayleaf import TANClassifier
from bayleaf.streams import batch_sources, spilling
spilling._NOTED_ROWS = 100
batch_sources.BATCH_ROWS = 50
appended = spilling.SpilledTable.append
def slowly(self, batch, ordered):
    appended(self, batch, ordered)
    print(self.n_read, flush=True)
    time.sleep(0.02)
spilling.SpilledTable.append = slowly
TANClassifier().fit(sys.argv[1], target="label", store=sys.argv[2])
"""


def the_table(n_rows: int = N_ROWS, seed: int = 0) -> pa.Table:
    """Columns of every sort, with missing cells."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n_rows).round(2)
    start = datetime.datetime(2020, 1, 1)
    label = np.where(number + rng.normal(size=n_rows) > 0.5, "pos", "neg")
    frame = pd.DataFrame(
        {
            "text": rng.choice(["x", "y", "zz", None], n_rows),
            "few": rng.integers(-2, 4, n_rows),
            "number": np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "whole": rng.integers(0, 10**6, n_rows) // 100,
            "wide": rng.integers(0, 10**12, n_rows),
            "truth": rng.random(n_rows) < 0.3,
            "date": [start + datetime.timedelta(hours=5 * i) for i in range(n_rows)],
            "span": pd.to_timedelta(rng.integers(0, 90, n_rows), "h"),
            "name": [f"u{i}" for i in range(n_rows)],
            "spelled": rng.choice(["1", "2.5", *map(str, range(3, 16))], n_rows),
            "constant": "c",
            "label": label,
        }
    )
    return pa.Table.from_pandas(frame, preserve_index=False)


def same_file(one: Any, other: Any, folder: Path) -> None:
    """Both models are written alike to the last bit."""
    one.save(folder / "one.json")
    other.save(folder / "other.json")
    first, second = ((folder / f"{n}.json").read_bytes() for n in ("one", "other"))
    assert first == second


def in_memory(estimator: Any, table: pa.Table, weights: Any = None) -> Any:
    """A copy of the estimator, fitted to the whole table."""
    label = table.column("label").to_pandas()
    features = table.drop_columns(["label"])
    return clone(estimator).fit(features, label, sample_weight=weights)


def reader(table: pa.Table, size: int) -> pa.RecordBatchReader:
    """The table in batches."""
    batches = table.to_batches(max_chunksize=size)
    return pa.RecordBatchReader.from_batches(table.schema, batches)
