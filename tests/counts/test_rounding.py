"""Rounded counts are multiples next to the counts, unbiased, and agree in sums."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.counts.rounding import CountRounding

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=12)
BASES = st.integers(3, 9)
KEYS = st.binary(min_size=16, max_size=16)


@given(COUNTS, BASES, KEYS)
def test_sums_of_neighbours_become_multiples_next_to_them(counts, base, key) -> None:
    found = CountRounding(base, key).rounded(counts, "t")
    for first in range(len(counts)):
        for last in range(first, len(counts)):
            exact, told = sum(counts[first : last + 1]), found[first : last + 1].sum()
            assert told % base == 0
            assert abs(told - exact) < base


@given(st.lists(COUNTS, min_size=1, max_size=4), BASES, KEYS)
def test_a_finer_partition_has_the_totals_of_the_coarser(groups, base, key) -> None:
    rounding = CountRounding(base, key)
    fine = rounding.rounded([n for group in groups for n in group], "t")
    coarse = rounding.rounded([sum(group) for group in groups], "t")
    ends = np.cumsum([len(group) for group in groups])[:-1]
    assert [part.sum() for part in np.split(fine, ends)] == coarse.tolist()


def test_rounding_is_unbiased_over_keys() -> None:
    counts = np.array([1, 2, 0, 7, 13, 5, 4])
    found = [
        CountRounding(5, key.to_bytes(16)).rounded(counts, "t") for key in range(4000)
    ]
    # Standard error of a mean of values five apart.
    error = 2.5 / np.sqrt(len(found))
    assert np.abs(np.mean(found, axis=0) - counts).max() < 5 * error
    assert (np.array(found)[:, [2, 5]] == counts[[2, 5]]).all()


def test_a_table_is_rounded_alike_in_any_order_and_anew_with_another_row() -> None:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 4, 50) for _ in range(3)]
    order = rng.permutation(50)
    one = CountRounding.of_rows(columns, 5)
    assert one == CountRounding.of_rows([column[order] for column in columns], 5)
    others = {
        CountRounding.of_rows([np.append(c, v) for c, v in zip(columns, row)], 5).key
        for row in np.ndindex(4, 4, 4)
    }
    assert len(others | {one.key}) == 65
