"""Sums over the rows of a table, wherever it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayleaf.counts.source import Counts, CountSource
from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes


def summed_over_rows(
    source: CountSource, block_function: Callable[[Codes], Counts]
) -> Counts:
    """The sum of what a function gives for blocks of rows.

    Rows that lie in memory are one block, for which a function may use threads.
    """
    if isinstance(source, TableCounts):
        return block_function(source.rows())
    return source.add_up(block_function)


class RowFacts(NamedTuple):
    """Facts about all rows of a table."""

    total_weight: float
    lacks_cells: bool  # whether some cell is missing
    has_whole_weights: bool  # sums do not depend on their order

    @classmethod
    def of(cls, source: CountSource) -> RowFacts:
        """The facts of a table, in one pass."""
        weight, n_lacking, n_fractions = summed_over_rows(source, _facts).tolist()
        return cls(float(weight), n_lacking > 0, n_fractions == 0)


def _facts(codes: Codes) -> Counts:
    """Weight of rows, columns that lack cells, and whether a weight is a fraction."""
    weights = codes.weights
    n_lacking = sum(bool(codes.missing(v).any()) for v in range(codes.n_variables))
    is_whole = codes.unit_weights or bool((weights == np.rint(weights)).all())
    return np.array([weights.sum(), n_lacking, not is_whole], dtype=np.float64)
