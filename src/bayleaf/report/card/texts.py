"""Sentences and tables of a model card, before they are Markdown or HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Characters of a sentence that are kept.
MOST_WORDS = 4000


@dataclass(frozen=True)
class Name:
    """A text that came with the model or the table, and is shown as it is."""

    text: str
    most: int = 80  # characters that are kept


# A sentence: words of the card, and names among them.
Text = tuple[str | Name, ...]


@dataclass(frozen=True)
class Table:
    """A table of a card."""

    caption: Text
    heads: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]  # the first cell of each is its title
    n_left_out: int = 0  # rows that are not shown
    n_words: int = 1  # columns of words, before those of numbers

    @property
    def label(self) -> str:
        """The caption as plain text."""
        pieces = (p if isinstance(p, str) else p.text for p in self.caption)
        return "".join(pieces)


@dataclass(frozen=True)
class Part:
    """A part of a card."""

    title: str
    facts: tuple[tuple[str, Text], ...] = ()  # titles and what they are, line by line
    sentences: tuple[Text, ...] = ()  # paragraphs, or items of a list
    tables: tuple[Table, ...] = ()  # after the facts
    is_list: bool = False
    is_short: bool = False  # shown open, as it may take room in print


def said(*pieces: str | Name) -> Text:
    """A sentence of words and names."""
    return tuple(piece for piece in pieces if piece != "")


def listed(names: Sequence[str], most: int = 8) -> Text:
    """Names with commas between them, and how many more there are."""
    found: list[str | Name] = []
    for name in names[:most]:
        found += [", ", Name(name)] if found else [Name(name)]
    hidden = len(names) - most
    return tuple(found) + ((f" and {hidden} more",) if hidden > 0 else ())
