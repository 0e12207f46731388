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
Text = str | tuple[str | Name, ...]


def text_pieces(text: Text) -> tuple[str | Name, ...]:
    """The words and names of a sentence."""
    return (text,) if isinstance(text, str) else text


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
    n_left_out: int = 0  # rows that are not shown


@dataclass(frozen=True)
class Figure:
    """A drawing as SVG or HTML, which only pages show."""

    html: str
    title: str = ""


@dataclass(frozen=True)
class Document:
    """A title with paragraphs (plain texts) and other parts below it."""

    title: Text
    parts: Sequence[Part] = ()


Part = Text | Facts | Items | Table | Figure | Document
