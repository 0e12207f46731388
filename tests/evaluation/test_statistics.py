from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayleaf.evaluation.statistics import (
    RankTest,
    TestResult,
    corrected_t_test,
    friedman_test,
    mean_ranks,
    nemenyi_critical_difference,
    wilcoxon_signed_rank,
)
from offenders import check_each

RNG = np.random.default_rng(3)
FIRST, SECOND = RNG.normal(0.80, 0.03, 10), RNG.normal(0.77, 0.03, 10)
SCORE_RNG = np.random.default_rng(8)
SCORES = {name: SCORE_RNG.random(12) for name in ("nb", "tan", "kdb", "hnb")}


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


def test_wilcoxon_is_scipy_s_and_knows_equal_scores() -> None:
    found = wilcoxon_signed_rank(SCORES["nb"], SCORES["tan"])
    expected = stats.wilcoxon(SCORES["nb"], SCORES["tan"])
    assert found == TestResult(*map(float, expected))
    assert wilcoxon_signed_rank([1, 2], [1, 2]) == TestResult(0.0, 1.0)


def test_friedman_is_scipy_s() -> None:
    found = friedman_test(SCORES)
    expected = stats.friedmanchisquare(*SCORES.values())
    assert (found.statistic, found.p_value) == pytest.approx(tuple(expected))
    assert sum(found.mean_ranks.values()) == pytest.approx(1 + 2 + 3 + 4)
    again = friedman_test({k: -v for k, v in SCORES.items()}, larger_is_better=False)
    assert again.mean_ranks == found.mean_ranks


def test_models_that_are_all_alike_share_one_rank() -> None:
    found = friedman_test({name: [0.5, 0.6] for name in "abc"})
    assert found == RankTest(0.0, 1.0, {"a": 2.0, "b": 2.0, "c": 2.0}, 2)


def test_ties_share_their_ranks() -> None:
    scores = {"a": [3], "b": [3], "c": [1]}
    assert mean_ranks(scores) == {"a": 1.5, "b": 1.5, "c": 3.0}
    smallest = mean_ranks(scores, larger_is_better=False)
    assert smallest == {"a": 2.5, "b": 2.5, "c": 1.0}


@pytest.mark.parametrize(
    ("n_models", "level", "q"),
    # Demsar (2006), table 5(a).
    [(2, 0.05, 1.960), (5, 0.05, 2.728), (10, 0.05, 3.164), (7, 0.10, 2.693)],
)
def test_critical_differences_use_the_published_quantiles(
    n_models: int, level: float, q: float
) -> None:
    found = nemenyi_critical_difference(n_models, 30, level=level)
    factor = math.sqrt(n_models * (n_models + 1) / 180)
    assert found / factor == pytest.approx(q, abs=6e-4)


def test_groups_are_the_bars_of_the_diagram() -> None:
    # With 3 models on 12 data sets the critical difference is 0.957.
    ranks = {"worst": 2.6, "best": 1.4, "middle": 2.0}
    assert RankTest(0.0, 0.0, ranks, 12).groups() == [
        ("best", "middle"),
        ("middle", "worst"),
    ]
    apart = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert RankTest(0.0, 0.0, apart, 12).groups() == []
    assert RankTest(0.0, 0.0, apart, 1).groups() == [("a", "b", "c")]


def test_tables_that_cannot_be_tested_are_named() -> None:
    def check(case: tuple[Any, str]) -> None:
        call, message = case
        with pytest.raises(ValueError, match=message):
            call()

    check_each(
        [
            (lambda: friedman_test({"a": [1, 2], "b": [1, 2]}), "at least 3 models"),
            (
                lambda: friedman_test({"a": [1, 2], "b": [1, 2], "c": [1, 2, 3]}),
                r"\[2, 2, 3\]",
            ),
            (lambda: mean_ranks({}), "there is no model to compare"),
            (lambda: nemenyi_critical_difference(1, 5), "at least 2 models"),
            (lambda: nemenyi_critical_difference(3, 5, level=2), "level must lie"),
        ],
        check,
    )


def test_scores_without_names_are_refused() -> None:
    with pytest.raises(TypeError, match="mapping of names to scores, got list"):
        friedman_test([[1, 2], [2, 3], [3, 4]])  # type: ignore[arg-type]
