"""Dependence of many pairs of variables given the class, from their joint counts."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Counts = NDArray[np.float64]
Places = NDArray[np.int64]


@compiled
def _sum_up(table: Counts, left: Counts, right: Counts, by_class: Counts) -> None:
    """Fill in the sums of a table (n_classes, n_left, n_right)."""
    left[:] = 0.0
    right[:] = 0.0
    by_class[:] = 0.0
    for c in range(table.shape[0]):
        for x in range(table.shape[1]):
            for y in range(table.shape[2]):
                count = table[c, x, y]
                left[c, x] += count
                right[c, y] += count
        for x in range(table.shape[1]):
            by_class[c] += left[c, x]


@compiled
def _likelihood_ratio(
    table: Counts, left: Counts, right: Counts, by_class: Counts
) -> float:
    """Compute G² of X and Y given the class (Langseth & Nielsen 2006, eq. 4)."""
    amount = 0.0
    for c in range(table.shape[0]):
        for x in range(table.shape[1]):
            for y in range(table.shape[2]):
                count = table[c, x, y]
                if count > 0.0:
                    expected = left[c, x] * right[c, y] / by_class[c]
                    amount += count * log(count / expected)
    return max(2.0 * amount, 0.0)


@compiled
def _divergence(table: Counts, left: Counts, right: Counts, by_class: Counts) -> float:
    """Compute 2 N times the mean divergence of P(class | x, y) from naive Bayes.

    Langseth & Nielsen 2006, section 6.2.
    """
    amount = 0.0
    for x in range(table.shape[1]):
        for y in range(table.shape[2]):
            total = expected_total = 0.0
            for c in range(table.shape[0]):
                if by_class[c] > 0.0:
                    total += table[c, x, y]
                    expected_total += left[c, x] * right[c, y] / by_class[c]
            for c in range(table.shape[0]):
                count = table[c, x, y]
                if count > 0.0:
                    expected = left[c, x] * right[c, y] / by_class[c]
                    amount += count * log(count * expected_total / (total * expected))
    return max(2.0 * amount, 0.0)


@compiled
def _overlap(
    c: int, d: int, left: Counts, right: Counts, by_class: Counts, joint: Counts
) -> float:
    """Add what classes c and d share of the trace of M squared.

    Entries of M belong to pairs of cells, but part into a factor of X and one of Y, so
    that matrix products take the place of the sum over pairs of cells.
    """
    n_left, n_right = left.shape[1], right.shape[1]
    x_part = np.empty((n_left, n_left))
    y_part = np.empty((n_right, n_right))
    for x in range(n_left):
        for other in range(n_left):
            same = 1.0 if x == other else 0.0
            one = same - sqrt(left[c, x] * left[c, other]) / by_class[c]
            x_part[x, other] = one * (
                same - sqrt(left[d, x] * left[d, other]) / by_class[d]
            )
    for y in range(n_right):
        for other in range(n_right):
            same = 1.0 if y == other else 0.0
            one = same - sqrt(right[c, y] * right[c, other]) / by_class[c]
            y_part[y, other] = one * (
                same - sqrt(right[d, y] * right[d, other]) / by_class[d]
            )
    weight = np.zeros((n_left, n_right))
    for x in range(n_left):
        for y in range(n_right):
            if joint[x, y] > 0.0:
                own = left[c, x] * right[c, y] / by_class[c]
                other_own = left[d, x] * right[d, y] / by_class[d]
                weight[x, y] = sqrt(own * other_own) / joint[x, y]
    half = np.zeros((n_left, n_right))
    for x in range(n_left):
        for y in range(n_right):
            for k in range(n_right):
                half[x, y] += weight[x, k] * y_part[k, y]
    amount = 0.0
    for x in range(n_left):
        for other in range(n_left):
            product = 0.0
            for y in range(n_right):
                product += half[x, y] * weight[other, y]
            amount += x_part[x, other] * product
    return amount


@compiled
def _moments(left: Counts, right: Counts, by_class: Counts) -> tuple[float, float]:
    """Mean and variance of the divergence if X and Y are independent given the class.

    It is a quadratic form in normal variables then: the mean is the trace |C| d - tr M
    of its matrix, and the variance twice the trace of the square.
    """
    n_classes, n_left, n_right = left.shape[0], left.shape[1], right.shape[1]
    joint = np.zeros((n_left, n_right))
    for c in range(n_classes):
        if by_class[c] > 0.0:
            for x in range(n_left):
                for y in range(n_right):
                    joint[x, y] += left[c, x] * right[c, y] / by_class[c]
    trace = square = 0.0
    for c in range(n_classes):
        if by_class[c] <= 0.0:
            continue
        for x in range(n_left):
            for y in range(n_right):
                own = left[c, x] * right[c, y] / by_class[c]
                if own > 0.0:
                    others = 1.0 - left[c, x] / by_class[c]
                    others *= 1.0 - right[c, y] / by_class[c]
                    trace += own * others / joint[x, y]
        for d in range(n_classes):
            if by_class[d] > 0.0:
                square += _overlap(c, d, left, right, by_class, joint)
    freedom = float(n_classes * (n_left - 1) * (n_right - 1))
    return freedom - trace, 2.0 * (freedom - 2.0 * trace + square)


@compiled
def pair_statistics(
    dense: Counts,
    left_cards: Places,
    right_cards: Places,
    triangle: bool,
    kind: int,
    statistics: Counts,
    means: Counts,
    variances: Counts,
) -> None:
    """Fill in the statistic of each pair, (n_left, n_right).

    `dense` is as `PairCounts.dense` returns it; its missing states are not looked at.
    Of a triangle only pairs above the diagonal are filled in. `kind` is 0 for G², 1
    for the divergence, 2 for the latter with its moments.
    """
    n_classes = dense.shape[0]
    top = 0
    for i in range(left_cards.size):
        n_left, start = left_cards[i], 0
        for j in range(right_cards.size):
            n_right = right_cards[j]
            if not triangle or j > i:
                table = dense[:, top : top + n_left, start : start + n_right]
                left = np.empty((n_classes, n_left))
                right = np.empty((n_classes, n_right))
                by_class = np.empty(n_classes)
                _sum_up(table, left, right, by_class)
                if kind == 0:
                    found = _likelihood_ratio(table, left, right, by_class)
                else:
                    found = _divergence(table, left, right, by_class)
                statistics[i, j] = found
                if kind == 2:
                    means[i, j], variances[i, j] = _moments(left, right, by_class)
            start += n_right + 1
        top += n_left + 1
