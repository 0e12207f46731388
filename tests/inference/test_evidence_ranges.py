"""Bounds as evidence: equal to brute force over the states that hold a value within."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import AtLeast, AtMost, Between, KDBClassifier, TANClassifier
from bayleaf.cli.network_options import evidence_from
from bayleaf.data.domain import Domain, Variable, numeric_variable, ordered_variable
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.inference.events.events import read_known
from bayleaf.inference.evidence import (
    Range,
    cuts_an_interval,
    parsed_range,
    range_codes,
    range_text,
    read_evidence,
)
from offenders import check_each

AGE = numeric_variable("age", [30.0, 40.0, 50.0])
GRADE = ordered_variable("grade", ["bad", "fair", "good", "best"], [0.5, 1.5])
WHOLE = Variable("n", (1, 2, 3, 5))
# Around a cut point an interval ends, and the next begins just above.
GRID = [e + d for e in np.arange(0, 90, 0.5).tolist() for d in (-1e-6, 0.0, 1e-6)]


def held(variable: Variable, bounds: Range) -> tuple[int, ...]:
    """States that hold a value within bounds, by looking at many values."""
    if variable.categories is not None:
        values = list(enumerate(variable.categories))
        place = variable.categories.index
        low = -1 if bounds.low is None else place(bounds.low)
        high = 99 if bounds.high is None else place(bounds.high)
        codes = [variable.state_of_category(v) for i, v in values if low <= i <= high]
        return tuple(sorted(set(codes)))  # type: ignore[type-var]
    found = set()
    for value in GRID:
        above = bounds.low is None or value > bounds.low
        below = bounds.high is None or value < bounds.high
        above |= value == bounds.low and not bounds.open_low
        below |= value == bounds.high and not bounds.open_high
        if above and below:
            if variable.kind == "numeric":
                found.add(int(np.searchsorted(variable.cut_points, value)))
            elif value in variable.state_index:
                found.add(variable.state_index[value])
    return tuple(sorted(found))


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_the_states_are_those_that_hold_a_value_within(first: int) -> None:
    check_each(range(first, first + 50), check_random_bounds)


def check_random_bounds(seed: int) -> None:
    """Compare bounds of every kind with the states that hold values within them."""
    rng = np.random.default_rng(seed)
    low, high = sorted((rng.integers(0, 160, 2) / 2).tolist())
    for bounds in (
        Between(low, high),
        AtMost(high),
        AtLeast(low),
        Range(low, None, open_low=True),
        Range(None, high, open_high=True),
    ):
        assert range_codes(AGE, bounds) == held(AGE, bounds)
        if expected := held(WHOLE, bounds):
            assert range_codes(WHOLE, bounds) == expected
        else:
            with pytest.raises(ValueError, match="no state of variable 'n' holds"):
                range_codes(WHOLE, bounds)


def test_categories_are_compared_by_rank() -> None:
    names = GRADE.categories or ()
    for i, low in enumerate(names):
        assert range_codes(GRADE, AtMost(low)) == held(GRADE, AtMost(low))
        assert range_codes(GRADE, AtLeast(low)) == held(GRADE, AtLeast(low))
        for high in names[i:]:
            bounds = Between(low, high)
            assert range_codes(GRADE, bounds) == held(GRADE, bounds)
    with pytest.raises(ValueError, match="must be one of its categories bad, fair"):
        range_codes(GRADE, AtMost("worst"))


def frame() -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns of numbers, of which classes tell."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame(
        {"age": rng.normal(40 + 15 * y, 10), "weight": rng.normal(70 + 9 * y, 8)}
    )
    return X, y


def test_posteriors_are_those_of_the_states() -> None:
    network = TANClassifier().fit(*frame()).network_
    variable = network.domain[network.domain.index("age")]
    assert len(variable.cut_points) > 1
    bounds = Between(variable.cut_points[0] + 1, variable.cut_points[-1] + 1)
    states = {variable.states[code] for code in range_codes(variable, bounds)}
    assert 0 < len(states) < variable.n_states
    with pytest.warns(UserWarning, match="intervals count as a whole"):
        ranged = network.query({"age": bounds})["class"].probabilities
    named = network.query({"age": states})["class"].probabilities
    np.testing.assert_array_equal(ranged, named)


def test_a_pair_of_numbers_is_refused_with_what_to_say() -> None:
    network = KDBClassifier().fit(*frame()).network_
    with pytest.raises(ValueError, match=r"give Between\(30, 50\), or a list of val"):
        network.query({"age": (30, 50)})
    for evidence in ({"age": (30, 50, 60)}, {"age": (30,)}):
        with pytest.raises(ValueError, match=r"give Between\(low, high\), or a list"):
            network.query(evidence)
    assert network.query({"age": {30, 50}})


def test_a_tuple_of_integers_is_refused_where_states_are_numbers_unless_one() -> None:
    with pytest.raises(ValueError, match=r"give Between\(1, 3\), or a list"):
        read_evidence(Domain((WHOLE,)), {"n": (1, 3)})
    (item,) = read_evidence(Domain((WHOLE,)), {"n": [1, 3]}).items
    assert item.likelihood.tolist() == [1, 0, 1, 0]
    pairs = Domain((Variable("pair", ((1, 3), (2, 4))),))
    assert read_evidence(pairs, {"pair": (1, 3)}).items[0].known == 0


def test_bounds_inside_an_interval_warn_in_every_form() -> None:
    domain = Domain((AGE, GRADE))
    cases: list[tuple[Any, str]] = [
        ({"age": Between(33, 45)}, r"33 <= age <= 45 \(taken as 30 < age <= 50\): int"),
        ({"age": AtLeast(45)}, r"age >= 45 \(taken as age > 40\): intervals count as"),
        ({"age": AtMost(33)}, "the cut points of variable 'age' are 30, 40, 50"),
        ({"grade": AtLeast("best")}, r"grade >= best \(taken as "),
        ("33 <= age <= 45", r"33 <= age <= 45 \(taken as 30 < age <= 50\)"),
    ]

    def check(case: tuple[Any, str]) -> None:
        with pytest.warns(UserWarning, match=case[1]):
            read_known(domain, case[0])

    check_each(cases, check)
    # Warnings are errors here.
    assert read_known(domain, {"age": AtMost(40), "grade": AtMost("bad")})


def test_answers_say_which_cut_points_stood_in() -> None:
    assert range_text(AGE, Between(33, 45), (1, 2)) == (
        "33 <= age <= 45 (taken as 30 < age <= 50)"
    )
    assert range_text(AGE, AtMost(40), (0, 1)) == "age <= 40"
    assert range_text(AGE, AtLeast(45), (2, 3)) == "age >= 45 (taken as age > 40)"
    assert "any value" in range_text(AGE, Between(1, 99), (0, 1, 2, 3))


def test_bounds_on_the_command_line() -> None:
    cases: list[tuple[str, Range]] = [
        ("age=30..50", Between(30.0, 50.0)),
        ("age<=50", AtMost(50.0)),
        ("age>=30", AtLeast(30.0)),
        ("age > 30", Range(30.0, None, open_low=True)),
        ("age<50", Range(None, 50.0, open_high=True)),
    ]

    def check(case: tuple[str, Range]) -> None:
        text, expected = case
        network = TANClassifier().fit(*frame()).network_
        found = evidence_from(network, [text])["age"]
        for field in ("low", "high", "open_low", "open_high"):
            assert getattr(found, field) == getattr(expected, field)

    check_each(cases, check)


def test_other_texts_are_no_bounds() -> None:
    assert parsed_range("30-50") is None
    assert parsed_range("a..b") is None
    assert parsed_range("-1.5..2e3") is not None


def test_bounds_that_mean_nothing_are_refused() -> None:
    cases: list[tuple[Variable, Range, str]] = [
        (Variable("s", ("a", "b")), AtMost(3), "have no order"),
        (AGE, Between(50, 30), "the wrong way round"),
        (AGE, AtMost("old"), "must be a number, got 'old'"),
        (AGE, AtMost(float("nan")), "must be a number"),
    ]

    def check(case: tuple[Variable, Range, str]) -> None:
        variable, bounds, message = case
        with pytest.raises(ValueError, match=message):
            range_codes(variable, bounds)

    check_each(cases, check)


def test_between_whole_numbers_there_is_nothing_to_be_within_bounds() -> None:
    numbers = IntervalNumbers((40.0, 60.0), ((30.0, 54.0), (55.0, 80.0)))
    variable = replace(numeric_variable("years", [54.5]), numbers=numbers)
    above = Range(54, None, open_low=True)
    assert range_codes(variable, above) == (1,)
    assert range_text(variable, above, (1,)) == "years > 54"
    assert range_codes(variable, AtMost(54)) == (0,)
    assert not cuts_an_interval(variable, AtMost(54))
    assert cuts_an_interval(variable, AtMost(53))
    half = replace(variable, numbers=IntervalNumbers((1.5, 2.5), ((1.5,) * 2,) * 2))
    assert range_codes(half, above) == (0, 1)
