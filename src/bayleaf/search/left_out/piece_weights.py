"""Weights of all pieces of an average's scores, learned or even, and corrected."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.left_out.correction import Correction
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.search.left_out.weights import LogProbabilities, learn_weights

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PieceWeights:
    """What every piece counts.

    Parameters
    ----------
    weights : ndarray of shape (1 + n_pieces,)
        The log prior's first.
    biases : ndarray of shape (n_classes,)
        Added to the scores, nats.
    penalty : float
        Strength of the pull towards even weights that was chosen; NaN with even ones.
    temperature : float
        What scores are divided by; one where weights were learned.
    scores : ndarray of shape (n_rows, n_classes)
        Those of the left-out rows.
    curves : tuple of (ndarray, tuple of ndarray), optional
        Features with a curve, and the curves; see `Correction`.
    """

    weights: Floats
    biases: Floats
    penalty: float
    temperature: float
    scores: Floats
    curves: tuple[NDArray[np.int64], tuple[Floats, ...]] | None = None

    def corrected(self, correction: Correction) -> PieceWeights:
        """The weights as a correction scales them, with its curves."""
        return replace(
            self,
            weights=correction.scale * self.weights,
            biases=correction.scale * self.biases,
            scores=correction.scores,
            curves=(correction.features, correction.curves),
        )


def weigh_pieces(
    logs: LogProbabilities, even: Floats, *, learn: bool, scale: bool
) -> PieceWeights:
    """Weigh the pieces of left-out rows.

    Parameters
    ----------
    logs : LogProbabilities
        What the rows say of the classes, piece by piece.
    even : ndarray of shape (1 + n_pieces,)
        Weights under which every feature counts once.
    learn : bool
        Whether weights are learned; they are pulled towards the even ones at the best
        temperature.
    scale : bool
        Whether a temperature is sought.
    """
    biases = np.zeros(logs.values.shape[1])
    weights, penalty, temperature = even, float("nan"), 1.0
    if scale:
        summed = logs.log_scores(even)
        temperature = best_temperature(summed, logs.own, logs.weights)
    if learn:
        found = learn_weights(logs, even[1:] / temperature)
        weights, temperature = np.append(found.prior, found.pieces), 1.0
        biases, penalty = found.biases, found.penalty
    scores = (logs.log_scores(weights) + biases) / temperature
    return PieceWeights(weights, biases, penalty, temperature, scores)
