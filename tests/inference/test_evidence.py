"""Evidence is read in every form in which people give it, and refused in a sentence."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.inference.evidence import (
    AtMost,
    Evidence,
    ImpossibleEvidenceError,
    Not,
    Range,
    cuts_an_interval,
    range_codes,
    read_evidence,
)
from offenders import check_each

COLOURS = ValueHierarchy.from_nested(
    {"any": {"warm": ["red", "orange"], "cold": ["blue"]}}
)
DOMAIN = Domain(
    (
        Variable("smoker", ("no", "sometimes", "yes")),
        numeric_variable("age", (40.0, 60.5)),
        Variable("count", (0, 1, 2)),
        Variable("flag", ("true", "false", None)),
        Variable("colour", ("red", "orange", "blue"), hierarchy=COLOURS),
        Variable(7, ("a", "b")),
        Variable("padded", ("Sim     ", "Nao     ")),
    )
)


def likelihood(name: Any, value: Any) -> list[float] | None:
    """Likelihood of the one variable that evidence names; None if nothing is known."""
    items = read_evidence(DOMAIN, {name: value}).items
    return items[0].likelihood.tolist() if items else None


def test_evidence_is_read() -> None:
    cases: list[tuple[Any, Any, list[float]]] = [
        ("smoker", "yes", [0, 0, 1]),
        ("smoker", np.str_("yes"), [0, 0, 1]),
        ("smoker", ["yes", "no"], [1, 0, 1]),
        ("smoker", ("yes", "no"), [1, 0, 1]),
        ("smoker", {"yes", "no"}, [1, 0, 1]),
        ("smoker", np.array(["yes", "no"]), [1, 0, 1]),
        ("smoker", Not("yes"), [1, 1, 0]),
        ("smoker", Not("yes", "no"), [0, 1, 0]),
        ("smoker", {"yes": 3.0, "no": 0, "sometimes": 0.5}, [0, 0.5, 3]),
        ("smoker", np.array([0.5, 0.25, 0.0]), [0.5, 0.25, 0]),
        ("smoker", np.array([1, 0, 1]), [1, 0, 1]),
        ("age", 40, [1, 0, 0]),
        ("age", 40.1, [0, 1, 0]),
        ("age", "61", [0, 0, 1]),
        ("age", "<= 40", [1, 0, 0]),
        ("age", "(40, 60.5]", [0, 1, 0]),
        ("age", [30, 50], [1, 1, 0]),
        ("age", Not(50), [1, 0, 1]),
        ("count", 1, [0, 1, 0]),
        ("count", np.int64(1), [0, 1, 0]),
        ("count", 1.0, [0, 1, 0]),
        ("count", "1", [0, 1, 0]),
        ("flag", True, [1, 0, 0]),
        ("flag", None, [0, 0, 1]),
        ("flag", "missing", [0, 0, 1]),
        ("colour", "warm", [1, 1, 0]),
        ("colour", Not("warm"), [0, 0, 1]),
        ("colour", ["cold", "red"], [1, 0, 1]),
        (7, "a", [1, 0]),
        (7, " a", [1, 0]),
        ("padded", "Sim", [1, 0]),
        ("padded", "Sim     ", [1, 0]),
        ("padded", "Nao ", [0, 1]),
        ("7", "a", [1, 0]),
    ]

    def check(case: tuple[Any, Any, list[float]]) -> None:
        name, value, expected = case
        assert likelihood(name, value) == expected

    check_each(cases, check)


def test_what_says_nothing_is_no_item() -> None:
    cases: list[tuple[str, Any]] = [
        ("smoker", None),
        ("smoker", float("nan")),
        ("smoker", pd.NA),
        ("smoker", ["no", "yes", "sometimes"]),
        ("smoker", Not()),
        ("flag", float("nan")),
        ("colour", "any"),
    ]

    def check(case: tuple[str, Any]) -> None:
        name, value = case
        assert likelihood(name, value) is None

    check_each(cases, check)


def test_wrong_evidence_is_refused_in_a_sentence() -> None:
    cases: list[tuple[Any, str]] = [
        ({"smokr": "yes"}, "no variable 'smokr'; did you mean smoker?"),
        ({"smoker": "maybe"}, "'smoker' has no state 'maybe'; its states are no, "),
        ({"age": "old"}, "'age' has no state 'old'; give a number or one of the inte"),
        ({"smoker": Not("no", "yes", "sometimes")}, "'smoker' leaves no state"),
        ({"smoker": []}, "'smoker' leaves no state"),
        ({"smoker": {"yes": 1.0}}, "gives no likelihood for no, sometimes; give one"),
        ({"count": {1: 0.1, "1": 0.2, 0: 1, 2: 1}}, "weighs state 1 twice"),
        ({"smoker": {"no": 10**400, "yes": 1, "sometimes": 1}}, "must be numbers"),
        ({"smoker": np.array([1.0])}, r"has shape \(1,\); give one number for each"),
        ({"smoker": np.array([1.0, -1.0, 0.0])}, "must be finite and not negative"),
        ({"smoker": np.array([1.0, np.inf, 0.0])}, "must be finite and not negative"),
        ({"smoker": np.array([np.nan, 1.0, 0.0])}, "must be finite and not negative"),
        ({"smoker": np.zeros(3)}, "at least one above 0"),
        ({"smoker": {"yes": "x", "no": 1, "sometimes": 1}}, "must be numbers"),
        ({7: "a", "7": "b"}, "names variable 7 twice"),
    ]

    def check(case: tuple[Any, str]) -> None:
        evidence, message = case
        with pytest.raises(ValueError, match=message):
            read_evidence(DOMAIN, evidence)

    check_each(cases, check)


def test_evidence_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(TypeError, match=r"must be a mapping .* got list"):
        read_evidence(DOMAIN, ["smoker"])  # type: ignore[arg-type]


def test_many_states_are_not_all_listed() -> None:
    domain = Domain((Variable("city", tuple(f"town{i}" for i in range(500))),))
    with pytest.raises(ValueError, match="has 500 states; did you mean town1") as error:
        read_evidence(domain, {"city": "twn1"})
    assert len(str(error.value)) < 200


def test_items_are_told_in_words() -> None:
    cases: list[tuple[str, Any, str]] = [
        ("smoker", "yes", "smoker = yes"),
        ("smoker", {"yes", "no"}, "smoker = no or yes"),
        ("smoker", Not("yes"), "smoker not yes"),
        ("age", 50, "age in (40, 60.5]"),
        ("colour", "warm", "colour = warm"),
        ("smoker", np.array([1, 0.5, 0]), "smoker weighted (no 1, sometimes 0.5, yes"),
    ]

    def check(case: tuple[str, Any, str]) -> None:
        name, value, text = case
        (item,) = read_evidence(DOMAIN, {name: value}).items
        assert item.text.startswith(text)

    check_each(cases, check)


def test_items_stand_in_the_order_of_the_variables() -> None:
    evidence = read_evidence(DOMAIN, {7: "a", "count": 1, "smoker": "no"})
    assert [item.variable for item in evidence.items] == [0, 2, 5]
    assert evidence.hard == {0: 0, 2: 1, 5: 0}


def test_a_conflict_is_found_by_leaving_items_out() -> None:
    evidence = read_evidence(DOMAIN, {"smoker": "no", "count": 1, "colour": "warm"})

    def log_probability(part: Evidence) -> float:
        return float("-inf") if {0, 4} <= part.likelihoods.keys() else 0.0

    error = evidence.impossible(log_probability)
    assert error.variables == ("smoker", "colour")
    assert str(error) == (
        "smoker = no and colour = warm cannot be together under this network"
    )


def test_the_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(ImpossibleEvidenceError("no", ("a", "b"))))
    assert (str(error), error.variables) == ("no", ("a", "b"))


def test_a_bound_as_a_cut_point_is_shown_is_that_cut_point() -> None:
    variable = numeric_variable("x", (0.5, 1.7000000000000002))
    assert variable.states == ("<= 0.5", "(0.5, 1.7]", "> 1.7")
    assert not cuts_an_interval(variable, AtMost(1.7))
    assert range_codes(variable, Range(1.7, None, open_low=True)) == (2,)
