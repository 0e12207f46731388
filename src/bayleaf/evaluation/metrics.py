"""Scores of predicted probabilities on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import recall_score

# Probabilities below this count as this in the log-loss.
SMALLEST = 1e-15


@dataclass(frozen=True)
class Scores:
    """Scores of one set of held-out rows.

    Parameters
    ----------
    accuracy : float
        Share of rows whose class was predicted.
    balanced_accuracy : float
        Mean over classes of the share predicted.
    log_loss : float
        Mean negative log probability (nats) of the true class, probabilities
        clipped at 1e-15.
    brier : float
        Mean squared distance of the probabilities from the true class, summed over
        classes (Brier 1950).
    n_clipped : int
        Rows whose true class had a probability below 1e-15.
    """

    accuracy: float
    balanced_accuracy: float
    log_loss: float
    brier: float
    n_clipped: int


def score_predictions(
    truth: NDArray[np.intp], chosen: NDArray[np.intp], proba: NDArray[np.float64]
) -> Scores:
    """Score predictions.

    Parameters
    ----------
    truth, chosen : ndarray of shape (n_rows,)
        True and predicted class indices.
    proba : ndarray of shape (n_rows, n_classes)
        Predicted probabilities.
    """
    rows = np.arange(len(truth))
    of_truth = proba[rows, truth]
    squared = (proba**2).sum(axis=1) - 2 * of_truth + 1
    return Scores(
        accuracy=float(np.mean(chosen == truth)),
        balanced_accuracy=float(
            recall_score(
                truth, chosen, labels=np.unique(truth), average="macro", zero_division=0
            )
        ),
        log_loss=float(-np.log(np.maximum(of_truth, SMALLEST)).mean()),
        brier=float(squared.mean()),
        n_clipped=int((of_truth < SMALLEST).sum()),
    )
