"""Names and numbers in sentences."""

from __future__ import annotations

from bayleaf.wording import (
    format_number,
    name_list,
    near_names,
    shown_name,
    size_text,
    stated,
)
from offenders import check_each


def test_numbers_have_six_digits_at_most() -> None:
    cases: list[tuple[float, str]] = [
        (1.0, "1"),
        (0.1 + 0.2, "0.3"),
        (1234567.0, "1.23457e+06"),
        (-2.5e-7, "-2.5e-07"),
    ]

    def check(case: tuple[float, str]) -> None:
        value, text = case
        assert format_number(value) == text

    check_each(cases, check)


def test_long_lists_are_cut_short() -> None:
    cases: list[tuple[list[object], str]] = [
        ([], ""),
        (["a"], "a"),
        (["a", 1], "a, 1"),
        (list("abc"), "a, b and 1 more"),
    ]

    def check(case: tuple[list[object], str]) -> None:
        names, text = case
        assert name_list(names, limit=2) == text

    check_each(cases, check)


def test_near_names_are_offered_whatever_their_case() -> None:
    cases: list[tuple[str, str]] = [
        ("ages", "did you mean age?"),
        ("AGE", "did you mean age?"),
        ("Weigth", "did you mean Weight?"),
        ("zzz", "there are: age, Weight"),
    ]

    def check(case: tuple[str, str]) -> None:
        name, clause = case
        assert near_names(name, ["age", "Weight"]) == clause

    check_each(cases, check)


def test_a_state_is_told_as_one_would_write_it() -> None:
    cases: list[tuple[str, str]] = [
        ("male", "x = male"),
        ("<= 1.5", "x <= 1.5"),
        ("> 1.5", "x > 1.5"),
        ("(1.5, 3]", "x in (1.5, 3]"),
        ("(none)", "x = (none)"),
    ]

    def check(case: tuple[str, str]) -> None:
        label, sentence = case
        assert stated("x", label) == sentence

    check_each(cases, check)


def test_a_name_that_would_not_be_seen_is_quoted() -> None:
    cases: list[tuple[str, str]] = [("a", "a"), ("", "''"), (" a", "' a'")]

    def check(case: tuple[str, str]) -> None:
        name, seen = case
        assert shown_name(name) == seen

    check_each(cases, check)


def test_sizes_are_rounded_up_in_decimal_units() -> None:
    found = [size_text(n) for n in (0, 999, 1000, 1001, 20_400, 3_638_426, 54e6, 2e9)]
    expected = ["0 bytes", "999 bytes", "1 kB", "1.1 kB", "21 kB", "3.7 MB", "54 MB"]
    assert found == [*expected, "2 GB"]
