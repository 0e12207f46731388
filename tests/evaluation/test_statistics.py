from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bayleaf.evaluation.statistics import (
    TestResult,
    corrected_t_test,
)
from offenders import check_each

RNG = np.random.default_rng(3)
FIRST, SECOND = RNG.normal(0.80, 0.03, 10), RNG.normal(0.77, 0.03, 10)


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


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_scores_without_spread_give_certainty_and_no_nan(shift: float) -> None:
    same = np.full(5, 0.7)
    paired = corrected_t_test(same + shift, same, n_train=4, n_test=1)
    spread = RNG.random(5)
    shifted = corrected_t_test(spread + shift, spread, n_train=4, n_test=1)
    expected = TestResult(math.inf, 0.0) if shift else TestResult(0.0, 1.0)
    assert paired == shifted == expected


def test_marks_say_sign_and_level() -> None:
    def check(case: tuple[TestResult, str]) -> None:
        result, mark = case
        assert result.mark() == mark

    check_each(
        [
            (TestResult(2.0, 0.051), "="),
            (TestResult(2.0, 0.049), "+"),
            (TestResult(-2.0, 0.049), "-"),
            (TestResult(4.0, 0.009), "++"),
            (TestResult(-4.0, 0.009), "--"),
        ],
        check,
    )


def test_scores_that_cannot_be_tested_are_named() -> None:
    def check(case: tuple[object, str]) -> None:
        call, message = case
        with pytest.raises(ValueError, match=message):
            call()  # type: ignore[operator]

    check_each(
        [
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
            (
                lambda: corrected_t_test(["a", "b"], [1, 2], n_train=1, n_test=1),
                "first must hold numbers",
            ),
            (
                lambda: corrected_t_test([1, 2], [1e308, 0], n_train=1, n_test=1),
                r"second must .* got 1e\+308",
            ),
            (
                lambda: corrected_t_test([1], [1, 2], n_train=1, n_test=1),
                "first must hold at least 2",
            ),
            (
                lambda: corrected_t_test([1, math.nan], [1, 2], n_train=1, n_test=1),
                "score 1 is nan",
            ),
        ],
        check,
    )
