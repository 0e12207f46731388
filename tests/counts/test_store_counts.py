"""Counts over a file of codes take no pass for what an earlier pass told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.counts.store_counts import DiskCounts
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.code_store import CodeStore, StoreWriter
from bayleaf.data.codes import Codes

CARDS = (3, 2, 4, 300, 2)
FAMILIES = [(4, 0), (4, 0, 2), (1, 3), (2,), (4,), (0, 1, 2), (4, 0, 1, 2)]


def codes(weights: Any = None) -> Codes:
    """A thousand rows, some cells missing, the class last."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, card + 1, 1000) for card in CARDS[:-1]]
    return Codes.from_columns([*columns, rng.integers(0, 2, 1000)], CARDS, weights)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """What is read of stores from now on."""
    read, found = CodeStore.read, []

    def noted(self: CodeStore, rows: range) -> Codes:
        found.append(rows)
        return read(self, rows)

    monkeypatch.setattr(CodeStore, "read", noted)
    return found


def stored(rows: Codes, path: Path) -> DiskCounts:
    """The same rows in a file."""
    has_weights = not rows.unit_weights
    writer = StoreWriter(path / "part", CARDS, rows.n_rows, has_weights=has_weights)
    for place in range(len(CARDS)):
        writer.write(place, iter([rows.column(place)]))
    if has_weights:
        writer.write(len(CARDS), iter([rows.weights]))
    return DiskCounts(writer.finish(path / "codes", {}))


def test_a_family_is_counted_once(tmp_path: Path, passes: list[range]) -> None:
    counts = stored(codes(), tmp_path)
    first = counts.family_counts(FAMILIES)
    n_read = len(passes)
    assert n_read > 0
    first[0][:] = -1.0
    again = counts.family_counts(FAMILIES)
    assert len(passes) == n_read
    for found, expected in zip(
        again, RowCounts(codes()).family_counts(FAMILIES), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_all_pairs_tell_families_of_two_features(
    tmp_path: Path, passes: list[range]
) -> None:
    counts = stored(codes(), tmp_path)
    pairs = counts.pair_counts(range(4), range(4))
    n_read = len(passes)
    assert counts.pair_counts(range(4), range(4)) is pairs
    small = [family for family in FAMILIES if len({*family, 4}) <= 3]
    assert len(small) == 5
    told = counts.family_counts(small)
    assert len(passes) == n_read
    for found, expected in zip(
        told, RowCounts(codes()).family_counts(small), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    counts.family_counts([(4, 0, 1, 2)])
    assert len(passes) > n_read


def test_fractions_are_counted_family_by_family(
    tmp_path: Path, passes: list[range]
) -> None:
    weights = np.random.default_rng(1).random(1000)
    counts = stored(codes(weights), tmp_path)
    counts.pair_counts(range(4), range(4))
    n_read = len(passes)
    (found,) = counts.family_counts([(4, 0, 2)])
    assert len(passes) > n_read
    assert found.min() >= 0
    (expected,) = RowCounts(codes(weights)).family_counts([(4, 0, 2)])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_large_tables_are_not_remembered(
    tmp_path: Path, passes: list[range], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayleaf.counts.store_counts._REMEMBERED_CELLS", 10)
    counts = stored(codes(), tmp_path)
    counts.pair_counts(range(4), range(4))
    for family, is_kept in (((4, 0), True), ((4, 3), False), ((4, 1), True)):
        counts.family_counts([family])
        n_read = len(passes)
        counts.family_counts([family])
        assert (len(passes) == n_read) == is_kept
