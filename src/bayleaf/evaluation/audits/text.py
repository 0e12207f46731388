"""An audit as lines of text for a terminal."""

from __future__ import annotations

import io
import itertools
import textwrap
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayleaf.evaluation.audits.audit_figures import AuditFigures
from bayleaf.evaluation.audits.notes import MEANINGS, audit_notes
from bayleaf.evaluation.audits.routes import Routes
from bayleaf.evaluation.audits.tables import FigureTable, audit_tables
from bayleaf.evaluation.result_table import HEAD_RULE
from bayleaf.wording import counted, name_list, plain, visible

# Longer names are cut, shorter ones leave room.
_NAME, _LEAST_NAME = 40, 10


def audit_text(found: AuditFigures, width: int) -> str:
    """Tables, paths and sentences, one below the other, `width` characters wide."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    for line in headline(found):
        _print(console, line)
    console.print()
    for table in audit_tables(found):
        # Above the table, as its own title would be no wider than its columns.
        _print(console, table.title)
        for part in _in_width(table, width):
            console.print(_terminal_table(part))
            console.print()
    for routes in found.routes:
        for line in routes_lines(routes):
            _print(console, line)
        console.print()
    for line in [*changed_lines(found), *audit_notes(found)]:
        _print(console, line)
    console.print()
    for name, meaning in MEANINGS.items():
        _print(console, f"{name}: {meaning}")
    interval = f"in parentheses: {100 * found.level:g} per cent credible intervals"
    _print(console, interval)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def headline(found: AuditFigures) -> list[str]:
    """What was audited, and on which rows."""
    rows = counted(found.overall.n_rows, "row")
    about = "about " if found.min_count > 1 else ""
    return [
        f"{found.model}, {plain(found.target)}: {name_list(found.positive)} against "
        f"the rest, {about}{rows}",
        found.basis_told,
    ]


def routes_lines(routes: Routes) -> Iterator[str]:
    """How a column reaches predictions, line by line."""
    told = ""
    if routes.information is not None:
        told = f"; shares {routes.information:.4f} nats with the class"
    yield f"how {plain(routes.column)} reaches predictions{told}"
    if routes.note:
        yield routes.note
    kinds = dict.fromkeys(path.when for path in routes.paths)
    for when in kinds:
        yield f"  where {when}"
        for path in routes.paths:
            if path.when == when:
                yield f"    {plain(path.to_text(), 200)}"
    if routes.n_paths_left_out or routes.more_paths:
        least = "at least " * routes.more_paths
        yield f"  and {least}{counted(routes.n_paths_left_out, 'weaker path')}"
    if routes.proxies:
        basis = "under the model" if routes.proxies_from == "model" else "in the rows"
        yield f"  what goes with it {basis} (nats shared with it, with the class)"
        for proxy in routes.proxies:
            yield (
                f"    {plain(proxy.feature)} {proxy.with_group:.4f}, "
                f"{proxy.with_class:.4f}"
            )


def changed_lines(found: AuditFigures) -> Iterator[str]:
    """What another value of a group variable's cell would change."""
    for changed in found.changed:
        share, most = changed.predictions, changed.probabilities
        yield (
            f"With another value of {plain(changed.column)} and all else as it is, the "
            f"model would predict another class for {100 * (share.value or 0.0):.1f}% "
            f"of the rows; on average the probability of a class moves by up to "
            f"{100 * (most.value or 0.0):.1f} points."
        )


def _in_width(table: FigureTable, width: int) -> Iterator[FigureTable]:
    """Tables of as many columns as fit side by side, the names repeated."""
    lines = [[plain(cell, _NAME) for cell in row] for row in (table.heads, *table.rows)]
    first, *others = (max(map(len, column)) + 1 for column in zip(*lines, strict=True))
    room = width + 1 - max(first, _LEAST_NAME + 1)
    for n_parts in range(1, len(others) + 1):
        ends = [len(others) * part // n_parts for part in range(n_parts + 1)]
        parts = [range(a, b) for a, b in itertools.pairwise(ends)]
        if all(sum(others[place] for place in part) <= room for part in parts):
            break
    for part in parts:
        yield _columns_of(table, [place + 1 for place in part])


def _columns_of(table: FigureTable, places: Sequence[int]) -> FigureTable:
    """The first column of a table and some others."""
    kept = [0, *places]
    return FigureTable(
        table.title,
        tuple(table.heads[place] for place in kept),
        tuple(tuple(row[place] for place in kept) for row in table.rows),
    )


def _terminal_table(table: FigureTable) -> Table:
    """A table with a line below its head only."""
    drawn = Table(
        box=HEAD_RULE,
        show_edge=False,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    first, *others = table.heads
    drawn.add_column(Text(visible(first)), overflow="fold", min_width=_LEAST_NAME)
    for head in others:
        drawn.add_column(Text(visible(head)), justify="right", overflow="fold")
    for row in table.rows:
        # As text, since brackets in a plain string would be taken for markup.
        drawn.add_row(*(Text(plain(cell, _NAME)) for cell in row))
    return drawn


def _print(console: Console, line: str) -> None:
    """A line, broken between words and indented as it began."""
    shown = visible(line)
    indent = " " * (len(shown) - len(shown.lstrip()) + 2 * shown.startswith(" "))
    for part in textwrap.wrap(shown, console.width, subsequent_indent=indent):
        console.print(part, markup=False, highlight=False, soft_wrap=True)
