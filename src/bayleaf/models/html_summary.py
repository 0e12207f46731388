"""Models as small pieces of HTML, as notebooks show them; every text is escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

# Longer texts are cut in the middle, longer lists at their end.
MOST_CHARACTERS = 300
_NAME = 60
_ITEMS = 20
# Characters without a look of their own, and those that turn the direction of others.
_UNSEEN = {"Cc", "Cs", "Cn", "Co", "Cf"}


def plain(value: Any, most: int = MOST_CHARACTERS) -> str:
    """A value as text in which every character can be seen, cut if it is long.

    Parameters
    ----------
    value : object
        A name, a state, a sentence.
    most : int, default=300
        Characters that are kept.

    Examples
    --------
    >>> plain("abcdefgh", 5)
    'ab…gh'
    """
    text = str(value)
    if len(text) > most:
        half = (most - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _UNSEEN else c
        for c in text.replace("\n", " ").replace("\t", " ")
    )


def facts_html(
    title: str,
    facts: Iterable[tuple[str, Any]],
    lists: Iterable[tuple[str, Sequence[Any]]] = (),
) -> str:
    """Write facts as a table, and lists that open below it.

    Parameters
    ----------
    title : str
        What it is all about.
    facts : iterable of (str, object)
        Name and value of each fact.
    lists : iterable of (str, sequence)
        Heading and items of each list; empty ones are left out.

    Returns
    -------
    str
        HTML without scripts, styles of the page or references.
    """
    rows = "".join(
        '<tr><th scope="row" style="text-align:left;font-weight:normal">'
        f'{escape(plain(name))}</th><td style="text-align:left">'
        f"<bdi>{escape(plain(value))}</bdi></td></tr>"
        for name, value in facts
    )
    below = "".join(_list(heading, items) for heading, items in lists if items)
    return (
        '<div class="bayleaf-summary"><table><caption style="text-align:left;'
        f'font-weight:bold">{escape(plain(title))}</caption><tbody>{rows}</tbody>'
        f"</table>{below}</div>"
    )


def _list(heading: str, items: Sequence[Any]) -> str:
    """A heading that opens a list of the first items."""
    shown = [f"<li><bdi>{escape(plain(item))}</bdi></li>" for item in items[:_ITEMS]]
    if len(items) > _ITEMS:
        shown.append(f"<li>and {len(items) - _ITEMS} more</li>")
    title = f"{escape(plain(heading))} ({len(items)})"
    return f"<details><summary>{title}</summary><ul>{''.join(shown)}</ul></details>"


def arc_text(parent: Any, child: Any) -> str:
    """An arc by the names at its ends."""
    return f"{plain(parent, _NAME)} → {plain(child, _NAME)}"


class NotebookModel:
    """What shows a class model in a notebook."""

    def _repr_html_(self) -> str:
        model: Any = self
        names = model.domain.names
        target = model.domain[-1]
        arcs = [(p, c) for p, c in model.arcs if len(names) - 1 not in (p, c)]
        facts: list[tuple[str, Any]] = [("class", plain(target.name, _NAME))]
        facts += [
            (f"P({plain(target.label(code), _NAME)})", f"{prior:.3f}")
            for code, prior in enumerate(model.class_prior[:_ITEMS])
        ]
        facts += [
            ("features", len(names) - 1),
            ("arcs among features", len(arcs)),
            ("free parameters", model.n_parameters),
        ]
        lists = [
            ("arcs", [arc_text(names[p], names[c]) for p, c in arcs]),
            ("remarks", list(model.remarks)),
        ]
        return facts_html(type(self).__name__, facts, lists)
