"""Files that declare their columns, by the suffix of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from bayleaf.data.files.arff_files import ArffFile
from bayleaf.data.files.file_kinds import STATA
from bayleaf.data.files.stata_files import StataFile


class DeclaredFile(Protocol):
    """The columns of a file, and its rows as lines of CSV; empty cells are missing."""

    @property
    def n_above(self) -> int:
        """Lines of the file above the one that ends its declarations."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""

    @property
    def categories(self) -> tuple[str, ...]:
        """Names of the columns that the file declares to be categories."""

    def csv_lines(self) -> Iterator[str]:
        """The rows, one line of CSV with commas each."""


class DeclaredKind(NamedTuple):
    """A kind of such files."""

    called: str  # in messages
    # Takes lines of text, or a stream of bytes, and the name of the file for messages.
    read: Callable[[Any, str], DeclaredFile]
    is_binary: bool = False


DECLARED = {
    ".arff": DeclaredKind("ARFF", ArffFile),
    ".dta": DeclaredKind(STATA, StataFile, is_binary=True),
}
