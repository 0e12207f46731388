"""How many gates and experts a table bears: mixtures grown by held-out log-loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.progress import Work
from bayleaf.wording import brief_fields

Architecture = tuple[int, ...]
# Learns from some rows, and gives log posteriors (n_rows, n_classes) of others.
Judge = Callable[[Codes, Architecture, Codes], NDArray[np.float64]]

# What a single naive Bayes classifier is first compared with; parity of four bits, say,
# is told by two levels and not by one.
_SEEDLINGS: tuple[Architecture, ...] = ((2,), (4,), (2, 2))


@dataclass(frozen=True)
class Growth:
    """Architecture of the lowest held-out log-loss, and all that were tried."""

    architecture: Architecture  # empty for a single expert
    log_losses: dict[Architecture, float]  # held-out means, nats, in order of trial

    __repr__ = brief_fields


def grow_architecture(
    codes: Codes,
    judge: Judge,
    rng: np.random.Generator,
    *,
    max_experts: int = 32,
) -> Growth:
    """Grow a hierarchy of gates for as long as held-out rows are predicted better.

    A single naive Bayes classifier is compared with small hierarchies; the best is then
    compared with those that have a level of pairs more or one child more at each gate
    of a level, and so on. Wiering (2003), section 6, leaves the choice of the
    architecture to future work.

    `judge` learns a mixture from the first `Codes` and returns log posteriors of the
    rows of the last. Rows that are to be held out together must be merged. The folds,
    five of about equal weight in each class, are dealt once.
    """
    folds = deal_folds(codes, 5, rng)
    losses: dict[Architecture, float] = {(): _held_out_loss((), codes, folds, judge)}
    best: Architecture = ()
    candidates = list(_SEEDLINGS)
    work = Work()
    while candidates:
        work.say(f"trying mixtures of {', '.join(map(str, candidates))} experts")
        for architecture in candidates:
            losses[architecture] = _held_out_loss(architecture, codes, folds, judge)
        leader = min(candidates, key=losses.__getitem__)
        if not losses[leader] < losses[best]:
            break
        best = leader
        candidates = [
            larger
            for larger in _enlarged(best)
            if larger not in losses and prod(larger) <= max_experts
        ]
    return Growth(best, losses)


def _enlarged(architecture: Architecture) -> Iterator[Architecture]:
    """Architectures with one more child at the gates of a level, or one more level."""
    for level, width in enumerate(architecture):
        yield (*architecture[:level], width + 1, *architecture[level + 1 :])
    yield (*architecture, 2)


def deal_folds(
    codes: Codes, n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Deal rows at random to folds of about equal weight in each class, (n_rows,).

    With few rows some folds stay empty.
    """
    classes = codes.column(codes.n_variables - 1)
    folds = np.empty(codes.n_rows, dtype=np.intp)
    for label in range(codes.cards[-1]):
        rows = rng.permutation(np.flatnonzero(classes == label))
        first = rng.random()
        if not len(rows):
            continue
        weights = codes.weights[rows]
        middles = (np.cumsum(weights) - weights / 2) / weights.sum()
        folds[rows] = np.floor(n_folds * (middles + first)).astype(np.intp) % n_folds
    return folds


def stratified_folds(
    classes: NDArray[np.integer[Any]], n_folds: int, seed: int
) -> NDArray[np.intp]:
    """Number of the fold of each row; every class is spread over all of them."""
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    folds = np.empty(len(classes), dtype=np.intp)
    folds[shuffled[np.argsort(classes[shuffled], kind="stable")]] = (
        np.arange(len(classes)) % n_folds
    )
    return folds


def _held_out_loss(
    architecture: Architecture, codes: Codes, folds: NDArray[Any], judge: Judge
) -> float:
    """Mean log-loss by weight over the folds; infinite where none can be held out."""
    loss = weight = 0.0
    for fold in np.unique(folds):
        held_out = folds == fold
        if held_out.all():
            return float("inf")
        rows = codes.rows(held_out)
        logs = judge(codes.rows(~held_out), architecture, rows.without_last())
        own = rows.column(rows.n_variables - 1).astype(np.intp)
        loss -= float((rows.weights * logs[np.arange(len(own)), own]).sum())
        weight += float(rows.weights.sum())
    return loss / weight
