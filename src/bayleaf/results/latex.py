"""Documents as LaTeX, with tables in the rules of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bayleaf.results.document import (
    Document,
    Facts,
    Figure,
    Items,
    Table,
    Text,
    string_of,
)
from bayleaf.wording import plain

# Longer cells and sentences are cut.
_MAX_CHARACTERS = 4000
# What LaTeX obeys, and signs that fonts of text lack.
_WRITTEN = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "²": r"$^2$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "…": r"\ldots{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_SPECIAL = re.compile("[" + re.escape("".join(_WRITTEN)) + "]")


def latex_of(document: Document) -> str:
    """Lay a document out as LaTeX that needs the package booktabs; no pictures."""
    return "\n\n".join(_blocks(document)) + "\n"


def _blocks(document: Document) -> Iterator[str]:
    """The paragraphs, lists and tables of a document."""
    if document.title:
        yield rf"\paragraph{{{_line(document.title)}}}"
    for part in document.parts:
        match part:
            case Facts():
                yield _list([f"{_line(k)}: {_line(value)}" for k, value in part.rows])
            case Items():
                if part.title:
                    yield _line(part.title)
                yield _list([_line(item) for item in part.items])
            case Table():
                yield _table(part)
            case Document():
                yield from _blocks(part)
            case Figure():
                pass
            case _:
                yield _line(part)


def _list(lines: list[str]) -> str:
    """Lines as a list with bullets; nothing of none."""
    body = "\n".join(rf"\item {line}" for line in lines)
    return f"\\begin{{itemize}}\n{body}\n\\end{{itemize}}" if lines else ""


def _table(table: Table) -> str:
    """A table with its title as caption, words to the left and numbers to the right."""
    columns = "l" * table.n_words + "r" * (len(table.heads) - table.n_words)
    head, *rows = [
        " & ".join(map(_line, row)) + r" \\" for row in (table.heads, *table.rows)
    ]
    lines = [
        r"\begin{table}",
        *([rf"\caption{{{_line(table.title)}}}"] if table.title else []),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _line(text: Text) -> str:
    """A sentence in which no character has a meaning of its own."""
    words = plain(string_of(text), _MAX_CHARACTERS)
    return _SPECIAL.sub(lambda sign: _WRITTEN[sign[0]], words)
