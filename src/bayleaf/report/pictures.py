"""Pictures of a report as SVG, drawn from its summary in the colours of the page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.layout.layered import with_tops
from bayleaf.report.wording import plain

Values = dict[str, Any]
Place = tuple[float, float]

# Half a node's width and height, gaps beside and below it, and room around the network.
_HALF_WIDTH, _HALF_HEIGHT = 56.0, 19.0
_GAP, _EDGE = (14.0, 36.0), 4.0
_LETTERS, _LETTER_WIDTH = 16, 6.4
# A picture of more nodes has no room for names, one of more arcs shows nothing.
_MOST_NODES, _MOST_ARCS = 150, 220
# Of arcs with weights, three are drawn for two nodes, or this many.
_LEAST_ARCS = 12
# A class above more features than this stands over them without arcs.
_MOST_CLASS_ARCS, _FEW_CLASS_ARCS = 16, 6
# Frame of the charts: its left, top, and the length of both sides.
_LEFT, _TOP, _SIDE = 46.0, 12.0, 240.0
_MARKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def network_svg(structure: Values) -> tuple[str, str]:
    """Draw nodes and arcs, parents above their children.

    Parameters
    ----------
    structure : dict
        The section on structure of a summary.

    Returns
    -------
    svg : str
        The picture; empty where there are too many nodes.
    note : str
        What it does not show.
    """
    nodes, arcs = structure["nodes"], structure["arcs"]
    if not 0 < len(nodes) <= _MOST_NODES:
        return "", f"A picture of {len(nodes)} variables could not be read."
    n_arcs = len(arcs) + structure["n_arcs_left_out"]
    kept, note = _kept_arcs(nodes, arcs, n_arcs)
    children = {arc["child"] for arc in arcs}
    tops = [
        place
        for place, node in enumerate(nodes)
        if node["kind"] == "class" and place not in children
    ]
    pairs = [(arc["parent"], arc["child"]) for arc in kept]
    sizes = [(2 * _HALF_WIDTH, 2 * _HALF_HEIGHT)] * len(nodes)
    drawing = with_tops(sizes, pairs, tops if len(nodes) > 1 else [], gap=_GAP)
    places = [(x + _EDGE, y + _EDGE) for x, y in drawing.centres.tolist()]
    width, height = drawing.width + 2 * _EDGE, drawing.height + 2 * _EDGE
    above = set(tops)
    body = [
        _arc(curve + _EDGE, arc, arc["parent"] in above)
        for arc, curve in zip(kept, drawing.curves, strict=True)
    ]
    body += [_node(node, place) for node, place in zip(nodes, places, strict=True)]
    head = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    label = f"Network of {len(nodes)} variables and {n_arcs} arcs"
    return _svg("network", width, height, label, [head, *body]), note


def _kept_arcs(
    nodes: Sequence[Values], arcs: Sequence[Values], n_arcs: int
) -> tuple[list[Values], str]:
    """The arcs to draw, and what is left out."""
    heavy = list(arcs)
    classes = {i for i, node in enumerate(nodes) if node["kind"] == "class"}
    from_class = [arc for arc in heavy if arc["parent"] in classes]
    notes = []
    # Where features depend on one another too, arcs from the class hide theirs.
    hides = len(heavy) > len(from_class) and not any(
        node["kind"] == "latent" for node in nodes
    )
    if len(from_class) > (_FEW_CLASS_ARCS if hides else _MOST_CLASS_ARCS):
        heavy = [arc for arc in heavy if arc["parent"] not in classes]
        notes.append(
            f"The filled box is a parent of {len(from_class)} of the variables below "
            "it; these arcs are not drawn."
        )
    has_weights = any(arc["weight"] is not None for arc in heavy)
    most = max(_LEAST_ARCS, 3 * len(nodes) // 2) if has_weights else _MOST_ARCS
    if len(heavy) > most:
        what = "heaviest" if has_weights else "first"
        notes.append(f"The {what} {most} of {n_arcs} arcs are drawn.")
    return heavy[:most], " ".join(notes)


def _arc(curve: NDArray[np.float64], arc: Values, light: bool) -> str:
    """An arrow along a curve; the class's are light."""
    first, *others = [f"{x:.1f} {y:.1f}" for x, y in curve.tolist()]
    weight = arc["weight"]
    look = "" if weight is None else f' stroke-width="{0.5 + 3 * weight:.2f}"'
    return (
        f'<path class="arc{" light" * light}" d="M{first}C{" ".join(others)}"{look} '
        'marker-end="url(#tip)"/>'
    )


def _node(node: Values, place: Place) -> str:
    """A box with a name on one or two lines; the whole name as its title."""
    x, y = place
    lines = _lines(node["name"])
    first = y + 4 - 6.5 * (len(lines) - 1)
    texts = "".join(
        f'<text x="{x:.1f}" y="{first + 13 * i:.1f}"{_squeezed(line)}>'
        f"{escape(line)}</text>"
        for i, line in enumerate(lines)
    )
    return (
        f'<g class="node {node["kind"]}"><title>{escape(plain(node["name"]))}</title>'
        f'<rect x="{x - _HALF_WIDTH:.1f}" y="{y - _HALF_HEIGHT:.1f}" '
        f'width="{2 * _HALF_WIDTH}" height="{2 * _HALF_HEIGHT}" rx="4"/>{texts}</g>'
    )


def _lines(name: Any) -> list[str]:
    """A name broken into at most two short lines."""
    text = plain(name, 200).replace("_", " ")
    lines = textwrap.wrap(text, _LETTERS) or [text]
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1][: _LETTERS - 1]}…"]
    return lines


def _squeezed(line: str) -> str:
    """What keeps a line of wide letters inside its box."""
    if len(line) * _LETTER_WIDTH < 2 * _HALF_WIDTH - 18 and line.isascii():
        return ""
    return f' textLength="{2 * _HALF_WIDTH - 10:.0f}" lengthAdjust="spacingAndGlyphs"'


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
    return _svg("chart", _LEFT + _SIDE + 14, _TOP + _SIDE + 40, label, parts)


def _svg(
    kind: str, width: float, height: float, label: str, parts: Sequence[str]
) -> str:
    """An image with a name for those who do not see it."""
    return (
        f'<svg class="{kind}" role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}">{"".join(parts)}</svg>'
    )
