"""The tests and measures that the papers use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayleaf.evaluation.paper_statistics import (
    accuracy_sd,
    error_reduction,
    lambda_test,
    unpaired_t_test,
    wins_and_losses,
)
from bayleaf.evaluation.statistics import TestResult
from offenders import check_each

RNG = np.random.default_rng(3)
FIRST, SECOND = RNG.normal(0.80, 0.03, 10), RNG.normal(0.77, 0.03, 10)


def test_sd_of_an_accuracy_is_that_of_a_binomial_share() -> None:
    share = stats.binom(270, 0.85).std() / 270
    assert accuracy_sd(0.85, 270) == pytest.approx(share, rel=1e-14)
    assert accuracy_sd(1.0, 10) == 0.0
    assert accuracy_sd(0.8, 100) == 0.04


def test_the_unpaired_test_is_scipy_s() -> None:
    found = unpaired_t_test(FIRST, SECOND[:7])
    expected = stats.ttest_ind(FIRST, SECOND[:7])
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_scores_without_spread_give_certainty_and_no_nan(shift: float) -> None:
    same = np.full(5, 0.7)
    expected = TestResult(math.inf, 0.0) if shift else TestResult(0.0, 1.0)
    assert unpaired_t_test(same + shift, same) == expected


def test_lambda_equals_the_computation_by_hand() -> None:
    # Mean difference 2; variance (3^2 + 4^2 + 0 + 0) / 2^2, so sd 2.5.
    found = lambda_test([81, 93], [80, 90], [3, 0], [4, 0])
    assert found.statistic == pytest.approx(0.8, rel=1e-14)
    assert found.p_value == pytest.approx(0.5 * math.erfc(0.8 / math.sqrt(2)))


def test_lambda_is_one_sided() -> None:
    forth = lambda_test([81, 93], [80, 90], [3, 1], [4, 1])
    back = lambda_test([80, 90], [81, 93], [4, 1], [3, 1])
    assert forth.p_value < 0.5
    assert forth.p_value + back.p_value == pytest.approx(1.0, rel=1e-14)


def test_error_reduction_is_a_mean_of_shares_not_a_share_of_means() -> None:
    assert error_reduction([10, 40], [5, 50]) == pytest.approx((0.5 - 0.25) / 2)
    assert error_reduction([0.2, 0.4], [0.1, 0.4]) == 0.25


def test_wins_and_losses_count_what_the_level_lets_through() -> None:
    base = np.array([0.70, 0.71, 0.72, 0.73])
    # p-values of two-sample t-tests: below .01, between .01 and .05, above .05.
    shifts = [0.05, 0.026, 0.001, -0.05]
    p_values = [stats.ttest_ind(base + shift, base).pvalue for shift in shifts]
    assert p_values[0] < 0.01 < p_values[1] < 0.05 < p_values[2]
    first = [base + shift for shift in shifts]
    second = [base] * len(shifts)
    assert wins_and_losses(first, second) == (2, 1)
    assert wins_and_losses(first, second, level=0.01) == (1, 1)


def test_figures_that_cannot_be_tested_are_named() -> None:
    def check(case: tuple[Any, str]) -> None:
        call, message = case
        with pytest.raises(ValueError, match=message):
            call()

    check_each(
        [
            (lambda: accuracy_sd(1.2, 5), "between 0 and 1, got 1.2"),
            (lambda: accuracy_sd(0.5, 0), "n_rows must be at least 1"),
            (lambda: accuracy_sd(0.5, math.nan), "n_rows must be at least 1, got nan"),  # type: ignore[arg-type]
            (lambda: unpaired_t_test(["a", "b"], [1, 2]), "first must hold numbers"),
            (
                lambda: unpaired_t_test([1, 2], [1e308, 0]),
                r"second must .* got 1e\+308",
            ),
            (lambda: unpaired_t_test([1], [1, 2]), "first must hold at least 2"),
            (lambda: unpaired_t_test([1, math.nan], [1, 2]), "score 1 is nan"),
            (lambda: lambda_test([1, 2], [1, 2], [0, 0], [0, 0]), "not all 0"),
            (lambda: lambda_test([1, 2], [1, 2], [1, -1], [0, 0]), "at least 0"),
            (lambda: lambda_test([1, 2], [1, 2], [1] * 3, [1] * 3), "3 deviations"),
            (lambda: error_reduction([0.1, 0.0], [0.1, 0.1]), "data set 1 has 0"),
            (lambda: wins_and_losses([[1, 2]], []), "hold 1 and 0"),
        ],
        check,
    )
