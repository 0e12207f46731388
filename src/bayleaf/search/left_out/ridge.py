"""Curves by ridge regression, for tables with almost as many columns as rows.

There, weights of single features learned on left-out rows reward those that go with
the class by chance, which is seen in all rows alike. A ridge regression of the classes
on all features at once has one strength and one scale instead (Hoerl & Kennard 1970),
and leaves a row out exactly, by a formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from bayleaf.data.domain import Variable
from bayleaf.search.left_out.left_out_scores import LeftOutRows, less, log_losses
from bayleaf.search.left_out.linear_families import normal_positions

# Strengths of the ridge that are tried, in shares of the mean square of a row.
_STRENGTHS = np.logspace(-3.0, 3.0, 13)
# Nats that two numbers chosen on the rows gain by chance, about.
_CHANCE = 4.0
_LARGEST_SCALE = 100.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RidgeCurves:
    """What each state of each feature adds to the classes, and the left-out scores."""

    features: NDArray[np.int64]  # (n_curves,), increasing
    curves: tuple[Floats, ...]  # each (n_states, n_classes), nats
    scores: Floats  # (n_rows, n_classes), left-out log prior and curves, nats
    strength: float  # of the ridge; NaN without curves


def ridge_curves(
    left_out: LeftOutRows,
    variables: Sequence[Variable],
    state_counts: Sequence[Floats],
    class_counts: Floats,
) -> RidgeCurves:
    """Regress the classes on all features at once.

    The strength is the one of least left-out log-loss at the best scale of the scores.
    The scale is then lowered as far as such a gain over the prior comes by chance, to
    nothing if it is small. Training weights are (n_states,) for each feature and
    (n_classes,).
    """
    positions = [
        _positions(variable, counts)
        for variable, counts in zip(variables, state_counts, strict=True)
    ]
    weights = np.asarray(left_out.codes.weights, dtype=np.float64)
    prior = _left_out_prior(left_out, class_counts)
    outcomes = np.eye(len(class_counts))[left_out.own]
    outcomes -= np.average(outcomes, axis=0, weights=weights)
    design = np.hstack(
        [
            # A state that no row has lies nowhere.
            np.vstack([own, np.zeros(own.shape[1])])[
                left_out.codes.column(feature).astype(np.intp)
            ]
            for feature, own in enumerate(positions)
        ]
    )
    regression = _Regression(design, outcomes, weights, left_out.shares)
    best: tuple[float, float, float] = (np.inf, 0.0, 0.0)
    for share in _STRENGTHS:
        strength = float(share) * regression.mean_square
        if strength > 0.0:
            loss, scale = _best_scale(regression.left_out(strength), prior, left_out)
            best = min(best, (loss, strength, scale))
    loss, strength, scale = best
    gain = _loss(prior, left_out) - loss
    scale *= max(0.0, 1.0 - _CHANCE / gain) if gain > 0.0 else 0.0
    if scale == 0.0:
        none = np.zeros(0, dtype=np.int64)
        return RidgeCurves(none, (), prior, float("nan"))
    slopes = scale * regression.coefficients(strength)
    ends = np.cumsum([own.shape[1] for own in positions])[:-1]
    curves = tuple(
        own @ part for own, part in zip(positions, np.split(slopes, ends), strict=True)
    )
    scores = prior + scale * regression.left_out(strength)
    return RidgeCurves(np.arange(len(variables)), curves, scores, strength)


def _positions(variable: Variable, counts: Floats) -> Floats:
    """Where the states of a feature lie, (n_states, n_columns), zero on average.

    A number has one column, its place on a normal scale; other features have one for
    each state.
    """
    found = normal_positions(variable, counts)
    if found is None:
        columns = np.eye(len(counts))
    else:
        # A missing cell lies in the middle.
        columns = np.zeros((len(counts), 1))
        columns[: len(found), 0] = found
    return np.asarray(columns - np.average(columns, axis=0, weights=counts))


class _Regression:
    """Ridge regression with any strength, by the eigenvectors of its products.

    `design` is (n_rows, n_columns), `outcomes` (n_rows, n_outcomes), zero on average;
    `weights` and `shares` (what leaving a row out takes) are (n_rows,).
    """

    def __init__(
        self, design: Floats, outcomes: Floats, weights: Floats, shares: Floats
    ) -> None:
        self._roots = np.sqrt(weights)[:, None]
        self._scaled, self._outcomes = design * self._roots, outcomes
        self._shares, self._total = shares[:, None], float(weights.sum())
        n_rows, n_columns = design.shape
        self._is_dual = n_rows <= n_columns
        rows = self._scaled if self._is_dual else self._scaled.T
        squares, self._vectors = np.linalg.eigh(rows @ rows.T)
        self._squares = np.maximum(squares, 0.0)
        self.mean_square = float((self._scaled**2).sum()) / self._total
        self._targets = outcomes * self._roots
        if not self._is_dual:
            self._rotated = self._scaled @ self._vectors

    def left_out(self, strength: float) -> Floats:
        """Fitted outcomes of rows that are left out, shape (n_rows, n_outcomes)."""
        if self._is_dual:
            shrunk = self._squares / (self._squares + strength)
            inner = self._vectors * shrunk
            leverage = (inner * self._vectors).sum(axis=1)
            fitted = inner @ (self._vectors.T @ self._targets)
        else:
            inner = self._rotated / (self._squares + strength)
            leverage = (inner * self._rotated).sum(axis=1)
            fitted = inner @ (self._rotated.T @ self._targets)
        # Of a row of weight one; the mean of the outcomes moves too.
        own = leverage[:, None] / self._roots**2 + 1.0 / self._total
        taken = np.minimum(self._shares * own, 1.0 - 1e-9)
        return np.asarray(
            (fitted / self._roots - taken * self._outcomes) / (1.0 - taken)
        )

    def coefficients(self, strength: float) -> Floats:
        """Slopes of all columns, shape (n_columns, n_outcomes)."""
        if self._is_dual:
            inner = self._vectors / (self._squares + strength)
            return np.asarray(
                self._scaled.T @ (inner @ (self._vectors.T @ self._targets))
            )
        inner = self._vectors / (self._squares + strength)
        return np.asarray(inner @ (self._rotated.T @ self._targets))


def _left_out_prior(left_out: LeftOutRows, class_counts: Floats) -> Floats:
    """Log shares of the classes without the row itself, (n_rows, n_classes)."""
    counts = np.repeat(class_counts[None], left_out.n_rows, axis=0)
    place = np.arange(left_out.n_rows), left_out.own
    counts[place] = less(counts[place], left_out.shares)
    # Half a row for each class, so that none is impossible.
    counts += 0.5
    return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))


def _best_scale(
    fitted: Floats, prior: Floats, left_out: LeftOutRows
) -> tuple[float, float]:
    """Least left-out log-loss, nats, over factors of fitted outcomes; the factor."""
    found = minimize_scalar(
        lambda scale: _loss(prior + scale * fitted, left_out),
        bounds=(0.0, _LARGEST_SCALE),
        method="bounded",
    )
    return float(found.fun), float(found.x)


def _loss(scores: Floats, left_out: LeftOutRows) -> float:
    """Weighted log-loss of scores, nats."""
    return float(log_losses(scores, left_out.own) @ left_out.codes.weights)
