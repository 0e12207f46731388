"""Hierarchical naive Bayes, slowly: every formula spelled out over rows and cells."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np


def h(counts: np.ndarray) -> float:
    """Sum of n_c ln n_c less n ln n."""
    return sum(n * math.log(n / counts.sum()) for n in counts if n > 0)


def delta(
    table: np.ndarray, groups: list[list[tuple[int, int]]], i: int, j: int
) -> float:
    """Closed form of what merging two groups of cells gains."""
    first, second = (
        np.sum([table[:, x, y] for x, y in groups[k]], axis=0) for k in (i, j)
    )
    penalty = table.shape[0] / 2 * math.log(table.sum())
    return penalty + h(first + second) - h(first) - h(second)


def model_score(table: np.ndarray, groups: list[list[tuple[int, int]]]) -> float:
    """Conditional log-likelihood of the class given the group, less its MDL penalty."""
    score = 0.0
    for cells in groups:
        counts = np.sum([table[:, x, y] for x, y in cells], axis=0)
        score += h(counts) - table.shape[0] / 2 * math.log(table.sum())
    return score


def collapsed(
    table: np.ndarray, tolerance: float = 1e-9
) -> tuple[np.ndarray, list[float]]:
    """Greedy merging that computes every gain again before every merge."""
    n_classes, n_left, n_right = table.shape
    cells = list(itertools.product(range(n_left), range(n_right)))
    groups = [[cell] for cell in cells if table[:, cell[0], cell[1]].sum() > 0]
    gains: list[float] = []
    while len(groups) > 1:
        pairs = list(itertools.combinations(range(len(groups)), 2))
        values = [delta(table, groups, i, j) for i, j in pairs]
        if max(values) <= tolerance:
            break
        best = next(
            k for k, value in enumerate(values) if value >= max(values) - tolerance
        )
        i, j = pairs[best]
        gains.append(values[best])
        groups[i] += groups.pop(j)
    by_class = table.sum(axis=(1, 2))
    prior = (by_class + 1) / (table.sum() + n_classes)
    homes = []
    for x, y in [cell for cell in cells if table[:, cell[0], cell[1]].sum() == 0]:
        q = prior * (table[:, x].sum(axis=1) + 1) / (by_class + n_left)
        q = q * (table[:, :, y].sum(axis=1) + 1) / (by_class + n_right)
        q = q / q.sum()
        fits = []
        for members in groups:
            n = np.sum([table[:, a, b] for a, b in members], axis=0)
            fits.append(float(q @ np.log((n + prior) / (n.sum() + 1))))
        homes.append(
            ((x, y), next(k for k, fit in enumerate(fits) if fit >= max(fits) - 1e-12))
        )
    for cell, home in homes:
        groups[home].append(cell)
    states = np.zeros((n_left, n_right), dtype=int)
    for number, members in enumerate(sorted(groups, key=min)):
        for cell in members:
            states[cell] = number
    return states, gains


def g2_statistic(table: np.ndarray) -> float:
    """G² of X and Y given C, cell by cell; `table` is (class, X, Y)."""
    total = 0.0
    for c, x, y in np.ndindex(table.shape):
        if table[c, x, y] > 0:
            expected = table[c, x].sum() * table[c, :, y].sum() / table[c].sum()
            total += 2 * table[c, x, y] * math.log(table[c, x, y] / expected)
    return total


def expected_kl_statistic(table: np.ndarray) -> float:
    """Twice N times the mean divergence of P(C|x,y) from what independence says."""
    by_class = table.sum(axis=(1, 2))
    total = 0.0
    for x, y in np.ndindex(table.shape[1:]):
        counts = table[:, x, y]
        apart = table[:, x].sum(axis=1) * table[:, :, y].sum(axis=1)
        guess = np.divide(apart, by_class, out=np.zeros(len(apart)), where=by_class > 0)
        for c in range(len(table)):
            if counts[c] > 0:
                shares = counts[c] / counts.sum(), guess[c] / guess.sum()
                total += 2 * counts[c] * math.log(shares[0] / shares[1])
    return total


def quadratic_form_moments(table: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the limit law of `expected_kl_statistic`, by matrices."""
    n_classes, n_left, n_right = table.shape
    size = n_left * n_right
    by_class = table.sum(axis=(1, 2))
    prior = by_class / by_class.sum()
    left = table.sum(axis=2) / by_class[:, None]
    right = table.sum(axis=1) / by_class[:, None]
    joint = prior[:, None, None] * left[:, :, None] * right[:, None, :]
    form = np.zeros((n_classes * size, n_classes * size))
    roots = np.zeros((size, n_classes * size))
    for c in range(n_classes):
        own = slice(c * size, (c + 1) * size)
        parts = [
            np.eye(len(p)) - np.outer(np.sqrt(p), np.sqrt(p))
            for p in (left[c], right[c])
        ]
        form[own, own] = np.kron(*parts)
        # Cells that no row can be in weigh nothing.
        shares = np.zeros((n_left, n_right))
        np.divide(joint[c], joint.sum(axis=0), out=shares, where=joint[c] > 0)
        roots[:, own] = np.diag(np.sqrt(shares.ravel()))
    spread = form @ (np.eye(len(form)) - roots.T @ roots) @ form
    return float(np.trace(spread)), float(2 * np.trace(spread @ spread))


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def negative_log_p(statistic: float, freedom: int) -> Decimal:
    """-ln P(chi-squared >= statistic) in sixty digits, by a long continued fraction."""
    with localcontext() as context:
        context.prec = 60
        a, x = Decimal(freedom) / 2, Decimal(statistic) / 2
        fraction = Decimal(0)
        for k in range(4000, 0, -1):
            fraction = k * (a - k) / (x + 2 * k + 1 - a + fraction)
        gamma, step = (
            (Decimal(1), Decimal(1))
            if freedom % 2 == 0
            else (
                PI.sqrt(),
                Decimal("0.5"),
            )
        )
        while step < a:
            gamma *= step
            step += 1
        log_q = a * x.ln() - x - gamma.ln() - (x + 1 - a + fraction).ln()
        return -log_q


def held_out_scores(
    columns: Sequence[np.ndarray],
    cards: Sequence[int],
    y: np.ndarray,
    n_classes: int,
    weights: np.ndarray,
    folds: np.ndarray,
    smoothing: Any,
) -> tuple[float, float]:
    """Weight of rows that naive Bayes, refitted without their fold, predicts right.

    Also their log-likelihood of the class. A missing cell, coded as the card, is left
    out; the first of classes that are equally probable is predicted.
    """
    right = log_likelihood = 0.0
    for fold in np.unique(folds):
        train, test = folds != fold, np.flatnonzero(folds == fold)
        prior = np.array([weights[train & (y == c)].sum() for c in range(n_classes)])
        scores = np.tile(np.log(smoothing.estimate(prior)), (len(test), 1))
        for column, card in zip(columns, cards, strict=True):
            counts = np.zeros((n_classes, card))
            for row in np.flatnonzero(train):
                if column[row] < card:
                    counts[y[row], column[row]] += weights[row]
            table = np.log(smoothing.estimate(counts))
            for k, row in enumerate(test):
                if column[row] < card:
                    scores[k] += table[:, column[row]]
        for k, row in enumerate(test):
            best = int(np.argmax(scores[k] >= scores[k].max() - 1e-9))
            right += weights[row] * (best == y[row])
            total = np.logaddexp.reduce(scores[k])
            log_likelihood += weights[row] * (scores[k, y[row]] - total)
    return right, log_likelihood
