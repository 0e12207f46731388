"""How much of each piece of evidence is new: weights learned on left-out rows.

Generative log-probabilities get weights that minimise a conditional loss, as in
WANBIA-C (Zaidi, Cerquides, Carman & Webb 2013); here the log-probabilities of every row
leave the row itself out, so that the weights cannot reward a table for remembering it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import is_little, kernel_for
from bayleaf.counts.threads import run_tasks, stretches, worthwhile
from bayleaf.search.evidence_kernels import (
    HERE,
    MEMORY,
    THERE,
    Aim,
    Path,
    add_losses,
    descend,
)

# Strengths of the pull towards equal weights, the strongest first.
PENALTIES = (256.0, 64.0, 16.0, 4.0, 1.0)
# Rows above which one held-out quarter takes the place of three folds.
_FOLD_ROWS = 2000
_N_FOLDS = 3
# Fewer rows than this cannot tell one penalty from another.
MIN_ROWS = 12
# Most steps of a descent, and the relative gain of a step below which it ends: what a
# trial is for, telling one penalty from another, needs no more.
_TRIAL, _FINAL = (40, 1e-5), (100, 1e-6)
# Rows whose losses are added up at a time, whatever the number of threads.
_BLOCK_ROWS = 512
# Products, about a tenth of a millisecond's work, for which a thread is started.
_LEAST_WORK = 100_000

Floats = NDArray[np.float64]
Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What left-out rows say of the classes, piece by piece.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_classes, 1 + n_pieces), dtype float32
        Log-probabilities in nats, the log prior first. Rows in random order. Single
        precision halves what each step of the search has to read.
    own : ndarray of shape (n_rows,), dtype int64
        True class of each row.
    weights : ndarray of shape (n_rows,)
        Row weights.
    n_threads : int
        Threads that may be used; the result does not depend on it.
    work : float, default=inf
        Estimate of the steps that the whole fit takes, see `kernel_for`.
    """

    values: NDArray[np.float32]
    own: NDArray[np.int64]
    weights: Floats
    n_threads: int = 1
    work: float = math.inf

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.own)

    def log_scores(self, weights: Floats) -> Floats:
        """Weighted sums of the evidence, shape (n_rows, n_classes), nats.

        Parameters
        ----------
        weights : ndarray of shape (1 + n_pieces,)
            The prior's weight first.
        """
        scores = np.empty(self.values.shape[:2])

        def add_up(first: int, last: int) -> None:
            for start in range(first, last, _BLOCK_ROWS):
                rows = slice(start, min(start + _BLOCK_ROWS, last))
                scores[rows] = self.values[rows] @ weights

        self._by_rows(add_up)
        return scores

    @cached_property
    def contrasts(self) -> NDArray[np.float32]:
        """What speaks for each class against the first.

        Shape (n_rows, n_classes - 1, 1 + n_pieces); all that a loss depends on.
        """
        found = np.empty_like(self.values[:, 1:])

        def subtract(first: int, last: int) -> None:
            rows = slice(first, last)
            np.subtract(self.values[rows, 1:], self.values[rows, :1], out=found[rows])

        self._by_rows(subtract)
        return found

    def _by_rows(self, task: Callable[[int, int], None]) -> None:
        """Run a task on stretches of rows, side by side where there are many."""
        threads = worthwhile(self.n_threads, self.values.size, _LEAST_WORK)
        run_tasks(
            [partial(task, *ends) for ends in stretches(self.n_rows, threads)],
            threads,
        )

    def loss(self, parameters: Floats, ranges: Ranges) -> tuple[float, Floats]:
        """Log-loss (nats, weighted sum) of some rows, and its gradient.

        Parameters
        ----------
        parameters : ndarray of shape (1 + n_pieces + n_classes,)
            Weights, then a bias for each class.
        ranges : sequence of (first, last)
            Which rows.
        """
        gradient = np.zeros(len(parameters))
        add = kernel_for(add_losses, self.work)
        loss = sum(
            add(*self._rows, parameters, first, last, gradient)
            for first, last in ranges
        )
        return loss, gradient

    def least_loss(
        self,
        ranges: Ranges | None,
        start: Floats,
        centre: Floats,
        penalty: float,
        patience: tuple[int, float],
    ) -> Floats:
        """Weights, none negative, and biases of least penalised loss of some rows.

        Parameters
        ----------
        ranges : sequence of (first, last), or None
            Which rows; None for all of them, which two threads may share: no other
            descent should run meanwhile.
        start : ndarray of shape (1 + n_pieces + n_classes,)
            Where the descent begins.
        centre : ndarray of the same shape
            Where the penalty pulls to.
        penalty : float
            Strength of the pull on weights; biases are pulled with strength 1.
        patience : (int, float)
            Most steps, and the relative gain of a step below which the descent ends.
        """
        n_weights = self.values.shape[2]
        pull = np.append(np.full(n_weights, penalty), np.ones(len(start) - n_weights))
        points = np.zeros((5, len(start)))
        points[THERE] = start
        curvature = np.zeros((2, MEMORY, len(start)))
        path = points, curvature, np.zeros(3), np.array([0, -1])
        aim = centre, pull, *patience
        if ranges is None and not is_little(self.work):
            self._descend_together(path, aim)
        else:
            every = [(0, self.n_rows)] if ranges is None else ranges
            kernel_for(descend, self.work)(
                *self._rows, np.array(every, dtype=np.int64), path, aim
            )
        end: Floats = points[HERE]
        return end

    @property
    def _rows(self) -> tuple[NDArray[np.float32], NDArray[np.int64], Floats]:
        """What a kernel takes of the rows."""
        return self.contrasts, self.own, np.ascontiguousarray(self.weights)

    def _descend_together(self, path: Path, aim: Aim) -> None:
        """Descend over all rows, half of which another thread may see to."""
        from bayleaf.search.evidence_team_kernels import N_SIGNALS, help_out, lead

        middle = self.n_rows // 2
        signals = np.zeros(N_SIGNALS, dtype=np.int64)
        share = np.zeros(path[0].shape[1] + 1)
        tasks = [
            partial(lead, *self._rows, middle, path, aim, signals, share),
            partial(help_out, *self._rows, middle, path[0], signals, share),
        ]
        threads = worthwhile(self.n_threads, self.values.size, _LEAST_WORK)
        run_tasks(tasks[:threads], threads)


