"""Documents: a title and parts, before they are text, HTML or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayleaf.wording import shown_name


@dataclass(frozen=True)
class Name:
    """A text that came with the model or the table, and is shown as it is."""

    text: str
    max_characters: int = 80

    def __str__(self) -> str:
        return shown_name(self.text)


# A sentence, or its words and the names among them.
Text = str | Name | tuple[str | Name, ...]


def text_pieces(text: Text) -> tuple[str | Name, ...]:
    """The words and names of a sentence."""
    return text if isinstance(text, tuple) else (text,)


def string_of(text: Text) -> str:
    """A sentence as it is, however long and whatever characters it has."""
    return "".join(
        piece.text if isinstance(piece, Name) else piece for piece in text_pieces(text)
    )


@dataclass(frozen=True)
class Facts:
    """Labels with their values, one per line."""

    rows: Sequence[tuple[str, Text]]


@dataclass(frozen=True)
class Items:
    """A list; pages close those with a title, unless they are short."""

    items: Sequence[Text]
    title: str = ""
    max_items: int | None = None  # others are only counted
    is_short: bool = False
    table: Table | None = None  # what pages show in their place


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows.

    Pages draw `bars`, (start, end) of each row, next to the names; their scale ends at
    `whole` and begins at 0, or by default includes all bars.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Text]]
    title: Text = ""
    n_words: int = 1  # columns of words, before those of numbers
    bars: Sequence[tuple[float, float]] = ()
    whole: float | None = None
    max_rows: int | None = None  # others are only counted


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG or HTML, which only pages show."""

    html: str
    title: str = ""


@dataclass(frozen=True)
class Document:
    """A title with paragraphs (plain texts) and other parts below it.

    Inside of another document it is a section, which pages close unless it is short.
    """

    title: Text
    parts: Sequence[Part] = ()
    is_short: bool = False


Part = Text | Facts | Items | Table | Figure | Document


def listed_names(names: Sequence[str]) -> tuple[str | Name, ...]:
    """Eight names with commas between them, and how many others there are."""
    pieces: list[str | Name] = []
    for name in names[:8]:
        pieces += [", ", Name(name)] if pieces else [Name(name)]
    hidden = len(names) - 8
    return tuple(pieces) + ((f" and {hidden} more",) if hidden > 0 else ())
