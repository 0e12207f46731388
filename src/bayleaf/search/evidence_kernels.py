"""The compiled loss of weighted evidence, with its gradient."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled


@compiled
def add_loss(
    evidence: NDArray[np.float64],
    own: NDArray[np.int64],
    row_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
    biases: NDArray[np.float64],
    gradient: NDArray[np.float64],
) -> float:
    """Log-loss of ``softmax(biases + evidence @ weights)``, and its gradient.

    `evidence` has shape (n_rows, n_classes, n_weights); `gradient` takes the
    derivatives by the weights, then those by the biases.
    """
    n_rows, n_classes, n_weights = evidence.shape
    scores = np.empty(n_classes)
    loss = 0.0
    for i in range(n_rows):
        highest = -np.inf
        for c in range(n_classes):
            scores[c] = biases[c] + np.dot(evidence[i, c], weights)
            highest = max(highest, scores[c])
        true = scores[own[i]]
        total = 0.0
        for c in range(n_classes):
            scores[c] = math.exp(scores[c] - highest)
            total += scores[c]
        loss += row_weights[i] * (math.log(total) + highest - true)
        for c in range(n_classes):
            error = row_weights[i] * (scores[c] / total - (c == own[i]))
            gradient[n_weights + c] += error
            line = evidence[i, c]
            for f in range(n_weights):
                gradient[f] += error * line[f]
    return loss
