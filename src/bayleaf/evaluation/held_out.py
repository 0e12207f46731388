"""What one model predicted for held-out rows, and its scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.metrics import Scores, expected_calibration_error
from bayleaf.evaluation.statistics import Floats
from bayleaf.results.result import Record
from bayleaf.wording import brief, brief_fields, counted, near_names, quoted

# Scores that are shares of, or means over, the rows of a fold.
SCORES = (
    "accuracy",
    "balanced_accuracy",
    "log_loss",
    "brier",
    "roc_auc",
    "calibration_error",
    "cost",
)
_FIGURES = tuple(Scores.__dataclass_fields__)
LARGER_IS_BETTER = frozenset({"accuracy", "balanced_accuracy", "roc_auc"})


@dataclass(frozen=True)
class HeldOut:
    """Predictions for held-out rows, fold after fold.

    Parameters
    ----------
    rows : ndarray of shape (n_predictions,)
        Positions of the rows in the table; each occurs once a repeat.
    truth : ndarray of shape (n_predictions,)
        True class indices.
    proba : ndarray of shape (n_predictions, n_classes)
        Predicted probabilities.
    """

    rows: NDArray[np.intp]
    truth: NDArray[np.intp]
    proba: Floats

    __repr__ = brief_fields


@dataclass(frozen=True)
class CrossValidation(
    Record,
    keys={"name": "model", "held_out": None},
    computed=("pooled_calibration_error", "n_folds_without_auc", "n_clipped"),
):
    """Scores of one classifier over all folds and repeats.

    Parameters
    ----------
    name : str
        What the classifier is called.
    folds : tuple of Scores
        One a fold, repeat after repeat.
    fit_seconds, predict_seconds : float
        Mean time a fold.
    n_parameters, n_arcs : float or None
        Mean number of free parameters and of arcs, those of the class included; None
        for models that count none.
    held_out : HeldOut
        The predictions that were scored.
    """

    name: str
    folds: tuple[Scores, ...]
    fit_seconds: float
    predict_seconds: float
    n_parameters: float | None
    n_arcs: float | None
    held_out: HeldOut

    def values(self, score: str) -> Floats:
        """A score of every fold that has it, shape (n_folds,) or less.

        Raises
        ------
        ValueError
            If there is no such score.
        """
        if score not in _FIGURES:
            raise ValueError(
                f"there is no score {quoted(score)}; {near_names(score, _FIGURES)}"
            )
        found = [getattr(fold, score) for fold in self.folds]
        return np.array([value for value in found if value is not None], dtype=float)

    def mean(self, score: str) -> float:
        """Mean of a score over the folds that have it.

        Raises
        ------
        ValueError
            If no fold has it.
        """
        values = self.values(score)
        if not len(values):
            raise ValueError(
                f"no fold has a {score}: it needs a loss or rows of two classes"
            )
        return float(values.mean())

    def sd(self, score: str) -> float:
        """Standard deviation of a score over the folds; 0 if only one has it."""
        values = self.values(score)
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    @property
    def n_folds_without_auc(self) -> int:
        """Folds in which some class has no area under its ROC curve."""
        return sum(fold.n_classes_without_auc > 0 for fold in self.folds)

    @property
    def n_clipped(self) -> int:
        """Rows whose true class had a probability below 1e-15, over all folds."""
        return sum(fold.n_clipped for fold in self.folds)

    @property
    def pooled_calibration_error(self) -> float:
        """Expected calibration error over all held-out rows together.

        A fold of few rows has bins of few rows, whose chance differences add up; this
        is the steadier figure, and the one that tables show.
        """
        return expected_calibration_error(self.held_out.truth, self.held_out.proba)

    def to_dict(self) -> dict[str, Any]:
        """Means, standard deviations and folds as plain values."""
        means = {
            name: {"mean": self.mean(name), "sd": self.sd(name)}
            for name in SCORES
            if len(self.values(name))
        }
        return super().to_dict() | means

    def __repr__(self) -> str:
        scores = [f"{name} {self.mean(name):.4f}" for name in ("accuracy", "log_loss")]
        return brief(self, self.name, counted(len(self.folds), "fold"), *scores)
