"""What a notebook shows of models and answers: tables with bars, and drawings.

All of it is text without scripts or references, in the colours of the notebook, and
every name in it is escaped.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from bayleaf.pictures.svg import image, network_svg
from bayleaf.wording import plain, shown_name, stated

_STYLE = (
    "<style>.bayleaf-picture{max-width:100%;overflow:auto}"
    ".bayleaf-picture table{border-collapse:collapse}"
    ".bayleaf-picture caption{text-align:left;font-weight:bold;padding:.3em 0}"
    ".bayleaf-picture th,.bayleaf-picture td{text-align:left;font-weight:normal;"
    "padding:.1em .5em}"
    ".bayleaf-picture td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".bayleaf-picture .t{position:relative;width:14em;height:1em}"
    ".bayleaf-picture .t i{position:absolute;top:0;bottom:0;border-radius:2px}"
    ".bayleaf-picture .t b{position:absolute;top:-.2em;bottom:-.2em;width:1px;"
    "background:currentColor;opacity:.5}"
    ".bayleaf-picture .for{background:#0072b2}"
    ".bayleaf-picture .against{background:#c2540a}"
    ".bayleaf-picture .node rect{fill:none;stroke:currentColor}"
    ".bayleaf-picture .node text{fill:currentColor;text-anchor:middle;font-size:12px}"
    ".bayleaf-picture .node.class rect{fill:#0a5fb4;stroke:#0a5fb4}"
    ".bayleaf-picture .node.class text{fill:#fff}"
    ".bayleaf-picture .node.latent rect{stroke-dasharray:4 2}"
    ".bayleaf-picture .arc{fill:none;stroke:currentColor;opacity:.6}"
    ".bayleaf-picture .arc.light{opacity:.3}"
    ".bayleaf-picture #tip path{fill:currentColor}"
    ".bayleaf-picture .steps{fill:none;stroke:#0072b2;stroke-width:2}"
    ".bayleaf-picture .rows{fill:currentColor;opacity:.25}"
    ".bayleaf-picture .axis{stroke:currentColor;opacity:.5}"
    "</style>"
)
# Longer tables are cut at their end, longer names in their middle.
_ROWS, _NAME = 30, 60
# Terms with a line of their own, and states with a bar of their own.
_TERMS, _STATES = 20, 24
# Width of a drawing of steps, height of its curve and of the rows below it.
_STEPS = (420.0, 110.0, 34.0)


@dataclass(frozen=True)
class Bar:
    """A line of a table with a bar from `start` to `end`."""

    label: object
    end: float
    text: str  # the number, formatted
    start: float = 0.0


def picture_html(*parts: str) -> str:
    """Parts below one another, with the style that they share."""
    return f'<div class="bayleaf-picture">{_STYLE}{"".join(parts)}</div>'


def bars_html(title: object, bars: Sequence[Bar], whole: float | None = None) -> str:
    """A table with a bar in each line, blue to the right and orange to the left.

    Bars beyond 30 are counted, not shown. The scale ends at `whole` and begins at 0; by
    default it includes all bars.
    """
    shown = bars[:_ROWS]
    ends = [0.0, *(end for bar in shown for end in (bar.start, bar.end))]
    low, high = (min(ends), max(ends)) if whole is None else (0.0, whole)
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return min(100.0, max(0.0, 100 * (value - low) / span))

    rows = []
    for bar in shown:
        left, right = sorted((place(bar.start), place(bar.end)))
        kind = "for" if bar.end >= bar.start else "against"
        rows.append(
            f'<tr><th scope="row"><bdi>{escape(plain(bar.label, _NAME))}</bdi></th>'
            f'<td><div class="t" aria-hidden="true">'
            f'<i class="{kind}" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
            f'<b style="left:{place(0.0):.2f}%"></b></div></td>'
            f'<td class="n">{escape(bar.text)}</td></tr>'
        )
    more = len(bars) - len(shown)
    below = f"<p>and {more} more</p>" if more > 0 else ""
    return (
        f"<table><caption>{escape(plain(title))}</caption>"
        f"<tbody>{''.join(rows)}</tbody></table>{below}"
    )


def table_html(
    title: object, heads: Sequence[object], rows: Iterable[Sequence[object]]
) -> str:
    """A table whose first column names its lines."""
    head = "".join(f'<th scope="col">{escape(plain(one))}</th>' for one in heads)
    body = []
    for first, *others in rows:
        cells = "".join(f"<td>{escape(plain(one, 200))}</td>" for one in others)
        name = f'<th scope="row"><bdi>{escape(plain(first, 200))}</bdi></th>'
        body.append(f"<tr>{name}{cells}</tr>")
    return (
        f"<table><caption>{escape(plain(title))}</caption><thead><tr>{head}</tr>"
        f"</thead><tbody>{''.join(body)}</tbody></table>"
    )


def steps_html(title: object, values: Sequence[float], rows: Sequence[float]) -> str:
    """A step curve over many states side by side, and how many rows each has."""
    width, height, below = _STEPS
    low, high = min(0.0, *values), max(0.0, *values)
    span, step = (high - low) or 1.0, width / len(values)
    most = max(rows, default=0.0) or 1.0

    def place(value: float) -> float:
        return 4 + (height - 8) * (high - value) / span

    way = "".join(
        f"{'L' if i else 'M'}{i * step:.1f} {place(value):.1f}H{(i + 1) * step:.1f}"
        for i, value in enumerate(values)
    )
    boxes = "".join(
        f'<rect class="rows" x="{i * step:.1f}" width="{step:.1f}" '
        f'y="{height + below * (1 - n / most):.1f}" height="{below * n / most:.1f}"/>'
        for i, n in enumerate(rows)
    )
    zero = f'<path class="axis" d="M0 {place(0.0):.1f}H{width}"/>'
    label = f"{plain(title)}: from {min(values):.4g} to {max(values):.4g}"
    drawn = image(
        "curve",
        width,
        height + below,
        label,
        [zero, f'<path class="steps" d="{way}"/>', boxes],
    )
    return f"<p><strong>{escape(label)}</strong></p>{drawn}"


class HasTerm(Protocol):
    """A feature's part of a sum."""

    @property
    def feature(self) -> str | int:
        """Its name."""
        ...

    @property
    def value(self) -> str:
        """Its state."""
        ...

    @property
    def contribution(self) -> float:
        """What it adds."""
        ...


