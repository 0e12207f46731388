"""How intervals and trees are weighed: by what they say of left-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayleaf.classifiers.averaged_kdb import AveragedKDBClassifier
from bayleaf.counts.table_counts import RowCounts
from bayleaf.cpds.random_network import FamilyBank
from bayleaf.data.codes import Codes
from bayleaf.models.averaged_kdb_model import AveragedKDBModel
from bayleaf.models.interval_target import (
    Head,
    IntervalTargetModel,
    Location,
    crps_of_cells,
    softmax,
)
from bayleaf.search.left_out.left_out_scores import LeftOutRows
from bayleaf.search.left_out.sampled_networks import left_out_log_probabilities

Floats = NDArray[np.float64]
# Rows on which the head is learned at most: it has four numbers.
_MOST_ROWS = 2000
_MOST_STEPS = 160
# What the log-loss of a row (nats) counts beside its score in standard deviations: it
# sees the tails, which intervals of high coverage rest on.

_LOG_LOSS_WEIGHT = 0.1
# Pull of the head's numbers to where they start.
_PULL = 1e-3
_LEAST_SHARE = 1e-9
_BOUNDS = ((0.0, 1.0), (-7.0, 5.0), (0.0, 3.0), (np.log(1.5), np.log(100.0)))


def left_out_scores(
    classifier: AveragedKDBClassifier,
    model: AveragedKDBModel,
    training: Codes,
    rows: Codes,
) -> Floats:
    """Log scores (n_rows, n_classes), in nats, of training rows left out of all counts.

    Only curves and weights, a few numbers, are those of all rows. The class comes last
    in `training`, which are all rows, and `rows`, which are scored.
    """
    linear = model.linear
    bank = FamilyBank.from_networks(
        model.networks, model.n_classes, model.smoothing, model.min_rows or 1
    )
    logs = left_out_log_probabilities(
        bank,
        model.weights.shape[1],
        RowCounts(training, classifier.n_jobs),
        LeftOutRows(rows),
        model.smoothing,
        None if linear is None else linear.families,
    )
    weights = [np.array([classifier.prior_weight_]), model.weights.ravel()]
    if linear is not None:
        weights.append(linear.weights.ravel())
    scores = logs.log_scores(np.concatenate(weights)) + classifier.biases_
    if model.curves is not None:
        model.curves.add(rows, scores)
    return scores


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Predictions of training rows that were left out."""

    scores: Floats  # (n_rows, n_intervals), log scores
    where: Location | None  # by trees
    target: Floats  # (n_rows,), in the target's unit
    weights: Floats  # (n_rows,)

    def first(self, n_rows: int) -> LeftOut:
        """The first rows, which are in random order."""
        rows = slice(n_rows)
        where = self.where and Location(
            self.where.mean[rows], self.where.log_scale[rows]
        )
        return LeftOut(self.scores[rows], where, self.target[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class Loss:
    """How badly a model with some head predicts left-out rows."""

    model: IntervalTargetModel
    rows: LeftOut

    def of(self, head: Head) -> float:
        """Mean score plus a tenth of the mean log-loss."""
        model, rows = self.model, self.rows
        shares = softmax(model.cell_log_scores(rows.scores, rows.where, head))
        target = (rows.target - model.centre) / model.scale
        score = crps_of_cells(shares, model.centres, target)
        own = shares[np.arange(len(target)), self._cells]
        loss = -np.log(own + _LEAST_SHARE)
        found = np.average(score + _LOG_LOSS_WEIGHT * loss, weights=rows.weights)
        return float(found)

    @property
    def _cells(self) -> NDArray[np.intp]:
        """The cell of each row."""
        upper = self.model.ends[1]
        cells = np.searchsorted(upper, self.rows.target, side="left")
        return np.minimum(cells, len(upper) - 1)


def learn_head(model: IntervalTargetModel, rows: LeftOut) -> tuple[Head, float]:
    """The head that predicts left-out rows best, and its loss."""
    loss = Loss(model, rows.first(_MOST_ROWS))
    if rows.where is None:
        return model.head, loss.of(model.head)
    residual = (rows.target - model.centre) / model.scale - rows.where.mean
    scale = np.sqrt(float(np.average(residual**2, weights=rows.weights)))
    start = np.array([0.4, np.log(max(scale, 1e-3)), 0.8, 1.6])

    def penalised(numbers: Floats) -> float:
        pull = _PULL * float((numbers - start)[2:] @ (numbers - start)[2:])
        return loss.of(_head(numbers)) + pull

    found = minimize(
        penalised,
        start,
        method="Nelder-Mead",
        bounds=_BOUNDS,
        options={"maxfev": _MOST_STEPS, "xatol": 0.01, "fatol": 1e-5},
    )
    return _head(found.x), float(found.fun)


def _head(numbers: Floats) -> Head:
    weight, log_scale, spread_weight, log_freedom = map(float, numbers)
    return Head(weight, log_scale, spread_weight, float(np.exp(log_freedom)))
