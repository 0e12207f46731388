"""Expressions about variables and states, and their recursive-descent parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bayleaf.wording import quoted

KEYWORDS = ("and", "or", "not", "in", "between")
# What a name or state may be written with outside quotes.
BARE = r"[^\s=!<>(){},`\"'][^\s=!<>(){},`\"]*"
_TOKEN = re.compile(
    r"(?P<quote>`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*')"
    r"|(?P<sign>==|!=|<=|>=|[=<>])"
    r"|(?P<mark>[(){},])"
    rf"|(?P<word>{BARE})"
)
_BLANKS = re.compile(r"\s*")
_CLOSING = {"{": "}", "(": ")"}
# Deep enough for any reader, and far from Python's own limit.
_DEEPEST = 50


@dataclass(frozen=True)
class Word:
    """A name, a state or a number, as it is written."""

    text: str  # without quotes
    place: int = field(default=0, compare=False)  # where it begins
    is_quoted: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Comparison:
    """Two operands with a sign between, or three with two: ``30 < age <= 50``."""

    operands: tuple[Word, ...]
    signs: tuple[str, ...]  # =, !=, <, <=, > or >=


@dataclass(frozen=True)
class Membership:
    """One of several states: ``sex in {male, female}``, perhaps with ``not``."""

    name: Word
    values: tuple[Word, ...]
    is_negated: bool = False


@dataclass(frozen=True)
class Within:
    """Bounds that both count as within: ``age between 30 and 50``."""

    name: Word
    low: Word
    high: Word
    is_negated: bool = False


@dataclass(frozen=True)
class Negation:
    """What does not hold."""

    part: Expression


@dataclass(frozen=True)
class Conjunction:
    """Parts all of which hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Disjunction:
    """Parts at least one of which holds."""

    parts: tuple[Expression, ...]


Condition = Comparison | Membership | Within
Expression = Condition | Negation | Conjunction | Disjunction


@dataclass(frozen=True)
class _Token:
    """A sign, a mark, a keyword or a word; the end of the text is one too."""

    kind: str
    text: str
    place: int


def parsed(text: str) -> Expression:
    """Read an expression such as ``disease = present and age > 50``.

    ``not`` binds closest, then ``and``, then ``or``. ValueError names the place of an
    error.
    """
    return _Parser(text).whole()


def has_keywords(text: str) -> bool:
    """Whether a text can be read word by word and holds ``and`` or another keyword."""
    try:
        return any(token.kind == "keyword" for token in _tokens(text))
    except ValueError:
        return False


def misread(text: str, place: int, problem: str) -> ValueError:
    """The error for what is wrong at one place of an expression."""
    return ValueError(f"{problem} (character {place + 1} of {quoted(text)})")


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def whole(self) -> Expression:
        """The expression that the whole text is."""
        found = self._disjunction()
        if self._token.kind != "end":
            raise self._expected("'and', 'or' or the end")
        return found

    @property
    def _token(self) -> _Token:
        """The token that comes next."""
        return self._tokens[self._next]

    def _take(self) -> _Token:
        """The next token, which then is done with."""
        token = self._token
        self._next += 1
        return token

    def _takes(self, kind: str, text: str) -> bool:
        """Whether the next token is this one, which then is done with."""
        found = self._token.kind == kind and self._token.text == text
        self._next += found
        return found

    def _disjunction(self) -> Expression:
        """Parts with ``or`` between."""
        parts = [self._conjunction()]
        while self._takes("keyword", "or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Disjunction(tuple(parts))

    def _conjunction(self) -> Expression:
        """Parts with ``and`` between."""
        parts = [self._negation()]
        while self._takes("keyword", "and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))

    def _negation(self) -> Expression:
        """A part after ``not``, one in parentheses, or a condition."""
        opening = self._token
        is_negated = self._takes("keyword", "not")
        if not is_negated and not self._takes("mark", "("):
            return self._condition()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise misread(
                self._text,
                opening.place,
                f"the expression is nested more than {_DEEPEST} deep; write it flatter",
            )
        found = Negation(self._negation()) if is_negated else self._disjunction()
        if not is_negated and not self._takes("mark", ")"):
            raise self._expected("')'")
        self._depth -= 1
        return found

    def _condition(self) -> Expression:
        """What is said of one variable."""
        first = self._word("the name of a variable")
        is_negated = self._takes("keyword", "not")
        if self._takes("keyword", "in"):
            return Membership(first, self._values(), is_negated)
        if self._takes("keyword", "between"):
            low = self._word("a lower bound")
            if not self._takes("keyword", "and"):
                raise self._expected("'and' between the bounds")
            return Within(first, low, self._word("an upper bound"), is_negated)
        if is_negated:
            raise self._expected("'in' or 'between'")
        operands = [first]
        signs: list[str] = []
        while self._token.kind == "sign" and len(signs) < 2:
            signs.append(self._take().text.replace("==", "="))
            operands.append(self._word("a state or a number"))
        if not signs:
            raise self._expected("=, !=, <, <=, >, >=, 'in' or 'between'", first)
        return Comparison(tuple(operands), tuple(signs))

    def _values(self) -> tuple[Word, ...]:
        """States in braces or parentheses, with commas between."""
        opening = self._token
        if opening.kind != "mark" or opening.text not in _CLOSING:
            raise self._expected("'{' before the states")
        self._take()
        values = [self._word("a state")]
        while self._takes("mark", ","):
            values.append(self._word("a state"))
        closing = _CLOSING[opening.text]
        if not self._takes("mark", closing):
            raise self._expected(f"',' or '{closing}'")
        return tuple(values)

    def _word(self, what: str) -> Word:
        """The next word, in quotes or not."""
        token = self._token
        if token.kind not in ("word", "quote"):
            raise self._expected(what)
        self._take()
        if token.kind == "word":
            return Word(token.text, token.place)
        mark = token.text[0]
        inner = token.text[1:-1].replace(mark * 2, mark)
        return Word(inner, token.place, is_quoted=True)

    def _expected(self, what: str, after: Word | None = None) -> ValueError:
        """The error for a token that cannot stand where it does."""
        token = self._token
        came = "the end" if token.kind == "end" else quoted(token.text)
        problem = f"expected {what}, got {came}"
        if after is not None:
            problem = f"expected {what} after {quoted(after.text)}, got {came}"
        if token.kind == "keyword":
            problem += f"; put a name or state called {token.text} in quotes"
        elif token.kind in ("word", "quote") and self._next:
            problem += "; put names and states that hold blanks in quotes"
        return misread(self._text, token.place, problem)


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens of a text, the end last."""
    place = _skipped(text, 0)
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise misread(text, place, _unreadable(text[place]))
        kind, token = str(found.lastgroup), found[0]
        if kind == "word" and token.lower() in KEYWORDS:
            kind, token = "keyword", token.lower()
        yield _Token(kind, token, place)
        place = _skipped(text, found.end())
    yield _Token("end", "", len(text))


def _skipped(text: str, place: int) -> int:
    """Where the next token begins."""
    found = _BLANKS.match(text, place)
    return place if found is None else found.end()


def _unreadable(character: str) -> str:
    """What is wrong with a character that begins no token."""
    if character == "!":
        return "'!' alone means nothing; write != or 'not'"
    return f"the quote {character} is not closed; close it, or double it inside quotes"
