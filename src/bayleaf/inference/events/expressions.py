"""Expressions about variables and states, before anybody knows which ones exist."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

KEYWORDS = ("and", "or", "not", "in", "between")
# What a name or state may be written with outside quotes.
BARE = r"[^\s=!<>(){},`\"'][^\s=!<>(){},`\"]*"
_BARE = re.compile(BARE)


@dataclass(frozen=True)
class Word:
    """A name, a state or a number, as it is written."""

    text: str  # without quotes
    place: int = field(default=0, compare=False)  # where it begins
    is_quoted: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        is_bare = _BARE.fullmatch(self.text) and self.text.lower() not in KEYWORDS
        # Dots between two words mean bounds where these stand outside quotes.
        if is_bare and (".." not in self.text or not self.is_quoted):
            return self.text
        return '"' + self.text.replace('"', '""') + '"'


@dataclass(frozen=True)
class Comparison:
    """Two operands with a sign between, or three with two: ``30 < age <= 50``."""

    operands: tuple[Word, ...]
    signs: tuple[str, ...]  # =, !=, <, <=, > or >=

    def __str__(self) -> str:
        first, *others = map(str, self.operands)
        rest = (f" {s} {o}" for s, o in zip(self.signs, others, strict=True))
        return first + "".join(rest)


@dataclass(frozen=True)
class Membership:
    """One of several states: ``sex in {male, female}``, perhaps with ``not``."""

    name: Word
    values: tuple[Word, ...]
    is_negated: bool = False

    def __str__(self) -> str:
        how = "not in" if self.is_negated else "in"
        return f"{self.name} {how} {{{', '.join(map(str, self.values))}}}"


@dataclass(frozen=True)
class Within:
    """Bounds that both count as within: ``age between 30 and 50``."""

    name: Word
    low: Word
    high: Word
    is_negated: bool = False

    def __str__(self) -> str:
        how = "not between" if self.is_negated else "between"
        return f"{self.name} {how} {self.low} and {self.high}"


@dataclass(frozen=True)
class Negation:
    """What does not hold."""

    part: Expression

    def __str__(self) -> str:
        return f"not {_inner(self.part)}"


@dataclass(frozen=True)
class Conjunction:
    """Parts all of which hold."""

    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        return " and ".join(map(_inner, self.parts))


@dataclass(frozen=True)
class Disjunction:
    """Parts at least one of which holds."""

    parts: tuple[Expression, ...]

    def __str__(self) -> str:
        return " or ".join(map(_inner, self.parts))


Condition = Comparison | Membership | Within
Expression = Condition | Negation | Conjunction | Disjunction


def _inner(part: Expression) -> str:
    """A part as it stands inside a larger expression."""
    if isinstance(part, Conjunction | Disjunction):
        return f"({part})"
    return str(part)
