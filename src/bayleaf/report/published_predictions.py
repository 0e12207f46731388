"""Predictions of which a report may tell: rows alike, in rounded numbers.

All scores, curves and operating points are computed from these rows as they would be
from others, so that they can tell no more than `bayleaf.evaluation.rounded_rows` keeps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayleaf.evaluation.privacy import BY_CLASS, Privacy
from bayleaf.evaluation.rounded_rows import PredictedRows, rounded_rows
from bayleaf.report.quality import Floats, Predictions, decision_threshold


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
    likeliest = found.proba.argmax(axis=1)
    one_group = np.zeros(len(found.truth), dtype=np.intp)
    kept = rounded_rows(
        PredictedRows(found.truth, found.chosen, found.proba, one_group),
        np.full_like(likeliest, positive) if two else likeliest,
        decision_threshold(loss, positive) if two else None,
        privacy,
        BY_CLASS,
    )
    return replace(
        found, truth=kept.truth, chosen=kept.chosen, proba=kept.proba, folds=None
    )
