"""Models as small pieces of HTML, as notebooks show them; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bayleaf.results.document import Document, Facts, Figure, Items, Part
from bayleaf.results.drawings import network_html
from bayleaf.results.html import html_of
from bayleaf.wording import plain

NAME = 60
# Longer lists are cut at their end.
ITEMS = 20


def facts_html(
    title: str,
    facts: Iterable[tuple[str, Any]],
    lists: Iterable[tuple[str, Sequence[Any]]] = (),
    drawing: str = "",
) -> str:
    """Facts, and lists, if not empty, that open below them, as HTML.

    It has no scripts, page styles or references; `drawing` is HTML in between.
    """
    return html_of(facts_document(title, facts, lists, drawing))


def facts_document(
    title: str,
    facts: Iterable[tuple[str, Any]],
    lists: Iterable[tuple[str, Sequence[Any]]] = (),
    drawing: str = "",
) -> Document:
    """Facts, a drawing and lists."""
    parts: list[Part] = [
        Facts([(name, plain(value)) for name, value in facts]),
        Figure(drawing),
        *(Items([*map(str, items)], heading, ITEMS) for heading, items in lists),
    ]
    return Document(title, parts)


def picture_of(model: Any) -> str:
    """The drawing of a model as HTML; empty if it has too many variables."""
    graph = model.picture
    wider = f"wider arcs: more {graph.weights}" if graph.weights else ""
    note = "; ".join(text for text in (graph.note, wider) if text)
    return network_html(graph.names, graph.kinds, graph.arcs, note)


def arc_text(parent: Any, child: Any) -> str:
    """An arc by the names at its ends."""
    return f"{plain(parent, NAME)} → {plain(child, NAME)}"
