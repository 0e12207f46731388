"""Words, numbers and signs of the text formats, each with the place it stands at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import MAX_STATES
from bayleaf.io.formats.source_file import NetworkFileError, quoted

# No part can match the same letters in two ways, so that a failed match costs one
# pass; possessive repeats would do that too, but are broken before Python 3.11.5.
_DIGITS = r"(?:\d+(?:\.\d*|)|\.\d+)"
_NUMBER = rf"(?:{_DIGITS}|[+-]{_DIGITS})(?:[eE][+-]?\d+|)"
# The engine remembers every turn of a repeated group: long tokens are taken in parts.
_MOST_TURNS = 64
_END = "the end of the file"

_Match = Callable[[str, int], re.Match[str] | None]


class TokenPatterns(NamedTuple):
    """How a format writes its tokens.

    `first` matches a comment or the first part of a token, with the blanks before it,
    at every place of every text; `further`, by kind, what may follow any number of
    times.
    """

    first: re.Pattern[str]
    further: dict[str, re.Pattern[str]]


def token_patterns(signs: str, line_comments: Sequence[str]) -> TokenPatterns:
    """Compile the patterns of the tokens of a format.

    `signs` are letters that are tokens of their own, such as ``(){};``. Numbers that
    follow each other are one token, so that a table of any size is converted at once.
    """
    between = rf'\s,"{re.escape(signs)}'
    # The two strokes of an address, as in http://, open no comment.
    line_comment = "|".join(
        rf"(?<!:){re.escape(start)}" if start == "//" else re.escape(start)
        for start in line_comments
    )
    no_comment = rf"(?!/\*|{line_comment})"
    # A word is cut where one of these letters opens a comment.
    opening = re.escape("".join({"/", *(start[0] for start in line_comments)}))
    number = rf"{_NUMBER}(?![^{between}])"
    first = re.compile(
        rf"""
        \s*
        (?:
          (?P<sign>[,{re.escape(signs)}])
        | (?P<numbers>{number})
        | "(?P<string>[^"\\]*)
        | (?P<comment>/\*.*?\*/|(?:{line_comment})[^\n]*)
        | (?P<open>/\*)
        | (?P<word>{no_comment}[^{between}][^{between}{opening}]*)
        | (?P<end>\Z)
        )
        """,
        re.VERBOSE | re.DOTALL,
    )
    turns = {
        "numbers": rf"[\s,]+{number}",
        "string": r'\\.[^"\\]*',
        "word": rf"{no_comment}[{opening}][^{between}{opening}]*",
    }
    further = {
        kind: re.compile(rf"(?:{turn}){{1,{_MOST_TURNS}}}", re.DOTALL)
        for kind, turn in turns.items()
    }
    return TokenPatterns(first, further)


class Token(NamedTuple):
    """One token; its place in the file is ``start:end``."""

    kind: str  # numbers (a run of them), sign, string, word or end
    text: str  # without the quotes of a string
    start: int
    end: int


class Lexer:
    """Takes tokens off a text with newlines as line ends, one token ahead."""

    def __init__(self, text: str, file: str, patterns: TokenPatterns) -> None:
        self.text = text
        self.file = file
        # It matches everywhere, so that there is no None to look for.
        self._first = cast("Callable[[str, int], re.Match[str]]", patterns.first.match)
        self._further: dict[str, _Match] = {
            kind: pattern.match for kind, pattern in patterns.further.items()
        }
        self.ahead = self._scan(0)

    def _scan(self, position: int) -> Token:
        """The token at or after a position."""
        match = self._first(self.text, position)
        kind = match.lastgroup
        while kind == "comment":
            match = self._first(self.text, match.end())
            kind = match.lastgroup
        assert kind is not None
        start, end = match.span(kind)
        if kind == "sign":
            return Token(kind, match[kind], start, end)
        if kind == "open":
            raise self.error(start, "a comment is opened here and never closed")
        further = self._further.get(kind)
        while further is not None and (more := further(self.text, end)):
            end = more.end()
        text = self.text[start:end]
        if kind == "string":
            if not self.text.startswith('"', end):
                problem = "a quotation mark is opened here and never closed"
                raise self.error(start - 1, problem)
            end += 1
            if "\\" in text:
                text = re.sub(r"\\([\"\\])", r"\1", text)
        return Token(kind, text, start, end)

    def take(self) -> Token:
        """Take the next token."""
        token = self.ahead
        self.ahead = self._scan(token.end)
        return token

    def at_sign(self, sign: str) -> bool:
        """Whether the next token is this sign."""
        return self.ahead.kind == "sign" and self.ahead.text == sign

    def skip_sign(self, sign: str) -> bool:
        """Take the next token if it is this sign, and say so."""
        ahead = self.ahead
        if ahead.text != sign or ahead.kind != "sign":
            return False
        self.ahead = self._scan(ahead.end)
        return True

    def expect(self, sign: str, place: str) -> Token:
        """Take a sign, else NetworkFileError with `place`, where it belongs."""
        if not self.at_sign(sign):
            raise self.unexpected(self.ahead, f'"{sign}" {place}')
        return self.take()

    def name(self, what: str) -> Token:
        """Take a name: a word, a string, or one number, else NetworkFileError."""
        token = self.ahead
        single = token.kind == "numbers" and len(split_numbers(token.text)) == 1
        if token.kind not in {"word", "string"} and not single:
            raise self.unexpected(token, what)
        return self.take()

    def numbers(self) -> list[float]:
        """Take the numbers of a statement, to behind its semicolon."""
        numbers: list[float] = []
        while not self.skip_sign(";"):
            if self.ahead.kind != "numbers" and not self.at_sign(","):
                raise self.unexpected(self.ahead, 'a number or ";"')
            numbers += map(float, split_numbers(self.take().text))
        return numbers

    def skip_statement(self) -> None:
        """Skip to behind the next semicolon outside of quotes."""
        start = self.ahead.start
        while not self.skip_sign(";"):
            if self.ahead.kind == "end" or self.at_sign("}"):
                raise self.error(start, 'the statement lacks a ";" at its end')
            self.take()

    def line(self, position: int) -> int:
        """Line of a place in the text, from 1."""
        return bisect_right(self._line_starts, position)

    @cached_property
    def _line_starts(self) -> list[int]:
        """Where each line starts."""
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def error(self, position: int, problem: str) -> NetworkFileError:
        """An error that names the line of a place in the text."""
        return NetworkFileError(self.file, self.line(position), problem)

    def check_n_states(self, n_listed: int) -> None:
        """Raise an error if more names are listed than a variable may have states."""
        if n_listed > MAX_STATES:
            problem = (
                f"more than {MAX_STATES} names are listed, which is more states than a "
                "variable may have"
            )
            raise self.error(self.ahead.start, problem)

    def unexpected(self, token: Token, wanted: str) -> NetworkFileError:
        """An error about a token that stands where another should."""
        found = _END if token.kind == "end" else quoted(token.text)
        position = token.start
        if token.kind == "end":
            # Behind the last line there may be empty ones, which would mislead.
            position = max(len(self.text.rstrip()) - 1, 0)
        return self.error(position, f"expected {wanted}, but found {found}")


def split_numbers(text: str) -> list[str]:
    """The numbers of a run, as they are written."""
    return text.replace(",", " ").split()


def number_array(text: str) -> NDArray[np.float64]:
    """The numbers of a run, dtype float64; too large ones are infinite."""
    return np.array(split_numbers(text), dtype=np.float64)


def names_in(lexer: Lexer, tokens: Sequence[Token]) -> list[str]:
    """The names in a list with parentheses and commas; NetworkFileError elsewhere."""
    names: list[str] = []
    for token in tokens:
        if token.kind == "numbers":
            names += split_numbers(token.text)
        elif token.kind != "sign":
            names.append(token.text)
        elif token.text not in "(,)":
            raise lexer.unexpected(token, "a name")
    return names


def numbers_in(lexer: Lexer, tokens: Sequence[Token]) -> NDArray[np.float64]:
    """The numbers in a list with parentheses and commas, dtype float64."""
    runs = []
    for token in tokens:
        if token.kind == "numbers":
            runs.append(token.text)
        elif token.kind != "sign" or token.text not in "(,)":
            raise lexer.unexpected(token, "a number")
    return number_array(" ".join(runs))
