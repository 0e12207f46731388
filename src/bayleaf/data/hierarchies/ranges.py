"""Ranges as leaves of value hierarchies, which cut a numeric column."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Hashable
from dataclasses import dataclass

from bayleaf.data.domain import Variable
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.wording import format_number, name_list, quoted

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_WHOLE = r"-?\d+"
_UP_TO = re.compile(rf"<=\s*({_NUMBER})")
_ABOVE = re.compile(rf">\s*({_NUMBER})")
_BETWEEN = re.compile(rf"\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\]")
_FROM_TO = re.compile(rf"({_WHOLE})\s*-\s*({_WHOLE})")
_FROM = re.compile(rf"({_WHOLE})\s*\+")
_EXACTLY = re.compile(_WHOLE)
_FORMS = "'<= 9', '(9, 20]', '> 20', or of whole numbers '0-9', '10', '11+'"


@dataclass(frozen=True)
class ValueRange:
    """The numbers that a leaf stands for: above `low`, and up to `high`."""

    leaf: Hashable
    low: float
    high: float


def read_range(leaf: Hashable) -> ValueRange | None:
    """The range of a leaf such as ``"<= 9"``, ``"(9, 20]"`` or ``"> 20"``; else None.

    ``"0-9"``, ``"10"`` and ``"11+"`` are ranges of integers, both ends included.
    """
    text = str(leaf).strip()
    if found := _UP_TO.fullmatch(text):
        return ValueRange(leaf, -math.inf, float(found[1]))
    if found := _ABOVE.fullmatch(text):
        return ValueRange(leaf, float(found[1]), math.inf)
    if found := _BETWEEN.fullmatch(text):
        return ValueRange(leaf, float(found[1]), float(found[2]))
    if found := _FROM_TO.fullmatch(text):
        return ValueRange(leaf, float(found[1]) - 1.0, float(found[2]))
    if found := _FROM.fullmatch(text):
        return ValueRange(leaf, float(found[1]) - 1.0, math.inf)
    if _EXACTLY.fullmatch(text):
        return ValueRange(leaf, float(text) - 1.0, float(text))
    return None


def has_range_leaves(hierarchy: ValueHierarchy) -> bool:
    """Whether all leaves name ranges, and at least one more than a single number."""
    ranges = [read_range(leaf) for leaf in hierarchy.states]
    return None not in ranges and any(
        not _EXACTLY.fullmatch(str(leaf).strip()) for leaf in hierarchy.states
    )


def ordered_ranges(hierarchy: ValueHierarchy) -> tuple[ValueRange, ...]:
    """The leaves as adjoining ranges in increasing order.

    ValueError if a leaf is not a range, a range is empty, or two overlap or leave gaps.
    """
    ranges = []
    for leaf in hierarchy.states:
        found = read_range(leaf)
        if found is None:
            raise ValueError(
                f"leaf {quoted(leaf)} of the value hierarchy is no range of numbers; "
                f"write {_FORMS}"
            )
        if found.low >= found.high:
            raise ValueError(
                f"leaf {quoted(leaf)} of the value hierarchy is a range without "
                "numbers; put the smaller end first"
            )
        ranges.append(found)
    ranges.sort(key=lambda found: (found.low, found.high))
    for left, right in itertools.pairwise(ranges):
        if left.high != right.low:
            problem = "overlap" if left.high > right.low else "leave a gap between them"
            raise ValueError(
                f"leaves {quoted(left.leaf)} and {quoted(right.leaf)} of the value "
                f"hierarchy {problem}; let every range start where the one before ends"
            )
    return tuple(ranges)


def range_cut_points(hierarchy: ValueHierarchy) -> tuple[float, ...]:
    """Thresholds at which range leaves cut a numeric column: upper ends but the last.

    The outer ranges include what lies beyond them. ValueError as in `ordered_ranges`.
    """
    return tuple(found.high for found in ordered_ranges(hierarchy)[:-1])


def states_of_ranges(
    hierarchy: ValueHierarchy, variable: Variable
) -> dict[Hashable, Hashable]:
    """The interval of a numeric variable that each range leaf is.

    ValueError as in `ordered_ranges`, or if the ranges are not the variable's
    intervals.
    """
    ranges = ordered_ranges(hierarchy)
    cuts = range_cut_points(hierarchy)
    if cuts != variable.cut_points:
        wanted, given = (
            name_list([format_number(cut) for cut in points]) or "nowhere"
            for points in (cuts, variable.cut_points)
        )
        raise ValueError(
            f"the value hierarchy of variable {quoted(variable.name)} cuts at "
            f"{wanted}, but the variable is cut at {given}; take the hierarchy's cut "
            "points"
        )
    return {
        found.leaf: state for found, state in zip(ranges, variable.states, strict=False)
    }
