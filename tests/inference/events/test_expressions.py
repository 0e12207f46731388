"""Expressions: what is read, what is written again, what is refused and where."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.inference.events.expressions import (
    BARE,
    KEYWORDS,
    Comparison,
    Conjunction,
    Disjunction,
    Expression,
    Membership,
    Negation,
    Within,
    Word,
    parsed,
)
from inference.test_exact_query import chain
from offenders import check_each
from property.for_all import for_all

WORDS = st.builds(
    Word,
    st.one_of(
        st.text(min_size=1, max_size=6),
        st.sampled_from(["and", "Not", "30..50", "it's", "-1.5e3", "chest pain", '"']),
    ),
)
SIGNS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
CONDITIONS = st.one_of(
    st.builds(lambda a, s, b: Comparison((a, b), (s,)), WORDS, SIGNS, WORDS),
    st.builds(
        lambda a, s, b, t, c: Comparison((a, b, c), (s, t)),
        *(WORDS, SIGNS, WORDS, SIGNS, WORDS),
    ),
    st.builds(Membership, WORDS, st.lists(WORDS, min_size=1).map(tuple), st.booleans()),
    st.builds(Within, WORDS, WORDS, WORDS, st.booleans()),
)
SEVERAL = {"min_size": 2, "max_size": 3}
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.builds(Negation, inner),
        st.lists(inner, **SEVERAL).map(lambda parts: Conjunction(tuple(parts))),
        st.lists(inner, **SEVERAL).map(lambda parts: Disjunction(tuple(parts))),
    ),
    max_leaves=8,
)
PIECES = st.sampled_from(
    [
        *("x0", "x1", "s0", "s1", "=", "!=", "<", ">=", "and", "or", "not", "in"),
        *("between", "(", ")", "{", "}", ",", '"', "`", "'", "!", "..", "1", "\x00"),
    ]
)
NETWORK = chain(2)


def written(part: Expression | Word, *, is_inner: bool = False) -> str:
    """An expression as text, with the quotes and parentheses that it needs."""
    match part:
        case Word():
            is_bare = re.fullmatch(BARE, part.text)
            if is_bare and part.text.lower() not in KEYWORDS:
                return part.text
            return '"' + part.text.replace('"', '""') + '"'
        case Comparison():
            first, *others = map(written, part.operands)
            rest = zip(part.signs, others, strict=True)
            return first + "".join(f" {sign} {other}" for sign, other in rest)
        case Membership():
            how = "not in" if part.is_negated else "in"
            values = ", ".join(map(written, part.values))
            return f"{written(part.name)} {how} {{{values}}}"
        case Within():
            name, low, high = map(written, (part.name, part.low, part.high))
            how = "not between" if part.is_negated else "between"
            return f"{name} {how} {low} and {high}"
        case Negation():
            return f"not {written(part.part, is_inner=True)}"
    joint = " and " if isinstance(part, Conjunction) else " or "
    text = joint.join(written(own, is_inner=True) for own in part.parts)
    return f"({text})" if is_inner else text


@settings(deadline=None, max_examples=20)
@given(EXPRESSIONS)
def test_what_is_written_reads_as_the_same_expression(expression: Expression) -> None:
    assert parsed(written(expression)) == expression


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(EXPRESSIONS)
def test_all_that_is_written_reads_as_the_same_expression(
    expression: Expression,
) -> None:
    assert parsed(written(expression)) == expression


@for_all(st.one_of(st.text(), st.lists(PIECES).map(" ".join)), few=100, many=300)
def test_any_text_gives_a_probability_or_a_value_error(text: str) -> None:
    try:
        found = NETWORK.probability(text)
    except ValueError:
        return
    assert 0.0 <= found <= 1.0


def test_not_binds_closest_then_and_then_or() -> None:
    a, b, c = (Comparison((Word(name), Word("1")), ("=",)) for name in "abc")
    read = parsed("not a = 1 and b == 1 or c=1")
    assert read == Disjunction((Conjunction((Negation(a), b)), c))
    assert parsed("NOT (a=1 AND (b = 1 OR c = 1))") == Negation(
        Conjunction((a, Disjunction((b, c))))
    )


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_quotes_hold_blanks_keywords_and_themselves(quote: str) -> None:
    text = f"{quote}chest pain{quote} = {quote}and{quote * 2}{quote}"
    read = parsed(text)
    assert read == Comparison((Word("chest pain"), Word(f"and{quote}")), ("=",))


def test_what_is_wrong_is_named_with_its_place() -> None:
    cases: list[tuple[str, str]] = [
        ("", "expected the name of a variable, got the end (character 1"),
        ("a", "'in' or 'between' after 'a', got the end (character 2"),
        ("a = ", "expected a state or a number, got the end (character 5"),
        ("a = b c = d", "expected 'and', 'or' or the end, got 'c'; put names and "),
        ("(a = b", "expected ')', got the end (character 7"),
        ("a = b)", "expected 'and', 'or' or the end, got ')' (character 6"),
        ("a in b", "expected '{' before the states, got 'b'"),
        ("a in {b", "expected ',' or '}', got the end"),
        ("a in (b}", "expected ',' or ')', got '}'"),
        ("a between 1 or 2", "expected 'and' between the bounds, got 'or'"),
        ("a not 1", "expected 'in' or 'between', got '1'"),
        ("not and", "got 'and'; put a name or state called and in quotes (character 5"),
        ("a = 'b", "the quote ' is not closed"),
        ("a ! b", "'!' alone means nothing; write != or 'not' (character 3"),
        ("(" * 60 + "a=b", "nested more than 50 deep; write it flatter (character 51"),
        ("not " * 5000 + "a=b", "nested more than 50 deep; write it flatter"),
    ]

    def check(case: tuple[str, str]) -> None:
        text, sentence = case
        with pytest.raises(ValueError, match=re.escape(sentence)):
            parsed(text)

    check_each(cases, check)
