"""Tokens of the text formats and the lines they stand in."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.io import NetworkFileError
from bayleaf.io.lexer import Lexer, number_array, split_numbers, token_pattern

PATTERN = token_pattern("(){};|", "//")


def tokens(text: str) -> list[tuple[str, str]]:
    """Kinds and texts of all tokens but the end."""
    lexer = Lexer(text, "x.txt", PATTERN)
    found = []
    while lexer.ahead.kind != "end":
        token = lexer.take()
        found.append((token.kind, token.text))
    return found


def test_numbers_that_follow_each_other_are_one_token() -> None:
    assert tokens("(1 2.5,\n.5, -3e-2) 4;") == [
        ("sign", "("),
        ("numbers", "1 2.5,\n.5, -3e-2"),
        *[("sign", ")"), ("numbers", "4"), ("sign", ";")],
    ]


@pytest.mark.parametrize(
    "word", ["5-12", "12+", "<5", "0-3_days", "1.2.3", "1e", "-infinity", "nan", "a/b"]
)
def test_a_word_that_starts_like_a_number_is_a_word(word: str) -> None:
    assert tokens(f"1 {word} 2") == [("numbers", "1"), ("word", word), ("numbers", "2")]


def test_comments_and_blanks_stand_between_tokens() -> None:
    text = "a// one\n/* two\n * three ** */b/**/ /***/c"
    assert tokens(text) == [("word", "a"), ("word", "b"), ("word", "c")]


def test_strings_hold_signs_comments_and_quotes() -> None:
    assert tokens('"a;b" "// /*" "say \\"so\\" \\\\ \\n" ""') == [
        *[("string", "a;b"), ("string", "// /*"), ("string", 'say "so" \\ \\n')],
        ("string", ""),
    ]


def test_a_token_knows_its_line() -> None:
    lexer = Lexer("a\n\n/* x\ny */ b\nc", "x.txt", PATTERN)
    assert [lexer.line(lexer.take().start) for _ in range(3)] == [1, 4, 5]


@pytest.mark.parametrize(
    ("text", "line"), [('a\n"b', 2), ("a\nb\n/* c", 3), ('"a" "', 1), ('"\\"', 1)]
)
def test_what_is_never_closed_names_where_it_was_opened(text: str, line: int) -> None:
    with pytest.raises(NetworkFileError, match=rf"^x\.txt, line {line}: .*never clo"):
        tokens(text)


def test_the_end_of_a_file_is_reported_at_its_last_words() -> None:
    lexer = Lexer("a\nb\n\n\n", "x.txt", PATTERN)
    lexer.take(), lexer.take()
    with pytest.raises(NetworkFileError, match=r"line 2: expected \"\{\" here, but fo"):
        lexer.expect("{", "here")


def test_a_statement_is_skipped_up_to_its_semicolon() -> None:
    lexer = Lexer('x ( ";" ) // ;\n ; y', "x.txt", PATTERN)
    lexer.skip_statement()
    assert lexer.take().text == "y"


def test_numbers_are_read_exactly() -> None:
    values = np.random.default_rng(0).random(600) * 10.0 ** np.arange(-300, 300)
    text = ", ".join(map(repr, values.tolist()))
    np.testing.assert_array_equal(number_array(text), values)
    assert split_numbers("1, 2.50\n3") == ["1", "2.50", "3"]


@pytest.mark.parametrize(
    ("text", "n_tokens"), [("1 ", 1), ("a ", 50_000), ("(", 50_000), ("1 a ", 100_000)]
)
def test_a_long_text_is_taken_apart_whole(text: str, n_tokens: int) -> None:
    assert len(tokens(text * 50_000)) == n_tokens
