"""Counts of a table in which no variable is the class."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayleaf.counts.pairs import PairCounts
from bayleaf.counts.source import Counts, Family
from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes


class UnclassedCounts:
    """Count source over codes in memory whose last variable is like any other.

    Sources of counts take the last variable for the class, which is never missing.
    Here a class of one state stands behind the variables and is kept out of sight.

    Parameters
    ----------
    codes : Codes
        The table.
    n_jobs : int, optional
        Number of threads, in scikit-learn's meaning.
    max_table_cells : int, default=20_000_000
        Largest family that is counted.
    """

    def __init__(
        self,
        codes: Codes,
        n_jobs: int | None = None,
        *,
        max_table_cells: int = 20_000_000,
    ) -> None:
        self.codes = codes
        weights = None if codes.unit_weights else codes.weights
        constant = np.zeros(codes.n_rows, dtype=np.uint8)
        self._counts = TableCounts(
            codes.with_column(constant, 1, weights),
            n_jobs,
            max_table_cells=max_table_cells,
        )

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return self.codes.cards

    @property
    def n_jobs(self) -> int:
        """Number of threads that a pass may use."""
        return self._counts.n_jobs

    @property
    def class_index(self) -> int:
        """Index of the hidden class: the number of variables."""
        return self.codes.n_variables

    @property
    def max_table_cells(self) -> int:
        """Largest family that is counted."""
        return self._counts.max_table_cells

    def class_counts(self) -> Counts:
        """Total weight of the rows, shape (1,)."""
        return self._counts.class_counts()

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of some families; see `TableCounts`."""
        return self._counts.family_counts(families)

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Counts of every variable in `left` with every one in `right`, one class."""
        return self._counts.pair_counts(left, right)

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Sum what `block_function` returns for blocks of rows, in row order."""
        return self._counts.add_up(lambda block: block_function(block.without_last()))

    def rows(self) -> Codes:
        """The table itself."""
        return self.codes
