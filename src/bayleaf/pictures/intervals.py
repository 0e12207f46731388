"""Figures with their intervals, group by group, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from bayleaf.pictures.svg import image
from bayleaf.wording import plain

# Width of the names and of the scale, and height of a line, in pixels.
_NAMES, _SCALE, _LINE = 190.0, 380.0, 14.0
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#c2540a")
_LONGEST = 28


class Interval(NamedTuple):
    """A share with the ends of its interval; None where there is none."""

    value: float | None
    low: float | None
    high: float | None


def intervals_svg(
    title: str,
    names: Sequence[str],
    series: Sequence[tuple[str, Sequence[Interval]]],
) -> str:
    """Draw shares between 0 and 1 with their intervals, a block of lines per group.

    `title` describes the picture to those who do not see it; each of the `series` is a
    name and one interval per group of `names`.
    """
    block = _LINE * len(series) + 8
    height = block * len(names) + 20
    parts = [_scale(block * len(names))]
    for place, name in enumerate(names):
        top = place * block
        parts.append(
            f'<text x="{_NAMES - 8}" y="{top + block / 2 + 2:.1f}" '
            f'text-anchor="end">{escape(plain(name, _LONGEST))}</text>'
        )
        for number, (_, found) in enumerate(series):
            middle = top + 4 + _LINE * (number + 0.5)
            parts.append(_mark(found[place], middle, number))
    keys = " ".join(
        f'<span style="color:{_colour(number)}">&#9679;</span> {escape(label)}'
        for number, (label, _) in enumerate(series)
    )
    style = (
        "<style>.intervals text{font-size:12px;fill:currentColor}"
        ".intervals .grid{stroke:currentColor;opacity:.15}</style>"
    )
    drawn = image("intervals", _NAMES + _SCALE + 20, height, title, [style, *parts])
    return f"<p>{keys}</p>{drawn}"


def _scale(height: float) -> str:
    """Lines and numbers of the scale from 0 to 1."""
    parts = []
    for fifth in range(6):
        x = _NAMES + _SCALE * fifth / 5
        parts.append(
            f'<path class="grid" d="M{x:.1f} 0V{height:.1f}"/>'
            f'<text x="{x:.1f}" y="{height + 14:.1f}" text-anchor="middle">'
            f"{20 * fifth}%</text>"
        )
    return "".join(parts)


def _mark(found: Interval, middle: float, number: int) -> str:
    """A point and the line of its interval."""
    if found.value is None:
        return ""
    low = found.value if found.low is None else found.low
    high = found.value if found.high is None else found.high
    ends = (f"{_NAMES + _SCALE * end:.1f}" for end in (low, high))
    return (
        f'<path d="M{next(ends)} {middle:.1f}H{next(ends)}" stroke-width="2" '
        f'stroke="{_colour(number)}"/><circle cx="{_NAMES + _SCALE * found.value:.1f}" '
        f'cy="{middle:.1f}" r="4" fill="{_colour(number)}"/>'
    )


def _colour(number: int) -> str:
    """The colour of a series."""
    return _COLOURS[number % len(_COLOURS)]
