"""Averaged KDB whose sum is monotone in some features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayleaf.classifiers.shared.constraints.monotone_features import MonotoneFeature
from bayleaf.classifiers.shared.constraints.pooling import pooled_steps
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.support.number_terms import Curves
from bayleaf.search.left_out.cells import LeftOutRows

Floats = NDArray[np.float64]


class PooledAverage(NamedTuple):
    """A model in order, and what left-out rows then score."""

    model: AveragedKDBModel
    scores: Floats  # (n_rows, 2), log scores


def pooled_average(
    model: AveragedKDBModel,
    features: Sequence[MonotoneFeature],
    left_out: LeftOutRows,
    scores: Floats,
) -> PooledAverage:
    """Put what some features add to the sum in order, by curves.

    The contribution of such a feature, alone as it is, by tables, as a number and by a
    curve, is one number of nats per state for the second class against the first.
    Neighbours that fall are pooled, each state counting as its left-out rows
    distinguish the classes: by the sum of P(1 - P), the curvature of their log-loss.
    `model` has two classes and no other terms of the features; `scores` (n_rows, 2) are
    log scores.
    """
    changes: dict[int, Floats] = {}
    for own in features:
        alone = model.scores_of_states(own.feature)[own.order]
        odds = alone[:, 1] - alone[:, 0]
        second = expit(scores[:, 1] - scores[:, 0])
        counted = left_out.codes.weights * second * (1.0 - second)
        column = left_out.codes.column(own.feature)
        n_states = model.domain.cards[own.feature]
        told = np.bincount(column, counted, minlength=n_states).astype(np.float64)
        moved = pooled_steps(odds, told[own.order]) - odds
        if moved.any():
            curve = np.zeros((n_states, 2))
            curve[own.order] = moved[:, None] * np.array([-0.5, 0.5])
            changes[own.feature] = curve
            # A cell without a state says nothing.
            scores = scores + np.vstack([curve, np.zeros(2)])[column]
    if not changes:
        return PooledAverage(model, scores)
    curves = model.curves or Curves(np.array([], dtype=np.int64), ())
    return PooledAverage(replace(model, curves=curves.plus(changes)), scores)
