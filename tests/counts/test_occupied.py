"""Occupied cells: what a dense table holds, without its zeros."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bayleaf.counts.occupied import count_occupied
from bayleaf.counts.table_counts import RowCounts
from offenders import check_each
from oracles.coded_tables import random_codes

CARDS = (5, 300, 4, 3)


def _maps() -> list[Any]:
    return [np.arange(card + 1, dtype=np.uint16) for card in CARDS[:-1]]


# One with a place for each of its few cells, and one with far more cells than rows.
def test_occupied_cells_are_those_of_the_dense_table() -> None:
    def check(case: tuple[tuple[int, ...], bool]) -> None:
        family, whole = case
        codes = random_codes(CARDS, 500, weights="ones" if whole else "fractions")
        _, found, _ = count_occupied(codes, [(1,), family, (0, 2)], _maps())
        dense = np.zeros([CARDS[v] + 1 for v in family] + [CARDS[-1]])
        dense[(*found.states, found.classes)] = found.weights
        (expected,) = RowCounts(codes).family_counts([(*family, 3)])
        dense = dense[tuple(slice(CARDS[v]) for v in family)]
        np.testing.assert_allclose(dense, expected, rtol=1e-13)
        assert (found.weights > 0).all()
        assert len(found.weights) == np.count_nonzero(expected)

    check_each(itertools.product([(0, 2), (2, 0, 1)], [True, False]), check)


def test_families_are_their_feature_and_distinct_parents() -> None:
    counts = count_occupied(random_codes(CARDS, 50), [(0, 2, 1), (1,), (2, 0)], _maps())
    counts.check_content()

    def check(family: tuple[int, ...]) -> None:
        wrong = replace(counts, families=counts.families.copy())
        wrong.families[1] = family
        with pytest.raises(ValueError, match="family 1 should be the feature and"):
            wrong.check_content()

    check_each(
        [
            *((0, 2, -1), (-1, 1, -1), (1, 0, 0), (1, 1, -1)),
            *((1, -1, 0), (1, 3, -1), (1, -2, -1), (1, 0, 1)),
        ],
        check,
    )


def test_a_map_merges_states() -> None:
    codes = random_codes(CARDS, 500)
    halves = np.array([0, 0, 1, 1, 1, 2], dtype=np.uint16)
    (found,) = count_occupied(codes, [(0,)], [halves, *_maps()[1:]])
    low = codes.column(0) < 2
    for state, rows in ((0, low), (1, ~low)):
        for c in range(3):
            cell = (found.states[0] == state) & (found.classes == c)
            assert found.weights[cell].sum() == (codes.column(3)[rows] == c).sum()
