"""Passes over rows of searches for latent variables, one row after another."""

from __future__ import annotations

import numpy as np

from bayleaf.native.latents import PackedColumns, PackedRuns

TIE = 1e-9


def _joint_states(rows: PackedRuns, left: int, right: int) -> list[tuple[int, int]]:
    columns = rows.packed.columns
    return list(zip(columns[left].tolist(), columns[right].tolist(), strict=True))


def _weights(rows: PackedRuns) -> np.ndarray:
    _, _, _, weights = rows.__reduce__()[1]
    return np.broadcast_to(weights, rows.runs.shape)


def deal(
    order: np.ndarray,
    classes: np.ndarray,
    weights: np.ndarray,
    n_classes: int,
    n_parts: int,
    parts: np.ndarray,
) -> None:
    """Give each row to the part that is lightest in its class, then in all."""
    of_class = np.zeros((n_classes, n_parts))
    of_all = np.zeros(n_parts)
    weights = np.broadcast_to(weights, order.shape)
    for row in order:
        own = of_class[classes[row]]
        best = min(range(n_parts), key=lambda k: (own[k], of_all[k], k))
        parts[row] = best
        own[best] += weights[row]
        of_all[best] += weights[row]


def count_cells(rows: PackedRuns, left: int, right: int, counts: np.ndarray) -> None:
    """Add row by row."""
    cells = _joint_states(rows, left, right)
    for run, cell, weight in zip(rows.runs, cells, _weights(rows), strict=True):
        counts[(run, *cell)] += weight


def with_missing(states: np.ndarray, padded: np.ndarray) -> None:
    """Where a child is missing, keep the only state that is possible, if it is one."""
    n_left, n_right = states.shape
    every_left, every_right = list(range(n_left)), list(range(n_right))
    for x in range(n_left + 1):
        for y in range(n_right + 1):
            lefts = every_left if x == n_left else [x]
            rights = every_right if y == n_right else [y]
            possible = set(states[np.ix_(lefts, rights)].ravel().tolist())
            padded[x, y] = possible.pop() if len(possible) == 1 else states.max() + 1
    # A single state apart, nothing is known where both are missing.
    if states.max() > 0:
        padded[n_left, n_right] = states.max() + 1


def latent_codes(
    packed: PackedColumns,
    left: int,
    right: int,
    padded: np.ndarray,
    node: int,
    n_codes: int,
) -> None:
    """Look every row up."""
    columns = packed.columns
    columns[node] = padded[columns[left], columns[right]]
    packed.n_codes[node] = n_codes


def merge_cells(counts: np.ndarray, padded: np.ndarray, merged: np.ndarray) -> None:
    """Add cell by cell."""
    for cell, state in np.ndenumerate(padded):
        if state < merged.shape[1]:
            merged[:, state] += counts[(slice(None), *cell)]


def changes(
    left: np.ndarray,
    right: np.ndarray,
    joined: np.ndarray,
    padded: np.ndarray,
    gains: np.ndarray,
) -> None:
    """One table less two."""
    for (x, y), state in np.ndenumerate(padded):
        gains[:, x, y] = joined[:, state] - (left[:, x] + right[:, y])


def _scores_after(
    rows: PackedRuns, left: int, right: int, scores: np.ndarray, gains: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log scores after a change, and the class of each row."""
    folds, classes = np.divmod(rows.runs, scores.shape[1])
    columns = rows.packed.columns
    return scores + gains[folds, columns[left], columns[right]], classes


def predictive_scores(
    rows: PackedRuns,
    left: int,
    right: int,
    scores: np.ndarray,
    gains: np.ndarray,
    wants_likelihood: bool,
) -> tuple[float, float]:
    """Predict the first of the classes whose scores are equal but for rounding."""
    after, classes = _scores_after(rows, left, right, scores, gains)
    correct = likelihood = 0.0
    for values, own, weight in zip(after, classes, _weights(rows), strict=True):
        correct += weight * (int(np.argmax(values >= values.max() - TIE)) == own)
        likelihood += weight * (values[own] - np.logaddexp.reduce(values))
    return correct, likelihood if wants_likelihood else 0.0


def add_gains(
    rows: PackedRuns, left: int, right: int, gains: np.ndarray, scores: np.ndarray
) -> None:
    """Change the scores."""
    scores[:] = _scores_after(rows, left, right, scores, gains)[0]
