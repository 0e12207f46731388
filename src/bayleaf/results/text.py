"""Documents as text for a terminal."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text as RichText

from bayleaf.results.document import (
    Document,
    Facts,
    Figure,
    Items,
    Name,
    Table,
    Text,
    string_of,
    text_pieces,
)
from bayleaf.wording import cut, visible

WIDTH = 80
_TITLE = "bold blue"
# Characters of a line of a cell in lines of 80, and of the narrowest column of names.
_MAX_CELL, _MIN_NAME = 40, 12
# Box-drawing characters would make a program's print fail where the encoding lacks
# them, as that of files and pipes on Windows does.
_HEAD_RULE = box.Box("    \n    \n -- \n" + 5 * "    \n", ascii=True)


def text_of(document: Document, width: int = WIDTH) -> str:
    """The document as lines of at most `width` characters."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_document(document, console)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def print_document(document: Document, console: Console) -> None:
    """Print the document part by part; titles and tables in the console's colours."""
    is_first, is_gap = True, False
    for block in _blocks(document, console.width):
        if block == "":
            is_gap = not is_first
            continue
        if is_gap:
            console.print()
        is_first = is_gap = False
        if isinstance(block, RichTable):
            console.print(block)
        else:
            console.print(block, markup=False, highlight=False, soft_wrap=True)


def rich_tables(table: Table, width: int = WIDTH) -> list[RichTable]:
    """A table for rich, as several of as many columns as fit side by side."""
    rows = table.rows[: table.max_rows]
    # What lines have beyond 80 characters is room for names.
    most = max(_MAX_CELL, width - (WIDTH - _MAX_CELL))
    cells = [[_folded(text, most) for text in row] for row in (table.heads, *rows)]
    name, *widths = [
        max(cell_len(line) for cell in column for line in cell.split("\n")) + 2
        for column in zip(*cells)
    ]
    room = width + 2 - max(name, _MIN_NAME + 2)
    groups: list[list[int]] = [[]]
    used = 0
    for column, needed in enumerate(widths, start=1):
        if groups[-1] and used + needed > room:
            groups.append([])
            used = 0
        groups[-1].append(column)
        used += needed
    tables = [_rich_table(table, cells, [0, *group]) for group in groups]
    if table.title:
        tables[0].title = RichText(_string(table.title), style="table.title")
        tables[0].title_justify = "left"
    return tables


def _folded(text: Text, most: int) -> str:
    """The text of a cell on lines of at most so many characters."""
    lines = textwrap.wrap(_string(text), most, subsequent_indent="  ")
    return "\n".join(lines)


def _rich_table(table: Table, cells: list[list[str]], columns: list[int]) -> RichTable:
    """Some columns of a table, with a line below the head only."""
    rich_table = RichTable(
        box=_HEAD_RULE,
        show_edge=False,
        show_header=any(map(string_of, table.heads)),
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    # As text, since brackets in a plain string would be taken for markup.
    heads, *rows = [[RichText(line[column]) for column in columns] for line in cells]
    for column, head in zip(columns, heads, strict=True):
        rich_table.add_column(
            head,
            overflow="fold",
            justify="left" if column < table.n_words else "right",
            min_width=None if column or not table.n_words else _MIN_NAME,
        )
    for row in rows:
        rich_table.add_row(*row)
    return rich_table


def _blocks(document: Document, width: int) -> Iterator[str | RichText | RichTable]:
    """Lines and tables, with empty lines where there is to be a gap."""
    if document.title:
        yield from _titled(document.title, width, _TITLE)
    for part in document.parts:
        match part:
            case Facts():
                for label, value in part.rows:
                    yield from _wrapped(f"  {label:<16} {_string(value)}", width)
            case Items():
                yield from _item_lines(part, width)
            case Table():
                yield ""
                if part.title:
                    yield from _titled(part.title, width, "bold")
                for rich_table in rich_tables(replace(part, title=""), width):
                    yield rich_table
                    yield ""
                if part.max_rows and len(part.rows) > part.max_rows:
                    yield f"and {len(part.rows) - part.max_rows} more"
                    yield ""
            case Document():
                yield ""
                yield from _blocks(part, width)
                yield ""
            case Figure():
                pass
            case _:
                yield from _wrapped(_string(part), width)


def _titled(title: Text, width: int, style: str) -> Iterator[RichText]:
    """The lines of a title, in a style where the console has any."""
    return (RichText(line, style=style) for line in _wrapped(_string(title), width))


def _item_lines(part: Items, width: int) -> Iterator[str]:
    """A list below its title, or with dashes where it has none."""
    mark, deeper = ("    ", 4) if part.title else ("  - ", 2)
    if part.title and part.items:
        yield from _wrapped(f"  {part.title}", width)
    shown = part.items[: part.max_items]
    for item in shown:
        yield from _wrapped(mark + _string(item), width, deeper)
    if len(shown) < len(part.items):
        yield f"    and {len(part.items) - len(shown)} more"


def _wrapped(line: str, width: int, deeper: int = 4) -> list[str]:
    """A line as it is, or where it is too long as several, further ones indented."""
    line = visible(line)
    if len(line) <= width:
        return [line]
    words = line.lstrip()
    indent = " " * (len(line) - len(words))
    # A number and its sign of per cent stay on one line.
    lines = textwrap.wrap(
        re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", words),
        width,
        initial_indent=indent,
        subsequent_indent=indent + " " * deeper if indent else "",
    )
    return [part.replace("\N{NO-BREAK SPACE}%", " %") for part in lines]


def _string(text: Text) -> str:
    """A sentence in which every character can be seen."""
    return "".join(
        cut(str(piece), piece.max_characters)
        if isinstance(piece, Name)
        else visible(piece)
        for piece in text_pieces(text)
    )
