"""Counts without a class are those of the rows, whatever is missing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayleaf.counts.unclassed import UnclassedCounts
from bayleaf.data.codes import Codes


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
    source = UnclassedCounts(codes)
    families = [(3,), (0,), (0, 3), (3, 1), (0, 1), (2, 1, 3)]
    for family, found in zip(families, source.family_counts(families), strict=True):
        cards = [codes.cards[member] for member in family]
        for cell in itertools.product(*map(range, cards)):
            here = np.ones(codes.n_rows, dtype=bool)
            for member, code in zip(family, cell, strict=True):
                here &= codes.column(member) == code
            assert found[cell] == codes.weights[here].sum()


def test_the_hidden_class_is_kept_out_of_sight() -> None:
    codes = holed_codes(2, weighted=True)
    source = UnclassedCounts(codes)
    assert source.cards == codes.cards
    assert source.rows() is codes
    assert source.class_counts().tolist() == [codes.weights.sum()]
    sums = source.add_up(lambda block: np.array([float(block.n_variables)]))
    assert sums.tolist() == [4.0]
