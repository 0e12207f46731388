"""Documents as Markdown in which names are nothing but text.

Names stand in code spans, in which nothing has a meaning but the backticks around
them; a vertical bar, which ends the cell of a table there too, stands between two
spans as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bayleaf.results.document import (
    Document,
    Facts,
    Figure,
    Items,
    Name,
    Table,
    Text,
    text_pieces,
)
from bayleaf.results.html import MAX_WORDS
from bayleaf.wording import plain

# What would begin or end something, wherever it stands in a line.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~${}]")
# What is taken for an address though nothing encloses it.
_ADDRESS = re.compile(r"(?<=[a-z])(?=://)|(?<=www)(?=\.)", re.IGNORECASE)


def markdown_of(document: Document) -> str:
    """Lay a document out as CommonMark with tables, without HTML, links, pictures."""
    return "\n\n".join(_blocks(document, "#")) + "\n"


def _blocks(document: Document, heading: str) -> Iterator[str]:
    """The paragraphs, lists and tables of a document."""
    if document.title:
        yield f"{heading} {_line(document.title)}"
    for part in document.parts:
        match part:
            case Facts():
                yield "\n".join(
                    f"- **{_line(label)}:** {_line(value)}"
                    for label, value in part.rows
                )
            case Items():
                if part.title:
                    yield f"{_line(part.title)}:"
                yield "\n".join(
                    f"- {_line(item)}" for item in part.items[: part.max_items]
                )
                yield from _left_out(len(part.items), part.max_items)
            case Table():
                if part.title:
                    yield f"{_line(part.title)}:"
                yield _table(part)
                yield from _left_out(len(part.rows), part.max_rows)
            case Document():
                yield from _blocks(part, f"{heading}#")
            case Figure():
                pass
            case _:
                yield _line(part)


def _left_out(n_entries: int, max_entries: int | None) -> Iterator[str]:
    """How many entries are not shown, if any."""
    if max_entries is not None and n_entries > max_entries:
        yield f"And {n_entries - max_entries} more."


def _table(table: Table) -> str:
    """A table, words to the left and numbers to the right."""
    n_numbers = len(table.heads) - table.n_words
    lines = [f"| {' | '.join(map(_line, table.heads))} |"]
    lines.append(f"|{' --- |' * table.n_words}{' ---: |' * n_numbers}")
    rows = table.rows[: table.max_rows]
    lines += [f"| {' | '.join(map(_line, row))} |" for row in rows]
    return "\n".join(lines)


def _line(text: Text) -> str:
    """A sentence in one line."""
    return "".join(
        _code(piece) if isinstance(piece, Name) else _escaped(piece)
        for piece in text_pieces(text)
    )


def _escaped(words: str) -> str:
    """Words in which no character has a meaning of its own."""
    escaped = _SPECIAL.sub(r"\\\g<0>", plain(words, MAX_WORDS))
    return _ADDRESS.sub(r"\\", escaped)


def _code(name: Name) -> str:
    """A name in code spans."""
    pieces = plain(str(name), name.max_characters).split("|")
    return "&#124;".join(_span(piece) for piece in pieces)


def _span(text: str) -> str:
    """A code span, which ends at the next run of as many backticks."""
    if not text:
        return ""
    if not text.strip():
        # A span of spaces alone has no look; they are told by their number.
        return "\N{OPEN BOX}" * len(text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    # One space at both ends is taken away where both have one.
    room = " " * (text[0] in "` " or text[-1] in "` ")
    return f"{fence}{room}{text}{room}{fence}"
