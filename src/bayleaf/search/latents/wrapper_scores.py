"""How well naive Bayes over class children predicts rows of folds held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import padded_map
from bayleaf.cpds.smoothing import CellCounts, CellSmoothing, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.native.counts import key_counts
from bayleaf.native.latents import (
    PackedColumns,
    PackedRuns,
    add_gains,
    changes,
    count_cells,
    latent_codes,
    merge_cells,
    predictive_scores,
)
from bayleaf.search.latents.pair_tests import without

Counts = NDArray[np.float64]
ScoreName = Literal["accuracy", "log_loss", "accuracy_then_log_loss"]

# Probability that takes the place of zero, lest differences of logarithms be undefined.
_LEAST_PROBABILITY = 1e-300
# Decimals of a score that are compared; what lies below is rounding of sums.
_COMPARED_DECIMALS = 6
# A node that is no variable: it has one state in every row and is never missing.
CONSTANT = -1


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

    def removing(self, node: int) -> Gains:
        """Gains where a node stops being a class child."""
        return Gains(CONSTANT, node, -self.tables(node)[:, None])

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


class NodeRows:
    """States of features and latent variables in every row.

    `columns` (2 n_features + 1, n_rows), uint16, contains the states of each node,
    where the code `cards[node]` is missing; the last row is that of `CONSTANT`, and
    rows of nodes not made yet are undefined. `classes` is (n_rows,), `weights`
    (n_rows,) or (1,).
    """

    def __init__(self, codes: Codes) -> None:
        n_features = codes.n_variables - 1
        # What no latent variable has written to takes no memory.
        self.columns = np.empty((2 * n_features + 1, codes.n_rows), dtype=np.uint16)
        self.columns[CONSTANT] = 0
        for feature in range(n_features):
            self.columns[feature] = codes.column(feature)
        self.cards = list(codes.cards[:-1])
        self.n_classes = codes.cards[-1]
        self.classes = codes.column(n_features).astype(np.uint16)
        weights = np.ones(1) if codes.unit_weights else codes.weights
        self.weights = np.ascontiguousarray(weights)
        n_codes = [*(card + 1 for card in self.cards), *[0] * n_features, 1]
        self.packed = PackedColumns(self.columns, n_codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.classes)

    def runs(self, parts: NDArray[np.int32], n_parts: int) -> PackedRuns:
        """Number part and class of each row as one: part * n_classes + class."""
        numbers: NDArray[np.int32] = parts * np.int32(self.n_classes) + self.classes
        n_runs = n_parts * self.n_classes
        return PackedRuns(self.packed, numbers, n_runs, self.weights)

    def add_latent(self, left: int, right: int, states: NDArray[np.intp]) -> int:
        """Add a latent variable over two nodes; its index."""
        node = len(self.cards)
        card = int(states.max()) + 1
        latent_codes(self.packed, left, right, padded_map(states), node, card + 1)
        self.cards.append(card)
        return node

    def cell_counts(self, left: int, right: int, runs: PackedRuns) -> Counts:
        """Count the joint states of two nodes in each run of rows.

        Returns (n_runs, n_left_codes, n_right_codes); each last code is the missing
        state.
        """
        n_codes = self.packed.n_codes
        counts = np.zeros((runs.n_runs, n_codes[left], n_codes[right]))
        count_cells(runs, left, right, counts)
        return counts

    def pair_counts(self, node: int, others: Sequence[int], runs: PackedRuns) -> Counts:
        """Count one node's joint states with those of others in one pass.

        Returns (n_runs, card + 1, n_other_states), the states of each other node
        followed by its missing state.
        """
        n_states = self.cards[node] + 1
        keys = runs.runs * np.int32(n_states) + self.columns[node]
        widths = np.array([self.cards[other] + 1 for other in others], dtype=np.int64)
        starts = np.cumsum(widths) - widths
        tables = np.zeros((runs.n_runs * n_states + 1, int(widths.sum())))
        slots = np.array(others, dtype=np.int64)
        # Columns of two bytes are counted just as those of one.
        block: NDArray[Any] = self.columns
        key_counts(keys, block, slots, starts, widths, self.weights, tables)
        return tables[1:].reshape(runs.n_runs, n_states, -1)
