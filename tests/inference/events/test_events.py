"""What the words of an expression mean: states, numbers, categories, nodes, missing."""

from __future__ import annotations

import re

import numpy as np
import pytest

from bayleaf.data.domain import Domain, Variable, numeric_variable, ordered_variable
from bayleaf.data.interval_numbers import IntervalNumbers
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.inference.events.events import (
    ALWAYS,
    AllOf,
    AnyOf,
    OneOf,
    read_event,
    read_known,
)
from offenders import check_each

TREE = ValueHierarchy.from_nested({"any": {"warm": ["red", "pink"], "cold": ["blue"]}})
WHOLE = IntervalNumbers((30.0, 50.0, 70.0), ((25.0, 35.0), (46.0, 54.0), (60.0, 80.0)))
DOMAIN = Domain(
    (
        Variable("sex", ("female", "male")),
        numeric_variable("age", [45.0, 54.5]),
        ordered_variable("size", ["S", "M", "L", "XL"], [0.5, 2.5]),
        Variable("colour", ("red", "pink", "blue"), hierarchy=TREE),
        Variable("n", (0, 1, 2)),
        Variable("chest pain", ("typical angina", "none", None)),
        Variable(7, ("a..b", "in")),
        Variable(
            "years",
            ("<= 45", "(45, 54.5]", "> 54.5"),
            "numeric",
            (45.0, 54.5),
            numbers=WHOLE,
        ),
    )
)
PLACES = {variable.name: place for place, variable in enumerate(DOMAIN)}


def test_a_condition_is_a_set_of_states() -> None:
    cases: list[tuple[str, str | int, set[int]]] = [
        ("sex = male", "sex", {1}),
        ("male = sex", "sex", {1}),
        ("sex != male", "sex", {0}),
        ("not sex = male", "sex", {0}),
        ("age = 50", "age", {1}),
        ("age = '(45, 54.5]'", "age", {1}),
        ("age > 54.5", "age", {2}),
        ("age <= 54.5", "age", {0, 1}),
        ("54.5 < age", "age", {2}),
        ("45 < age <= 54.5", "age", {1}),
        ("54.5 >= age > 45", "age", {1}),
        ("years > 54", "years", {2}),
        ("years >= 55", "years", {2}),
        ("years < 46", "years", {0}),
        ("years between 46 and 54", "years", {1}),
        ("years = 46..54", "years", {1}),
        ("years not between 46 and 54", "years", {0, 2}),
        ("size = M", "size", {1}),
        ("size >= M", "size", {1, 2}),
        ("size = M..L", "size", {1}),
        ("colour = warm", "colour", {0, 1}),
        ("colour in {pink, cold}", "colour", {1, 2}),
        ("colour not in (pink, cold)", "colour", {0}),
        ("n >= 1", "n", {1, 2}),
        ("n = 1.0", "n", {1}),
        ("n in {0, 2}", "n", {0, 2}),
        ("`chest pain` = missing", "chest pain", {2}),
        ('"chest pain" != none', "chest pain", {0, 2}),
        ("'chest pain' = 'typical angina'", "chest pain", {0}),
        ("7 = a..b", 7, {0}),
        ("7 = 'in'", 7, {1}),
    ]

    def check(case: tuple[str, str | int, set[int]]) -> None:
        text, name, codes = case
        assert read_event(DOMAIN, text) == OneOf(PLACES[name], frozenset(codes))

    check_each(cases, check)


def test_words_that_mean_nothing_are_refused() -> None:
    cases: list[tuple[str, str]] = [
        ("six = male", "there is no variable 'six'; did you mean sex"),
        ("sex = mail", "has no state 'mail'; its states are female, male (character 7"),
        ("sex > 3", "the states of variable 'sex' have no order"),
        ("age > old", "a bound on variable 'age' must be a number, got 'old'"),
        ("size < huge", "must be one of its categories S, M, L, XL, got 'huge'"),
        ("n > 2", "no state of variable 'n' holds a value with n > 2"),
        ("age = 54.5..45", "stand the wrong way round"),
        ("sex = missing", "missing cells are no state of variable 'sex'; leave it out"),
        ("1 < n > 0", "two signs must both be < or <=, or both > or >="),
        ("0 = n = 1", "two signs must both be"),
        ("age = nan", "variable 'age' has no state 'nan'"),
    ]

    def check(case: tuple[str, str]) -> None:
        text, sentence = case
        with pytest.raises(ValueError, match=re.escape(sentence)):
            read_event(DOMAIN, text)

    check_each(cases, check)


def test_a_bound_inside_an_interval_counts_it_whole_and_warns() -> None:
    cuts = "the cut points of variable 'age' are 45, 54.5"
    with pytest.warns(UserWarning, match=rf"age > 50 \(taken as age > 45\): .*{cuts}"):
        found = read_event(DOMAIN, "age > 50")
    assert found == OneOf(1, frozenset({1, 2}))
    with pytest.warns(UserWarning, match=r"size <= M \(taken as .*\): .* are S, L"):
        read_event(DOMAIN, "size <= M")


def test_sets_of_one_variable_merge() -> None:
    male = OneOf(0, frozenset({1}))
    assert read_event(DOMAIN, "sex = male or sex = female") == ALWAYS
    assert read_event(DOMAIN, "n != 0 and sex = male and n != 1") == AllOf(
        (OneOf(4, frozenset({2})), male)
    )
    some = read_event(DOMAIN, "(n = 0 or sex = male) or n = 1")
    assert some == AnyOf((OneOf(4, frozenset({0, 1})), male))
    assert read_event(DOMAIN, "not (n != 0 or sex = male)") == AllOf(
        (OneOf(4, frozenset({0})), OneOf(0, frozenset({0})))
    )


def test_what_is_known_from_several_sources_holds_together() -> None:
    soft = {"n": {0: 0.2, 1: 0.3, 2: 0.5}}
    known = read_known(DOMAIN, [soft, "n != 0 and (sex = male or colour = red)"])
    [item] = known.evidence.items
    np.testing.assert_array_equal(item.known, [0.0, 0.3, 0.5])
    assert len(known.events) == 1
