"""Bagging, boosting and votes over classifiers of any kind (Wiering 2003).

A learner turns row weights (n_rows,) into a classifier. Weights count rows: zero is a
removed row, two is a repeated one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Classifier = TypeVar("Classifier")
# The vote of a classifier without error on its training rows.
MAX_VOTE = math.log(1e10)


def bagged(
    learn: Callable[[Floats], Classifier],
    weights: Floats,
    n_classifiers: int,
    share: float,
    rng: np.random.Generator,
) -> list[Classifier]:
    """Learn from bootstrap samples, each of a share of the total weight."""
    rows = np.flatnonzero(weights)
    ends = np.cumsum(weights[rows])
    n_drawn = round(share * ends[-1])
    is_whole = bool((weights == np.floor(weights)).all())
    classifiers = []
    for _ in range(n_classifiers):
        # A row of weight two is drawn as two rows would be.
        drawn = (
            rng.integers(int(ends[-1]), size=n_drawn)
            if is_whole
            else rng.random(n_drawn) * ends[-1]
        )
        positions = np.searchsorted(ends[:-1], drawn, side="right")
        counts = np.bincount(rows[positions], minlength=len(weights))
        classifiers.append(learn(counts.astype(np.float64)))
    return classifiers


def boosted(
    learn: Callable[[Floats], Classifier],
    misses: Callable[[Classifier], NDArray[np.bool_]],
    weights: Floats,
    n_classifiers: int,
    rng: np.random.Generator,
) -> tuple[list[Classifier], list[float]]:
    """Learn by AdaBoost.M1 on weights of constant sum; classifiers and their votes.

    `misses` marks the rows (n_rows,) that a classifier gets wrong. One wrong on more
    than half of the weight does not vote, and the first weights are scaled by factors
    drawn from [0.9, 1.1]; one without error votes `MAX_VOTE` and is the last. Where
    none may vote, the first one does.
    """
    first, total = weights, weights.sum()
    classifiers: list[Classifier] = []
    votes: list[float] = []
    for _ in range(n_classifiers):
        classifier = learn(weights)
        wrong = misses(classifier)
        error = float(weights[wrong].sum() / weights.sum())
        classifiers.append(classifier)
        if error > 0.5:
            votes.append(0.0)
            weights = first * rng.uniform(0.9, 1.1, len(first))
            weights *= total / weights.sum()
            continue
        if error == 0.0:
            votes.append(MAX_VOTE)
            break
        votes.append(math.log((1.0 - error) / error))
        weights = np.where(wrong, weights / (2 * error), weights / (2 * (1 - error)))
    if not any(votes):
        votes[0] = 1.0
    return classifiers, votes


def vote_sums(
    answers: Sequence[NDArray[np.intp]], votes: Sequence[float], n_classes: int
) -> Floats:
    """Sum the votes for each class, (n_rows, n_classes); answers are class codes."""
    sums = np.zeros((len(answers[0]), n_classes))
    rows = np.arange(len(sums))
    for codes, vote in zip(answers, votes, strict=True):
        sums[rows, codes] += vote
    return sums


def best_experts(outputs: Floats, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The expert most certain of each row's class, which a gate learns, (n_rows,).

    `outputs` are class probabilities (n_experts, n_rows, n_classes); ties go to the
    earlier expert.
    """
    return np.asarray(outputs[:, np.arange(len(codes)), codes].argmax(axis=0))


def gated(gates: Floats, outputs: Floats) -> Floats:
    """Mean of the experts' outputs by the gate's probabilities (n_rows, n_experts)."""
    return np.asarray(np.einsum("re,erc->rc", gates, outputs))
