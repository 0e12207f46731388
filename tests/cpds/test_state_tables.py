"""Entries that several features look up together, against one look-up a cell."""

import numpy as np
import pytest

from bayleaf.cpds import state_tables
from bayleaf.cpds.state_tables import StateTables
from bayleaf.data.codes import Codes


@pytest.mark.parametrize("shape", [(), (3,)], ids=["numbers", "classes"])
@pytest.mark.parametrize("block", [1, 50, 1 << 18])
def test_entries_are_those_of_each_cell(
    shape: tuple[int, ...], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_tables, "_BLOCK_VALUES", block)
    rng = np.random.default_rng(0)
    cards, n_rows = (3, 400, 2, 300, 5), 23
    columns = [rng.integers(0, card + 1, n_rows) for card in cards]
    codes = Codes.from_columns(columns, cards)
    features = np.array([1, 2, 4])
    # Some tables lack states, whose cells have the common entry.
    tables = [rng.normal(size=(n, *shape)) for n in (390, 2, 3)]
    joined = StateTables.of(features, tables, -7.0)
    result = np.empty((3, n_rows, *shape))
    for rows, entries in joined.blocks(codes):
        result[:, rows] = entries
    for feature, table, rows_of in zip(features, tables, result, strict=True):
        for code, entry in zip(columns[feature], rows_of, strict=True):
            assert np.array_equal(
                entry, table[code] if code < len(table) else np.full(shape, -7.0)
            )


def test_no_features_have_no_entries() -> None:
    codes = Codes.from_columns([np.array([0, 1])], (2,))
    joined = StateTables.of(np.array([], dtype=np.int64), (), 0.0)
    assert [len(entries) for _, entries in joined.blocks(codes)] == [0]
