"""Fused tables give the sums of single factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.inference import factors
from bayleaf.inference.factors import Factor, FusedTables
from oracles.coded_tables import random_codes

CARDS = (2, 3, 300, 4, 1, 5)
FAMILIES = ((), (0,), (0, 1), (1, 2), (2,), (3, 1), (1, 3), (4,), (4, 3, 5), (0, 5))


def _factors(n_classes: int = 3, seed: int = 0) -> list[Factor]:
    rng = np.random.default_rng(seed)
    return [
        Factor(
            variables[-1] if variables else len(CARDS),
            variables,
            rng.normal(size=(n_classes, *(CARDS[v] for v in variables))),
        )
        for variables in FAMILIES
    ]


def _one_by_one(some: Sequence[Factor], codes: Codes) -> NDArray[np.float64]:
    """Sum of the factors without missing variables, cell by cell."""
    n_classes = some[0].log_values.shape[0]
    scores = np.zeros((n_classes, codes.n_rows))
    for row in range(codes.n_rows):
        for factor in some:
            states = [int(codes.column(v)[row]) for v in factor.variables]
            if all(s < CARDS[v] for s, v in zip(states, factor.variables)):
                scores[:, row] += factor.log_values[(slice(None), *states)]
    return scores


@pytest.mark.parametrize("fused_cells", [0, 60, 8192, 10**9])
@pytest.mark.parametrize("missing", [False, True])
def test_a_look_up_is_the_sum_of_factors_without_missing_variables(
    monkeypatch: pytest.MonkeyPatch, fused_cells: int, missing: bool
) -> None:
    monkeypatch.setattr(factors, "_FUSED_CELLS", fused_cells)
    some = _factors()[: 6 if fused_cells > 8192 else None]
    codes = random_codes((*CARDS, 2), 40, missing=0.2 * missing).without_last()
    found = FusedTables.from_factors(some, CARDS).look_up(codes)
    np.testing.assert_allclose(found, _one_by_one(some, codes), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n_rows", [1, 1023, 1024, 1025, 3000])
@pytest.mark.parametrize("missing", [False, True])
def test_the_native_look_up_gives_the_bits_of_numpy(n_rows: int, missing: bool) -> None:
    tables = FusedTables.from_factors(_factors(), CARDS)
    codes = random_codes((*CARDS, 2), n_rows, missing=0.2 * missing).without_last()
    plain = np.zeros((3, n_rows))
    for variables, strides, table in zip(
        tables.variables, tables.strides, tables.tables, strict=True
    ):
        index = np.zeros(n_rows, dtype=np.int64)
        for variable, stride in zip(variables, strides, strict=True):
            index += codes.column(variable).astype(np.int64) * stride
        plain += table[:, index]
    np.testing.assert_array_equal(tables.look_up(codes), plain)


def test_rows_alone_and_together_give_the_same_bits() -> None:
    tables = FusedTables.from_factors(_factors(), CARDS)
    codes = random_codes((*CARDS, 2), 30, missing=0.2).without_last()
    together = tables.look_up(codes)
    for row in range(30):
        alone = tables.look_up(codes.rows(slice(row, row + 1)))
        np.testing.assert_array_equal(alone[:, 0], together[:, row])


def test_small_neighbours_share_a_table() -> None:
    tables = FusedTables.from_factors(_factors(), CARDS)
    assert len(tables.tables) < len(FAMILIES)


def test_fused_tables_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "_FUSED_CELLS", 100)
    some = [factor for factor in _factors() if 2 not in factor.variables]
    tables = FusedTables.from_factors(some, CARDS)
    largest = max(factor.padded().size for factor in some)
    assert max(table.size for table in tables.tables) <= max(100, largest)


def test_padding_adds_a_code_that_counts_nothing() -> None:
    padded = Factor(1, (0, 1), np.ones((2, 2, 3))).padded()
    assert padded.shape == (2, 3, 4)
    assert padded.sum() == 12.0
