"""Which papers can be run again, and what their protocols offer."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from bayleaf.reproduction.cells import Cell, Results
from bayleaf.reproduction.sources import Sources
from bayleaf.reproduction.verdicts import Comparison

# Keys of the papers, which are the names of their protocol files.
PAPERS = ("sahami1996", "langseth2006", "wiering2003", "desjardins2008")


@dataclass(frozen=True)
class Paper:
    """A paper."""

    key: str  # first author and year, as in the command line
    title: str  # heading of its page
    citation: str  # authors, year, title and place
    labels: tuple[str, ...]  # headings of its comparisons' labels
    digits: int = 1  # of its figures, after the decimal point


class Protocol(typing.Protocol):
    """What a paper's module offers; see the package's documentation."""

    PAPER: Paper

    def cells(self) -> list[Cell]:
        """Every cell of the full run."""

    def run(self, cell: Cell, sources: Sources) -> dict[str, float]:
        """Figures of one cell."""

    def comparisons(self, results: Results) -> Sequence[Comparison]:
        """Every printed figure beside ours."""


def protocol_of(key: str) -> Protocol:
    """The protocol of a paper; ValueError if there is none of this name."""
    if key not in PAPERS:
        raise ValueError(f"paper must be one of {', '.join(PAPERS)}, got {key!r}")
    module: typing.Any = import_module(f"bayleaf.reproduction.{key}")
    protocol: Protocol = module
    return protocol
