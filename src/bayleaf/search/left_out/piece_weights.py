"""Weights of all pieces of an average's scores, learned or even, and corrected."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.domain import Variable
from bayleaf.search.left_out.cells import LeftOutRows
from bayleaf.search.left_out.class_trees import GrownTrees, learn_class_trees
from bayleaf.search.left_out.correction import Correction, learn_correction
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.search.left_out.weights import LogProbabilities, learn_weights

Floats = NDArray[np.float64]

# Least share of a feature's deepest piece in all its weights. Most cells of a model are
# those of deepest pieces, and such a share hardly moves a score.
_LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class PieceWeights:
    """Weights of all pieces, and the scores that they give.

    `curves` are the features with a curve, and the curves, see `Correction`; the values
    of the roots of `trees` are in `biases`.
    """

    weights: Floats  # (1 + n_pieces,), the log prior's first
    biases: Floats  # (n_classes,), nats
    penalty: float  # pull towards even weights; NaN with even ones
    temperature: float  # divides scores; 1 where weights were learned
    scores: Floats  # (n_rows, n_classes), left out
    curves: tuple[NDArray[np.int64], tuple[Floats, ...]] | None = None
    trees: GrownTrees | None = None

    def corrected(self, correction: Correction) -> PieceWeights:
        """The weights as a correction scales them, with its curves."""
        return replace(
            self,
            weights=correction.scale * self.weights,
            biases=correction.scale * self.biases,
            trees=self.trees and self.trees.scaled(correction.scale),
            scores=correction.scores,
            curves=(correction.features, correction.curves),
        )

    def with_trees(self, trees: GrownTrees) -> PieceWeights:
        """The weights with trees."""
        biases = self.biases + trees.base
        return replace(self, biases=biases, scores=trees.scores, trees=trees)


def weigh_pieces(
    logs: LogProbabilities,
    even: Floats,
    *,
    learn: bool,
    scale: bool,
    shape: tuple[int, int] = (0, 1),
) -> PieceWeights:
    """Weigh the pieces of left-out rows.

    With `learn`, weights are pulled towards `even` (1 + n_pieces,), under which every
    feature counts once, at the best temperature. `shape` is the number of features, and
    of pieces of each, the deepest last, that come first: deepest ones that learn less
    than a twentieth of a feature's weight get none, so that nothing need be kept for
    them.
    """
    biases = np.zeros(logs.values.shape[1])
    weights, penalty, temperature = even, float("nan"), 1.0
    if scale:
        summed = logs.log_scores(even)
        temperature = best_temperature(summed, logs.own, logs.weights)
    if learn:
        found = learn_weights(logs, even[1:] / temperature)
        pieces = _without_slight(found.pieces, shape)
        weights, temperature = np.append(found.prior, pieces), 1.0
        biases, penalty = found.biases, found.penalty
    scores = (logs.log_scores(weights) + biases) / temperature
    return PieceWeights(weights, biases, penalty, temperature, scores)


def _without_slight(pieces: Floats, shape: tuple[int, int]) -> Floats:
    """The weights, with none for deepest pieces that have hardly any."""
    n_tables = shape[0] * shape[1]
    levels = pieces[:n_tables].reshape(shape)
    is_much = levels >= _LEAST_SHARE * levels.sum(axis=1, keepdims=True)
    kept = np.maximum.accumulate(is_much[:, ::-1], axis=1)[:, ::-1]
    return np.append(np.where(kept, levels, 0.0), pieces[n_tables:])


def correct_pieces(
    weights: PieceWeights,
    left_out: LeftOutRows,
    variables: Sequence[Variable],
    linear: LinearGaussianFamilies | None,
    *,
    by_curves: bool,
    by_trees: bool,
    n_jobs: int = 1,
    unbranched: Collection[int] = (),
) -> PieceWeights:
    """Correct the scores of learned weights, as far as held-out rows gain by it.

    First trees may grow, without branching at features in `unbranched`; then features
    may get curves.
    """
    if by_trees:
        trees = learn_class_trees(
            weights.scores, left_out, variables, n_jobs, unbranched
        )
        weights = weights if trees is None else weights.with_trees(trees)
    if by_curves:
        correction = learn_correction(weights.scores, left_out, variables, linear)
        weights = weights if correction is None else weights.corrected(correction)
    return weights
