from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayleaf.evaluation.statistics import TestResult
from bayleaf.evaluation.statistics_datasets import (
    RankTest,
    error_reduction,
    friedman_test,
    lambda_test,
    mean_ranks,
    nemenyi_critical_difference,
    wilcoxon_signed_rank,
    wins_and_losses,
)

RNG = np.random.default_rng(8)
SCORES = {name: RNG.random(12) for name in ("nb", "tan", "kdb", "hnb")}


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
    assert mean_ranks([[3, 3, 1]]).tolist() == [1.5, 1.5, 3.0]
    assert mean_ranks([[3, 3, 1]], larger_is_better=False).tolist() == [2.5, 2.5, 1.0]


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lambda_test([1, 2], [1, 2], [0, 0], [0, 0]), "not all 0"),
        (lambda: lambda_test([1, 2], [1, 2], [1, -1], [0, 0]), "at least 0"),
        (lambda: lambda_test([1, 2], [1, 2], [1] * 3, [1] * 3), "3 deviations"),
        (lambda: error_reduction([0.1, 0.0], [0.1, 0.1]), "data set 1 has 0"),
        (lambda: wins_and_losses([[1, 2]], []), "hold 1 and 0"),
        (lambda: friedman_test({"a": [1, 2], "b": [1, 2]}), "at least 3 models"),
        (
            lambda: friedman_test({"a": [1, 2], "b": [1, 2], "c": [1, 2, 3]}),
            r"\[2, 2, 3\]",
        ),
        (lambda: mean_ranks([1, 2]), r"shape \(2,\)"),
        (lambda: nemenyi_critical_difference(1, 5), "at least 2 models"),
        (lambda: nemenyi_critical_difference(3, 5, level=2), "level must lie"),
    ],
)
def test_tables_that_cannot_be_tested_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_scores_without_names_are_refused() -> None:
    with pytest.raises(TypeError, match="mapping of names to scores, got list"):
        friedman_test([[1, 2], [2, 3], [3, 4]])  # type: ignore[arg-type]
