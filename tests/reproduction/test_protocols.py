from __future__ import annotations

import math

import pytest

from bayleaf.reproduction.protocols import (
    Comparison,
    Verdict,
    verdict_sentence,
)
from offenders import check_each


def test_the_difference_is_in_units_of_both_deviations() -> None:
    # The figures 79 and 85 have mean 82 and deviation 3 * sqrt(2).
    one = Comparison(("a",), 80.0, 2.0, [79.0, 85.0])
    assert one.spread == pytest.approx(math.sqrt(18.0))
    assert one.difference_in_sd == pytest.approx(2.0 / math.sqrt(4.0 + 18.0))


def test_the_deviation_that_is_known_serves_alone() -> None:
    assert Comparison((), 80.0, 2.0, [83.0]).difference_in_sd == 1.5
    assert Comparison((), 80.0, None, [82.0, 84.0]).difference_in_sd == pytest.approx(
        3.0 / math.sqrt(2.0)
    )


def test_more_than_two_deviations_are_better_or_worse() -> None:
    def check(case: tuple[float, bool, Verdict]) -> None:
        ours, larger_is_better, verdict = case
        one = Comparison((), 80.0, 2.0, [ours], larger_is_better=larger_is_better)
        assert one.verdict == verdict

    check_each(
        [
            (84.0, True, Verdict.AGREES),
            (76.0, True, Verdict.AGREES),
            (84.1, True, Verdict.BETTER),
            (75.9, True, Verdict.WORSE),
            (84.1, False, Verdict.WORSE),
            (75.9, False, Verdict.BETTER),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("ours", "verdict"), [(80.0, Verdict.AGREES), (79.9, Verdict.WORSE)]
)
@pytest.mark.parametrize("sd", [None, 0.0])
def test_without_a_spread_only_the_same_figure_agrees(
    sd: float | None, ours: float, verdict: Verdict
) -> None:
    assert Comparison((), 80.0, sd, [ours]).verdict == verdict


def test_a_cell_that_was_not_run_has_no_difference() -> None:
    one = Comparison((), 80.0, 2.0, [])
    assert one.verdict == Verdict.NOT_RUN
    assert math.isnan(one.mean)
    assert math.isnan(one.difference_in_sd)


def test_a_reason_makes_a_figure_not_identifiable() -> None:
    one = Comparison((), 80.0, 2.0, [80.0], "nobody has the table")
    assert one.verdict == Verdict.NOT_IDENTIFIABLE


def test_verdicts_are_counted_in_a_sentence() -> None:
    found = [Comparison((), 80.0, 1.0, [figure]) for figure in (80.0, 70.0, 90.0, 81.0)]
    assert [one.verdict for one in found].count(Verdict.AGREES) == 2
    assert verdict_sentence(found) == (
        "4 printed figures: 2 within 2 sd, 1 differs (better), 1 worse"
    )
    assert "3 differ (better)" in verdict_sentence([found[2]] * 3)
