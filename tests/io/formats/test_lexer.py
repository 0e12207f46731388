"""Tokens of the text formats and the lines they stand in."""

from __future__ import annotations

import contextlib
import time
import tracemalloc

import numpy as np
import pytest

from bayleaf.io import NetworkFileError
from bayleaf.io.formats.lexer import Lexer, number_array, split_numbers, token_patterns
from offenders import check_each

PATTERNS = token_patterns("(){};|", ["//"])


def tokens(text: str) -> list[tuple[str, str]]:
    """Kinds and texts of all tokens but the end."""
    lexer = Lexer(text, "x.txt", PATTERNS)
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


def test_a_word_that_starts_like_a_number_is_a_word() -> None:
    def check(word: str) -> None:
        assert tokens(f"1 {word} 2") == [
            ("numbers", "1"),
            ("word", word),
            ("numbers", "2"),
        ]

    check_each(
        ["5-12", "12+", "<5", "0-3_days", "1.2.3", "1e", "-infinity", "nan", "a/b"],
        check,
    )


def test_comments_and_blanks_stand_between_tokens() -> None:
    text = "a// one\n/* two\n * three ** */b/**/ /***/c"
    assert tokens(text) == [("word", "a"), ("word", "b"), ("word", "c")]


def test_strings_hold_signs_comments_and_quotes() -> None:
    assert tokens('"a;b" "// /*" "say \\"so\\" \\\\ \\n" ""') == [
        *[("string", "a;b"), ("string", "// /*"), ("string", 'say "so" \\ \\n')],
        ("string", ""),
    ]


def test_a_token_knows_its_line() -> None:
    lexer = Lexer("a\n\n/* x\ny */ b\nc", "x.txt", PATTERNS)
    assert [lexer.line(lexer.take().start) for _ in range(3)] == [1, 4, 5]


@pytest.mark.parametrize(
    ("text", "line"), [('a\n"b', 2), ("a\nb\n/* c", 3), ('"a" "', 1), ('"\\"', 1)]
)
def test_what_is_never_closed_names_where_it_was_opened(text: str, line: int) -> None:
    with pytest.raises(NetworkFileError, match=rf"^x\.txt, line {line}: .*never clo"):
        tokens(text)


def test_the_end_of_a_file_is_reported_at_its_last_words() -> None:
    lexer = Lexer("a\nb\n\n\n", "x.txt", PATTERNS)
    lexer.take(), lexer.take()
    with pytest.raises(NetworkFileError, match=r"line 2: expected \"\{\" here, but fo"):
        lexer.expect("{", "here")


def test_a_statement_is_skipped_up_to_its_semicolon() -> None:
    lexer = Lexer('x ( ";" ) // ;\n ; y', "x.txt", PATTERNS)
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


@pytest.mark.parametrize("n_turns", [63, 64, 65, 128, 129])
def test_a_token_of_many_parts_is_one_token(n_turns: int) -> None:
    parts = {"numbers": "1 ", "word": "a/", "string": "\\n"}
    texts = {kind: f"{part * n_turns}{part[0]}" for kind, part in parts.items()}
    texts["string"] = "\\n" * n_turns
    for kind, text in texts.items():
        quote = '"' if kind == "string" else ""
        assert tokens(f"{quote}{text}{quote};") == [(kind, text), ("sign", ";")]


# Each would take minutes if the engine looked for other ways to match it.
HOSTILE = {
    "digits and no number": "1" * 500_000 + "x",
    "digits around a point": "1" * 250_000 + "." + "1" * 250_000 + "x",
    "digits of an exponent": "1." + "1" * 250_000 + "e" + "1" * 250_000 + "x",
    "numbers without blanks": "1.1" * 200_000,
    "exponents without blanks": "1e1" * 200_000,
    "points": "." * 500_000,
    "signs of numbers": "+-" * 250_000,
    "a number, then blanks": "1" + " " * 500_000 + "x",
    "a number, then blanks, many times": ("1" + " " * 500 + "x") * 1000,
    "numbers, then none": "1 " * 250_000 + "x",
    "words like exponents": "1 e " * 100_000,
    "an open string": '"' + "a" * 500_000,
    "an open string of backslashes": '"' + "\\" * 500_001,
    "an open string of quotes": '"' + '\\"' * 250_000,
    "an open comment": "/*" * 250_000,
    "an open comment of stars": "/*" + "*" * 500_000,
    "comments": "/**/" * 100_000,
    "comments of a line": "//\n" * 100_000,
    "comments in a word": "a/**/" * 100_000,
    "strokes in a word": "a/" * 250_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_text_takes_one_pass(what: str) -> None:
    start = time.process_time()
    with contextlib.suppress(NetworkFileError):
        tokens(HOSTILE[what])
    assert time.process_time() - start < 3


@pytest.mark.parametrize("part", ["1 ", "a/", "/**/", "-", " "])
def test_a_long_token_takes_little_memory_besides_its_text(part: str) -> None:
    text = part * (500_000 // len(part))
    tracemalloc.start()
    tokens(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * len(text)
