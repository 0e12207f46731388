"""How well naive Bayes over class children predicts rows of folds held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import padded_map
from bayleaf.cpds.smoothing import CellCounts, CellSmoothing, Smoothing
from bayleaf.native.latents import (
    add_gains,
    changes,
    merge_cells,
    predictive_scores,
)
from bayleaf.search.latents.node_rows import CONSTANT, NodeRows
from bayleaf.search.latents.pair_tests import without

Counts = NDArray[np.float64]
ScoreName = Literal["accuracy", "log_loss", "accuracy_then_log_loss"]

# Probability that takes the place of zero, lest differences of logarithms be undefined.
_LEAST_PROBABILITY = 1e-300
# Decimals of a score that are compared; what lies below is rounding of sums.
_COMPARED_DECIMALS = 6


@dataclass(frozen=True)
class WrapperScore:
    """Scores of held-out rows under naive Bayes."""

    correct: float  # weight of the rows whose class is predicted
    log_likelihood: float  # sum of ln P(class | row), nats; 0 if not requested

    def rank(self, name: ScoreName) -> tuple[float, ...]:
        """What to compare under a wrapper score; larger is better."""
        correct = round(self.correct, _COMPARED_DECIMALS)
        likelihood = round(self.log_likelihood, _COMPARED_DECIMALS)
        if name == "accuracy":
            return (correct,)
        return (likelihood,) if name == "log_loss" else (correct, likelihood)


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of each row's log scores by a change of class children.

    A row's gain is at its fold and its codes of `left` and `right`, missing included.
    """

    left: int
    right: int
    table: Counts  # (n_folds, n_left_codes, n_right_codes, n_classes)


class HeldOut:
    """Log scores of all rows under naive Bayes without their fold, and changes to them.

    Tables are the counts of all folds less those of one, so that no row is counted
    twice. `folds` is (n_rows,), int32; latent variables may be added to `rows`.
    """

    def __init__(
        self,
        rows: NodeRows,
        folds: NDArray[np.int32],
        n_folds: int,
        smoothing: Smoothing,
        prior: Smoothing,
        score: ScoreName,
    ) -> None:
        self.rows, self.n_folds, self.score_name = rows, n_folds, score
        self._runs = rows.runs(folds, n_folds)
        self._smoothing = smoothing
        self._tables: dict[int, Counts] = {}
        weights = np.broadcast_to(rows.weights, (rows.n_rows,))
        runs = self._runs
        totals = np.bincount(runs.runs, weights, runs.n_runs).astype(np.float64)
        own = totals.reshape(n_folds, -1)
        priors = [prior.estimate(counts) for counts in without(own.sum(axis=0), own)]
        self.scores = np.log(np.maximum(priors, _LEAST_PROBABILITY))[folds]

    def tables(self, node: int) -> Counts:
        """Log P(node | class) without each fold, (n_folds, card + 1, n_classes).

        A missing state, the last, tells nothing.
        """
        if node not in self._tables:
            cells = self.rows.cell_counts(CONSTANT, node, self._runs)
            self._tables[node] = self._log_tables(cells[:, 0, :-1])
        return self._tables[node]

    def joining(self, left: int, right: int, states: NDArray[np.intp]) -> Gains:
        """Gains where a latent variable takes the place of two class children."""
        cells = self.rows.cell_counts(left, right, self._runs)
        padded = padded_map(states)
        merged = np.zeros((len(cells), int(states.max()) + 1))
        merge_cells(cells, padded, merged)
        tables = self.tables(left), self.tables(right), self._log_tables(merged)
        table = np.empty((self.n_folds, *padded.shape, self.rows.n_classes))
        changes(*tables, padded, table)
        return Gains(left, right, table)

    def adding(self, node: int) -> Gains:
        """Gains where one more node becomes a class child."""
        return Gains(CONSTANT, node, self.tables(node)[:, None])

    def score(self, gains: Gains | None = None) -> WrapperScore:
        """Score the rows as they are, or after a change."""
        if gains is None:
            nothing = np.zeros((self.n_folds, 1, 1, self.rows.n_classes))
            gains = Gains(CONSTANT, CONSTANT, nothing)
        wants_likelihood = self.score_name != "accuracy"
        return WrapperScore(
            *predictive_scores(
                self._runs,
                gains.left,
                gains.right,
                self.scores,
                gains.table,
                wants_likelihood,
            )
        )

    def accept(self, gains: Gains) -> None:
        """Change the log scores for good."""
        add_gains(self._runs, gains.left, gains.right, gains.table, self.scores)

    def _log_tables(self, states: Counts) -> Counts:
        """Log tables without each fold, from counts (n_folds * n_classes, card)."""
        own = states.reshape(self.n_folds, self.rows.n_classes, -1)
        rest = without(own.sum(axis=0), own)
        shares = np.maximum(_estimates(self._smoothing, rest), _LEAST_PROBABILITY)
        tables = np.zeros((self.n_folds, own.shape[2] + 1, own.shape[1]))
        tables[:, :-1] = np.log(shares).transpose(0, 2, 1)
        return tables


def _estimates(smoothing: Smoothing, counts: Counts) -> Counts:
    """Estimate the tables (n_folds, n_classes, card) of all folds."""
    if not isinstance(smoothing, CellSmoothing):
        return np.array([smoothing.estimate(table) for table in counts])
    marginal = counts.sum(axis=1, keepdims=True)
    parents = counts.sum(axis=2, keepdims=True)
    total = marginal.sum(axis=2, keepdims=True)
    cells = CellCounts([counts], [parents], marginal, total, counts.shape[2])
    return smoothing.probabilities(cells)
