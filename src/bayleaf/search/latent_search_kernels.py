"""Passes over rows that search for latent variables: cells, folds, predictions."""

from __future__ import annotations

from math import exp, log

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Counts = NDArray[np.float64]
Column = NDArray[np.uint16]
Runs = NDArray[np.int32]

# Classes whose scores differ by less are equally probable: sums of logarithms that are
# equal differ by rounding.
_TIE = 1e-9


@compiled
def deal(
    order: NDArray[np.int64],
    classes: Column,
    weights: Counts,
    n_classes: int,
    n_parts: int,
) -> Runs:
    """Deal rows, in an order, to the parts with least weight of their class.

    Among those the part with the least weight in all takes the row, and then the first.
    """
    parts = np.empty(order.size, np.int32)
    of_class = np.zeros((n_classes, n_parts))
    of_all = np.zeros(n_parts)
    for row in order:
        c, best = classes[row], 0
        for k in range(1, n_parts):
            lighter = of_class[c, k] < of_class[c, best]
            alike = of_class[c, k] == of_class[c, best]
            if lighter or (alike and of_all[k] < of_all[best]):
                best = k
        parts[row] = best
        weight = weights[row] if weights.size > 1 else weights[0]
        of_class[c, best] += weight
        of_all[best] += weight
    return parts


@compiled
def count_cells(
    left: Column, right: Column, width: int, runs: Runs, weights: Counts, counts: Counts
) -> None:
    """Add each row's weight to ``counts[run, left * width + right]``.

    `weights` has one entry a row, or a single one for all rows.
    """
    alike = weights.size == 1
    weight = weights[0] if weights.size else 1.0
    for row in range(runs.size):
        cell = np.int64(left[row]) * width + np.int64(right[row])
        if not alike:
            weight = weights[row]
        counts[runs[row], cell] += weight


@compiled
def with_missing(states: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add a row and a column to a latent variable's map, for missing children.

    Where a child is missing, the latent variable is known only if it is the same for
    all states of that child, as `LatentTree.node_codes` has it.
    """
    n_left, n_right = states.shape
    unknown = states.max() + 1
    padded = np.full((n_left + 1, n_right + 1), unknown)
    padded[:n_left, :n_right] = states
    for x in range(n_left):
        if states[x].min() == states[x].max():
            padded[x, n_right] = states[x, 0]
    for y in range(n_right):
        if states[:, y].min() == states[:, y].max():
            padded[n_left, y] = states[0, y]
    if unknown == 1:
        padded[n_left, n_right] = 0
    return padded


@compiled
def latent_codes(
    left: Column, right: Column, padded: NDArray[np.int64], codes: Column
) -> None:
    """States of a latent variable in every row."""
    for row in range(codes.size):
        codes[row] = padded[left[row], right[row]]


@compiled
def merge_cells(counts: Counts, padded: NDArray[np.int64]) -> Counts:
    """Counts (n_runs, n_states) of a latent variable from those of its cells."""
    n_right = padded.shape[1]
    n_states = padded[:-1, :-1].max() + 1
    merged = np.zeros((counts.shape[0], n_states))
    for x in range(padded.shape[0]):
        for y in range(n_right):
            if padded[x, y] < n_states:
                for run in range(counts.shape[0]):
                    merged[run, padded[x, y]] += counts[run, x * n_right + y]
    return merged


@compiled
def changes(
    left: Counts, right: Counts, joined: Counts, padded: NDArray[np.int64]
) -> Counts:
    """What a row's log scores gain when a latent variable takes two nodes' place.

    `left`, `right` and `joined` are log tables (n_folds, card + 1, n_classes); the
    gains come by fold, cell and class.
    """
    n_left, n_right = padded.shape
    gains = np.empty((left.shape[0], n_left * n_right, left.shape[2]))
    for fold in range(left.shape[0]):
        for x in range(n_left):
            for y in range(n_right):
                state = padded[x, y]
                for c in range(left.shape[2]):
                    apart = left[fold, x, c] + right[fold, y, c]
                    gains[fold, x * n_right + y, c] = joined[fold, state, c] - apart
    return gains


@compiled
def predictive_scores(
    left: Column,
    right: Column,
    width: int,
    runs: Runs,
    weights: Counts,
    scores: Counts,
    gains: Counts,
    wants_likelihood: bool,
) -> tuple[float, float]:
    """Weight of rows predicted right, and log-likelihood of their classes.

    Row by row, ``gains[fold, left * width + right]`` is added to its `scores`, where
    ``runs`` is fold * n_classes + class. Of equally probable classes the first is
    predicted. The log-likelihood is zero unless asked for.
    """
    n_classes = scores.shape[1]
    alike = weights.size == 1
    weight = weights[0] if weights.size else 1.0
    correct = likelihood = 0.0
    values = np.empty(n_classes)
    for row in range(runs.size):
        fold = runs[row] // n_classes
        own = runs[row] - fold * n_classes
        cell = np.int64(left[row]) * width + np.int64(right[row])
        if not alike:
            weight = weights[row]
        largest = -np.inf
        for c in range(n_classes):
            values[c] = scores[row, c] + gains[fold, cell, c]
            largest = max(largest, values[c])
        best = 0
        while values[best] < largest - _TIE:
            best += 1
        if best == own:
            correct += weight
        if wants_likelihood:
            total = 0.0
            for c in range(n_classes):
                total += exp(values[c] - largest)
            likelihood += weight * (values[own] - largest - log(total))
    return correct, likelihood


@compiled
def add_gains(
    left: Column, right: Column, width: int, runs: Runs, gains: Counts, scores: Counts
) -> None:
    """Add ``gains[fold, left * width + right]`` to each row's `scores`."""
    n_classes = scores.shape[1]
    for row in range(runs.size):
        fold = runs[row] // n_classes
        cell = np.int64(left[row]) * width + np.int64(right[row])
        for c in range(n_classes):
            scores[row, c] += gains[fold, cell, c]
