"""Which papers can be run again, what their protocols offer, and our verdicts."""

from __future__ import annotations

import math
import typing
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

import numpy as np

from bayleaf.reproduction.cells import Cell, Results
from bayleaf.reproduction.paper_tables import Sources

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


# Differences up to so many standard deviations count as agreement.
TOLERATED_SD = 2.0


class Verdict(StrEnum):
    """What a comparison comes to."""

    AGREES = "within 2 sd"
    BETTER = "differs (better)"
    WORSE = "worse"
    NOT_IDENTIFIABLE = "not identifiable"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Comparison:
    """A figure that a paper prints, and ours."""

    labels: tuple[str, ...]  # table, method and so on
    printed: float
    printed_sd: float | None  # of the paper's figure, if it has one
    ours: Sequence[float]  # one per seed; none if not run
    reason: str = ""  # why it is "not identifiable", if it is
    larger_is_better: bool = True

    @property
    def mean(self) -> float:
        """Mean of our figures; NaN if there are none."""
        return float(np.mean(self.ours)) if len(self.ours) else math.nan

    @property
    def spread(self) -> float:
        """Standard deviation of our figures over seeds (n - 1); NaN below two."""
        return float(np.std(self.ours, ddof=1)) if len(self.ours) > 1 else math.nan

    @property
    def difference_in_sd(self) -> float:
        """Ours minus the paper's, in units of both standard deviations together.

        The unit is the root of the sum of squares of the printed standard deviation
        and of our spread over seeds, or the one of them that is known; NaN if neither
        is, or if the cells were not run.
        """
        known = [s for s in (self.printed_sd, self.spread) if s is not None]
        known = [s for s in known if not math.isnan(s)]
        if not known or not len(self.ours):
            return math.nan
        difference, unit = self.mean - self.printed, math.hypot(*known)
        if unit == 0.0:
            return 0.0 if difference == 0.0 else math.copysign(math.inf, difference)
        return difference / unit

    @property
    def verdict(self) -> Verdict:
        """What the comparison comes to."""
        if self.reason:
            return Verdict.NOT_IDENTIFIABLE
        if not len(self.ours):
            return Verdict.NOT_RUN
        difference = self.difference_in_sd
        if math.isnan(difference):
            # Without a spread only the very same figure agrees.
            difference = math.copysign(math.inf, self.mean - self.printed)
            if f"{self.mean:g}" == f"{self.printed:g}":
                difference = 0.0
        if abs(difference) <= TOLERATED_SD:
            return Verdict.AGREES
        return (
            Verdict.BETTER
            if (difference > 0.0) == self.larger_is_better
            else Verdict.WORSE
        )


def verdict_sentence(comparisons: Sequence[Comparison]) -> str:
    """Verdicts and how often each was come to, as a part of a sentence."""
    counts = Counter(comparison.verdict for comparison in comparisons)
    parts = ", ".join(
        f"{n} {verdict if n == 1 else verdict.replace('differs', 'differ')}"
        for verdict in Verdict
        if (n := counts[verdict])
    )
    return f"{len(comparisons)} printed figures: {parts}"
