"""Words, numbers and signs of the text formats, each with the place it stands at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.source_file import NetworkFileError, quoted

_NUMBER = r"[+-]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+"
_END = "the end of the file"


def token_pattern(signs: str, line_comments: str) -> re.Pattern[str]:
    """Compile the pattern of one token of a format.

    Numbers that follow each other are one token, so that a table of any size is
    converted at once. All repeats are possessive, so no text takes more than one pass.

    Parameters
    ----------
    signs : str
        Letters that are tokens of their own, such as ``(){};``.
    line_comments : str
        Alternatives of what starts a comment that ends with the line.
    """
    sign = re.escape(signs)
    return re.compile(
        rf"""
        (?:\s++|/\*.*?\*/|(?:{line_comments})[^\n]*+)*+      # blanks and comments
        (?:
          (?P<numbers>{_NUMBER}(?=[\s,{sign}"]|\Z)
            (?:[\s,]++{_NUMBER}(?=[\s,{sign}"]|\Z))*+)
        | (?P<sign>[,{sign}])
        | "(?P<string>(?:[^"\\]|\\.)*+)"
        | (?P<open>"|/\*)
        | (?P<word>(?:(?!/\*|{line_comments})[^\s,{sign}"])++)
        | (?P<end>\Z)
        )
        """,
        re.VERBOSE | re.DOTALL,
    )


class Token(NamedTuple):
    """One token.

    Attributes
    ----------
    kind : {"numbers", "sign", "string", "word", "end"}
        What it is; `numbers` is a run of numbers, with blanks or commas between them.
    text : str
        The text, without the quotes of a string.
    start, end : int
        Its place in the file.
    """

    kind: str
    text: str
    start: int
    end: int


class Lexer:
    """Takes tokens off a text, one ahead of what has been taken.

    Parameters
    ----------
    text : str
        The content of a file, lines ended by newlines.
    file : str
        The file's name, for errors.
    pattern : re.Pattern
        See `token_pattern`.

    Attributes
    ----------
    ahead : Token
        The token that comes next.
    """

    def __init__(self, text: str, file: str, pattern: re.Pattern[str]) -> None:
        self.text = text
        self.file = file
        self._match: Callable[[str, int], re.Match[str] | None] = pattern.match
        self.ahead = self._scan(0)

    def _scan(self, position: int) -> Token:
        """The token at or after a position."""
        match = self._match(self.text, position)
        kind = match.lastgroup if match is not None else None
        if match is None or kind is None or kind == "open":
            start = position if match is None else match.start("open")
            what = "comment" if self.text.startswith("/*", start) else "quotation mark"
            raise self.error(start, f"a {what} is opened here and never closed")
        text = match[kind]
        if kind == "string" and "\\" in text:
            text = re.sub(r"\\([\"\\])", r"\1", text)
        return Token(kind, text, match.start(kind), match.end())

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
        found = self.at_sign(sign)
        if found:
            self.take()
        return found

    def expect(self, sign: str, place: str) -> Token:
        """Take a sign; `place` says where it belongs.

        Raises
        ------
        NetworkFileError
            If something else stands there.
        """
        if not self.at_sign(sign):
            raise self.unexpected(self.ahead, f'"{sign}" {place}')
        return self.take()

    def name(self, what: str) -> Token:
        """Take a name: a word, a string, or one number.

        Raises
        ------
        NetworkFileError
            If something else stands there.
        """
        token = self.ahead
        single = token.kind == "numbers" and len(split_numbers(token.text)) == 1
        if token.kind not in {"word", "string"} and not single:
            raise self.unexpected(token, what)
        return self.take()

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