def terms_html(
    title: object, first: tuple[str, float], terms: Sequence[HasTerm], form: str
) -> str:
    """Terms that add up, each bar from where the last one ended, and their sum.

    The sum begins with `first`; `terms` have the strongest first, and those beyond 20
    share a line. `form` formats a size.
    """
    shown = [first]
    shown += [
        (stated(shown_name(term.feature), term.value), term.contribution)
        for term in terms[:_TERMS]
    ]
    if rest := terms[_TERMS:]:
        total = math.fsum(term.contribution for term in rest)
        shown.append((f"{len(rest)} others together", total))
    ends = list(itertools.accumulate(value for _, value in shown))
    bars = [
        Bar(label, end, form.format(value), end - value)
        for (label, value), end in zip(shown, ends, strict=True)
    ]
    bars.append(Bar("altogether", ends[-1], form.format(ends[-1])))
    return picture_html(bars_html(title, bars))


def states_html(
    title: object, states: Sequence[str], values: Sequence[float], rows: Sequence[float]
) -> str:
    """What each state says, with the training rows in it: bars, or steps for many."""
    if len(states) > _STATES:
        return steps_html(title, values, rows)
    known = [f" ({n:g} rows)" for n in rows] or [""] * len(states)
    bars = [
        Bar(state, value, f"{value:+.3f}{count}")
        for state, value, count in zip(states, values, known, strict=True)
    ]
    return bars_html(title, bars)


def network_html(
    names: Sequence[object],
    kinds: Sequence[str],
    arcs: Sequence[tuple[int, int, float | None]],
    note: str = "",
) -> str:
    """The drawing of a network with what it does not show; empty if it is too large.

    `kinds` are "feature", "latent" or "class", `arcs` (parent, child, weight); `note`
    adds what cannot be drawn.
    """
    drawing, left_out = network_svg(
        {
            "nodes": [
                {"name": str(name), "kind": kind}
                for name, kind in zip(names, kinds, strict=True)
            ],
            "arcs": [
                {"parent": parent, "child": child, "weight": weight}
                for parent, child, weight in sorted(
                    arcs, key=lambda arc: -(arc[2] or 0.0)
                )
            ],
            "n_arcs_left_out": 0,
        }
    )
    if not drawing:
        return ""
    ended = f"{note[:1].upper()}{note[1:].rstrip('.')}." if note else ""
    told = " ".join(text for text in (left_out, ended) if text)
    return picture_html(drawing, f"<p>{escape(told)}</p>" if told else "")
