"""Held-out scores of a classifier, as plain values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.cross_validation import Progress, cross_validate
from bayleaf.evaluation.held_out import CrossValidation
from bayleaf.evaluation.metrics import roc_areas, score_predictions
from bayleaf.evaluation.operating_points import (
    USUAL_THRESHOLDS,
    implied_threshold,
    operating_points,
)
from bayleaf.models.predictor import Predictor
from bayleaf.report.privacy import (
    Privacy,
    SharedConfusions,
    merged_intervals,
    withheld_confusions,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Values = dict[str, Any]

# Points of a ROC curve, and classes that have one.
_CURVE_POINTS = 200
_CURVES = 6

CROSS_VALIDATION, HELD_OUT, NONE = "cross_validation", "held_out", "none"


@dataclass(frozen=True)
class Predictions:
    """What was predicted for rows that were held out from the predicting model.

    Parameters
    ----------
    basis : str
        "cross_validation" or "held_out".
    told : str
        The same as a sentence.
    truth, chosen : ndarray of shape (n_rows,)
        True and chosen classes, by the model's order.
    proba : ndarray of shape (n_rows, n_classes)
        Probabilities, rows in the table's order.
    folds : CrossValidation or None
        Scores by fold.
    """

    basis: str
    told: str
    truth: Indices
    chosen: Indices
    proba: Floats
    folds: CrossValidation | None = None


def cross_validated(
    model: Any,
    X: Any,
    labels: Any,
    truth: Indices,
    *,
    n_folds: int,
    random_state: int,
    progress: Progress | None = None,
) -> Predictions:
    """Predict every row by a fresh estimator fitted without it.

    Parameters
    ----------
    model : classifier
        Whose parameters the fresh ones get.
    X : table of shape (n_rows, n_features)
        The rows.
    labels : ndarray of shape (n_rows,)
        Their classes.
    truth : ndarray of shape (n_rows,)
        The same as positions in the model's classes.
    n_folds, random_state : int
        As for `bayleaf.evaluation.cross_validate`.
    progress : callable, optional
        Gets a line of text before each fit.

    Raises
    ------
    ValueError
        If the rows do not suffice.
    """
    name = type(model).__name__
    found = cross_validate(
        {name: model},
        X,
        labels,
        n_folds=n_folds,
        random_state=random_state,
        progress=progress,
    )[0]
    occurring = np.unique(truth)
    proba = np.zeros((len(truth), len(model.classes_)))
    proba[np.ix_(found.held_out.rows, occurring)] = found.held_out.proba
    chosen = model._predictor().choose(proba)
    told = (
        f"{n_folds}-fold cross-validation on the rows of this table: {n_folds} fresh "
        f"models of the same kind and settings, each scored on its held-out rows. "
        "The model on this page was fitted to all rows and is not scored on them."
    )
    return Predictions(CROSS_VALIDATION, told, truth, chosen, proba, found)


def scored_as_held_out(predictor: Predictor, codes: Any, truth: Indices) -> Predictions:
    """Predict rows that were declared as held out."""
    proba = predictor.proba(codes)
    told = (
        "The model itself, scored on the rows of this table, which were declared as "
        "held out. If they include training rows, these scores are too optimistic."
    )
    return Predictions(HELD_OUT, told, truth, predictor.choose(proba), proba)


def quality_values(
    found: Predictions,
    names: Sequence[str],
    positive: int,
    loss: Floats | None,
    privacy: Privacy,
) -> Values:
    """Scores, confusions, calibration, ROC curves and operating points.

    Parameters
    ----------
    found : Predictions
        Held-out predictions.
    names : sequence of str
        The classes as they are written.
    positive : int
        Of two classes the one that thresholds are for.
    loss : ndarray of shape (n_classes, n_classes) or None
        Cost of each prediction (rows) where a class (columns) is true.
    privacy : Privacy
        What may be shown.
    """
    n_classes = len(names)
    cells = np.bincount(found.truth * n_classes + found.chosen, minlength=n_classes**2)
    table = cells.reshape(n_classes, n_classes).astype(np.int64)
    shared = withheld_confusions(table, privacy)
    areas = [None if np.isnan(a) else float(a) for a in _areas(found)]
    values: Values = {
        "basis": found.basis,
        "basis_told": found.told,
        "n_rows": len(found.truth),
        "scores": _scores(found, loss, shared),
        "folds": _fold_values(found, privacy),
        "baseline": _baseline(found, n_classes, shared),
        "confusion": _confusion_values(table, names, shared),
        "auc": dict(zip(names, areas, strict=True)),
        "positive": names[positive] if n_classes == 2 else None,
    }
    return values | _curves(found, names, positive, loss, shared, privacy)


def _areas(found: Predictions) -> Floats:
    """Area under the ROC curve of each class."""
    return roc_areas(found.truth, found.proba)


def _scores(
    found: Predictions, loss: Floats | None, shared: SharedConfusions
) -> Values:
    """Scores of all rows together; those that give a withheld cell away are None."""
    scores = asdict(score_predictions(found.truth, found.chosen, found.proba, loss))
    scores.pop("n_classes_without_auc")
    scores.pop("n_clipped")
    if shared.hidden.any():
        scores |= {"balanced_accuracy": None, "cost": None}
    if not shared.tells_accuracy:
        scores["accuracy"] = None
    return scores


def _fold_values(found: Predictions, privacy: Privacy) -> Values | None:
    """Mean and spread over folds; folds are too small to tell where counts are."""
    if found.folds is None or privacy.withholds:
        return None
    return {
        "n_folds": len(found.folds.folds),
        **{
            score: {"mean": found.folds.mean(score), "sd": found.folds.sd(score)}
            for score in ("accuracy", "log_loss")
        },
    }


def _baseline(
    found: Predictions, n_classes: int, shared: SharedConfusions
) -> Values | None:
    """What is reached without any feature: the commonest class, the shares."""
    if shared.hidden_totals.any():
        return None
    shares = np.bincount(found.truth, minlength=n_classes) / len(found.truth)
    present = shares[shares > 0]
    return {
        "accuracy": float(shares.max()),
        "log_loss": float(-(present * np.log(present)).sum()),
    }


def _confusion_values(
    table: NDArray[np.int64], names: Sequence[str], shared: SharedConfusions
) -> Values:
    """Rows by true and predicted class; None where withheld."""
    totals = table.sum(axis=1)
    return {
        "classes": list(names),
        "counts": [
            [None if gone else int(n) for n, gone in zip(row, hidden, strict=True)]
            for row, hidden in zip(table, shared.hidden, strict=True)
        ],
        "totals": [
            None if gone else int(n)
            for n, gone in zip(totals, shared.hidden_totals, strict=True)
        ],
        "n_withheld": int(shared.hidden.sum()),
    }


def _curves(
    found: Predictions,
    names: Sequence[str],
    positive: int,
    loss: Floats | None,
    shared: SharedConfusions,
    privacy: Privacy,
) -> Values:
    """Calibration, ROC curves and operating points."""
    if len(names) != 2:
        rates = not privacy.withholds
        return {
            "calibration": _confidence_bins(found, shared, privacy),
            "roc": _roc_curves(found, names) if rates else [],
            "operating_points": None,
        }
    thresholds = _thresholds(found, positive, loss, shared, privacy)
    points = None
    if thresholds is not None and len(np.unique(found.truth)) == 2:
        points = operating_points(
            found.truth,
            found.proba,
            loss=loss,
            positive=positive,
            thresholds=thresholds,
        )
    implied = None if loss is None else implied_threshold(loss, positive)
    if points is None or not privacy.withholds:
        curves = [] if privacy.withholds else _roc_curves(found, names, positive)
    else:
        corners = [(1 - p.specificity, p.sensitivity) for p in reversed(points)]
        shown = [(0.0, 0.0), *corners, (1.0, 1.0)]
        curves = [{"class": names[positive], "points": [list(p) for p in shown]}]
    return {
        "calibration": _probability_bins(found, positive, thresholds),
        "roc": curves,
        "operating_points": None
        if points is None
        else {
            "positive": names[positive],
            "implied_threshold": implied,
            "points": [point.to_dict() for point in points],
        },
    }


def _thresholds(
    found: Predictions,
    positive: int,
    loss: Floats | None,
    shared: SharedConfusions,
    privacy: Privacy,
) -> list[float] | None:
    """Thresholds that may be shown; None where even that of the choice may not."""
    decision = 0.5 if loss is None else implied_threshold(loss, positive)
    usual = [t for t in USUAL_THRESHOLDS if not np.isclose(t, decision)]
    thresholds = sorted({*usual, decision} - {0.0, 1.0})
    if not privacy.withholds:
        return thresholds
    scores = found.proba[:, positive]
    agrees = (found.chosen == positive) == (scores > decision)
    if shared.hidden.any() or decision not in thresholds or not agrees.all():
        return None
    counts = _interval_counts(scores, found.truth == positive, thresholds)
    bounds = merged_intervals(counts, privacy, thresholds.index(decision) + 1)
    return [thresholds[bound - 1] for bound in bounds]


def _interval_counts(
    scores: Floats, event: NDArray[np.bool_], thresholds: Sequence[float]
) -> NDArray[np.int64]:
    """Rows without and with an event between thresholds, (n_thresholds + 1, 2)."""
    place = np.searchsorted(thresholds, scores, side="left")
    counts = np.bincount(place * 2 + event, minlength=2 * (len(thresholds) + 1))
    return np.asarray(counts.reshape(-1, 2).astype(np.int64))


def _probability_bins(
    found: Predictions, positive: int, thresholds: Sequence[float] | None
) -> Values | None:
    """Rows by the probability of the positive class, and the share that have it."""
    if thresholds is None:
        return None
    bins = _bins(found.proba[:, positive], found.truth == positive, thresholds)
    return {"of": "positive", "bins": bins}


def _confidence_bins(
    found: Predictions, shared: SharedConfusions, privacy: Privacy
) -> Values | None:
    """Rows by the probability of the likeliest class, and the share it is right for."""
    scores = found.proba.max(axis=1)
    right = found.proba.argmax(axis=1) == found.truth
    thresholds = list(USUAL_THRESHOLDS)
    if privacy.withholds:
        counts = _interval_counts(scores, right, thresholds)
        if privacy.small(counts.sum(axis=0)).any() or not shared.tells_accuracy:
            return None
        bounds = merged_intervals(counts, privacy, None)
        thresholds = [thresholds[bound - 1] for bound in bounds]
    return {"of": "likeliest", "bins": _bins(scores, right, thresholds)}


def _bins(
    scores: Floats, event: NDArray[np.bool_], thresholds: Sequence[float]
) -> list[Values]:
    """Rows between thresholds: number, mean probability, share with the event."""
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
                "mean_probability": float(scores[inside].mean()) if n else None,
                "share": float(event[inside].mean()) if n else None,
            }
        )
    return found


def _roc_curves(
    found: Predictions, names: Sequence[str], only: int | None = None
) -> list[Values]:
    """One curve a class that some rows have and others have not."""
    chosen = range(len(names))[:_CURVES] if only is None else [only]
    curves = []
    for label in chosen:
        own = found.truth == label
        if own.any() and not own.all():
            points = _roc_points(found.proba[:, label], own)
            curves.append({"class": names[label], "points": points})
    return curves


def _roc_points(scores: Floats, own: NDArray[np.bool_]) -> list[list[float]]:
    """False and true positive rates at falling thresholds, corners included."""
    order = np.argsort(-scores, kind="stable")
    hits, last = np.cumsum(own[order]), np.diff(scores[order], append=-1.0) != 0
    ranks = np.flatnonzero(last)
    true = hits[ranks] / own.sum()
    false = (ranks + 1 - hits[ranks]) / (~own).sum()
    points = np.vstack([[0.0, 0.0], np.column_stack([false, true])])
    if len(points) > _CURVE_POINTS:
        kept = np.unique(np.linspace(0, len(points) - 1, _CURVE_POINTS).round())
        points = points[kept.astype(int)]
    return [[float(x), float(y)] for x, y in points]
