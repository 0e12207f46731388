"""The greedy merging of states, over arrays of class counts."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Counts = NDArray[np.float64]
Places = NDArray[np.int64]


@compiled
def _h(counts: Counts, state: int) -> float:
    """Sum of n_c ln(n_c / n) over the classes of one state.

    The quotient is taken before the logarithm: differences of terms n ln n would lose
    the last digits, on which ties hang, once n exceeds a million.
    """
    total = 0.0
    for c in range(counts.shape[1]):
        total += counts[state, c]
    amount = 0.0
    for c in range(counts.shape[1]):
        n = counts[state, c]
        if n > 0.0:
            amount += n * log(n / total)
    return amount


@compiled
def _merged_h(counts: Counts, i: int, j: int) -> float:
    """Sum of n_c ln(n_c / n) over the classes of two states taken as one."""
    total = 0.0
    for c in range(counts.shape[1]):
        total += counts[i, c] + counts[j, c]
    amount = 0.0
    for c in range(counts.shape[1]):
        n = counts[i, c] + counts[j, c]
        if n > 0.0:
            amount += n * log(n / total)
    return amount


@compiled
def _search_row(
    counts: Counts,
    terms: Counts,
    alive: NDArray[np.bool_],
    i: int,
    best: Counts,
    partner: Places,
) -> None:
    """Find the later state with which state i merges best."""
    best[i], partner[i] = -np.inf, -1
    for j in range(i + 1, counts.shape[0]):
        if alive[j]:
            gain = _merged_h(counts, i, j) - terms[i] - terms[j]
            if gain > best[i]:
                best[i], partner[i] = gain, j


@compiled
def _first_pair(
    counts: Counts,
    terms: Counts,
    alive: NDArray[np.bool_],
    best: Counts,
    tolerance: float,
) -> tuple[int, int]:
    """First pair, row by row, whose gain is within the tolerance of the largest."""
    n_states = counts.shape[0]
    largest = -np.inf
    for i in range(n_states):
        if alive[i] and best[i] > largest:
            largest = best[i]
    for i in range(n_states):
        if not alive[i] or best[i] < largest - tolerance:
            continue
        for j in range(i + 1, n_states):
            if alive[j]:
                gain = _merged_h(counts, i, j) - terms[i] - terms[j]
                if gain >= largest - tolerance:
                    return i, j
    return -1, -1


@compiled
def merge_states(
    counts: Counts, penalty: float, tolerance: float, deltas: Counts
) -> Places:
    """Merge states while that improves the score; the group of each state.

    `counts` (n_states, n_classes) is overwritten, `penalty` is what a merge saves, and
    `deltas` (n_states,) receives the gain of each merge, NaN after the last.
    """
    n_states = counts.shape[0]
    group = np.arange(n_states)
    alive = np.ones(n_states, np.bool_)
    best = np.full(n_states, -np.inf)
    partner = np.full(n_states, -1, np.int64)
    terms = np.empty(n_states)
    deltas[:] = np.nan
    for i in range(n_states):
        terms[i] = _h(counts, i)
    for i in range(n_states):
        _search_row(counts, terms, alive, i, best, partner)
    for merge in range(n_states - 1):
        i, j = _first_pair(counts, terms, alive, best, tolerance)
        delta = penalty + _merged_h(counts, i, j) - terms[i] - terms[j]
        if delta <= tolerance:
            break
        deltas[merge] = delta
        counts[i] += counts[j]
        terms[i] = _h(counts, i)
        alive[j] = False
        group[group == j] = i
        _search_row(counts, terms, alive, i, best, partner)
        for k in range(j):
            if not alive[k] or k == i:
                continue
            if partner[k] == i or partner[k] == j:
                _search_row(counts, terms, alive, k, best, partner)
            elif k < i:
                gain = _merged_h(counts, k, i) - terms[k] - terms[i]
                if gain > best[k]:
                    best[k], partner[k] = gain, i
    return group


@compiled
def _place_empty_cells(
    counts: Counts, filled: Places, group: Places, states: Places
) -> None:
    """Give each empty cell the state whose class distribution its prediction fits."""
    n_classes, n_left, n_right = counts.shape
    by_class = np.zeros(n_classes)
    weight = 0.0
    by_left = np.ones((n_classes, n_left))
    by_right = np.ones((n_classes, n_right))
    for c in range(n_classes):
        for x in range(n_left):
            for y in range(n_right):
                by_left[c, x] += counts[c, x, y]
                by_right[c, y] += counts[c, x, y]
                by_class[c] += counts[c, x, y]
        weight += by_class[c]
    shares = (by_class + 1.0) / (weight + n_classes)
    merged = np.zeros((filled.size, n_classes))
    for k in range(filled.size):
        x, y = filled[k] // n_right, filled[k] % n_right
        for c in range(n_classes):
            merged[group[k], c] += counts[c, x, y]
    logs = np.empty((filled.size, n_classes))
    for k in range(filled.size):
        total = 0.0
        for c in range(n_classes):
            total += merged[k, c]
        for c in range(n_classes):
            logs[k, c] = log((merged[k, c] + shares[c]) / (total + 1.0))
    q = np.empty(n_classes)
    for cell in range(states.size):
        if states[cell] >= 0:
            continue
        x, y = cell // n_right, cell % n_right
        total = 0.0
        for c in range(n_classes):
            left = by_left[c, x] / (by_class[c] + n_left)
            q[c] = shares[c] * left * by_right[c, y] / (by_class[c] + n_right)
            total += q[c]
        q /= total
        largest = -np.inf
        for k in range(filled.size):
            if group[k] == k:
                fit = 0.0
                for c in range(n_classes):
                    fit += q[c] * logs[k, c]
                if fit > largest + 1e-12:
                    largest = fit
                    states[cell] = filled[k]


@compiled
def collapse(counts: Counts, penalty: float, tolerance: float) -> tuple[Places, Counts]:
    """States (n_left * n_right,) of the cells, and the gain of each merge.

    `counts` (n_classes, n_left, n_right) holds at least one cell that is not empty.
    """
    n_classes, n_left, n_right = counts.shape
    states = np.full(n_left * n_right, -1, np.int64)
    filled = np.empty(n_left * n_right, np.int64)
    n_filled = 0
    for x in range(n_left):
        for y in range(n_right):
            weight = 0.0
            for c in range(n_classes):
                weight += counts[c, x, y]
            if weight > 0.0:
                filled[n_filled] = x * n_right + y
                n_filled += 1
    filled = filled[:n_filled]
    by_state = np.empty((n_filled, n_classes))
    for k in range(n_filled):
        x, y = filled[k] // n_right, filled[k] % n_right
        for c in range(n_classes):
            by_state[k, c] = counts[c, x, y]
    deltas = np.empty(n_filled)
    group = merge_states(by_state, penalty, tolerance, deltas)
    for k in range(n_filled):
        states[filled[k]] = filled[group[k]]
    if n_filled < states.size:
        _place_empty_cells(counts, filled, group, states)
    number = np.full(states.size, -1, np.int64)
    n_states = 0
    for cell in range(states.size):
        if number[states[cell]] < 0:
            number[states[cell]] = n_states
            n_states += 1
    for cell in range(states.size):
        states[cell] = number[states[cell]]
    n_merges = 0
    while n_merges < n_filled and not np.isnan(deltas[n_merges]):
        n_merges += 1
    return states, deltas[:n_merges]
