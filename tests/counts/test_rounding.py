"""Rounded counts are multiples next to the counts, unbiased, and agree in sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.counts.rounding import CountRounding, RoundedCounts
from bayleaf.cpds.dirichlet import drawn_distributions

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=12)
BASES = st.integers(3, 9)
KEYS = st.binary(min_size=16, max_size=16)


@given(COUNTS, BASES, KEYS)
def test_cells_become_multiples_and_empty_ones_stay(counts, base, key) -> None:
    found = CountRounding(base, key).rounded(counts, "t")
    assert (found % base == 0).all()
    assert (found >= 0).all()
    assert not found[np.array(counts) == 0].any()


@settings(max_examples=50)
@given(st.lists(COUNTS, min_size=1, max_size=4), BASES, KEYS)
def test_a_finer_partition_has_the_totals_of_the_coarser(groups, base, key) -> None:
    rounding = CountRounding(base, key)
    fine = rounding.rounded([n for group in groups for n in group], "t")
    coarse = rounding.rounded([sum(group) for group in groups], "t")
    ends = np.cumsum([len(group) for group in groups])[:-1]
    assert [part.sum() for part in np.split(fine, ends)] == coarse.tolist()


@pytest.mark.parametrize("base", [3, 5, 20])
def test_rounding_is_unbiased_and_sums_are_as_near_as_cells(base: int) -> None:
    counts = np.array([1, 2, 0, 7, 13, 5, 4, 200])
    found = np.array(
        [
            CountRounding(base, key.to_bytes(16)).rounded(counts, "t")
            for key in range(1000)
        ]
    )
    spread = 0.65 * base
    error = spread / np.sqrt(len(found))
    assert np.abs(found.mean(axis=0) - counts).max() < 5 * error
    assert (found.std(axis=0) < spread).all()
    assert found.sum(axis=1).std() < spread


def test_no_rounded_number_rules_out_numbers_near_it() -> None:
    for n in range(1, 12):
        missing = {0, 5, 10}
        for key in range(1500):
            rounding = CountRounding(5, key.to_bytes(16))
            missing.discard(int(rounding.rounded([7, n, 9], "t")[1]))
            if not missing:
                break
        assert not missing


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


@given(
    st.lists(st.floats(0, 60), min_size=2, max_size=8), st.integers(3, 9), st.binary()
)
def test_gamma_variates_are_rounded_shapes(shapes, base: int, key: bytes) -> None:
    found = RoundedCounts(base, key).standard_gamma(np.array(shapes)) - 0.5
    assert np.allclose(found % base, 0)
    assert (found >= 0).all()


@pytest.mark.parametrize(
    ("n_keys", "share"), [(600, 0.35), pytest.param(3000, 0.25, marks=pytest.mark.slow)]
)
def test_distributions_of_rounded_counts_are_distributions(
    n_keys: int, share: float
) -> None:
    probabilities = np.random.default_rng(0).dirichlet([0.2, 1.0, 3.0], (4, 5))
    probabilities[0, 0] = [0.0, 0.0, 1.0]
    strengths = np.random.default_rng(1).integers(1, 50, (4, 5)) * 1.0
    found = drawn_distributions(probabilities, strengths, RoundedCounts(5, b"key"))
    assert np.allclose(found.sum(axis=-1), 1.0)
    again = drawn_distributions(probabilities, strengths, RoundedCounts(5, b"key"))
    assert (found == again).all()
    many = np.mean(
        [
            RoundedCounts(5, bytes([n % 256, n // 256])).standard_gamma(
                probabilities * strengths[..., None]
            )
            for n in range(n_keys)
        ],
        axis=0,
    )
    exact = probabilities * strengths[..., None] + 0.5
    # Places that noise puts out of order are put back, which costs a little.
    assert np.abs(many - exact).max() < share * 5
