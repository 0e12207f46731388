"""Intervals of shares and means: published figures, simulated posteriors, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayleaf.evaluation.groups.estimates import (
    Estimate,
    Sample,
    Share,
    mean_difference,
    mean_estimate,
    share_difference,
    share_estimate,
    share_ratio,
)

LEVEL = 0.95


def drawn(share: Share, rng: np.random.Generator) -> np.ndarray:
    """Values from the posterior of a share."""
    return rng.beta(share.hits + 0.5, share.n - share.hits + 0.5, 200_000)


def test_the_interval_of_a_share_is_that_of_the_beta_posterior() -> None:
    found = share_estimate(Share(3, 10), LEVEL)
    low, high = stats.beta(3.5, 7.5).ppf([0.025, 0.975])
    assert found.value == 0.3
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("hits", "end"),
    [(0, ("low", 0.0)), (10, ("high", 1.0))],
)
def test_an_interval_reaches_the_end_of_the_scale(hits: int, end) -> None:
    found = share_estimate(Share(hits, 10), LEVEL)
    assert getattr(found, end[0]) == end[1]
    assert 0.0 < found.high - found.low < 0.3


def test_no_rows_give_no_share_and_no_interval() -> None:
    assert share_estimate(Share(0, 0), LEVEL) == Estimate(None, None, None, 0)
    assert mean_estimate(Sample.of(np.array([])), LEVEL).value is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Share(30, 100), Share(60, 90)),
        (Share(1, 8), Share(40, 70)),
        (Share(0, 20), Share(5, 9)),
        (Share(500, 1000), Share(480, 1000)),
    ],
)
def test_differences_and_ratios_are_those_of_drawn_posteriors(first, second) -> None:
    rng = np.random.default_rng(1)
    a, b = drawn(first, rng), drawn(second, rng)
    found = share_difference(first, second, LEVEL)
    low, high = np.quantile(a - b, [0.025, 0.975])
    value = first.hits / first.n - second.hits / second.n
    expected = (min(low, value), max(high, value))
    assert (found.low, found.high) == pytest.approx(expected, abs=4e-3)
    ratio = share_ratio(first, second, LEVEL)
    low, high = np.quantile(a / b, [0.025, 0.975])
    expected = (low * (first.hits > 0), high)
    assert (ratio.low, ratio.high) == pytest.approx(expected, rel=0.02)


def test_the_ratio_to_a_rate_of_zero_is_unknown() -> None:
    assert share_ratio(Share(3, 9), Share(0, 9), LEVEL).value is None


def test_the_interval_of_a_mean_is_students() -> None:
    values = np.array([0.3, 1.2, 0.7, 0.1])
    found = mean_estimate(Sample.of(values), LEVEL)
    expected = stats.t(3, values.mean(), stats.sem(values)).interval(0.95)
    assert (found.low, found.high) == pytest.approx(expected)


def test_one_row_has_a_mean_without_an_interval() -> None:
    assert mean_estimate(Sample.of(np.array([0.4])), LEVEL) == Estimate(
        0.4, None, None, 1
    )


def test_the_interval_of_a_difference_of_means_is_welchs() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.exponential(1, 30), rng.exponential(2, 17)
    found = mean_difference(Sample.of(a), Sample.of(b), LEVEL)
    expected = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("n", "p"), [(12, 0.3), (40, 0.08), (200, 0.5)])
def test_intervals_of_shares_cover_as_often_as_they_say(n: int, p: float) -> None:
    # The mean over p nearby, as coverage of a binomial swings from p to p.
    near = np.linspace(0.85 * p, 1.15 * p, 41)
    found = [share_estimate(Share(k, n), LEVEL) for k in range(n + 1)]
    inside = np.array([(e.low <= near) & (near <= e.high) for e in found])
    weights = stats.binom.pmf(np.arange(n + 1)[:, None], n, near)
    assert 0.93 < (weights * inside).sum(axis=0).mean() < 0.97


def test_intervals_of_differences_cover_as_often_as_they_say() -> None:
    n, m, p, q = 25, 18, 0.3, 0.45
    weights = np.outer(
        stats.binom.pmf(range(n + 1), n, p), stats.binom.pmf(range(m + 1), m, q)
    )
    covered = 0.0
    for (k, j), weight in np.ndenumerate(weights):
        if weight > 1e-3:
            found = share_difference(Share(k, n), Share(j, m), LEVEL)
            covered += weight * (found.low <= p - q <= found.high)
    assert 0.94 < covered / weights[weights > 1e-3].sum() < 0.97
