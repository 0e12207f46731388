"""Documents as HTML for notebooks and pages.

All of it is text without scripts or references, in the colours of the notebook, and
every name in it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from bayleaf.results.document import (
    Document,
    Facts,
    Figure,
    Items,
    Name,
    Part,
    Table,
    Text,
    string_of,
    text_pieces,
)
from bayleaf.wording import plain

_STYLE = (
    "<style>.bayleaf-picture{max-width:100%;overflow:auto}"
    ".bayleaf-picture table{border-collapse:collapse}"
    ".bayleaf-picture caption{text-align:left;font-weight:bold;padding:.3em 0;"
    "min-width:18em}"
    ".bayleaf-picture .wide+.wide{margin-top:1em}"
    ".bayleaf-picture th,.bayleaf-picture td{text-align:left;font-weight:normal;"
    "padding:.1em .5em}"
    ".bayleaf-picture .title{font-weight:bold}"
    ".bayleaf-picture .facts{list-style:none;margin:0;padding:0}"
    ".bayleaf-picture .wide{overflow-x:auto}"
    ".bayleaf-picture .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".bayleaf-picture td.n{white-space:nowrap}"
    ".bayleaf-picture .t{position:relative;width:clamp(3em,30vw - 5em,14em);"
    "height:1em}"
    ".bayleaf-picture .t i{position:absolute;top:0;bottom:0;border-radius:2px}"
    ".bayleaf-picture .t b{position:absolute;top:-.2em;bottom:-.2em;width:1px;"
    "background:currentColor;opacity:.5}"
    ".bayleaf-picture .for{background:#0072b2}"
    ".bayleaf-picture .against{background:#c2540a}"
    ".bayleaf-picture .network{max-width:100%;height:auto}"
    ".bayleaf-picture .node rect{fill:none;stroke:currentColor}"
    ".bayleaf-picture .node text{fill:currentColor;text-anchor:middle;font-size:12px}"
    ".bayleaf-picture .node.class rect{fill:#0a5fb4;stroke:#0a5fb4}"
    ".bayleaf-picture .node.class text{fill:#fff}"
    ".bayleaf-picture .node.known rect{stroke-width:2.5}"
    ".bayleaf-picture .node rect.state{fill:#0072b2;opacity:.3;stroke:none}"
    ".bayleaf-picture .node.latent rect{stroke-dasharray:4 2}"
    ".bayleaf-picture .arc{fill:none;stroke:currentColor;opacity:.6}"
    ".bayleaf-picture .arc.light{opacity:.3}"
    ".bayleaf-picture #tip path{fill:currentColor}"
    ".bayleaf-picture .steps{fill:none;stroke:#0072b2;stroke-width:2}"
    ".bayleaf-picture .rows{fill:currentColor;opacity:.25}"
    ".bayleaf-picture .curve text{fill:currentColor;font-size:12px}"
    ".bayleaf-picture .axis{stroke:currentColor;opacity:.5}"
    # On a telephone the tables below a drawing that would be scrolled take its place.
    "@media(max-width:30em){"
    ".bayleaf-picture .network.broad,.bayleaf-picture .network.broad+p{display:none}"
    ".bayleaf-picture .network.broad~details::details-content{"
    "content-visibility:visible;block-size:auto}}"
    "</style>"
)
_PAGE_STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;"
    "padding:0 1em;color-scheme:light dark}"
    ".bayleaf-picture table{margin:0 0 1.2em}"
    ".bayleaf-picture thead th{border-bottom:1px solid currentColor;"
    "font-size:.9em;vertical-align:bottom}"
)
# Longer tables with bars are cut at their end, longer cells, rules among them, in
# their middle.
_MAX_BARS, _MAX_CELL = 30, 2000
# Characters of a paragraph.
MAX_WORDS = 4000
# The last are those of code in the documentation.
_NAME = re.compile(r'<bdi>[^<]+</bdi>|<h1>[^<]+</h1>|<span class="pre">[^<]+</span>')
# Behind an underscore, and before a capital inside a word.
_WORD_PART = re.compile(r"(?<=_)(?=[^\W_])|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class Bar:
    """A line of a table with a bar from `start` to `end`."""

    label: object
    end: float
    text: str  # the number, formatted
    start: float = 0.0


def html_of(document: Document) -> str:
    """The document as a piece of HTML with its style."""
    title = f'<p class="title">{_inline(document.title)}</p>' if document.title else ""
    return picture_html(title, *map(_part, document.parts))


def page_of(document: Document) -> str:
    """The document as a page of its own."""
    title = _inline(document.title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_PAGE_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{picture_html(*map(_part, document.parts))}</body>"
        "</html>\n"
    )


def sections_html(sections: Iterable[Document]) -> str:
    """Sections as HTML for a page that has a style of its own."""
    return "".join(map(_section, sections))


def picture_html(*parts: str) -> str:
    """Parts below one another, with the style that they share."""
    return f'<div class="bayleaf-picture">{breakable("".join(parts))}{_STYLE}</div>'


def breakable(html: str) -> str:
    """HTML whose lines break inside names only between the parts of a word."""
    return _NAME.sub(lambda name: _WORD_PART.sub("<wbr>", name[0]), html)


def bars_html(title: object, bars: Sequence[Bar], whole: float | None = None) -> str:
    """A table with a bar in each line, blue to the right and orange to the left.

    Bars beyond 30 are counted, not shown. The scale ends at `whole` and begins at 0; by
    default it includes all bars.
    """
    rows = [(str(bar.label), bar.text) for bar in bars]
    ends = [(bar.start, bar.end) for bar in bars]
    return _table(Table(("", ""), rows, str(title), bars=ends, whole=whole))


def table_html(
    title: object, heads: Sequence[object], rows: Iterable[Sequence[object]]
) -> str:
    """A table of words whose first column names its lines."""
    cells = [[str(cell) for cell in row] for row in rows]
    return _table(Table([*map(str, heads)], cells, str(title), n_words=len(heads)))


def _part(part: Part) -> str:
    """A part by its kind."""
    match part:
        case Facts():
            facts = "".join(
                f"<li><strong>{_inline(label)}:</strong> "
                f"<bdi>{_inline(value, MAX_WORDS)}</bdi></li>"
                for label, value in part.rows
            )
            return f'<ul class="facts">{facts}</ul>'
        case Items(table=Table() as table):
            return _table(table)
        case Items():
            return _items(part) if part.items else ""
        case Table():
            return _table(part)
        case Figure():
            title = f"<h2>{_inline(part.title)}</h2>" if part.title else ""
            return title + part.html
        case Document():
            return _section(part)
    return f"<p>{_inline(part, MAX_WORDS)}</p>"


def _section(document: Document) -> str:
    """A part of a document, which its title opens unless it is short."""
    parts = "".join(map(_part, document.parts))
    if not document.title:
        return parts
    opened = " open" * document.is_short
    title = f"<summary>{_inline(document.title)}</summary>"
    return f"<details{opened}>{title}{parts}</details>"


def _items(part: Items) -> str:
    """A list, which its heading opens unless it is short."""
    shown = part.items[: part.max_items]
    lines = [f"<li><bdi>{_inline(item)}</bdi></li>" for item in shown]
    if len(shown) < len(part.items):
        lines.append(f"<li>and {len(part.items) - len(shown)} more</li>")
    below = f"<ul>{''.join(lines)}</ul>"
    if not part.title:
        return below
    if part.is_short:
        return f"<p>{_inline(part.title)}</p>{below}"
    heading = f"{_inline(part.title)} ({len(part.items)})"
    return f"<details><summary>{heading}</summary>{below}</details>"


def _table(table: Table) -> str:
    """A table, bars next to the names."""
    has_bars = bool(table.bars)
    n_numbers = len(table.heads) - table.n_words
    kinds = [' class="name"'] * table.n_words + [' class="n"'] * n_numbers
    shown = table.rows[: _MAX_BARS if has_bars else table.max_rows]
    bars = _bars(table) if has_bars else [""] * len(shown)
    body = []
    for (first, *others), bar in zip(shown, bars, strict=True):
        name = _inline(first, _MAX_CELL)
        cells = "".join(
            f"<td{kind}>{_inline(cell, _MAX_CELL)}</td>"
            for kind, cell in zip(kinds[1:], others, strict=True)
        )
        head = f'<th scope="row" class="name"><bdi>{name}</bdi></th>'
        body.append(f"<tr>{head}{bar}{cells}</tr>")
    heads = [
        f'<th scope="col"{kind}>{_inline(head)}</th>'
        for kind, head in zip(kinds, table.heads, strict=True)
    ]
    heads[1:1] = ["<th></th>"] * has_bars
    head = f"<thead><tr>{''.join(heads)}</tr></thead>" if any(table.heads) else ""
    caption = f"<caption>{_inline(table.title)}</caption>" if table.title else ""
    hidden = len(table.rows) - len(shown)
    below = f"<p>and {hidden} more</p>" if hidden else ""
    drawn = f"<table>{caption}{head}<tbody>{''.join(body)}</tbody></table>"
    if table.title:
        # What is wider than the page is scrolled, also by keys.
        label = _inline(string_of(table.title), 120)
        region = f'class="wide" tabindex="0" role="region" aria-label="{label}"'
        drawn = f"<div {region}>{drawn}</div>"
    return drawn + below


def _bars(table: Table) -> list[str]:
    """The cells with the bars, all to one scale."""
    shown = table.bars[:_MAX_BARS]
    ends = [0.0, *(end for bar in shown for end in bar)]
    whole = table.whole
    low, high = (min(ends), max(ends)) if whole is None else (0.0, whole)
    span = (high - low) or 1.0

    def position(value: float) -> float:
        return min(100.0, max(0.0, 100 * (value - low) / span))

    cells = []
    for start, end in shown:
        left, right = sorted((position(start), position(end)))
        kind = "for" if end >= start else "against"
        cells.append(
            '<td><div class="t" aria-hidden="true">'
            f'<i class="{kind}" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
            f'<b style="left:{position(0.0):.2f}%"></b></div></td>'
        )
    return cells


def _inline(text: Text, max_characters: int = 300) -> str:
    """A sentence, escaped, its numbers on one line with their sign of per cent."""
    pieces = (
        f"<bdi>{escape(plain(piece.text, piece.max_characters))}</bdi>"
        if isinstance(piece, Name)
        else escape(plain(piece, max_characters))
        for piece in text_pieces(text)
    )
    return "".join(pieces).replace(" %", "&nbsp;%")
