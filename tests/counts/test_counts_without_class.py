"""Counts without a class are those of the rows, whatever is missing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayleaf.counts.information import mutual_information
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from offenders import check_each


def holed_codes(seed: int, weighted: bool) -> Codes:
    """Four variables with missing cells in all of them, the last included."""
    rng = np.random.default_rng(seed)
    cards = (2, 3, 4, 3)
    columns = [rng.integers(0, card + 1, 60) for card in cards]
    weights = rng.integers(1, 5, 60).astype(float) if weighted else None
    return Codes.from_columns(columns, cards, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_families_are_counted_over_rows_that_hold_all_members(weighted: bool) -> None:
    codes = holed_codes(1, weighted)
    source = RowCounts(codes, has_class=False)
    families = [(3,), (0,), (0, 3), (3, 1), (0, 1), (2, 1, 3)]
    for family, found in zip(families, source.family_counts(families), strict=True):
        cards = [codes.cards[member] for member in family]
        for cell in itertools.product(*map(range, cards)):
            here = np.ones(codes.n_rows, dtype=bool)
            for member, code in zip(family, cell, strict=True):
                here &= codes.column(member) == code
            assert found[cell] == codes.weights[here].sum()


def test_pairs_are_those_of_a_class_that_all_rows_share() -> None:
    def check(case: tuple[bool, int]) -> None:
        weighted, high = case
        # Columns of many states are counted by key, others by planes.
        codes = holed_codes(3, weighted)
        columns = [codes.column(v).astype(int) * high for v in range(4)]
        cards = [card * high for card in codes.cards]
        weights = None if codes.unit_weights else codes.weights
        codes = Codes.from_columns(columns, cards, weights)
        same = codes.with_column(np.zeros(60, dtype=int), 1, weights)
        source, whole = RowCounts(codes, has_class=False), RowCounts(same)
        found = source.pair_counts(range(4), range(4)).dense()
        assert np.array_equal(found, whole.pair_counts(range(4), range(4)).dense())
        families = [(a, b) for a in range(4) for b in range(4) if a != b]
        for one, other in zip(
            source.family_counts(families), whole.family_counts(families), strict=True
        ):
            assert np.array_equal(one, other)

    check_each(itertools.product([False, True], [1, 30]), check)


def test_counts_by_class_are_those_of_one_class() -> None:
    codes = holed_codes(2, weighted=True)
    source = RowCounts(codes, has_class=False)
    assert source.cards == codes.cards
    assert source.rows() is codes
    assert source.class_counts().tolist() == [codes.weights.sum()]
    sums = source.add_up(lambda block: np.array([float(block.n_variables)]))
    assert sums.tolist() == [4.0]


def test_who_needs_a_class_learns_that_there_is_none() -> None:
    source = RowCounts(holed_codes(2, weighted=False), has_class=False)
    with pytest.raises(ValueError, match="without a class"):
        mutual_information(source)
