"""A model card as Markdown in which names are nothing but text.

Names stand in code spans, in which nothing has a meaning but the backticks around
them; a vertical bar, which ends the cell of a table there too, stands between two
spans as a character reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bayleaf.report.card.texts import MOST_WORDS, Name, Part, Table, Text
from bayleaf.wording import plain, shown_name

# What would begin or end something, wherever it stands in a line.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~${}]")
# What is taken for an address though nothing encloses it.
_ADDRESS = re.compile(r"(?<=[a-z])(?=://)|(?<=www)(?=\.)", re.IGNORECASE)


def markdown_of(title: Text, parts: Sequence[Part]) -> str:
    """Lay a card out as CommonMark with tables, without HTML, links and pictures."""
    blocks = [f"# {_line(title)}"]
    for part in parts:
        if part.title:
            blocks.append(f"## {_line((part.title,))}")
        blocks += _blocks(part)
    return "\n\n".join(blocks) + "\n"


def _blocks(part: Part) -> Iterator[str]:
    """The paragraphs, lists and tables of a part."""
    if part.facts:
        yield "\n".join(f"- **{title}:** {_line(text)}" for title, text in part.facts)
    for table in part.tables:
        yield f"{_line(table.caption)}:"
        yield _table(table)
        if table.n_left_out:
            yield f"And {table.n_left_out} more."
    lines = [_line(text) for text in part.sentences]
    if part.is_list and lines:
        yield "\n".join(f"- {line}" for line in lines)
    else:
        yield from lines


def _table(table: Table) -> str:
    """A table, words to the left and numbers to the right."""
    n_numbers = len(table.heads) - table.n_words
    lines = [f"| {' | '.join(table.heads)} |"]
    lines.append(f"|{' --- |' * table.n_words}{' ---: |' * n_numbers}")
    lines += [f"| {' | '.join(map(_line, row))} |" for row in table.rows]
    return "\n".join(lines)


def _line(text: Text) -> str:
    """A sentence in one line."""
    return "".join(
        _code(piece) if isinstance(piece, Name) else _escaped(piece) for piece in text
    )


def _escaped(words: str) -> str:
    """Words in which no character has a meaning of its own."""
    escaped = _SPECIAL.sub(r"\\\g<0>", plain(words, MOST_WORDS))
    return _ADDRESS.sub(r"\\", escaped)


def _code(name: Name) -> str:
    """A name in code spans."""
    pieces = plain(shown_name(name.text), name.most).split("|")
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
