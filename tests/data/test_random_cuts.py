"""Random quantile cut points and the maps from fine to coarse intervals."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.data.domain import numeric_variable
from bayleaf.data.random_cuts import RandomCuts, interval_maps
from offenders import check_each


def _cuts(
    seed: int = 0, n_codings: int = 16, max_bins: int | None = None
) -> RandomCuts:
    return RandomCuts(np.random.default_rng(seed), n_codings, max_bins)


def _column(n_rows: int = 400) -> np.ndarray:
    return np.random.default_rng(1).normal(size=n_rows).round(2)


def test_the_union_holds_the_cut_points_of_every_coding() -> None:
    discretizer, values = _cuts(), _column()
    union = discretizer.cut_points(values, values, 2, np.ones(len(values)))
    (codings,) = discretizer.drawn
    assert len(codings) == 16
    assert set(union) >= set().union(*codings)
    assert list(union) == sorted(union)
    # As many as one byte tells apart, beside missing cells.
    assert len(union) < 254
    shares = np.bincount(np.searchsorted(union, values)) / len(values)
    assert shares.max() < 0.02


def test_no_finer_cut_takes_a_second_byte() -> None:
    discretizer, values = _cuts(n_codings=200, max_bins=40), _column(4000)
    union = discretizer.cut_points(values, values, 2, np.ones(len(values)))
    assert set(union) == set().union(*discretizer.drawn[0])


def test_every_interval_of_a_coding_holds_a_row_and_its_share() -> None:
    discretizer, values = _cuts(max_bins=4), _column(4000)
    discretizer.cut_points(values, values, 2, np.ones(len(values)))
    distinct, even = np.unique(values), []
    for cuts in discretizer.drawn[0]:
        counts = np.bincount(np.searchsorted(cuts, values), minlength=len(cuts) + 1)
        assert (counts > 0).all()
        assert 2 <= len(cuts) <= 4
        # Neighbouring quantiles lie 1 / b apart, whatever the offset: those of the
        # rows, or those of the distinct values.
        of_values = np.bincount(np.searchsorted(cuts, distinct))
        spreads = [np.ptp(own[1:-1]) / own.sum() for own in (counts, of_values)]
        assert min(spreads) < 0.05
        even.append(spreads[0] < spreads[1])
    assert 0 < sum(even) < len(even)


def test_the_tail_of_a_column_of_zeros_is_cut() -> None:
    rng = np.random.default_rng(0)
    values = np.where(rng.random(5000) < 0.95, 0.0, rng.exponential(size=5000))
    discretizer = _cuts()
    discretizer.cut_points(values, values, 2, np.ones(5000))
    tail = [sum(cut > 1.0 for cut in cuts) for cuts in discretizer.drawn[0]]
    assert sum(count > 1 for count in tail) >= 4


def test_weights_count_as_repeated_rows() -> None:
    values = _column()
    weights = np.random.default_rng(2).integers(4, size=len(values))
    one, other = _cuts(), _cuts()
    repeated = np.repeat(values, weights)
    assert one.cut_points(values, values, 2, weights * 1.0) == other.cut_points(
        repeated, repeated, 2, np.ones(len(repeated))
    )


def test_few_values_are_cut_between_all_of_them() -> None:
    values = np.array([3.0, 1.0, 1.0, np.nan, 2.0])
    discretizer = _cuts()
    assert discretizer.cut_points(values, values, 2, np.ones(5)) == (1.5, 2.5)
    assert discretizer.drawn == [[(1.5, 2.5)] * 16]


def test_the_number_of_quantiles_grows_with_the_cube_root() -> None:
    def check(case: tuple[int, int]) -> None:
        n_rows, most = case
        values = np.arange(n_rows) * 1.0
        discretizer = _cuts(n_codings=200)
        discretizer.cut_points(values, values, 2, np.ones(n_rows))
        assert max(map(len, discretizer.drawn[0])) == most

    check_each([(30, 4), (1000, 10), (100_000, 32)], check)


@pytest.mark.parametrize("missing_state", [False, True])
def test_a_map_leads_to_the_interval_of_the_coarse_coding(missing_state: bool) -> None:
    fine, coarse = (0.5, 1.0, 2.0, 7.0), (1.0, 7.0)
    variable = numeric_variable("x", fine, missing_state=missing_state)
    found, whole = interval_maps(variable, [coarse, ()])
    values = np.array([0.5, 0.7, 1.0, 1.5, 2.0, 7.0, 8.0])
    np.testing.assert_array_equal(
        found[np.searchsorted(fine, values)], np.searchsorted(coarse, values)
    )
    assert found[5:].tolist() == ([3, 4] if missing_state else [3])
    assert whole.tolist() == [0] * 5 + ([1, 2] if missing_state else [1])
