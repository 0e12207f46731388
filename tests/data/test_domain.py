"""Variables and domains say what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf.data.domain import Domain, Variable, interval_labels, numeric_variable
from offenders import check_each


def test_a_state_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="variable 'a' lists a state twice"):
        Variable("a", ("x", "y", "x"))


def test_one_and_true_are_the_same_state() -> None:
    with pytest.raises(ValueError, match="lists a state twice"):
        Variable("a", (1, True))


@pytest.mark.parametrize("cuts", [(2.0, 1.0), (1.0, 1.0)])
def test_cut_points_must_increase(cuts: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="cut points of variable 'a' must increase"):
        Variable("a", ("low", "mid", "high"), "numeric", cuts)


def test_a_numeric_variable_has_a_state_more_than_cuts() -> None:
    def check(case: tuple[tuple[Any, ...], tuple[float, ...]]) -> None:
        states, cuts = case
        with pytest.raises(ValueError, match="it needs one state more than cuts"):
            Variable("a", states, "numeric", cuts)

    check_each(
        [(("x",), (1.0,)), (("x", "y", "z"), (1.0,)), (("x", None), (1.0,))], check
    )


def test_a_missing_state_comes_on_top_of_the_intervals() -> None:
    variable = numeric_variable("a", [1.0], missing_state=True)
    assert variable.states == ("<= 1", "> 1", None)
    assert variable.has_missing_state


def test_kinds_are_nominal_and_numeric() -> None:
    with pytest.raises(ValueError, match="must be 'nominal' or 'numeric', got 'odd'"):
        Variable("a", ("x",), "odd")  # type: ignore[arg-type]


def test_intervals_are_closed_on_the_right() -> None:
    def check(case: tuple[list[float], tuple[str, ...]]) -> None:
        cuts, labels = case
        assert interval_labels(cuts) == labels

    check_each(
        [
            ([], ("any value",)),
            ([0.5], ("<= 0.5", "> 0.5")),
            ([-1.0, 2.0, 1e9], ("<= -1", "(-1, 2]", "(2, 1e+09]", "> 1e+09")),
        ],
        check,
    )


def test_labels_of_near_cut_points_stay_distinct() -> None:
    labels = interval_labels([1.0000001, 1.0000002])
    assert labels == ("<= 1.0000001", "(1.0000001, 1.0000002]", "> 1.0000002")


def test_states_are_named_for_a_reader() -> None:
    def check(case: tuple[tuple[Any, ...], int, str]) -> None:
        states, code, label = case
        assert Variable("a", states).label(code) == label

    check_each(
        [
            (("x", "y"), 1, "y"),
            (("x", "y"), 2, "missing"),
            (("x", None), 1, "missing"),
            ((1, 2), 0, "1"),
            ((0.1 + 0.2,), 0, "0.3"),
            ((False, True), 1, "True"),
        ],
        check,
    )


def test_codes_are_positions_of_states() -> None:
    assert Variable("a", ("x", None)).state_index == {"x": 0, None: 1}


def test_two_variables_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two variables are called a, b"):
        Domain(tuple(Variable(name, ("x",)) for name in ("b", "a", "c", "a", "b")))


def test_a_number_and_its_text_are_different_names() -> None:
    domain = Domain((Variable(1, ("x",)), Variable("1", ("x", "y"))))
    assert domain.index(1) == 0
    assert domain.index("1") == 1


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    domain = Domain((Variable("a", ("x",)), Variable("b", ("x",))))
    with pytest.raises(KeyError, match="no variable 'c'; the variables are a, b"):
        domain.index("c")


def test_cards_and_names_stand_in_order() -> None:
    domain = Domain((Variable("b", ("x", "y", None)), Variable("a", ("x",))))
    assert domain.names == ("b", "a")
    assert domain.cards == (3, 1)
    assert [variable.name for variable in domain] == ["b", "a"]
    assert len(domain) == 2


def test_a_numeric_variable_is_made_of_its_cut_points() -> None:
    variable = Variable.numeric("age", cuts=[30, 50])
    assert variable == numeric_variable("age", [30, 50])
    assert variable.numbers is None


def test_bounds_spread_numbers_evenly_over_intervals() -> None:
    numbers = Variable.numeric("age", cuts=[16], low=0, high=48).numbers
    assert numbers is not None
    assert numbers.means == (8.0, 32.0)
    assert not numbers.are_whole
    np.testing.assert_allclose(numbers.at(1, np.array([0.0, 0.25, 1.0])), [16, 24, 48])


def test_whole_numbers_belong_to_the_interval_that_ends_with_them() -> None:
    numbers = Variable.numeric("n", cuts=[2], low=0, high=4, integers=True).numbers
    assert numbers is not None
    assert numbers.are_whole
    assert [set(own) for own in numbers.quantiles] == [{0, 1, 2}, {3, 4}]
    assert numbers.means == (1.0, 3.5)


def test_cut_points_that_do_not_fit_are_refused() -> None:
    def check(case: tuple[dict[str, Any], str]) -> None:
        options, message = case
        with pytest.raises(ValueError, match=message):
            Variable.numeric("age", **options)

    check_each(
        [
            ({"cuts": [50, 30]}, "must increase"),
            ({"cuts": [30], "low": 0}, "give both low= and high="),
            ({"cuts": [30], "low": 40, "high": 50}, "between low=40 and high=50"),
            ({"cuts": [0.2, 0.4], "low": 0, "high": 1, "integers": True}, "no integer"),
        ],
        check,
    )


def test_cut_points_that_are_no_numbers_are_refused() -> None:
    def check(cuts: Any) -> None:
        with pytest.raises(TypeError, match="cut points"):
            Variable.numeric("age", cuts=cuts)

    check_each([3, "30", ["30"], [float("nan")], [True]], check)


def test_a_nominal_variable_takes_states_in_order() -> None:
    assert Variable.nominal("x", np.array([3, 1])).states == (3, 1)
    with pytest.raises(ValueError, match="has no states"):
        Variable.nominal("x", [])
    with pytest.raises(TypeError, match="must be a list"):
        Variable.nominal("x", 3)
    with pytest.raises(TypeError, match="name must be text"):
        Variable.nominal(None, ["a"])
