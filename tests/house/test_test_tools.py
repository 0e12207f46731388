"""The helpers of tests cover what they promise and report every failure."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from contract.kinds import COSTLY, KINDS, NUMERIC, each_kind
from covering import pairwise, spread
from offenders import check_each


@pytest.mark.parametrize("sizes", [(2, 3), (4, 4, 4), (10, 5, 3, 2), (1, 7, 1)])
def test_every_pair_of_settings_stands_in_some_row(sizes: tuple[int, ...]) -> None:
    factors = [[f"{i}{a}" for a in range(size)] for i, size in enumerate(sizes)]
    rows = pairwise(*factors)
    covered = {pair for row in rows for pair in combinations(row, 2)}
    assert covered == {
        pair for two in combinations(factors, 2) for pair in product(*two)
    }
    assert len(rows) <= 2 * sorted(sizes)[-1] * sorted(sizes)[-2]


def test_covering_rows_are_far_fewer_than_the_product() -> None:
    assert len(pairwise(range(10), range(5), range(4), range(3))) < 60


def test_few_cases_are_spread_over_all_of_them() -> None:
    assert spread([{"kind": i} for i in range(10)], 3) == [0, 3, 6]
    assert spread([{"kind": i} for i in range(2)], 3) == [0, 1]


def test_few_cases_of_a_product_have_every_setting() -> None:
    settings = list(product(range(6), range(3)))
    kept = spread([{"kind": a, "table": b} for a, b in settings], 6)
    assert {settings[i][0] for i in kept} == set(range(6))
    assert {settings[i][1] for i in kept} == set(range(3))


@pytest.mark.few(2)
@pytest.mark.parametrize("case", range(6))
def test_cases_beyond_a_few_are_long(case: int, request: pytest.FixtureRequest) -> None:
    # A case that is chosen by its name alone is one of a single one.
    alone = request.session.testscollected == 1
    is_long = request.node.get_closest_marker("long") is not None
    assert is_long == (case not in (0, 3)) or alone


@pytest.mark.long
def test_what_is_long_is_slow(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("slow")


def test_every_classifier_is_tested_and_of_some_one_in_turn_with_every_change() -> None:
    run: dict[str, set[str]] = {"quick": set(), "slow": set(), "long": set()}
    for number in range(20):

        def test(kind: type) -> None: ...

        test.__name__ = f"test_{number}"
        (mark,) = each_kind()(test).pytestmark
        names = []
        for group in mark.args[1]:
            marks = {each.name for each in getattr(group, "marks", ())}
            group = getattr(group, "values", [group])[0]
            names += group
            run[max(marks, default="quick", key=["slow", "long"].index)].update(group)
        assert sorted(names) == sorted(KINDS)
    assert run["quick"] == {*KINDS} - {*COSTLY}
    assert run["slow"] == {*COSTLY}
    assert run["long"] == {*COSTLY, *NUMERIC}


def test_every_failed_case_is_named() -> None:
    def check(case: int) -> None:
        assert case % 2, "even"

    with pytest.raises(AssertionError, match="2 of 4 cases failed") as raised:
        check_each([1, 2, 3, 4], check, lambda case: f"case {case}")
    assert "case 2: AssertionError" in str(raised.value)
    assert "case 4: AssertionError" in str(raised.value)


def test_no_case_at_all_fails() -> None:
    with pytest.raises(AssertionError, match="no case"):
        check_each([], print)
