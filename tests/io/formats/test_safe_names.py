"""Identifiers that every network format can hold, and notes that restore names."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest

from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.io.formats.safe_names import MAX_LENGTH, SafeNames, restored_variable
from offenders import check_each

ODD: list[Any] = [
    *("a b", "x.y", "<=2", "été", 'say "so"', "it's", "a,b", "a\\b", "two\nlines"),
    *("x" * 300, "", " ", "table", "variable", "5", "_x", "Ω", "漢字", "{(;)}", "%41"),
    *("data = (1)", "\ud800", "\x00", 5, -3),
]


def restored(variable: Variable, *others: Variable) -> Variable:
    """A variable after it went through its identifiers and notes."""
    names = SafeNames.for_network(Domain((*others, variable)))
    index = len(others)
    return restored_variable(
        names.variables[index], names.states[index], names.notes(index)
    )


def test_safe_names_are_kept_and_need_no_note() -> None:
    variable = Variable("HRBP", ("LOW", "NORMAL", "HIGH_2"))
    names = SafeNames.for_network(Domain((variable,)))
    assert names.variables[0] == "HRBP"
    assert names.states[0] == variable.states
    assert not names.notes(0)


def test_identifiers_remind_of_names_and_notes_keep_them() -> None:
    variables = Variable("age", ("<=2", "> 2")), Variable(7, ("été", 1))
    names = SafeNames.for_network(Domain(variables))
    assert names.variables == ("age", "v_7")
    assert names.states == (("le_2", "gt_2"), ("ete", "s_1"))
    assert names.notes(1) == {"name": "7", "states": "['%C3%A9t%C3%A9',1]"}


def test_an_odd_name_gets_an_identifier_and_comes_back() -> None:
    def check(name: Any) -> None:
        variable = Variable(name, ("a", "b"))
        identifier = SafeNames.for_network(Domain((variable,))).variables[0]
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", identifier)
        assert len(identifier) <= MAX_LENGTH
        back = restored(variable)
        assert back == variable
        assert type(back.name) is type(name)

    check_each(ODD, check, ascii)


def test_an_odd_state_comes_back_with_its_type() -> None:
    def check(state: Hashable) -> None:
        variable = Variable("x", ("a", state, None))
        back = restored(variable)
        assert back.states == variable.states
        assert [type(s) for s in back.states] == [type(s) for s in variable.states]

    check_each([*ODD, True, False, 1.5, 2.0, -1e-300, float("inf")], check, ascii)


def test_scalars_of_numpy_come_back_as_those_of_python() -> None:
    states = (np.int64(3), np.float64(0.5), np.str_("a b"), np.bool_(False))
    back = restored(Variable("x", states))
    assert [type(state) for state in back.states] == [int, float, str, bool]
    assert back.states == (3, 0.5, "a b", False)


@pytest.mark.parametrize("missing", [False, True])
def test_cut_points_come_back_bit_for_bit(missing: bool) -> None:
    variable = numeric_variable("x", [-0.1, 1 / 3, 1e300], missing_state=missing)
    assert restored(variable) == variable


def test_a_hierarchy_comes_back() -> None:
    tree = ValueHierarchy.from_nested({"any": {"a ring": [1, "b"], "rest": ["c"]}})
    variable = Variable("x", (1, "b", "c"), hierarchy=tree)
    assert restored(variable) == variable


def test_names_that_differ_only_where_they_are_unsafe_stay_apart() -> None:
    names = ("a b", "a.b", "a_b", "a_b_2", "A_B", "a,b")
    domain = Domain(tuple(Variable(name, names) for name in names))
    safe = SafeNames.for_network(domain)
    assert safe.variables[2] == "a_b"
    assert len({name.lower() for name in safe.variables}) == len(names)
    assert len(set(safe.states[0])) == len(names)
    assert safe.states[0][4] == "A_B"


def test_many_equal_stems_are_told_apart_quickly() -> None:
    states = tuple("." * n for n in range(5_000))
    names = SafeNames.for_network(Domain((Variable("x", states),)))
    assert len(set(names.states[0])) == len(states)


def test_notes_hold_nothing_that_a_format_could_take_for_its_own() -> None:
    def check(name: Any) -> None:
        notes = SafeNames.for_network(Domain((Variable(name, (name,)),))).notes(0)
        assert re.fullmatch(r"[A-Za-z0-9_.~%,:<>'\[\]-]+", "".join(notes.values()))

    check_each(ODD, check, ascii)


REMINDERS: list[Any] = [
    *[("<= 2", "le_2"), ("> 2.5", "gt_2_5"), ("été", "ete"), (-1, "minus_1")],
    *[(None, "missing"), (True, "True"), (3, "s_3"), ("default", "default_s")],
    *[("5-12", "s_5_12"), ("12+", "s_12_plus"), ("漢字", "s")],
]


def test_identifiers_remind_of_the_names() -> None:
    def check(case: tuple[Hashable, str]) -> None:
        state, identifier = case
        names = SafeNames.for_network(Domain((Variable("x", (state,)),)))
        assert names.states[0][0] == identifier

    check_each(REMINDERS, check)


def test_a_state_of_another_type_is_refused() -> None:
    names = SafeNames.for_network(Domain((Variable("x", ((1, 2), "a")),)))
    with pytest.raises(ValueError, match="variable 'x' has a state that is no text"):
        names.notes(0)


BAD_NOTES: list[Any] = [
    *[{"states": "['a']"}, {"states": "{}"}, {"states": "[[],1]"}],
    *[{"states": "['a'"}, {"name": "[1]"}, {"name": "true"}, {"name": "1.5"}],
    *[{"cut_points": "['a']"}, {"cut_points": "[NaN]"}, {"cut_points": "[1.5,1]"}],
    *[{"hierarchy": "[0.5,'a']"}, {"states": "[" * 100_000}],
    *[{"name": "9" * 10_000}, {"states": "%FF"}],
]


def test_a_note_that_does_not_fit_is_refused() -> None:
    def check(notes: dict[str, str]) -> None:
        with pytest.raises(
            ValueError, match=r'note "bayleaf_.*" of variable "x" cannot'
        ):
            restored_variable("x", ("a", "b"), notes)

    check_each(BAD_NOTES, check)
