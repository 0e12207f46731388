"""Predictions of which may be told: rows alike, in rounded numbers.

Rows are put into cells by their group, their true class, the chosen class and coarse
probabilities; each cell's number of rows is rounded, and its rows get probabilities of
the cell's middle. Whatever is then computed from these rows can tell no more than the
cells do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.operating_points import USUAL_THRESHOLDS
from bayleaf.evaluation.privacy import BY_CLASS, Privacy

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Where cells of probabilities end beside the usual thresholds: log-loss looks there.
_FINE = (0.01, 0.03, 0.97, 0.99)
# Of what the likeliest class leaves over, shares that the true class may have.
_SHARES = (0.0, 0.1, 0.3, 0.6, 1.0)


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
    edges = _edges(threshold)
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


def _edges(threshold: float | None) -> Floats:
    """Where intervals of probabilities end; decisions change at none but an end."""
    own = () if threshold is None else (threshold,)
    return np.unique([0.0, *_FINE, *USUAL_THRESHOLDS, *own, 1.0])


def _middles(edges: Floats) -> Floats:
    """The middle of each interval."""
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def _representatives(
    truth: Indices, looked_at: Indices, score: Floats, share: Floats, n_classes: int
) -> Floats:
    """Probabilities of cells' middles, shape (n_rows, n_classes).

    The class looked at has its score. The true class, where it is another, has its
    share of the rest; other classes share alike what remains.
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
