from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bayleaf.counts import kernels, numpy_kernels

# Counts a table of every kind by every engine and compares them; what a test
# changes about the compiler comes before.
COMPARE = """
import numpy as np
from bayleaf.counts import pair_counting, table_counts
from bayleaf.counts.information import conditional_mutual_information_matrix
from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes
rng = np.random.default_rng(0)
cards = [2, 3, 9, 30, 3]
columns = [rng.integers(0, card, 17_000) for card in cards]
columns[1][::7] = 3
codes = Codes.from_columns(columns, cards)
def count():
    source = TableCounts(codes)
    pairs = source.pair_counts(range(4), range(4)).dense()
    families = source.family_counts([(4, 0), (4, 0, 1), (1, 2, 3)])
    return [pairs, *families, conditional_mutual_information_matrix(source)]
expected = count()
for name in ("_SMALL_KEY_WORK", "_SMALL_INDICATORS", "_SMALL_PRODUCTS"):
    setattr(table_counts, name, -1)
from bayleaf.counts import information
information._SMALL_CELLS = -1
for a, b in zip(count(), expected):
    assert np.array_equal(a, b), (a, b)
"""


def run_script(script: str, **environment: str) -> str:
    """Run Python code in a fresh interpreter; returns what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_keys_equal_those_of_numpy(dtype: type) -> None:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, card + 1, 999).astype(dtype) for card in (3, 5, 2)]
    keys = [np.zeros(999, np.int32) for _ in range(2)]
    for column, card in zip(columns, (3, 5, 2), strict=True):
        kernels.extend_keys(keys[0], column, card)
        numpy_kernels.extend_keys(keys[1], column, card)
    np.testing.assert_array_equal(keys[0], keys[1])
    assert keys[0].min() == -1
    assert keys[0].max() == 29


@pytest.mark.parametrize("n_keys", [3, 2000])
@pytest.mark.parametrize("n_rows", [0, 1, 1023, 1025, 5000])
def test_counts_by_key_equal_those_of_numpy(n_keys: int, n_rows: int) -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(-1, n_keys, n_rows).astype(np.int32)
    block = rng.integers(0, 4, (3, n_rows)).astype(np.uint8)
    places = np.array([2, 0]), np.array([0, 4]), np.array([4, 4])
    tables = np.ones((2, n_keys + 1, 8))
    weights = rng.integers(1, 9, n_rows).astype(float)
    kernels.key_counts(keys, block, *places, weights, tables[0])
    numpy_kernels.key_counts(keys, block, *places, weights, tables[1])
    np.testing.assert_array_equal(tables[0], tables[1])
    assert tables[0].sum() == tables[0].size + 2 * weights.sum()


def test_runs_hold_every_row_once_in_the_order_of_classes() -> None:
    rng = np.random.default_rng(0)
    n_rows, n_classes = 1000, 5
    classes = np.full(1024, 255, np.uint8)
    classes[:n_rows] = rng.integers(0, n_classes, n_rows)
    rows, places = np.empty(80, np.int64), np.empty(80, np.int64)
    masks = np.empty(80, np.uint64)
    segments, tiles = np.empty((5, 3), np.int64), np.empty((2, 3), np.int64)
    n_runs, n_segments = kernels.class_runs(
        classes, n_classes, rows, masks, places, segments, tiles
    )
    held = [
        (row + bit, place)
        for row, mask, place in zip(rows[:n_runs], masks[:n_runs], places[:n_runs])
        for bit in range(64)
        if int(mask) >> bit & 1
    ]
    assert sorted(row for row, _ in held) == list(range(n_rows))
    for state, start, stop in segments[:n_segments]:
        inside = [row for row, place in held if start * 64 <= place < stop * 64]
        assert (classes[inside] == state).all()


@pytest.mark.slow
def test_a_processor_without_vectors_of_512_bits_counts_the_same(
    tmp_path: Path,
) -> None:
    run_script(
        COMPARE,
        NUMBA_CPU_NAME="generic",
        NUMBA_CPU_FEATURES="",
        NUMBA_CACHE_DIR=str(tmp_path),
    )


def test_a_processor_without_compression_is_told_from_one_with_it(
    tmp_path: Path,
) -> None:
    script = """
from bayleaf.counts.intrinsics import HAS_COMPRESS
from bayleaf.counts.planes import MAX_PLANE_STATES
print(HAS_COMPRESS, MAX_PLANE_STATES)
"""
    plain = run_script(script, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    modern = run_script(
        script,
        NUMBA_CPU_NAME="icelake-server",
        NUMBA_CPU_FEATURES="+avx512vbmi2,+avx512vpopcntdq",
    )
    assert plain.split() == ["False", "10"]
    assert modern.split() == ["True", "20"]


@pytest.mark.slow
def test_counting_works_where_no_cache_can_be_written() -> None:
    # Without a locator numba finds no folder to write to, as on a read-only disk.
    prelude = """
from numba.core import caching
caching.CacheImpl._locator_classes = []
"""
    run_script(prelude + COMPARE)
