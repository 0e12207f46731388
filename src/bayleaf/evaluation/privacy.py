"""What may be shown of a table so that no small number of rows can be found out.

All numbers of rows that leave are cells of a few partitions of the table: the values of
each column, and the true class with what was predicted. `Privacy` rounds each partition
once, as `bayleaf.counts.rounding` does; totals, rates, scores and curves are computed
from the rounded cells and from nothing else, and names are shown by them alone. What
cannot be computed so is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.rounding import LEAST_BASE, CountRounding

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Rows of the smallest table that may be told of, in bases.
_LEAST_BASES = 5
# The partition by true class, and all that refine it.
BY_CLASS = "class"


@dataclass(frozen=True)
class Privacy:
    """What a report may show of single rows.

    Numbers of rows below `min_count` must not be inferred: all are rounded to multiples
    of it, at least of 5; 1 rounds nothing. ValueError below 1.
    """

    rows: bool = True  # whether rows of the table may be shown
    min_count: int = 1
    rounding: CountRounding | None = None  # of the table's counts, see `of_table`

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise ValueError(f"min_count must be at least 1, got {self.min_count}")

    @property
    def withholds(self) -> bool:
        """Whether counts are rounded, and what single rows say is withheld."""
        return self.min_count > 1

    @property
    def shows_rows(self) -> bool:
        """Whether rows are shown; a row is a count of one."""
        return self.rows and not self.withholds

    @property
    def base(self) -> int:
        """What counts are rounded to multiples of; 1 where they are exact."""
        return max(self.min_count, LEAST_BASE) if self.withholds else 1

    @property
    def least_rows(self) -> int:
        """Rows that a table needs: in a few, cells of one row could be counted."""
        return _LEAST_BASES * self.base if self.withholds else 1

    def of_table(self, columns: Sequence[NDArray[np.integer[Any]]]) -> Privacy:
        """The same for a table with these columns of codes, its class included."""
        if not self.withholds:
            return self
        return replace(self, rounding=CountRounding.of_rows(columns, self.base))

    def published(self, counts: Any, partition: str) -> Counts:
        """Numbers of rows as they may leave; int64 of shape (n_cells,).

        `counts` (n_cells,) are those of a partition of the table; partitions that
        refine one another share the name `partition`.
        """
        if self.rounding is None:
            return np.asarray(counts, dtype=np.int64)
        return self.rounding.rounded(counts, partition)

    def unnamed(self, counts: Any, published: Counts) -> Mask:
        """Which states have no names: those of few rows, or of few by their numbers."""
        few = (np.asarray(counts) < self.base) | (published <= self.base)
        return np.asarray(self.withholds & few)


def column_partition(place: int) -> str:
    """The name of the partition of the rows by the values of a column."""
    return f"column {place}"
