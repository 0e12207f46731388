"""Textbook decisions: policies and utilities as printed.

Printed are the numbers of the oil wildcatter (Raiffa), the used car (Howard), the PhD
with and without a start-up (Barber), the umbrella (Netica's manual) and, without
memory, pigs (Lauritzen and Nilsson). Of the chest clinic (Cowell et al.) only the
tables are; its utility, and all others with memory once more, are compared with sums
and maxima over the whole joint. Of poker, Kuhn (1950) prints the value of the game and
which moves lose by it: to pass and to bet with a jack or a king, and to fold and to
call with a queen, are worth the same.
"""

from __future__ import annotations

import pytest

from bayleaf import InfluenceDiagram
from offenders import check_each
from oracles.decision_problems import (
    car_buyer,
    chest_clinic,
    kuhn_poker,
    oil_wildcatter,
    phd,
    phd_and_start_up,
    pigs,
    umbrella,
)
from oracles.random_diagrams import best_by_backward_induction

RESULTS = ("positive", "negative")


def test_the_oil_wildcatter_tests_and_drills_where_a_structure_is_found() -> None:
    solution = oil_wildcatter().solve()
    assert solution.expected_utility == pytest.approx(22.5)
    assert solution["test"].choice() == "yes"
    drilled = {
        state: solution["drill"].choice({"test": "yes", "structure": state})
        for state in ("none", "open", "closed")
    }
    assert drilled == {"none": "no", "open": "yes", "closed": "yes"}
    # Without the test: 20, so that its result is worth 12.5 and it gains 2.5.
    assert oil_wildcatter().solve({"test": "no"}).expected_utility == pytest.approx(20)
    assert solution["drill"].worth["structure"] == pytest.approx(12.5)


def test_the_used_car_is_looked_at_in_two_places() -> None:
    diagram = car_buyer()
    solution = diagram.solve()
    assert solution.expected_utility == pytest.approx(32.87, abs=0.005)
    assert solution["first test"].choice() == "fuel and electrical"
    bought = {
        row["observed"]["first result"]: row["choice"]
        for row in solution["buy"].to_dict()["rows"]
    }
    assert bought == {"0": "yes", "1": "with guarantee", "2": "with guarantee"}
    untested = diagram.solve({"first test": "none"})
    assert untested.expected_utility == pytest.approx(28)
    # Certainty about the car is worth 28 to a buyer who cannot test it.
    known = diagram.value_of_observing("car", "buy", {"first test": "none"})
    assert known == pytest.approx(28)


def test_a_phd_pays_unless_a_company_may_be_founded() -> None:
    alone = phd().solve()
    assert alone["education"].choice() == "do PhD"
    assert alone["education"].expected == pytest.approx([260174.000, 240000.0244])
    either = phd_and_start_up().solve()
    assert either["education"].choice() == "no PhD"
    assert either["education"].expected == pytest.approx([190195.00, 240000.02])


def test_the_umbrella_is_taken_if_rain_is_forecast() -> None:
    solution = umbrella().solve()
    assert solution.expected_utility == pytest.approx(77)
    taken = {
        state: solution["umbrella"].choice({"forecast": state})
        for state in ("sunny", "cloudy", "rainy")
    }
    assert taken == {"sunny": "leave", "cloudy": "leave", "rainy": "take"}


def test_pigs_are_treated_after_a_positive_test_but_not_in_the_first_month() -> None:
    solution = pigs().solve(limited_memory=True)
    assert solution.expected_utility == pytest.approx(726.812, abs=0.0005)
    treated = {
        month: [solution[month].choice({f"t{month[1]}": r}) for r in RESULTS]
        for month in ("d1", "d2", "d3")
    }
    assert treated == {
        "d1": ["leave", "leave"],
        "d2": ["treat", "leave"],
        "d3": ["treat", "leave"],
    }


def test_the_chest_clinic_takes_x_rays_of_those_who_were_in_asia() -> None:
    solution = chest_clinic().solve()
    assert solution["take x-ray"].choice({"asia": "yes"}) == "yes"
    assert solution["take x-ray"].choice({"asia": "no"}) == "no"


def test_poker_against_the_optimal_strategy_loses_an_eighteenth_of_the_ante() -> None:
    solution = kuhn_poker().solve()
    assert solution.expected_utility == pytest.approx(-1 / 18, abs=1e-12)
    first = {
        card: kuhn_poker().solve({"card": card})["first"].expected
        for card in ("jack", "queen", "king")
    }
    assert first["jack"] == pytest.approx([-1, -1])
    assert first["queen"] == pytest.approx([-1 / 3, -1 / 2])
    assert first["king"] == pytest.approx([7 / 6, 7 / 6])
    called = {
        card: solution["second"].choice(
            {"card": card, "first": "pass", "answer": "bet"}
        )
        for card in ("jack", "king")
    }
    assert called == {"jack": "pass", "king": "bet"}


def _check_utility(diagram: InfluenceDiagram) -> None:
    best = best_by_backward_induction(diagram)
    assert diagram.solve().expected_utility == pytest.approx(best, rel=1e-12)


def test_utilities_equal_sums_and_maxima_over_the_joint() -> None:
    problems = (
        car_buyer,
        chest_clinic,
        kuhn_poker,
        oil_wildcatter,
        phd,
        phd_and_start_up,
        umbrella,
    )
    check_each(
        [problem() for problem in problems],
        _check_utility,
        repr,
    )
