"""Scores of predicted probabilities on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import recall_score

from bayleaf.results.result import Shown
from bayleaf.wording import in_bits

# Probabilities below this count as this in the log-loss.
SMALLEST = 1e-15
CALIBRATION_BINS = 15
PERCENT = 100.0


@dataclass(frozen=True)
class Scores(Shown, nats=("log_loss",)):
    """Scores of one set of held-out rows; None for areas or costs that are undefined.

    Calibration is that of the most probable class (`expected_calibration_error`).
    """

    accuracy: float  # share of rows predicted right
    balanced_accuracy: float  # mean over classes of the share predicted
    log_loss: float  # mean, nats; probabilities clipped at 1e-15
    brier: float  # squared distances summed over classes, mean (Brier 1950)
    roc_auc: float | None  # one against the rest, mean of classes that have an area
    calibration_error: float
    n_clipped: int  # rows with P(true class) below 1e-15
    n_classes_without_auc: int  # classes that all or none of the rows have
    cost: float | None = None  # mean per row, predicting for least expected cost
    description_length: float | None = None  # bits, of the training rows of the fold


class ScoreColumn(NamedTuple):
    """How tables show a score, and whether larger is better."""

    heading: str  # of its column; none without one
    place: int  # of its column in a table
    larger_is_better: bool = False
    factor: float = 1.0
    digits: int = 3

    def written(self, *values: float) -> str:
        """A score in the unit of its column, and its spread.

        Large ones, but for shares, have fewer digits, so that all are as wide.
        """
        texts = []
        for value in values:
            shown = self.factor * value
            wider = sum(abs(shown) >= limit for limit in (10, 100, 1000))
            cut = 0 if self.factor == PERCENT else wider
            texts.append(f"{shown:.{max(0, self.digits - cut)}f}")
        return " ± ".join(texts)


# Scores that are shares of, or means over, the rows of a fold: fields of `Scores`, in
# the order of results as plain values.
SCORES = {
    "accuracy": ScoreColumn("accuracy %", 1, True, PERCENT, 1),
    "balanced_accuracy": ScoreColumn("balanced", 6, True, PERCENT, 1),
    "log_loss": ScoreColumn("log-loss bits", 2, factor=in_bits(1.0)),
    "brier": ScoreColumn("Brier", 3),
    "roc_auc": ScoreColumn("AUC", 5, True),
    # Tables show that of all held-out rows together.
    "calibration_error": ScoreColumn("", 0),
    "cost": ScoreColumn("cost/row", 4),
    "description_length": ScoreColumn("MDL bits", 7),
}


def score_predictions(
    truth: NDArray[np.intp],
    chosen: NDArray[np.intp],
    proba: NDArray[np.float64],
    loss: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Scores:
    """Score held-out rows: `truth` and `chosen` (n_rows,), `proba` (n_rows, n_classes).

    Rows of `loss` (n_classes, n_classes) are predictions, columns true classes. With
    positive `weights` (n_rows,) a row of weight two scores as two rows.
    """
    of_truth, squared = truth_scores(truth, proba)
    areas = roc_areas(truth, proba, weights)
    defined = areas[~np.isnan(areas)]
    return Scores(
        accuracy=float(np.average(chosen == truth, weights=weights)),
        balanced_accuracy=float(
            recall_score(
                truth,
                chosen,
                labels=np.unique(truth),
                average="macro",
                zero_division=0,
                sample_weight=weights,
            )
        ),
        log_loss=-float(
            np.average(np.log(np.maximum(of_truth, SMALLEST)), weights=weights)
        ),
        brier=float(np.average(squared, weights=weights)),
        roc_auc=float(defined.mean()) if len(defined) else None,
        calibration_error=expected_calibration_error(truth, proba, weights),
        n_clipped=int((of_truth < SMALLEST).sum()),
        n_classes_without_auc=len(areas) - len(defined),
        cost=None if loss is None else mean_cost(truth, proba, loss, weights),
    )


def truth_scores(
    truth: NDArray[np.intp], proba: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probability of each row's true class, and the Brier score of the row."""
    of_truth = proba[np.arange(len(truth)), truth]
    return of_truth, (proba**2).sum(axis=1) - 2 * of_truth + 1


def roc_areas(
    truth: NDArray[np.intp],
    proba: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Area under the ROC curve of each class against all others, (n_classes,).

    The share of pairs of a row of the class and another row in which the former has the
    larger probability, ties counted half (Hanley & McNeil 1982), and each by the
    product of the rows' weights. NaN for a class that all rows or none have. `truth`
    and `weights` (n_rows,), `proba` (n_rows, n_classes).
    """
    weights = np.ones(len(truth)) if weights is None else weights
    areas = np.full(proba.shape[1], np.nan)
    for label in range(proba.shape[1]):
        is_own = truth == label
        if is_own.any() and not is_own.all():
            ranks = np.unique(proba[:, label], return_inverse=True)[1]
            positive = np.bincount(ranks, weights * is_own)
            other = np.bincount(ranks, weights * ~is_own)
            below = np.cumsum(other) - other / 2
            areas[label] = (positive * below).sum() / (positive.sum() * other.sum())
    return areas


def expected_calibration_error(
    truth: NDArray[np.intp],
    proba: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """How far the probability of the most probable class is from its accuracy.

    Rows are put into 15 bins of equal width by that probability, each with its upper
    end; the absolute differences of mean probability and accuracy are averaged by the
    bins' rows (Naeini et al. 2015; Guo et al. 2017, section 2). `truth` (n_rows,) class
    indices, `proba` (n_rows, n_classes), `weights` (n_rows,) of the rows.
    """
    weights = np.ones(len(truth)) if weights is None else weights
    confidence, right, bins = binned_by_confidence(truth, proba)
    # Rows times the difference in a bin is the difference of the bin's sums.
    gaps = np.bincount(bins, weights=(confidence - right) * weights)
    return float(np.abs(gaps).sum() / weights.sum())


def binned_by_confidence(
    truth: NDArray[np.intp], proba: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.intp]]:
    """Highest probability of each row, whether it is right, and its calibration bin."""
    confidence = proba.max(axis=1)
    right = proba.argmax(axis=1) == truth
    bins = np.ceil(confidence * CALIBRATION_BINS).astype(np.intp) - 1
    return confidence, right, bins.clip(0, CALIBRATION_BINS - 1)


def least_cost(
    proba: NDArray[np.float64], loss: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Class of least expected cost for each row, ties to the earlier class.

    `proba` (n_rows, n_classes); `loss` (n_classes, n_classes), rows are predictions.
    """
    return np.asarray((proba @ loss.T).argmin(axis=1))


def mean_cost(
    truth: NDArray[np.intp],
    proba: NDArray[np.float64],
    loss: NDArray[np.float64],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Mean cost a row if the class of least expected cost is predicted."""
    costs = loss[least_cost(proba, loss), truth]
    return float(np.average(costs, weights=weights))
