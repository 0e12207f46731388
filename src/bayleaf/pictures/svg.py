"""Drawings as SVG: networks in layers, and figures by group with their intervals."""

from __future__ import annotations

import itertools
import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.wording import cut, plain, rough

Values = dict[str, Any]
Place = tuple[float, float]
# Half a node's width and height, gaps beside and below it, and room around the network.
_HALF_WIDTH, _HALF_HEIGHT = 56.0, 19.0
_GAP, _EDGE = (14.0, 36.0), 4.0
# Networks wider than a report are folded.
_PAGE = 960.0
_LETTERS, _LETTER_WIDTH = 16, 6.4
# The most of boxes with bars, and room around their texts; states with a bar, and
# letters of their names.
_HALF_WIDE, _AROUND, _MAX_STATES, _BAR_NAME = 80.0, 18.0, 7, 16
# Height of a line of a name, and letters of it that are drawn at all.
_TEXT, _MAX_NAME = 13.0, 200
_NARROW, _WIDE = frozenset(" fijlrt.,:;'|!()[]-"), frozenset("mwMW@%<=>+≤≥")
# Narrow windows make networks smaller, but not their letters of 12 pixels below 11.
# With bars, those that a telephone would scroll even so are marked: lists take their
# place.
_SMALLEST, _TELEPHONE = 11 / 12, 480.0
# A picture of more nodes has no room for names, one of more arcs shows nothing.
_MOST_NODES, _MOST_ARCS = 150, 220
# Of arcs with weights, three are drawn for two nodes, or this many.
_LEAST_ARCS = 12
# A class above more features than this stands over them without arcs.
_MOST_CLASS_ARCS, _FEW_CLASS_ARCS = 16, 6
# Width of the names and of the scale, and height of a line, in pixels; a telephone has
# room for them.
_NAMES, _SCALE, _LINE = 130.0, 220.0, 14.0
# Each has a contrast of 3 to 1 on white and on black paper.
_COLOURS = ("#0072b2", "#b57a00", "#009e73", "#c2540a")
_NAME_LETTERS = 18
# Width of a drawing of steps, height of its curve and of the rows below it. Three of
# these drawings, or of bars, are side by side on paper without being made smaller.
_STEPS = (222.0, 80.0, 26.0)
_MAX_BINS = 40
# Side of an icon; widths of names, bars and values, and letters in a line of a name.
_ICON, _BARS, _BAR_LETTERS = 10, (104.0, 78.0, 40.0), 16


def image(
    kind: str,
    width: float,
    height: float,
    label: str,
    parts: Sequence[str],
    style: str = "",
) -> str:
    """An image of `width` by `height` pixels, its `label` for those who do not see it.

    `kind` is the class that style sheets select, `parts` are the shapes, as SVG.
    """
    look = f' style="{style}"' if style else ""
    return (
        f'<svg class="{kind}"{look} role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}">{"".join(parts)}</svg>'
    )


def graph_values(
    names: Sequence[object],
    kinds: Sequence[str],
    arcs: Sequence[tuple[int, int, float | None]],
    max_arcs: int | None = None,
    bars: Mapping[int, Sequence[tuple[str, float]]] = MappingProxyType({}),
    undirected: Collection[tuple[int, int]] = (),
) -> Values:
    """Nodes by kind and arcs, the heaviest `max_arcs` of them, as plain values.

    `kinds` are "feature", "latent", "class" or "known", `arcs` (parent, child, weight),
    `bars` by node its states with their probabilities; `undirected` arcs have no tip.
    """
    lines = set(undirected)
    ordered = sorted(arcs, key=lambda arc: -(arc[2] or 0.0))
    shown = ordered[:max_arcs]
    return {
        "nodes": [
            {"name": str(name), "kind": kind}
            | ({"bars": list(bars[index])} if index in bars else {})
            for index, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ],
        "arcs": [
            {"parent": parent, "child": child, "weight": weight}
            | ({"is_line": True} if (parent, child) in lines else {})
            for parent, child, weight in shown
        ],
        "n_arcs_left_out": len(ordered) - len(shown),
    }


