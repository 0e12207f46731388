"""The compiled loss of weighted evidence, with its gradient."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled_sums


@compiled_sums
def add_losses(
    evidence: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: NDArray[np.float64],
    weights: NDArray[np.float64],
    biases: NDArray[np.float64],
    blocks: NDArray[np.int64],
    losses: NDArray[np.float64],
    gradients: NDArray[np.float64],
) -> None:
    """Log-loss of ``softmax(biases + evidence @ weights)`` and its gradient, by blocks.

    `evidence` has shape (n_rows, n_classes, n_weights); `blocks` (n_blocks, 2) holds
    the first row of each block and the one after its last; `losses` (n_blocks,) and
    `gradients` (n_blocks, n_weights + n_classes) take a block's sums, the derivatives
    by the weights before those by the biases.
    """
    n_classes, n_weights = evidence.shape[1:]
    scores = np.empty(n_classes)
    for b in range(blocks.shape[0]):
        loss = 0.0
        for i in range(blocks[b, 0], blocks[b, 1]):
            highest = -np.inf
            for c in range(n_classes):
                score = biases[c]
                for f in range(n_weights):
                    score += evidence[i, c, f] * weights[f]
                scores[c] = score
                highest = max(highest, score)
            true = scores[own[i]]
            total = 0.0
            for c in range(n_classes):
                scores[c] = math.exp(scores[c] - highest)
                total += scores[c]
            loss += row_weights[i] * (math.log(total) + highest - true)
            for c in range(n_classes):
                error = row_weights[i] * (scores[c] / total - (c == own[i]))
                gradients[b, n_weights + c] += error
                for f in range(n_weights):
                    gradients[b, f] += error * evidence[i, c, f]
        losses[b] = loss
