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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.rounding import LEAST_BASE, CountRounding
from bayleaf.evaluation.operating_points import USUAL_THRESHOLDS

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Rows of the smallest table that may be told of, in bases.
_LEAST_BASES = 5
# The partition by true class, and all that refine it.
BY_CLASS = "class"
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# Where cells of probabilities end beside the usual thresholds: log-loss looks there.
_FINE = (0.01, 0.03, 0.97, 0.99)
# Of what the likeliest class leaves over, shares that the true class may have.
_SHARES = (0.0, 0.1, 0.3, 0.6, 1.0)


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


class PredictedRows(NamedTuple):
    """What was predicted for rows, and what is true: indices of classes and groups."""

    truth: Indices  # (n_rows,)
    chosen: Indices  # (n_rows,)
    proba: Floats  # (n_rows, n_classes)
    groups: Indices  # (n_rows,)


def rounded_rows(
    rows: PredictedRows,
    looked_at: Indices,
    threshold: float | None,
    privacy: Privacy,
    partition: str,
) -> PredictedRows:
    """Replace rows by rows that may be shown, group after group.

    `looked_at` (n_rows,) is the class whose probability is kept, coarsely: of two
    classes the same one in all rows, of more the likeliest. Decisions change at
    `threshold`, as at the usual ones. `partition` is that of the table by group and
    class; `BY_CLASS` keeps the rows of a class together, others those of a group.
    """
    if not privacy.withholds:
        return rows
    # Decisions change at none but the end of an interval of probabilities.
    own = () if threshold is None else (threshold,)
    edges = np.unique([0.0, *_FINE, *USUAL_THRESHOLDS, *own, 1.0])
    places = np.arange(len(rows.truth))
    score = rows.proba[places, looked_at]
    left_over = np.maximum(1.0 - score, np.finfo(np.float64).tiny)
    share = np.where(
        looked_at == rows.truth, 0.0, rows.proba[places, rows.truth] / left_over
    )
    # Sorted so, the rounded totals of what comes first are those of all its cells.
    by_class = partition == BY_CLASS
    first = [rows.truth, rows.groups] if by_class else [rows.groups, rows.truth]
    cells = np.column_stack(
        [
            *first,
            looked_at,
            rows.chosen,
            np.clip(np.searchsorted(edges, score, side="left") - 1, 0, len(edges) - 2),
            np.clip(np.searchsorted(_SHARES, share) - 1, 0, len(_SHARES) - 2),
        ]
    )
    cells, counts = np.unique(cells, axis=0, return_counts=True)
    kept = np.repeat(cells, privacy.published(counts, partition), axis=0)
    one, other, looked_at, chosen, bins, shares = kept.T
    truth, groups = (one, other) if by_class else (other, one)
    proba = _representatives(
        truth,
        looked_at,
        _middles(edges)[bins],
        _middles(np.array(_SHARES))[shares],
        rows.proba.shape[1],
    )
    return PredictedRows(truth, chosen, proba, groups)


def _middles(edges: Floats) -> Floats:
    """The middle of each interval."""
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def _representatives(
    truth: Indices, looked_at: Indices, score: Floats, share: Floats, n_classes: int
) -> Floats:
    """Probabilities of cells' middles, shape (n_rows, n_classes).

    A true class that is not looked at has its share of the rest, others share alike.
    """
    rows = np.arange(len(truth))
    others = np.full(len(truth), n_classes - 1.0)
    rest = 1.0 - score
    proba = np.empty((len(truth), n_classes))
    differs = (truth != looked_at) & (n_classes > 2)
    of_truth = np.where(differs, rest * share, 0.0)
    proba[:] = ((rest - of_truth) / (others - differs))[:, None]
    proba[rows[differs], truth[differs]] = of_truth[differs]
    proba[rows, looked_at] = score
    return proba
