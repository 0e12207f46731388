"""Charts of a report as SVG, drawn from its summary in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from bayleaf.pictures.svg import image
from bayleaf.report.wording import plain

Values = dict[str, Any]
Place = tuple[float, float]

# Frame of the charts: its left, top, and the length of both sides.
_LEFT, _TOP, _SIDE = 46.0, 12.0, 240.0
_MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def calibration_svg(calibration: Values) -> str:
    """Share of rows with the event against the probability predicted, in bins."""
    bins = [one for one in calibration["bins"] if one["n"]]
    most = max((one["n"] for one in bins), default=1)
    dots = []
    for one in bins:
        x, y = _point(one["mean_probability"], one["share"])
        radius = 2.5 + 7 * math.sqrt(one["n"] / most)
        told = (
            f"{one['n']} rows: predicted {one['mean_probability']:.2f}, "
            f"occurred {one['share']:.2f}"
        )
        dots.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{told}</title></circle>"
        )
    label = "Calibration: share that occurred against probability predicted"
    axes = _axes("probability predicted", "share that occurred")
    return _chart(label, [*axes, *dots])


def roc_svg(curves: Sequence[Values]) -> str:
    """Sensitivity against false positive rate, a curve a class."""
    lines = []
    for number, curve in enumerate(curves):
        path = " ".join(
            f"{x:.1f} {y:.1f}" for x, y in (_point(*p) for p in curve["points"])
        )
        name = escape(plain(curve["class"]))
        lines.append(
            f'<path class="curve c{number}" d="M{path}"><title>{name}</title></path>'
        )
    label = "ROC: sensitivity against one minus specificity"
    return _chart(label, [*_axes("1 - specificity", "sensitivity"), *lines])


def observed_svg(pairs: Sequence[Sequence[float]]) -> str:
    """What came true against what was expected, a dot a row, both in one unit."""
    low, high = min(map(min, pairs)), max(map(max, pairs))
    span = high - low or 1.0
    dots = []
    for expected, observed in pairs:
        x, y = _point((expected - low) / span, (observed - low) / span)
        told = f"expected {expected:.5g}, came true {observed:.5g}"
        dots.append(
            f'<circle class="dot row" cx="{x:.1f}" cy="{y:.1f}" r="2.2">'
            f"<title>{told}</title></circle>"
        )
    marks = [f"{low + span * share:.3g}" for share in _MARKS]
    axes = _axes("expected", "came true", marks)
    return _chart("What came true against what was expected", [*axes, *dots])


def _point(x: float, y: float) -> Place:
    """Where two shares stand in a chart."""
    return _LEFT + _SIDE * x, _TOP + _SIDE * (1 - y)


def _axes(below: str, beside: str, marks: Sequence[str] = ()) -> list[str]:
    """Frame, diagonal, marks and titles of a chart; marks are shares by default."""
    (x0, y0), (x1, y1) = _point(0, 0), _point(1, 1)
    parts = [
        f'<rect class="frame" x="{x0}" y="{y1}" width="{_SIDE}" height="{_SIDE}"/>',
        f'<path class="diagonal" d="M{x0} {y0} {x1} {y1}"/>',
    ]
    told = marks or [f"{share:g}" for share in _MARKS]
    for share, mark in zip(_MARKS, told, strict=True):
        x, y = _point(share, share)
        parts.append(f'<text class="end" x="{x0 - 5}" y="{y + 4}">{mark}</text>')
        parts.append(f'<text x="{x}" y="{y0 + 16}">{mark}</text>')
    middle = _TOP + _SIDE / 2
    parts.append(f'<text x="{_LEFT + _SIDE / 2}" y="{y0 + 34}">{below}</text>')
    parts.append(
        f'<text x="10" y="{middle}" transform="rotate(-90 10 {middle})">{beside}</text>'
    )
    return parts


def _chart(label: str, parts: Sequence[str]) -> str:
    """A chart of two shares as an image."""
    return image("chart", _LEFT + _SIDE + 14, _TOP + _SIDE + 40, label, parts)
