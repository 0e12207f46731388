"""An audit as tables for a notebook, or as a page of its own."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from bayleaf.evaluation.audits.audit_figures import AuditFigures
from bayleaf.evaluation.audits.notes import MEANINGS, audit_notes
from bayleaf.evaluation.audits.tables import audit_tables
from bayleaf.evaluation.audits.text import changed_lines, headline, routes_lines
from bayleaf.evaluation.groups.estimates import Estimate
from bayleaf.evaluation.groups.grouped_figures import GroupedFigures
from bayleaf.pictures.intervals import Interval, intervals_svg
from bayleaf.results.html import picture_html, table_html
from bayleaf.wording import plain

_DRAWN = {
    "base rate": "base_rate",
    "selected": "selection_rate",
    "found": "true_positive_rate",
    "false alarms": "false_positive_rate",
}
_PAGE_STYLE = (
    "body{font:16px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;"
    "padding:0 1em;color-scheme:light dark}"
    ".bayleaf-picture table{margin:0 0 1.2em}"
    ".bayleaf-picture thead th{border-bottom:1px solid currentColor;"
    "font-size:.9em;vertical-align:bottom}"
    ".bayleaf-picture td{font-variant-numeric:tabular-nums}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}"
)


def audit_html(found: AuditFigures) -> str:
    """Tables, paths and sentences without scripts or references, all names escaped."""
    parts = [_paragraphs([*headline(found), *audit_notes(found)])]
    for grouping in found.groupings:
        parts += [_picture(grouping, place) for place in range(len(found.positive))]
    parts += [table_html(*table) for table in audit_tables(found)]
    for routes in found.routes:
        lines = "\n".join(routes_lines(routes))
        parts.append(f"<pre>{escape(lines)}</pre>")
    parts.append(_paragraphs(changed_lines(found)))
    meanings = [f"{name}: {meaning}" for name, meaning in MEANINGS.items()]
    interval = f"in parentheses: {100 * found.level:g} per cent credible intervals"
    parts.append(_list([*meanings, interval]))
    return picture_html(*parts)


def audit_page(found: AuditFigures) -> str:
    """The same as a page of its own."""
    title = escape(plain(f"Audit of {found.model}, {found.target}"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_PAGE_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{audit_html(found)}</body></html>\n"
    )


def _picture(grouping: GroupedFigures, place: int) -> str:
    """Rates of a class by group, drawn with their intervals."""
    if not grouping.groups:
        return ""
    label = grouping.groups[0].classes[place].label
    title = plain(f"{label} by {', '.join(grouping.columns)}")
    series = [
        (name, [_interval(getattr(g.classes[place], rate)) for g in grouping.groups])
        for name, rate in _DRAWN.items()
    ]
    names = [f"{group.name} ({group.n_rows})" for group in grouping.groups]
    return f"<h2>{escape(title)}</h2>{intervals_svg(title, names, series)}"


def _interval(found: Estimate) -> Interval:
    """An estimate as it is drawn."""
    return Interval(found.value, found.low, found.high)


def _paragraphs(lines: Iterable[str]) -> str:
    """A paragraph a line."""
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _list(lines: Iterable[str]) -> str:
    """A list with an item a line."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