@dataclass(frozen=True, eq=False)
class EvidenceWeights:
    """Learned weights.

    Parameters
    ----------
    prior : float
        Weight of the log prior.
    pieces : ndarray of shape (n_pieces,)
        Weight of each piece of evidence, none negative.
    biases : ndarray of shape (n_classes,)
        Added to the scores.
    penalty : float
        The pull towards equal weights that was chosen.
    """

    prior: float
    pieces: Floats
    biases: Floats
    penalty: float


def learn_evidence_weights(evidence: Evidence, centre: float) -> EvidenceWeights:
    """Minimise the log-loss of left-out rows over non-negative weights.

    Parameters
    ----------
    evidence : Evidence
        The rows.
    centre : float
        Weight towards which all pieces are pulled; the prior's is pulled to 1, biases
        to 0.

    Returns
    -------
    EvidenceWeights
        With the penalty that validates best among `PENALTIES`: three folds up to
        2 000 rows, one held-out quarter beyond. The strongest for fewer than 12 rows.
    """
    n_weights, n_classes = evidence.values.shape[2], evidence.values.shape[1]
    start = np.concatenate([[1.0], np.full(n_weights - 1, centre), np.zeros(n_classes)])
    # Once, before trials that run side by side ask for them.
    _ = evidence.contrasts
    penalty, nearby = _best_penalty(evidence, start)
    found = evidence.least_loss(None, nearby, start, penalty, _FINAL)
    return EvidenceWeights(
        prior=float(found[0]),
        pieces=found[1:n_weights].copy(),
        biases=found[n_weights:].copy(),
        penalty=penalty,
    )


def _best_penalty(evidence: Evidence, centre: Floats) -> tuple[float, Floats]:
    """The penalty whose weights lose least on rows that they were not fitted to.

    With it, the mean of the weights that it gave.
    """
    n_rows = evidence.n_rows
    if n_rows < MIN_ROWS:
        return PENALTIES[0], centre
    n_parts = _N_FOLDS if n_rows <= _FOLD_ROWS else 4
    n_folds = _N_FOLDS if n_rows <= _FOLD_ROWS else 1
    edges = [n_rows * part // n_parts for part in range(n_parts + 1)]
    # The weakest pull, whose descent is the longest, begins.
    trials = [
        partial(
            _fit_and_validate,
            evidence,
            centre,
            penalty,
            [(0, edges[fold]), (edges[fold + 1], n_rows)],
            [(edges[fold], edges[fold + 1])],
        )
        for penalty in reversed(PENALTIES)
        for fold in range(n_folds)
    ]
    losses, found = zip(*run_tasks(trials, evidence.n_threads), strict=True)
    totals = np.reshape(losses, (-1, n_folds)).sum(axis=1)[::-1]
    best = int(np.argmin(totals))
    first = (len(PENALTIES) - 1 - best) * n_folds
    return PENALTIES[best], np.mean(found[first : first + n_folds], axis=0)


def _fit_and_validate(
    evidence: Evidence, centre: Floats, penalty: float, fitted: Ranges, held_out: Ranges
) -> tuple[float, Floats]:
    """Loss on some rows of the weights that others give under a penalty, and these."""
    found = evidence.least_loss(fitted, centre, centre, penalty, _TRIAL)
    return evidence.loss(found, held_out)[0], found
