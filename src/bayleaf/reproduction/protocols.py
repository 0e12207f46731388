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
    """A paper.

    Parameters
    ----------
    key : str
        First author and year, as the command line names it.
    title : str
        Heading of its page.
    citation : str
        Authors, year, title and place.
    labels : tuple of str
        Headings of the labels of its comparisons.
    digits : int, default=1
        Digits after the decimal point of its figures.
    """

    key: str
    title: str
    citation: str
    labels: tuple[str, ...]
    digits: int = 1


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
    """The protocol of a paper.

    Raises
    ------
    ValueError
        If there is none of this name.
    """
    if key not in PAPERS:
        raise ValueError(f"paper must be one of {', '.join(PAPERS)}, got {key!r}")
    module: typing.Any = import_module(f"bayleaf.reproduction.{key}")
    protocol: Protocol = module
    return protocol
