"""Predictions of which a report may tell: rows alike, in rounded numbers.

Held-out rows are put into cells by their true class, the chosen class and coarse
probabilities; each cell's number of rows is rounded, and its rows get probabilities of
the cell's middle. All scores, curves and operating points are then computed from these
rows as they would be from others, so that they can tell no more than the cells do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.operating_points import USUAL_THRESHOLDS
from bayleaf.report.privacy import BY_CLASS, Privacy
from bayleaf.report.quality import Floats, Predictions, decision_threshold

# Where cells of probabilities end beside the usual thresholds: log-loss looks there.
_FINE = (0.01, 0.03, 0.97, 0.99)
# Of what the likeliest class leaves over, shares that the true class may have.
_SHARES = (0.0, 0.1, 0.3, 0.6, 1.0)


def published_predictions(
    found: Predictions, positive: int, loss: Floats | None, privacy: Privacy
) -> Predictions:
    """Replace held-out rows by rows that may be told of.

    Parameters
    ----------
    found : Predictions
        Held-out predictions, a row each.
    positive : int
        Of two classes the one that thresholds are for.
    loss : ndarray of shape (n_classes, n_classes) or None
        Cost of each prediction (rows) where a class (columns) is true.
    privacy : Privacy
        How numbers of rows are rounded.

    Returns
    -------
    Predictions
        The same where nothing is withheld; otherwise without folds.
    """
    if not privacy.withholds:
        return found
    two = found.proba.shape[1] == 2
    edges = _edges(decision_threshold(loss, positive) if two else None)
    likeliest = found.proba.argmax(axis=1)
    looked_at = np.full_like(likeliest, positive) if two else likeliest
    rows = np.arange(len(found.truth))
    score = found.proba[rows, looked_at]
    left_over = np.maximum(1.0 - score, np.finfo(np.float64).tiny)
    share = np.where(
        looked_at == found.truth, 0.0, found.proba[rows, found.truth] / left_over
    )
    cells = np.column_stack(
        [
            found.truth,
            looked_at,
            found.chosen,
            np.clip(np.searchsorted(edges, score, side="left") - 1, 0, len(edges) - 2),
            np.clip(np.searchsorted(_SHARES, share) - 1, 0, len(_SHARES) - 2),
        ]
    )
    # Sorted by the true class first, so that its rounded totals are those of all.
    cells, counts = np.unique(cells, axis=0, return_counts=True)
    kept = np.repeat(cells, privacy.published(counts, BY_CLASS), axis=0)
    truth, looked_at, chosen, bins, shares = kept.T
    proba = _representatives(
        truth,
        looked_at,
        _middles(edges)[bins],
        _middles(np.array(_SHARES))[shares],
        found.proba.shape[1],
    )
    return replace(found, truth=truth, chosen=chosen, proba=proba, folds=None)


def _edges(threshold: float | None) -> Floats:
    """Where intervals of probabilities end; decisions change at none but an end."""
    own = () if threshold is None else (threshold,)
    return np.unique([0.0, *_FINE, *USUAL_THRESHOLDS, *own, 1.0])


def _middles(edges: Floats) -> Floats:
    """The middle of each interval."""
    return np.asarray((edges[:-1] + edges[1:]) / 2)


def _representatives(
    truth: NDArray[np.intp],
    looked_at: NDArray[np.intp],
    score: Floats,
    share: Floats,
    n_classes: int,
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
