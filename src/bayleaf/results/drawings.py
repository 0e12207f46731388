"""Drawings that results show: sums of terms, states, networks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any, Protocol

from bayleaf.pictures.svg import graph_values, network_svg, steps_svg
from bayleaf.results.document import Figure, Table
from bayleaf.wording import plain, rough, shown_name, stated

# Terms with a line of their own, and states with a bar of their own.
_TERMS, _STATES = 20, 24


def steps_html(
    title: object,
    values: Sequence[float],
    rows: Sequence[float],
    edges: Sequence[float] = (),
) -> str:
    """A step curve over states side by side, and how many rows each has.

    Between `edges`, the ends of intervals of a number, rows are drawn per unit.
    """
    label = f"{plain(title)}: from {rough(min(values))} to {rough(max(values))}"
    drawn = steps_svg(label, values, rows, edges)
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
    def cell(self) -> Any:
        """Its cell, where the state is an interval."""
        ...

    @property
    def contribution(self) -> float:
        """What it adds."""
        ...


def terms_table(
    title: str,
    first: tuple[str, float],
    terms: Sequence[HasTerm],
    written: Callable[[float], tuple[str, ...]],
    heads: Sequence[str] = ("", ""),
) -> Table:
    """Terms that add up, each bar from where the last one ended, and their sum.

    The sum begins with `first`; `terms` have the strongest first, and those beyond 20
    share a line. `written` gives the cells of a size, below the heads but the first.
    """
    shown = [first]
    shown += [
        (stated(shown_name(term.feature), term.value, term.cell), term.contribution)
        for term in terms[:_TERMS]
    ]
    if rest := terms[_TERMS:]:
        total = math.fsum(term.contribution for term in rest)
        shown.append((f"{len(rest)} others together", total))
    ends = list(itertools.accumulate(value for _, value in shown))
    bars = [(end - value, end) for (_, value), end in zip(shown, ends, strict=True)]
    shown.append(("altogether", ends[-1]))
    cells = [(label, *written(value)) for label, value in shown]
    return Table(heads, cells, title, bars=[*bars, (0.0, ends[-1])])


def states_part(
    title: str,
    states: Sequence[str],
    values: Sequence[float],
    rows: Sequence[float],
    edges: Sequence[float] = (),
) -> Table | Figure:
    """The value of each state and its training rows: bars, or steps for many states.

    Steps also where `edges` are those of intervals.
    """
    if edges or len(states) > _STATES:
        return Figure(steps_html(title, values, rows, edges))
    known = [f" ({n:g} rows)" for n in rows] or [""] * len(states)
    cells = [
        (state, f"{value:+.3f}{count}")
        for state, value, count in zip(states, values, known, strict=True)
    ]
    return Table(("", ""), cells, title, bars=[(0.0, value) for value in values])


def network_html(
    names: Sequence[object],
    kinds: Sequence[str],
    arcs: Sequence[tuple[int, int, float | None]],
    note: str = "",
    bars: Mapping[int, Sequence[tuple[str, float]]] = MappingProxyType({}),
    undirected: Collection[tuple[int, int]] = (),
) -> str:
    """The drawing of a network with what it does not show; empty if it is too large.

    `names`, `kinds`, `arcs`, `bars` and `undirected` are those of `graph_values`;
    `note` adds what cannot be drawn.
    """
    values = graph_values(names, kinds, arcs, bars=bars, undirected=undirected)
    drawing, left_out = network_svg(values)
    if not drawing:
        return ""
    ended = f"{note[:1].upper()}{note[1:].rstrip('.')}." if note else ""
    told = " ".join(text for text in (left_out, ended) if text)
    return drawing + (f"<p>{escape(told)}</p>" if told else "")
