"""How much of each piece of evidence is new: weights learned on left-out rows.

Generative log-probabilities get weights that minimise a conditional loss, as in
WANBIA-C (Zaidi, Cerquides, Carman & Webb 2013); here the log-probabilities of every row
leave the row itself out, so that the weights cannot reward a table for remembering it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

from bayleaf.counts.threads import run_tasks, stretches, worthwhile

# Strengths of the pull towards equal weights, the strongest first.
PENALTIES = (256.0, 64.0, 16.0, 4.0, 1.0)
# Rows above which one held-out quarter takes the place of three folds.
_FOLD_ROWS = 2000
_N_FOLDS = 3
# Fewer rows than this cannot tell one penalty from another.
MIN_ROWS = 12
_TRIAL_STEPS, _FINAL_STEPS = 40, 100
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
        Threads that may add up losses; the result does not depend on it.
    """

    values: NDArray[np.float32]
    own: NDArray[np.int64]
    weights: Floats
    n_threads: int = 1

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
        for first in range(0, self.n_rows, _BLOCK_ROWS):
            rows = slice(first, first + _BLOCK_ROWS)
            scores[rows] = self.values[rows] @ weights
        return scores

    def loss(self, parameters: Floats, ranges: Ranges) -> tuple[float, Floats]:
        """Log-loss (nats, weighted sum) of some rows, and its gradient.

        Parameters
        ----------
        parameters : ndarray of shape (1 + n_pieces + n_classes,)
            Weights, then a bias for each class.
        ranges : sequence of (first, last)
            Which rows.
        """
        from bayleaf.search.evidence_kernels import add_losses

        n_weights = self.values.shape[2]
        weights = np.ascontiguousarray(parameters[:n_weights])
        biases = np.ascontiguousarray(parameters[n_weights:])
        blocks = np.array(
            [
                (start, min(start + _BLOCK_ROWS, stop))
                for first, stop in ranges
                for start in range(first, stop, _BLOCK_ROWS)
            ],
            dtype=np.int64,
        )
        losses = np.zeros(len(blocks))
        gradients = np.zeros((len(blocks), len(parameters)))

        def add_stretch(first: int, last: int) -> None:
            add_losses(
                self.values,
                self.own,
                self.weights,
                weights,
                biases,
                blocks[first:last],
                losses[first:last],
                gradients[first:last],
            )

        work = n_weights * self.values.shape[1] * float(np.ptp(blocks))
        threads = worthwhile(self.n_threads, work, _LEAST_WORK)
        run_tasks(
            [partial(add_stretch, *ends) for ends in stretches(len(blocks), threads)],
            threads,
        )
        # Block by block, in the order of rows, whoever added it up.
        return float(losses.sum()), gradients.sum(axis=0)


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
    log_loss : float
        Mean log-loss (nats) of the left-out rows under these weights.
    """

    prior: float
    pieces: Floats
    biases: Floats
    penalty: float
    log_loss: float


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
    whole = [(0, evidence.n_rows)]
    # The search's own vectors are short: on more threads they would only wait.
    with _controller().limit(limits=1, user_api="blas"):
        penalty = _best_penalty(evidence, start)
        found = _minimize(evidence, whole, start, penalty, _FINAL_STEPS)
    loss, _ = evidence.loss(found, whole)
    return EvidenceWeights(
        prior=float(found[0]),
        pieces=found[1:n_weights].copy(),
        biases=found[n_weights:].copy(),
        penalty=penalty,
        log_loss=loss / float(evidence.weights.sum()),
    )


@cache
def _controller() -> ThreadpoolController:
    """What sets the threads of the linear algebra; finding it takes a while."""
    return ThreadpoolController()


def _best_penalty(evidence: Evidence, centre: Floats) -> float:
    """The penalty whose weights lose least on rows that they were not fitted to."""
    n_rows = evidence.n_rows
    if n_rows < MIN_ROWS:
        return PENALTIES[0]
    n_parts = _N_FOLDS if n_rows <= _FOLD_ROWS else 4
    n_folds = _N_FOLDS if n_rows <= _FOLD_ROWS else 1
    edges = [n_rows * part // n_parts for part in range(n_parts + 1)]
    trials = [
        partial(
            _held_out_loss,
            evidence,
            centre,
            penalty,
            [(0, edges[fold]), (edges[fold + 1], n_rows)],
            [(edges[fold], edges[fold + 1])],
        )
        for penalty in PENALTIES
        for fold in range(n_folds)
    ]
    losses = np.reshape(run_tasks(trials, evidence.n_threads), (-1, n_folds))
    return PENALTIES[int(np.argmin(losses.sum(axis=1)))]


def _held_out_loss(
    evidence: Evidence, centre: Floats, penalty: float, fitted: Ranges, held_out: Ranges
) -> float:
    """Loss on some rows of the weights that others give under a penalty."""
    found = _minimize(evidence, fitted, centre, penalty, _TRIAL_STEPS)
    return evidence.loss(found, held_out)[0]


def _minimize(
    evidence: Evidence,
    rows: Ranges,
    centre: Floats,
    penalty: float,
    max_steps: int,
) -> Floats:
    """Weights and biases of least penalised loss, by L-BFGS-B."""
    n_weights, n_classes = evidence.values.shape[2], evidence.values.shape[1]
    pull = np.concatenate([np.full(n_weights, penalty), np.ones(n_classes)])

    def objective(parameters: Floats) -> tuple[float, Floats]:
        loss, gradient = evidence.loss(parameters, rows)
        off = parameters - centre
        return loss + 0.5 * float(pull @ off**2), gradient + pull * off

    result = minimize(
        objective,
        centre,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * n_weights + [(None, None)] * n_classes,
        options={"maxiter": max_steps},
    )
    return np.asarray(result.x)
