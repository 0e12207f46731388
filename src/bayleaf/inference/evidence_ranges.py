"""Evidence that a number, or an ordered category, lies within bounds."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayleaf.data.domain import Variable
from bayleaf.wording import format_number, quoted

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")


@dataclass(frozen=True)
class Range:
    """Bounds of a number or of an ordered category; None where there is none.

    All states count that contain a value within the bounds: where a variable is cut
    into intervals, the cut points around the bounds stand in for them. An open bound is
    itself left out.
    """

    low: Any = None
    high: Any = None
    open_low: bool = False
    open_high: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.low!r}, {self.high!r})"

    def text(self, name: str) -> str:
        """The bounds as a reader sees them, such as ``30 <= age <= 50``."""
        low = "" if self.low is None else f"{_shown(self.low)} {_sign(self.open_low)} "
        high = (
            "" if self.high is None else f" {_sign(self.open_high)} {_shown(self.high)}"
        )
        if not high and low:
            return f"{name} {'>' if self.open_low else '>='} {_shown(self.low)}"
        return f"{low}{name}{high}"


class Between(Range):
    """Evidence that a number or ordered category lies within two bounds.

    Parameters
    ----------
    low, high : object
        Both count as within.

    Examples
    --------
    >>> Between(30, 50)
    Between(30, 50)
    """

    def __init__(self, low: Any, high: Any) -> None:
        super().__init__(low, high)


class AtMost(Range):
    """Evidence that a number or ordered category is not above a bound.

    Examples
    --------
    >>> AtMost(50)
    AtMost(50)
    """

    def __init__(self, high: Any) -> None:
        super().__init__(None, high)

    def __repr__(self) -> str:
        return f"AtMost({self.high!r})"


class AtLeast(Range):
    """Evidence that a number or ordered category is not below a bound.

    Examples
    --------
    >>> AtLeast(30)
    AtLeast(30)
    """

    def __init__(self, low: Any) -> None:
        super().__init__(low, None)

    def __repr__(self) -> str:
        return f"AtLeast({self.low!r})"


def range_codes(variable: Variable, bounds: Range) -> tuple[int, ...]:
    """Codes of the states that contain a value within bounds.

    ValueError if the variable has no order, a bound is not a number (a category, where
    these are ordered), or no state contains a value within.
    """
    low, high = (_place(variable, bound) for bound in (bounds.low, bounds.high))
    lowest = -np.inf if low is None else low
    highest = np.inf if high is None else high
    if lowest > highest:
        raise ValueError(
            f"the bounds on variable {quoted(variable.name)} stand the wrong way "
            f"round: {bounds!r}; give the lower one first"
        )
    found = [
        code
        for code, (first, last, first_open) in enumerate(_extents(variable))
        if _meet(first, last, first_open, lowest, highest, bounds)
    ]
    if not found:
        raise ValueError(
            f"no state of variable {quoted(variable.name)} holds a value with "
            f"{bounds.text(str(variable.name))}; give wider bounds"
        )
    return tuple(found)


def range_text(variable: Variable, bounds: Range, codes: tuple[int, ...]) -> str:
    """The bounds for a reader, with the cut points that stand in for them."""
    text = bounds.text(str(variable.name))
    if variable.kind != "numeric" or variable.categories is not None:
        return text
    if not cuts_an_interval(variable, bounds):
        return text
    ends = (-np.inf, *variable.cut_points, np.inf)
    low, high = ends[codes[0]], ends[codes[-1] + 1]
    stands = Range(
        None if np.isinf(low) else low, None if np.isinf(high) else high, open_low=True
    )
    whole = np.isinf(low) and np.isinf(high)
    return (
        f"{text} (taken as {'any value' if whole else stands.text(str(variable.name))})"
    )


def cuts_an_interval(variable: Variable, bounds: Range) -> bool:
    """Whether a state contains values within bounds and others that are not.

    Errors as `range_codes`.
    """
    within = set(range_codes(variable, bounds))
    beyond = []
    if bounds.low is not None:
        beyond.append(Range(None, bounds.low, open_high=not bounds.open_low))
    if bounds.high is not None:
        beyond.append(Range(bounds.high, None, open_low=not bounds.open_high))
    for side in beyond:
        try:
            outside = range_codes(variable, side)
        except ValueError:
            # No state holds a value there.
            continue
        if within.intersection(outside):
            return True
    return False


def parsed_range(text: str) -> Range | None:
    """The bounds that a text such as 30..50 gives; None if it has no such form."""
    found = _RANGE.fullmatch(text.strip())
    return None if found is None else Between(float(found[1]), float(found[2]))


def is_pair_of_numbers(value: Any) -> bool:
    """Whether a value is a tuple of two numbers, which could mean bounds."""
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(
            isinstance(part, int | float | np.number) and not isinstance(part, bool)
            for part in value
        )
    )


def _meet(
    first: float, last: float, first_open: bool, low: float, high: float, bounds: Range
) -> bool:
    """Whether values from first to last and values within bounds have one in common."""
    above = last > low if bounds.open_low and np.isfinite(low) else last >= low
    left_out = first_open or (bounds.open_high and np.isfinite(high))
    below = first < high if left_out else first <= high
    return bool(above and below)


def _extents(variable: Variable) -> list[tuple[float, float, bool]]:
    """Least and greatest value of each state, and whether the least is left out."""
    if variable.kind == "numeric":
        ends = itertools.pairwise([-np.inf, *variable.cut_points, np.inf])
        if variable.categories is None:
            if variable.numbers is not None and variable.numbers.are_whole:
                # Between integers there is nothing to be within bounds.
                return [
                    (np.floor(low) + 1, np.floor(high), False) for low, high in ends
                ]
            return [(low, high, True) for low, high in ends]
        last_rank = len(variable.categories) - 1
        return [
            (np.ceil(max(low, 0.0)), np.floor(min(high, last_rank)), False)
            for low, high in ends
        ]
    states: list[Any] = list(variable.known_states)
    numbers = [
        s for s in states if isinstance(s, int | float) and not isinstance(s, bool)
    ]
    if not numbers or len(numbers) < len(states) - (variable.other_state is not None):
        raise ValueError(
            f"the states of variable {quoted(variable.name)} have no order; name one, "
            "or several as a set"
        )
    return [
        (float(s), float(s), False) if s in numbers else (np.inf, -np.inf, False)
        for s in states
    ]


def _place(variable: Variable, bound: Any) -> float | None:
    """A bound as a number: a category's rank, where categories are ordered."""
    if bound is None:
        return None
    if variable.categories is not None:
        spelled = {str(known): i for i, known in enumerate(variable.categories)}
        if str(bound) in spelled:
            return float(spelled[str(bound)])
        wanted = f"one of its categories {', '.join(spelled)}"
    else:
        is_number = isinstance(bound, int | float | np.number) and bound == bound
        if is_number and not isinstance(bound, bool):
            return float(bound)
        wanted = "a number"
    raise ValueError(
        f"a bound on variable {quoted(variable.name)} must be {wanted}, got "
        f"{quoted(bound)}"
    )


def _sign(is_open: bool) -> str:
    """Between a bound and what lies within it."""
    return "<" if is_open else "<="


def _shown(bound: Any) -> str:
    """A bound as a reader sees it."""
    return format_number(bound) if isinstance(bound, float) else str(bound)
