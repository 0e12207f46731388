"""Sentences and tables of a model card, before they are Markdown or HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Characters of a sentence that are kept.
MOST_WORDS = 4000


@dataclass(frozen=True)
class Name:
    """A text that came with the model or the table, and is shown as it is.

    Parameters
    ----------
    text : str
        A name, a value, a message.
    most : int, default=80
        Characters that are kept.
    """

    text: str
    most: int = 80


# A sentence: words of the card, and names among them.
Text = tuple[str | Name, ...]


@dataclass(frozen=True)
class Table:
    """A table of a card.

    Parameters
    ----------
    caption : Text
        What it shows.
    heads : tuple of str
        Titles of the columns.
    rows : tuple of tuple of Text
        The cells; the first of each row is its title.
    n_left_out : int, default=0
        Rows that are not shown.
    n_words : int, default=1
        Columns of words, which come first; others are of numbers.
    """

    caption: Text
    heads: tuple[str, ...]
    rows: tuple[tuple[Text, ...], ...]
    n_left_out: int = 0
    n_words: int = 1

    @property
    def label(self) -> str:
        """The caption as plain text."""
        pieces = (p if isinstance(p, str) else p.text for p in self.caption)
        return "".join(pieces)


@dataclass(frozen=True)
class Part:
    """A part of a card.

    Parameters
    ----------
    title : str
        Its heading.
    facts : tuple of (str, Text)
        Titles and what they are, line by line.
    sentences : tuple of Text
        Paragraphs, or items of a list.
    tables : tuple of Table
        Tables, after the facts.
    is_list : bool, default=False
        Whether sentences are items of a list.
    is_short : bool, default=False
        Whether it may take room on a printed page.
    """

    title: str
    facts: tuple[tuple[str, Text], ...] = ()
    sentences: tuple[Text, ...] = ()
    tables: tuple[Table, ...] = ()
    is_list: bool = False
    is_short: bool = False


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
