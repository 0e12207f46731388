"""Rules over features read from their text alone, and evaluated on values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

SET = re.compile(r"(\S+) (in|not in) \{(.*)\}")
INTERVAL = re.compile(r"(\S+) in \((\S+), (\S+)\]")
COMPARED = re.compile(r"(\S+) (<=|>|=|!=) (.+)")


def rule_holds(text: str, values: Mapping[str, Any]) -> bool:
    """Whether a printed rule holds for these values of features.

    Values are numbers or texts without " and ", " or " and commas.
    """
    if text == "always":
        return True
    return all(
        any(condition_holds(part, values) for part in side.strip("()").split(" or "))
        if " or " in side
        else condition_holds(side, values)
        for side in text.split(" and ")
    )


def condition_holds(text: str, values: Mapping[str, Any]) -> bool:
    """Whether one printed condition holds."""
    if found := SET.fullmatch(text):
        name, word, states = found.groups()
        return (str(values[name]) in states.split(", ")) == (word == "in")
    if found := INTERVAL.fullmatch(text):
        name, low, high = found.groups()
        return float(low) < float(values[name]) <= float(high)
    found = COMPARED.fullmatch(text)
    assert found, text
    name, sign, other = found.groups()
    if sign in ("<=", ">"):
        return (values[name] <= float(other)) == (sign == "<=")
    return (str(values[name]) == str(values.get(other, other))) == (sign == "=")
