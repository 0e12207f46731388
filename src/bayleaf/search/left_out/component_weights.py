"""Weights of all pieces of an average's scores, learned or even, and corrected.

Generative log-probabilities get weights that minimise a conditional loss, as in
WANBIA-C (Zaidi, Cerquides, Carman & Webb 2013); here the log-probabilities of every row
leave the row itself out, so that the weights cannot reward a table for remembering it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import processor_count, run_tasks, stretches, worthwhile
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.domain import Variable
from bayleaf.native.search import weighted_loss, weights_descents
from bayleaf.search.left_out.corrections import (
    GrownTrees,
    learn_class_trees,
    learn_correction,
)
from bayleaf.search.left_out.left_out_scores import LeftOutRows
from bayleaf.search.left_out.temperature import best_temperature

Floats = NDArray[np.float64]
Ranges = Sequence[tuple[int, int]]

# Strengths of the pull towards equal weights, the strongest first.
PENALTIES = (256.0, 64.0, 16.0, 4.0, 1.0)
# Strengths that are tried too where rows are few, towards equal weights and towards the
# prior alone: if features say little, equal weights say too much.
_STRONGER = (4096.0, 1024.0)
# Rows above which one held-out quarter takes the place of three folds.
_FOLD_ROWS = 2000
_N_FOLDS = 3
# The same for the logs of all rows, by class and piece: each descent reads all of them.
_FOLD_VALUES = 10_000_000
# Fewer rows than this cannot tell one penalty from another.
MIN_ROWS = 12
# Nats that one penalty must lose more than another to count less by a factor of e, and
# the least share with which one counts.
_NEAR_EQUAL, _LEAST_SHARE = 3.0, 0.01
# Most steps of a descent, and the relative gain of a step below which it ends: what a
# trial is for, telling one penalty from another, needs no more.
_TRIAL, _FINAL = (40, 1e-5), (100, 1e-6)
# Values that are turned to double precision at a time: fresh memory costs more than
# the products.
_BLOCK_VALUES = 1 << 18
# Products, about a tenth of a millisecond's work, for which a thread is started.
_LEAST_WORK = 100_000
# Least share of a feature's deepest piece in all its weights. Most cells of a model are
# those of deepest pieces, and such a share hardly moves a score.
_LEAST_DEEPEST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class LogProbabilities:
    """Left-out log-probabilities of the classes, piece by piece.

    Rows are in random order. Single precision halves what each step of the search
    reads.
    """

    values: NDArray[np.float32]  # (n_rows, n_classes, 1 + n_pieces), nats, prior first
    own: NDArray[np.int64]  # (n_rows,), true classes
    weights: Floats  # (n_rows,)
    n_threads: int = 1  # the result does not depend on it

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.own)

    def log_scores(self, weights: Floats) -> Floats:
        """Weighted sums of the logs, (n_rows, n_classes), nats.

        `weights` (1 + n_pieces,) begins with the prior's.
        """
        scores = np.empty(self.values.shape[:2])
        step = max(1, _BLOCK_VALUES // self.values[:1].size)

        def add_up(first: int, last: int) -> None:
            for start in range(first, last, step):
                rows = slice(start, min(start + step, last))
                scores[rows] = self.values[rows] @ weights

        self._by_rows(add_up)
        return scores

    def useful_threads(self, n_points: int = 1) -> int:
        """Threads that find enough to do at so many points at a time."""
        return worthwhile(self.n_threads, n_points * self.values.size, _LEAST_WORK)

    def _by_rows(self, task: Callable[[int, int], None]) -> None:
        """Run a task on stretches of rows, side by side where there are many."""
        threads = self.useful_threads()
        run_tasks(
            [partial(task, *ends) for ends in stretches(self.n_rows, threads)], threads
        )

    def loss(self, parameters: Floats, ranges: Ranges) -> tuple[float, Floats]:
        """Log-loss (nats, weighted sum) of some rows, and its gradient.

        `parameters` are 1 + n_pieces weights, then a bias for each class; `ranges` are
        pairs (first, last).
        """
        gradient = np.empty(len(parameters))
        loss = weighted_loss(*self._native_rows(ranges), parameters, gradient)
        return loss, gradient

    def descend(
        self,
        ranges: Ranges,
        starts: Floats,
        centres: Floats,
        penalties: Floats,
        patience: tuple[int, float],
    ) -> Floats:
        """Weights, none negative, and biases of least penalised loss.

        Each of `penalties` (n_descents,) pulls weights towards its row of `centres`;
        biases are pulled with strength 1. Starts, centres and what comes out are
        (n_descents, 1 + n_pieces + n_classes). `patience` is the most steps, and the
        relative gain of a step below which a descent ends.
        """
        found = starts.copy()
        pulls = np.ones_like(found)
        pulls[:, : self.values.shape[2]] = penalties[:, None]
        # More threads than processors would wait for one another.
        threads = min(self.useful_threads(len(found)), processor_count())
        rows = self._native_rows(ranges)
        weights_descents(*rows, found, centres, pulls, *patience, threads)
        return found

    def _native_rows(
        self, ranges: Ranges
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Rows, and which of them count, as the native loops take them."""
        weights = np.ascontiguousarray(self.weights)
        return self.values, self.own, weights, np.array(ranges, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class LearnedWeights:
    """Weights of prior and pieces, and biases."""

    prior: float  # of the log prior
    pieces: Floats  # (n_pieces,), none negative
    biases: Floats  # (n_classes,), added to the scores
    penalty: float  # strength of the pull that counts most


def learn_weights(logs: LogProbabilities, centre: Floats) -> LearnedWeights:
    """Minimise the log-loss of left-out rows over non-negative weights.

    Pieces are pulled towards `centre` (n_pieces,), the prior to 1, biases to 0, with
    the penalty that validates best among `PENALTIES` on one held-out quarter. For up to
    2 000 rows it is the mean over all penalties, and over all that pull to the prior
    alone, each weighted by the loss of three folds: a choice among near equals would be
    luck. Fewer than 12 rows take the strongest penalty.
    """
    _, n_classes, n_weights = logs.values.shape
    start = np.concatenate([[1.0], centre, np.zeros(n_classes)])
    trials = _trials(logs, start)
    everything = [(0, logs.n_rows)]
    each = logs.descend(
        everything, trials.nearby, trials.centres, trials.penalties, _FINAL
    )
    found = (trials.shares[:, None] * each).sum(axis=0)
    return LearnedWeights(
        prior=float(found[0]),
        pieces=found[1:n_weights].copy(),
        biases=found[n_weights:].copy(),
        penalty=float(trials.penalties[trials.shares.argmax()]),
    )


class _Trials(NamedTuple):
    """Pulls that count, what each counts, and the mean weights of its folds."""

    centres: Floats  # (n_trials, n_parameters)
    penalties: Floats  # (n_trials,)
    shares: Floats  # (n_trials,), sum 1
    nearby: Floats  # (n_trials, n_parameters)


def _trials(logs: LogProbabilities, even: Floats) -> _Trials:
    """Pulls towards even weights, and the prior alone where rows are few.

    Shares follow from the loss of rows that the weights were not fitted to.
    """
    n_rows = logs.n_rows
    if n_rows < MIN_ROWS:
        strongest = np.array(PENALTIES[:1])
        return _Trials(even[None], strongest, np.ones(1), even[None])
    is_small = n_rows <= _FOLD_ROWS and logs.values.size <= _FOLD_VALUES
    n_folds, n_parts = (_N_FOLDS, _N_FOLDS) if is_small else (1, 4)
    edges = [n_rows * part // n_parts for part in range(n_parts + 1)]
    penalties = np.array(PENALTIES)
    centres = even[None]
    if is_small:
        penalties = np.array((*_STRONGER, *PENALTIES))
        centres = np.stack([even, np.append(even[0], np.zeros(len(even) - 1))])
    each = len(penalties)
    penalties = np.tile(penalties, len(centres))
    centres = np.repeat(centres, each, axis=0)
    folds = list(itertools.pairwise(edges))[:n_folds]
    tasks = [
        partial(_fit_and_validate, logs, centres, penalties, fold) for fold in folds
    ]
    # Threads that descents have no use for take other folds.
    threads = logs.n_threads // logs.useful_threads(len(penalties))
    losses, found = zip(*run_tasks(tasks, threads), strict=True)
    totals, nearby = np.sum(losses, axis=0), np.mean(found, axis=0)
    if is_small:
        shares = np.exp((totals.min() - totals) / _NEAR_EQUAL)
    else:
        shares = (np.arange(len(totals)) == np.argmin(totals)).astype(np.float64)
    shares[shares < _LEAST_SHARE * shares.sum()] = 0.0
    shares /= shares.sum()
    counts = shares > 0.0
    return _Trials(centres[counts], penalties[counts], shares[counts], nearby[counts])


def _fit_and_validate(
    logs: LogProbabilities,
    centres: Floats,
    penalties: Floats,
    held_out: tuple[int, int],
) -> tuple[list[float], Floats]:
    """Losses on held-out rows of the weights that the other rows give, and these."""
    first, last = held_out
    fitted = [(0, first), (last, logs.n_rows)]
    found = logs.descend(fitted, centres, centres, penalties, _TRIAL)
    return [logs.loss(weights, [held_out])[0] for weights in found], found


@dataclass(frozen=True, eq=False)
class ComponentWeights:
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


def fit_component_weights(
    logs: LogProbabilities,
    even: Floats,
    *,
    learn: bool,
    scale: bool,
    shape: tuple[int, int] = (0, 1),
) -> ComponentWeights:
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
    return ComponentWeights(weights, biases, penalty, temperature, scores)


def _without_slight(pieces: Floats, shape: tuple[int, int]) -> Floats:
    """The weights, with none for deepest pieces that have hardly any."""
    n_tables = shape[0] * shape[1]
    levels = pieces[:n_tables].reshape(shape)
    is_much = levels >= _LEAST_DEEPEST_SHARE * levels.sum(axis=1, keepdims=True)
    kept = np.maximum.accumulate(is_much[:, ::-1], axis=1)[:, ::-1]
    return np.append(np.where(kept, levels, 0.0), pieces[n_tables:])


def correct_components(
    weights: ComponentWeights,
    left_out: LeftOutRows,
    variables: Sequence[Variable],
    linear: LinearGaussianFamilies | None,
    *,
    by_curves: bool,
    by_trees: bool,
    n_jobs: int = 1,
    unbranched: Collection[int] = (),
) -> ComponentWeights:
    """Correct the scores of learned weights, as far as held-out rows gain by it.

    First trees may grow, without branching at features in `unbranched`; then features
    may get curves.
    """
    if by_trees:
        trees = learn_class_trees(
            weights.scores, left_out, variables, n_jobs, unbranched
        )
        if trees is not None:
            biases = weights.biases + trees.base
            weights = replace(weights, biases=biases, scores=trees.scores, trees=trees)
    if by_curves:
        correction = learn_correction(weights.scores, left_out, variables, linear)
        if correction is not None:
            weights = replace(
                weights,
                weights=correction.scale * weights.weights,
                biases=correction.scale * weights.biases,
                trees=weights.trees and weights.trees.scaled(correction.scale),
                scores=correction.scores,
                curves=(correction.features, correction.curves),
            )
    return weights
