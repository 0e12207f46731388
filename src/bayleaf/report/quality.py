"""Held-out scores of a classifier, as plain values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.cross_validation import CrossValidation
from bayleaf.evaluation.metrics import roc_areas, score_predictions
from bayleaf.evaluation.operating_points import (
    USUAL_THRESHOLDS,
    implied_threshold,
    operating_points,
)
from bayleaf.evaluation.privacy import Privacy
from bayleaf.plot.evaluations import roc_points
from bayleaf.report.intervals import class_intervals

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Values = dict[str, Any]

# Points of a ROC curve, and classes that have one.
_CURVE_POINTS = 200
_CURVES = 6


@dataclass(frozen=True)
class Predictions:
    """What was predicted for rows that were held out from the predicting model.

    Classes are positions in the model's order, rows in the table's order.
    """

    basis: str  # "cross_validation" or "held_out"
    told: str  # the same as a sentence
    truth: Indices  # (n_rows,)
    chosen: Indices  # (n_rows,)
    proba: Floats  # (n_rows, n_classes)
    folds: CrossValidation | None = None  # scores by fold
    weights: Floats | None = None  # (n_rows,)


def quality_values(
    found: Predictions,
    names: Sequence[str],
    positive: int,
    loss: Floats | None,
    privacy: Privacy,
) -> Values:
    """Scores, confusions, calibration, ROC curves and operating points.

    `names` are the classes as text; of two classes, thresholds are for `positive`;
    `loss` (n_classes, n_classes), rows are predictions.
    """
    n_classes = len(names)
    cells = np.bincount(found.truth * n_classes + found.chosen, minlength=n_classes**2)
    table = cells.reshape(n_classes, n_classes).astype(np.int64)
    # Of more than two classes, rows that may be told of know the likeliest alone.
    ranks = not privacy.withholds or n_classes == 2
    areas = np.full(n_classes, np.nan)
    if ranks:
        areas = roc_areas(found.truth, found.proba, found.weights)
    return {
        "basis": found.basis,
        "basis_told": found.told,
        "n_rows": len(found.truth),
        "scores": _scores(found, loss, ranks),
        "intervals": class_intervals(found.truth, found.chosen, found.proba),
        "folds": _fold_values(found),
        "baseline": _baseline(found, n_classes),
        "confusion": {
            "classes": list(names),
            "counts": table.tolist(),
            "totals": table.sum(axis=1).tolist(),
        },
        "auc": {
            name: None if np.isnan(area) else float(area)
            for name, area in zip(names, areas, strict=True)
        },
        "positive": names[positive] if n_classes == 2 else None,
        **_curves(found, names, positive, loss, ranks),
    }


def _scores(found: Predictions, loss: Floats | None, ranks: bool) -> Values:
    """Scores of all rows together."""
    rows = found.truth, found.chosen, found.proba
    scores = asdict(score_predictions(*rows, loss, found.weights))
    scores.pop("n_classes_without_auc")
    scores.pop("n_clipped")
    return scores if ranks else scores | {"roc_auc": None}


def _fold_values(found: Predictions) -> Values | None:
    """Mean and spread over folds, where they are known."""
    if found.folds is None:
        return None
    return {
        "n_folds": len(found.folds.folds),
        **{
            score: {"mean": found.folds.mean(score), "sd": found.folds.sd(score)}
            for score in ("accuracy", "log_loss")
        },
    }


def _baseline(found: Predictions, n_classes: int) -> Values:
    """What is reached without any feature: the commonest class, the shares."""
    shares = np.bincount(found.truth, found.weights, n_classes)
    shares = shares / shares.sum()
    present = shares[shares > 0]
    return {
        "accuracy": float(shares.max()),
        "log_loss": float(-(present * np.log(present)).sum()),
    }


def _curves(
    found: Predictions,
    names: Sequence[str],
    positive: int,
    loss: Floats | None,
    ranks: bool,
) -> Values:
    """Calibration, ROC curves and operating points."""
    if len(names) != 2:
        scores = found.proba.max(axis=1)
        right = found.proba.argmax(axis=1) == found.truth
        return {
            "calibration": {
                "of": "likeliest",
                "bins": _bins(scores, right, USUAL_THRESHOLDS, found.weights),
            },
            "roc": _roc_curves(found, names) if ranks else [],
            "operating_points": None,
        }
    # Probability above which the positive class is predicted.
    decision = 0.5 if loss is None else implied_threshold(loss, positive)
    usual = [t for t in USUAL_THRESHOLDS if not np.isclose(t, decision)]
    thresholds = sorted({*usual, decision} - {0.0, 1.0})
    event = found.truth == positive
    points = None
    if event.any() and not event.all():
        points = {
            "positive": names[positive],
            "implied_threshold": None if loss is None else decision,
            "points": [
                point.to_dict()
                for point in operating_points(
                    found.truth,
                    found.proba,
                    loss=loss,
                    positive=positive,
                    thresholds=thresholds,
                    weights=found.weights,
                )
            ],
        }
    return {
        "calibration": {
            "of": "positive",
            "bins": _bins(found.proba[:, positive], event, thresholds, found.weights),
        },
        "roc": _roc_curves(found, names, positive),
        "operating_points": points,
    }


def _bins(
    scores: Floats,
    event: NDArray[np.bool_],
    thresholds: Sequence[float],
    weights: Floats | None,
) -> list[Values]:
    """Rows between thresholds: number, mean probability, share with the event."""
    weights = np.ones(len(scores)) if weights is None else weights
    place = np.searchsorted(thresholds, scores, side="left")
    edges = [0.0, *thresholds, 1.0]
    found = []
    for number, (low, high) in enumerate(itertools.pairwise(edges)):
        inside = place == number
        n = int(inside.sum())
        found.append(
            {
                "low": float(low),
                "high": float(high),
                "n": n,
                "mean_probability": _mean(scores, weights, inside) if n else None,
                "share": _mean(event, weights, inside) if n else None,
            }
        )
    return found


def _mean(values: NDArray[Any], weights: Floats, rows: NDArray[np.bool_]) -> float:
    """The mean of some rows by their weights."""
    return float(np.average(values[rows], weights=weights[rows]))


def _roc_curves(
    found: Predictions, names: Sequence[str], only: int | None = None
) -> list[Values]:
    """One curve a class that some rows have and others have not."""
    chosen = range(len(names))[:_CURVES] if only is None else [only]
    curves = []
    for label in chosen:
        own = found.truth == label
        if own.any() and not own.all():
            points = np.column_stack(roc_points(found.truth, found.proba, label))
            if len(points) > _CURVE_POINTS:
                kept = np.linspace(0, len(points) - 1, _CURVE_POINTS).round()
                points = points[np.unique(kept).astype(int)]
            curves.append({"class": names[label], "points": points.tolist()})
    return curves
