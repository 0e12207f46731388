from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bayleaf.evaluation.statistics import (
    TestResult,
    accuracy_sd,
    corrected_t_test,
    unpaired_t_test,
)

RNG = np.random.default_rng(3)
FIRST, SECOND = RNG.normal(0.80, 0.03, 10), RNG.normal(0.77, 0.03, 10)


def test_sd_of_an_accuracy_is_that_of_a_binomial_share() -> None:
    share = stats.binom(270, 0.85).std() / 270
    assert accuracy_sd(0.85, 270) == pytest.approx(share, rel=1e-14)
    assert accuracy_sd(1.0, 10) == 0.0


def test_without_a_test_fold_the_corrected_test_is_the_paired_one() -> None:
    found = corrected_t_test(FIRST, SECOND, n_train=90, n_test=0)
    expected = stats.ttest_rel(FIRST, SECOND)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


def test_the_corrected_test_equals_the_computation_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, variance 1; (1/3 + 1/2) * 1 = 5/6.
    found = corrected_t_test([2, 4, 6], [1, 2, 3], n_train=2, n_test=1)
    assert found.statistic == pytest.approx(2 / math.sqrt(5 / 6), rel=1e-14)
    # The t distribution with 2 degrees of freedom has a closed form.
    t = found.statistic
    assert found.p_value == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-12)


def test_the_correction_makes_ten_folds_more_cautious() -> None:
    plain = corrected_t_test(FIRST, SECOND, n_train=90, n_test=0)
    corrected = corrected_t_test(FIRST, SECOND, n_train=90, n_test=10)
    ratio = plain.statistic / corrected.statistic
    assert ratio == pytest.approx(math.sqrt((0.1 + 1 / 9) / 0.1), rel=1e-12)
    assert corrected.p_value > plain.p_value


def test_the_unpaired_test_is_scipy_s() -> None:
    found = unpaired_t_test(FIRST, SECOND[:7])
    expected = stats.ttest_ind(FIRST, SECOND[:7])
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_scores_without_spread_give_certainty_and_no_nan(shift: float) -> None:
    same = np.full(5, 0.7)
    paired = corrected_t_test(same + shift, same, n_train=4, n_test=1)
    spread = RNG.random(5)
    shifted = corrected_t_test(spread + shift, spread, n_train=4, n_test=1)
    unpaired = unpaired_t_test(same + shift, same)
    expected = TestResult(math.inf, 0.0) if shift else TestResult(0.0, 1.0)
    assert paired == shifted == unpaired == expected


@pytest.mark.parametrize(
    ("result", "mark"),
    [
        (TestResult(2.0, 0.051), "="),
        (TestResult(2.0, 0.049), "+"),
        (TestResult(-2.0, 0.049), "-"),
        (TestResult(4.0, 0.009), "++"),
        (TestResult(-4.0, 0.009), "--"),
    ],
)
def test_marks_say_sign_and_level(result: TestResult, mark: str) -> None:
    assert result.mark() == mark


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: accuracy_sd(1.2, 5), "between 0 and 1, got 1.2"),
        (lambda: accuracy_sd(0.5, 0), "n_rows must be at least 1"),
        (
            lambda: corrected_t_test([1, 2], [1, 2, 3], n_train=1, n_test=1),
            "must pair, but hold 2 and 3",
        ),
        (
            lambda: corrected_t_test([1, 2], [1, 2], n_train=0, n_test=1),
            "n_train must be above 0",
        ),
        (
            lambda: corrected_t_test([1, 2], [1, 2], n_train=math.inf, n_test=1),
            "both finite, got inf and 1",
        ),
        (lambda: accuracy_sd(0.5, math.nan), "n_rows must be at least 1, got nan"),  # type: ignore[arg-type]
        (lambda: unpaired_t_test(["a", "b"], [1, 2]), "first must hold numbers"),
        (lambda: unpaired_t_test([1, 2], [1e308, 0]), r"second must .* got 1e\+308"),
        (lambda: unpaired_t_test([1], [1, 2]), "first must hold at least 2"),
        (lambda: unpaired_t_test([1, math.nan], [1, 2]), "score 1 is nan"),
    ],
)
def test_scores_that_cannot_be_tested_are_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
