"""What features are worth on rows that a model has not seen, as plain values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.information import left_out_information
from bayleaf.data.codes import Codes
from bayleaf.evaluation.privacy import BY_CLASS, Privacy
from bayleaf.explain import Importance
from bayleaf.report.intervals import fold_error, student_interval

Values = dict[str, Any]

# How importance was found, as a report says it.
HELD_OUT, FOLDS = "held_out", "folds"
INFORMATION = "information"
_DIGITS = 6


def importance_values(
    method: str, found: Importance, columns: Sequence[Values], degrees: float
) -> Values:
    """Importance as plain values, with how often each feature is missing.

    Intervals are Student's with so many degrees of freedom.
    """
    missing = {column["name"]: column["missing"] for column in columns}
    return {
        "method": method,
        "log_loss": found.log_loss,
        "features": [
            {
                "feature": str(one.feature),
                "information_bits": round(one.information, _DIGITS),
                "information_error_bits": round(one.information_error, _DIGITS),
                "loss_increase": round(one.loss_increase, _DIGITS),
                "loss_error": round(one.loss_error, _DIGITS),
                "interval": student_interval(
                    one.loss_increase, one.loss_error, degrees
                ),
                "missing": missing[str(one.feature)],
            }
            for one in found.ranked()
        ],
    }


def published_information(
    codes: Codes,
    truth: NDArray[np.intp],
    n_classes: int,
    columns: Sequence[Values],
    privacy: Privacy,
) -> Values:
    """Each feature's information on the class, in bits, from rounded numbers of rows.

    `truth` (n_rows,), dtype intp; `columns` from `column_values`.
    """
    features = []
    for feature, column in enumerate(columns):
        n_codes = codes.cards[feature] + 1
        cells = truth * n_codes + codes.column(feature)
        counts = np.bincount(cells, minlength=n_classes * n_codes)
        table = privacy.published(counts, BY_CLASS).reshape(n_classes, n_codes)
        known = table[:, :-1].astype(np.float64).T
        bits, error = (own / math.log(2) for own in left_out_information(known))
        features.append(
            {
                "feature": column["name"],
                "information_bits": round(bits, _DIGITS),
                "information_error_bits": round(error, _DIGITS),
                "loss_increase": None,
                "loss_error": None,
                "interval": None,
                "missing": column["missing"],
            }
        )
    features.sort(key=lambda one: -one["information_bits"])
    return {"method": INFORMATION, "log_loss": None, "features": features}


def fold_importance(parts: Sequence[Importance]) -> Importance:
    """Importances of several folds as one; standard errors of losses are over folds."""
    weights = np.array([part.n_rows for part in parts])
    features = []
    for same in zip(*(part.features for part in parts), strict=True):
        information = np.average([one.information for one in same], weights=weights)
        errors = weights * [part.information_error for part in same]
        rises = [one.loss_increase for one in same]
        features.append(
            replace(
                same[0],
                information=float(information),
                information_error=float(np.hypot.reduce(errors) / weights.sum()),
                loss_increase=float(np.average(rises, weights=weights)),
                loss_error=float(fold_error(rises)),
                missing=math.fsum(one.missing for one in same),
            )
        )
    log_loss = np.average([part.log_loss for part in parts], weights=weights)
    method = parts[0].method
    return Importance(tuple(features), float(log_loss), method, float(weights.sum()))
