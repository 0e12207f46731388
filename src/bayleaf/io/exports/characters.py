"""Texts and numbers that files of other systems cannot hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from bayleaf.wording import quoted

_REFUSED = {
    "a zero byte": re.compile("\0"),
    "a lone surrogate": re.compile("[\ud800-\udfff]"),
}
_LARGEST = 1 << 63


def check_characters(values: Iterable[Any], where: str, target: str) -> None:
    """Raise ValueError if a text has a zero byte or half a pair of UTF-16.

    `where` starts the sentence, as "a column's name holds" does; `target` is the system
    that cannot write them. Values other than text are passed over.
    """
    for text in values:
        for what, pattern in _REFUSED.items():
            if isinstance(text, str) and pattern.search(text):
                raise ValueError(
                    f"{where} {what}, which {target} cannot write: {quoted(text)}; "
                    "replace that character"
                )


def check_integers(values: Iterable[Any], where: str, target: str) -> None:
    """Raise ValueError if an integer has more than 64 bits, sign included."""
    for number in values:
        if isinstance(number, int) and not -_LARGEST <= number < _LARGEST:
            raise ValueError(
                f"{where} the number {number}, which exceeds the integers of {target}; "
                "convert it to text and fit again"
            )


def equal_pair(
    values: Sequence[Any], key: Callable[[Any], Hashable]
) -> tuple[Any, Any] | None:
    """The first two values with the same key, or None."""
    first: dict[Hashable, Any] = {}
    for index, value in enumerate(values):
        former = first.setdefault(key(value), index)
        if former != index:
            return values[former], value
    return None
