"""Distributions of a file that do not quite sum to one, or are counts or percent."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.given_tables import SUM_TOLERANCE
from bayleaf.io.formats.source_file import NetworkFileError, quoted

# Published files round their numbers: up to this far a sum is a slip, not a question.
ROUNDING = 0.01
_LOGGER = logging.getLogger("bayleaf")


@dataclass
class RowSums:
    """What to do with rows of a file whose sum is not one, and what was done.

    Rows off by up to `SUM_TOLERANCE` stay as they are, to the bit; those off by up to
    `ROUNDING` are divided by their sum, which `tell` reports in one line. `normalize`
    divides rows of any other positive sum, such as counts and percent, as well.
    """

    file: str
    normalize: bool = False
    _n_rows: int = 0
    _first: str = ""
    _tables: set[str] = field(default_factory=set)

    def distributions(
        self,
        rows: NDArray[np.float64],
        child: str,
        lines: Sequence[int | None],
    ) -> NDArray[np.float64]:
        """Normalize the `rows` (configurations, states) of a child's table.

        `lines` has one line per row, or one for all. NetworkFileError if a number is
        negative or not finite, or a sum is too far from one for rounding.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            sums = rows.sum(axis=1)
            off = np.abs(sums - 1.0)
            taken = (
                (sums > 0) & np.isfinite(sums) if self.normalize else off <= ROUNDING
            )
        wrong = np.flatnonzero(~taken | (rows < 0).any(axis=1))
        if wrong.size:
            first = int(wrong[0])
            line = lines[first if len(lines) > 1 else 0]
            raise self._refusal(rows[first], float(sums[first]), child, line)
        rounded = np.flatnonzero(off > SUM_TOLERANCE)
        if not rounded.size:
            return rows
        first = int(rounded[0])
        self._note(rounded.size, child, sums[first], lines[min(first, len(lines) - 1)])
        scaled = rows.copy()
        scaled[rounded] /= sums[rounded, None]
        return scaled

    def tell(self) -> None:
        """Log what was divided by its sum, if anything was."""
        if self._n_rows:
            _LOGGER.warning(
                "%s: %s of %s did not sum to 1; each was divided by its sum; the "
                "first is %s",
                self.file,
                f"{self._n_rows:,} distribution{'s' if self._n_rows > 1 else ''}",
                f"{len(self._tables):,} variable{'s' if len(self._tables) > 1 else ''}",
                self._first,
            )

    def _note(self, n_rows: int, child: str, total: float, line: int | None) -> None:
        """Remember rows that are divided by their sum."""
        if not self._first:
            where = "" if line is None else f" in line {line}"
            self._first = f"of {quoted(child)}{where}, with a sum of {total:.9g}"
        self._n_rows += n_rows
        self._tables.add(child)

    def _refusal(
        self, row: NDArray[np.float64], total: float, child: str, line: int | None
    ) -> NetworkFileError:
        """The error about a row that is no distribution."""
        if not np.isfinite(row).all():
            problem = "a number that is not finite; give probabilities from 0 to 1"
        elif (row < 0).any():
            problem = (
                f"the negative probability {row.min():.6g}; give numbers from 0 to 1"
            )
        elif self.normalize:
            problem = (
                f"numbers that sum to {total:.9g}, which none can be divided by; give "
                "a row at least one positive number"
            )
        else:
            problem = (
                f"probabilities that sum to {total:.9g}; they should sum to 1, or read "
                "the file with normalize=True (convert --normalize), which divides "
                "counts or percent by their sum"
            )
        what = f"the table of variable {quoted(child)}"
        return NetworkFileError(self.file, line, f"{what} holds {problem}")


def off_one(rows: NDArray[np.float64]) -> float:
    """How far the worst row is from summing to one."""
    with np.errstate(over="ignore", invalid="ignore"):
        worst = np.abs(rows.sum(axis=1) - 1.0).max(initial=0.0)
    return float("inf") if np.isnan(worst) else float(worst)