def network_svg(structure: Values) -> tuple[str, str]:
    """Draw nodes and arcs, parents above their children; return picture and note.

    `structure` contains what `graph_values` returns. The picture is empty for too many
    nodes; the note names what it does not show.
    """
    from bayleaf.layout.layered import with_tops

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
    half = _half_width(nodes)
    sizes = [(2 * half, _height(node)) for node in nodes]
    above = tops if len(nodes) > 1 else []
    drawing = with_tops(sizes, pairs, above, gap=_GAP, page=_PAGE)
    places = [(x + _EDGE, y + _EDGE) for x, y in drawing.centres.tolist()]
    width, height = drawing.width + 2 * _EDGE, drawing.height + 2 * _EDGE
    lights = set(tops)
    heaviest = max((arc["weight"] or 0.0 for arc in kept), default=0.0) or 1.0
    body = [
        _arc(curve + _EDGE, arc, arc["parent"] in lights, heaviest)
        for arc, curve in zip(kept, drawing.curves, strict=True)
    ]
    body += [_node(node, *xy, half) for node, xy in zip(nodes, places, strict=True)]
    head = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    label = f"Network of {len(nodes)} variables and {n_arcs} arcs"
    least = _SMALLEST * width
    is_broad = least > _TELEPHONE and any(map(_bars_of, nodes))
    kind, style = "network" + " broad" * is_broad, f"min-width:{least:.0f}px"
    return image(kind, width, height, label, [head, *body], style), note


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
        n_arcs -= len(from_class)
        notes.append(
            f"The filled box is a parent of {len(from_class)} of the variables below "
            "it; these arcs are not drawn."
        )
    has_weights = any(arc["weight"] is not None for arc in heavy)
    most = max(_LEAST_ARCS, 3 * len(nodes) // 2) if has_weights else _MOST_ARCS
    if len(heavy) > most:
        what = "heaviest" if has_weights else "first"
        among = " other" if notes else ""
        notes.append(f"The {what} {most} of {n_arcs}{among} arcs are drawn.")
    return heavy[:most], " ".join(notes)


def _arc(curve: NDArray[np.float64], arc: Values, light: bool, heaviest: float) -> str:
    """An arrow along a curve; the class's are light."""
    first, *others = [f"{x:.1f} {y:.1f}" for x, y in curve.tolist()]
    weight = arc["weight"]
    width = None if weight is None else f"{0.5 + 3 * weight / heaviest:.2f}"
    look = "" if width is None else f' stroke-width="{width}"'
    tip = "" if arc.get("is_line") else ' marker-end="url(#tip)"'
    return (
        f'<path class="arc{" light" * light}" d="M{first}C{" ".join(others)}"{look}'
        f"{tip}/>"
    )


def _node(node: Values, x: float, y: float, half: float) -> str:
    """A box with a name on its lines, the whole name as its title, and its bars."""
    lines, bars, height = _lines(node["name"]), _bars_of(node), _height(node)
    first = y + 4 - _TEXT / 2 * (len(lines) - 1) - _TEXT * len(bars) / 2
    texts = "".join(
        f'<text x="{x:.1f}" y="{first + _TEXT * i:.1f}"'
        f"{_squeezed(line, 2 * half - 8)}>"
        f"{escape(line)}</text>"
        for i, line in enumerate(lines)
    )
    top = y + height / 2 - 4 - _TEXT * len(bars)
    return (
        f'<g class="node {node["kind"]}"><title>{escape(plain(node["name"]))}</title>'
        f'<rect x="{x - half:.1f}" y="{y - height / 2:.1f}" '
        f'width="{2 * half}" height="{height}" rx="4"/>{texts}'
        + "".join(
            _bar(label, share, x, top + _TEXT * i, half)
            for i, (label, share) in enumerate(bars)
        )
        + "</g>"
    )


def _bar(label: str, share: float | None, x: float, y: float, half: float) -> str:
    """A state on a bar as long as its probability; None for states left out."""
    left, width = x - half + 4, 2 * half - 8
    style = 'style="text-anchor:{}"'
    name = label if share is None else cut(plain(label), _BAR_NAME)
    text = (
        f'<text x="{left + 2:.1f}" y="{y + 10:.1f}" {style.format("start")}>'
        f"{escape(name)}</text>"
    )
    if share is None:
        return text
    return (
        f'<rect class="state" x="{left:.1f}" y="{y + 1:.1f}" '
        f'width="{width * share:.1f}" height="{_TEXT - 2:.1f}"/>{text}'
        f'<text x="{left + width - 2:.1f}" y="{y + 10:.1f}" {style.format("end")}>'
        f"{100 * share:.1f} %</text>"
    )


def _half_width(nodes: Sequence[Values]) -> float:
    """Half the width of all boxes; those with bars are as wide as their texts need."""
    texts = [
        text if share is None else f"{cut(plain(text), _BAR_NAME)} 100.0 %"
        for node in nodes
        for text, share in _bars_of(node)
    ]
    if not texts:
        return _HALF_WIDTH
    texts += [line for node in nodes for line in _lines(node["name"])]
    widest = max(sum(map(letter_width, text)) for text in texts)
    return min(_HALF_WIDE, round((widest + _AROUND) / 2, 1))


def _bars_of(node: Values) -> list[tuple[str, float | None]]:
    """The states with a bar, and how many others there are."""
    bars = list(node.get("bars", ()))
    if len(bars) <= _MAX_STATES:
        return bars
    likely = sorted(bars, key=lambda bar: -bar[1])[: _MAX_STATES - 1]
    shown = [bar for bar in bars if bar in likely][: _MAX_STATES - 1]
    return [*shown, (f"and {len(bars) - len(shown)} other states", None)]


def _height(node: Values) -> float:
    """The height of a box: that of two lines, or of more, and its bars."""
    n_lines, n_bars = len(_lines(node["name"])), len(_bars_of(node))
    if n_bars:
        return _TEXT * (n_lines + n_bars) + 14
    return 2 * _HALF_HEIGHT + _TEXT * max(0, n_lines - 2)


def _lines(name: Any) -> list[str]:
    """A name broken into short lines."""
    return _wrapped(plain(name, _MAX_NAME).replace("_", " "), _LETTERS)


def _wrapped(text: str, most: int) -> list[str]:
    """Lines of about so many letters; words of three more break into equal parts."""

    def broken(word: re.Match[str]) -> str:
        size = math.ceil(len(word[0]) / math.ceil(len(word[0]) / most))
        return textwrap.fill(word[0], size)

    pieces = re.sub(rf"[^\s-]{{{most + 3},}}", broken, text)
    return textwrap.wrap(pieces, most, break_long_words=False) or [text]


def _squeezed(line: str, room: float) -> str:
    """What keeps a line of wide letters within its room; no line is stretched."""
    if sum(map(letter_width, line)) < room:
        return ""
    return f' textLength="{room:.0f}" lengthAdjust="spacingAndGlyphs"'


def letter_width(letter: str) -> float:
    """About the width of a letter of 12 pixels, rather more than less."""
    if unicodedata.east_asian_width(letter) in "FW":
        return 2.0 * _LETTER_WIDTH
    letter = unicodedata.normalize("NFD", letter)[0]
    if unicodedata.combining(letter):
        return 0.0
    if letter in _NARROW:
        return 0.6 * _LETTER_WIDTH
    if letter in _WIDE:
        return 1.5 * _LETTER_WIDTH
    return 1.3 * _LETTER_WIDTH if letter.isupper() else _LETTER_WIDTH


def steps_svg(
    label: str,
    values: Sequence[float],
    rows: Sequence[float],
    edges: Sequence[float] = (),
    written: Callable[[float], str] = "{:+.2f}".format,
    span: tuple[float, float] = (0.0, 0.0),
) -> str:
    """Draw a step curve over states, and below it their rows as a histogram.

    States are as wide as each other, or as the intervals between their `edges`
    (n_intervals + 1); then areas are rows. Values beyond the intervals, such as that
    of missing cells, are written. The scale has zero, the `span` and all values on it.
    """
    width, height, below = _STEPS
    ends = edges or [float(i) for i in range(len(values) + 1)]
    others, values = values[len(ends) - 1 :], values[: len(ends) - 1]
    low, high = min(0.0, span[0], *values), max(0.0, span[1], *values)

    def across(number: float) -> float:
        return width * (number - ends[0]) / (ends[-1] - ends[0])

    def up(value: float) -> float:
        return 4 + (height - 8) * (high - value) / ((high - low) or 1.0)

    curve = "".join(
        f"{'L' if i else 'M'}{across(start):.1f} {up(values[i]):.1f}H{across(end):.1f}"
        for i, (start, end) in enumerate(itertools.pairwise(ends))
    )
    bins = density_bins(ends, rows)
    tallest = max((share for *_, share in bins), default=0.0) or 1.0
    boxes = [
        f'<rect class="rows" x="{across(start):.1f}" '
        f'y="{height + below * (1 - share / tallest):.1f}" '
        f'width="{across(end) - across(start):.1f}" '
        f'height="{below * share / tallest:.1f}"/>'
        for start, end, share in bins
    ]
    base = height + below + _TEXT
    marks = [
        f'<text x="{across(number):.1f}" y="{base}" style="text-anchor:{anchor}">'
        f"{rough(number)}</text>"
        for number, anchor in ((ends[0], "start"), (ends[-1], "end"))
        if edges
    ]
    if others:
        known = ", ".join(written(value) for value in others)
        marks.append(
            f'<text x="{width / 2}" y="{base}" style="text-anchor:middle">missing: '
            f"{known}</text>"
        )
    zero = f'<path class="axis" d="M0 {up(0.0):.1f}H{width}"/>'
    line = f'<path class="steps" d="{curve}"/>'
    return image("curve", width, base + 4, label, [zero, line, *boxes, *marks])


# Icons of predictions that are wrong.
_SQUARES = ("false_alarm", "wrong")


def icons_svg(label: str, kinds: Sequence[tuple[str, int]]) -> str:
    """Draw icons in rows of ten, so many of each kind, which is their class."""
    icons = [kind for kind, count in kinds for _ in range(count)]
    step = _ICON + 4
    parts = [
        f'<rect class="icon {kind}" x="{2 + step * (i % 10)}" '
        f'y="{2 + step * (i // 10)}" width="{_ICON}" height="{_ICON}" rx="{radius}"/>'
        for i, kind in enumerate(icons)
        for radius in (1 if kind in _SQUARES else _ICON / 2,)
    ]
    return image("icons", 10 * step, -(-len(icons) // 10) * step, label, parts)


def bars_svg(
    label: str,
    bars: Sequence[tuple[str, float, str]],
    span: tuple[float, float] = (0.0, 0.0),
) -> str:
    """Draw bars from a common zero, each with its name and its value as text.

    The scale has zero, the `span` and all values on it.
    """
    values = [value for _, value, _ in bars]
    low, high = min(0.0, span[0], *values), max(0.0, span[1], *values)
    left, width, right = _BARS

    def across(value: float) -> float:
        return left + width * (value - low) / ((high - low) or 1.0)

    parts, top = [], 0.0
    for name, value, text in bars:
        lines = _wrapped(plain(name), _BAR_LETTERS)
        height = _TEXT * len(lines) + 5
        start, length = across(min(value, 0.0)), abs(across(value) - across(0.0))
        parts += [
            f'<text x="{left - 6}" y="{top + _TEXT * (i + 1):.1f}" '
            f'style="text-anchor:end"{_squeezed(line, left - 8)}>{escape(line)}</text>'
            for i, line in enumerate(lines)
        ]
        parts.append(
            f'<rect class="{"for" if value >= 0 else "against"}" x="{start:.1f}" '
            f'y="{top + (height + 1 - _TEXT) / 2:.1f}" width="{length:.1f}" '
            f'height="{_TEXT}"/>'
            f'<text x="{left + width + 4}" y="{top + height / 2 + 5:.1f}" '
            f'style="text-anchor:start">{escape(text)}</text>'
        )
        top += height
    parts.append(f'<path class="axis" d="M{across(0.0):.1f} 0V{top:.1f}"/>')
    return image("effects", left + width + right, top + 4, label, parts)


def density_bins(
    edges: Sequence[float], rows: Sequence[float]
) -> list[tuple[float, float, float]]:
    """Start, end and rows per unit of intervals; narrow ones are joined."""
    narrow = (edges[-1] - edges[0]) / _MAX_BINS
    bins: list[list[float]] = []
    for (start, end), n_rows in zip(itertools.pairwise(edges), rows, strict=False):
        if bins and min(bins[-1][1] - bins[-1][0], end - bins[-1][0]) < narrow:
            bins[-1][1] = end
            bins[-1][2] += n_rows
        else:
            bins.append([start, end, n_rows])
    return [(start, end, n_rows / (end - start)) for start, end, n_rows in bins]


class Interval(NamedTuple):
    """A share with the ends of its interval; None where there is none."""

    value: float | None
    low: float | None
    high: float | None


def intervals_svg(
    title: str, names: Sequence[str], series: Sequence[tuple[str, Sequence[Interval]]]
) -> str:
    """Draw shares between 0 and 1 with their intervals, a block of lines per group.

    `title` describes the picture to those who do not see it; each of the `series` is a
    name and one interval per group of `names`.
    """
    lines = [_wrapped(plain(name), _NAME_LETTERS) for name in names]
    block = max(_LINE * len(series), _TEXT * max(map(len, lines), default=1)) + 8
    height = block * len(names) + 20
    parts = [_scale(block * len(names))]
    for place, name in enumerate(lines):
        top = place * block
        first = top + block / 2 + 2 - _TEXT / 2 * (len(name) - 1)
        parts += [
            f'<text x="{_NAMES - 8}" y="{first + _TEXT * i:.1f}" '
            f'style="text-anchor:end"{_squeezed(line, _NAMES - 10)}>'
            f"{escape(line)}</text>"
            for i, line in enumerate(name)
        ]
        for number, (_, found) in enumerate(series):
            middle = top + block / 2 + _LINE * (number + 0.5 - len(series) / 2)
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
            f'<text x="{x:.1f}" y="{height + 14:.1f}" style="text-anchor:middle">'
            f"{20 * fifth} %</text>"
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
