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
from bayleaf.data.tables.frames import take_rows
from bayleaf.evaluation.folds import deal_folds, fitted_plan
from bayleaf.evaluation.privacy import BY_CLASS, Privacy
from bayleaf.explain import Importance, importance

Values = dict[str, Any]

# How importance was found, as a report says it.
HELD_OUT, LEAVE_ONE_OUT, FOLDS = "held_out", "leave_one_out", "folds"
INFORMATION = "information"
_DIGITS = 6
# Folds that features are left out in, where that is not exact from counts.
_IMPORTANCE_FOLDS = 3


def importance_values(
    method: str, found: Importance, columns: Sequence[Values]
) -> Values:
    """Importance as plain values, beside how often each feature is missing."""
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
                "missing": column["missing"],
            }
        )
    features.sort(key=lambda one: -one["information_bits"])
    return {"method": INFORMATION, "log_loss": None, "features": features}


def fresh_importance(
    model: Any,
    X: Any,
    labels: NDArray[Any],
    truth: NDArray[np.intp],
    random_state: int,
    weights: NDArray[np.float64] | None = None,
) -> tuple[str, Importance] | None:
    """Importance by leaving out rows one by one or, where that fails, in folds.

    A clone of `model` is fitted again. `truth` (n_rows,), dtype intp, has the positions
    of `labels`, and `weights` (n_rows,) weigh rows. Returns method and importance; None
    for too few rows.
    """
    from sklearn.base import clone

    plan = fitted_plan(model, X)
    try:
        fresh = clone(model).fit(X, labels, weights, plan=plan)
        return LEAVE_ONE_OUT, importance(fresh)
    except AttributeError:
        pass
    except ValueError:
        return None
    least = int(np.bincount(truth)[np.unique(truth)].min())
    if least < _IMPORTANCE_FOLDS:
        return None
    parts = []
    try:
        for train, test in deal_folds(truth, _IMPORTANCE_FOLDS, 1, random_state):
            fold_weights, others = [
                None if weights is None else weights[r] for r in (train, test)
            ]
            rows = take_rows(X, train)
            learned = clone(model).fit(rows, labels[train], fold_weights, plan=plan)
            rows = take_rows(X, test)
            found = importance(learned, rows, labels[test], sample_weight=others)
            parts.append(found)
    except ValueError:
        # A column may have no value at all in the rows of a fold.
        return None
    return FOLDS, _pooled(parts)


def _pooled(parts: Sequence[Importance]) -> Importance:
    """Importances of several folds as their mean by rows."""
    weights = np.array([part.n_rows for part in parts])
    features = []
    for same in zip(*(part.features for part in parts), strict=True):
        information = np.average([one.information for one in same], weights=weights)
        errors = weights * [part.information_error for part in same]
        spreads = weights * [part.loss_error for part in same]
        rise = np.average([one.loss_increase for one in same], weights=weights)
        features.append(
            replace(
                same[0],
                information=float(information),
                information_error=float(np.hypot.reduce(errors) / weights.sum()),
                loss_increase=float(rise),
                loss_error=float(np.hypot.reduce(spreads) / weights.sum()),
                missing=math.fsum(one.missing for one in same),
            )
        )
    log_loss = np.average([part.log_loss for part in parts], weights=weights)
    method = parts[0].method
    return Importance(tuple(features), float(log_loss), method, float(weights.sum()))
