"""Names and numbers in sentences."""

from __future__ import annotations

import pytest

from bayleaf.wording import (
    format_number,
    name_list,
    near_names,
    shown_name,
    stated,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.1 + 0.2, "0.3"), (1234567.0, "1.23457e+06"), (-2.5e-7, "-2.5e-07")],
)
def test_numbers_have_six_digits_at_most(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", 1], "a, 1"), (list("abc"), "a, b and 1 more")],
)
def test_long_lists_are_cut_short(names: list[object], text: str) -> None:
    assert name_list(names, limit=2) == text


@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("ages", "did you mean age?"),
        ("AGE", "did you mean age?"),
        ("Weigth", "did you mean Weight?"),
        ("zzz", "there are: age, Weight"),
    ],
)
def test_near_names_are_offered_whatever_their_case(name: str, clause: str) -> None:
    assert near_names(name, ["age", "Weight"]) == clause


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("male", "x = male"),
        ("<= 1.5", "x <= 1.5"),
        ("> 1.5", "x > 1.5"),
        ("(1.5, 3]", "x in (1.5, 3]"),
        ("(none)", "x = (none)"),
    ],
)
def test_a_state_is_told_as_one_would_write_it(label: str, sentence: str) -> None:
    assert stated("x", label) == sentence


@pytest.mark.parametrize(("name", "seen"), [("a", "a"), ("", "''"), (" a", "' a'")])
def test_a_name_that_would_not_be_seen_is_quoted(name: str, seen: str) -> None:
    assert shown_name(name) == seen
