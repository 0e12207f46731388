"""Rows held out from mixtures: how many components they need, and what scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.shuffled_rows import merged_rows
from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.latent.latent_class_em import EMOptions, learn_latent_class
from bayleaf.models.latent_class_model import LatentClassModel
from bayleaf.progress import Work
from bayleaf.wording import counted

# A size is better if it lowers the least log-loss so far by more than this share;
# beyond what the rows need, more components change little either way.
_LEAST_GAIN = 0.01
# Sizes in a row that may fail to be better before growing ends.
_PATIENCE = 3


@dataclass(frozen=True)
class SizeStep:
    """A number of components that was tried."""

    n_components: int  # of each class
    log_loss: float  # weighted mean of held-out rows, nats


@dataclass(frozen=True)
class HeldOut:
    """Folds that are held out, and how mixtures are learned from the rest.

    Distinct rows are dealt to folds class by class. `seed` is that of folds and starts;
    `n_threads` share the folds without effect on the result.
    """

    n_folds: int
    seed: int
    smoothing: Smoothing  # of the tables
    prior_rule: Smoothing  # of P(class)
    options: EMOptions
    max_components: int = 32
    n_threads: int = 1


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Log joints of distinct rows under mixtures that were not learned from them."""

    log_scores: NDArray[np.float64]  # (n_rows, n_classes), nats
    own: NDArray[np.intp]  # (n_rows,), true classes
    weights: NDArray[np.float64]  # (n_rows,)

    @property
    def log_loss(self) -> float:
        """Mean -ln P(true class | features) by weight (nats); infinite without rows."""
        if not len(self.own):
            return math.inf
        true = self.log_scores[np.arange(len(self.own)), self.own]
        losses = log_sum_exp(self.log_scores, axis=1) - true
        return float(np.sum(self.weights * losses) / np.sum(self.weights))


@dataclass(frozen=True)
class SizeChoice:
    """Number of components that held-out rows favour."""

    n_components: int  # last size that lowered the log-loss by over 1%
    steps: tuple[SizeStep, ...]  # all sizes tried, in order


def choose_size(codes: Codes, domain: Domain, held_out: HeldOut) -> SizeChoice:
    """Try 1, 2, 4, 8, ... components until held-out rows gain no more.

    Growing ends after three sizes in a row that do not lower the least log-loss so far
    by more than a hundredth, or with as many components as allowed or as there are
    distinct rows.
    """
    rows, _ = merged_rows(codes)
    most = min(rows.n_rows, held_out.max_components)
    size, best, least, failed = 1, 1, math.inf, 0
    steps: list[SizeStep] = []
    work = Work()
    while size <= most and failed < _PATIENCE:
        work.say(f"trying {counted(size, 'component')} a class")
        log_loss = held_out_scores(rows, domain, held_out, size).log_loss
        steps.append(SizeStep(size, log_loss))
        failed += 1
        if log_loss < (1.0 - _LEAST_GAIN) * least:
            best, least, failed = size, log_loss, 0
        size *= 2
    return SizeChoice(best, tuple(steps))


def held_out_scores(
    codes: Codes, domain: Domain, held_out: HeldOut, n_components: int
) -> HeldOutScores:
    """Score every distinct row by a mixture of the rows in the other folds.

    The scores are empty if there are too few rows to hold some out.
    """
    rows, _ = merged_rows(codes)
    folds = _deal(rows, held_out)
    n_used = min(held_out.n_folds, rows.n_rows)
    if n_used < 2:
        rows, n_used = rows.rows(slice(0)), 0
    found = run_tasks(
        [
            partial(
                _fold_scores, rows, folds == fold, domain, held_out, n_components, fold
            )
            for fold in range(n_used)
        ],
        held_out.n_threads,
    )
    scores = np.empty((rows.n_rows, rows.cards[-1]))
    for fold, fold_scores in enumerate(found):
        scores[folds == fold] = fold_scores
    own = rows.column(rows.n_variables - 1).astype(np.intp)
    return HeldOutScores(scores, own, rows.weights)


def _deal(rows: Codes, held_out: HeldOut) -> NDArray[np.intp]:
    """Number of the fold of each row; every class is spread over all of them."""
    own = rows.column(rows.n_variables - 1)
    shuffled = np.random.default_rng(held_out.seed).permutation(rows.n_rows)
    folds = np.empty(rows.n_rows, dtype=np.intp)
    folds[shuffled[np.argsort(own[shuffled], kind="stable")]] = (
        np.arange(rows.n_rows) % held_out.n_folds
    )
    return folds


def _fold_scores(
    rows: Codes,
    tested: NDArray[np.bool_],
    domain: Domain,
    held_out: HeldOut,
    n_components: int,
    fold: int,
) -> NDArray[np.float64]:
    """Log joints of one fold's rows, shape (n_rows, n_classes)."""
    train, test = rows.rows(~tested), rows.rows(tested)
    fit = learn_latent_class(
        train,
        n_components,
        held_out.smoothing,
        held_out.options,
        [held_out.seed, n_components, fold],
    )
    own = train.column(train.n_variables - 1).astype(np.intp)
    counts = np.bincount(own, train.weights, minlength=train.cards[-1])
    prior = held_out.prior_rule.estimate(counts.astype(np.float64))
    model = LatentClassModel(domain, prior, fit.weights, fit.tables)
    scores = model.class_log_scores(test.without_last())
    # A state that no other fold holds may be impossible under every class.
    impossible = np.isneginf(scores).all(axis=1)
    with np.errstate(divide="ignore"):
        scores[impossible] = np.log(prior)
    return scores
