"""A correction of scores by one curve a feature, learned on left-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.domain import Variable
from bayleaf.search.left_out.cells import LeftOutRows

# Weight of the rows below which curves cannot be told from noise.
LEAST_WEIGHT = 1000.0
# Strengths of the pull to no correction, the strongest first.
_PENALTIES = tuple(1000.0 / 10 ** (step / 2) for step in range(6))
# A curve over numbers: knots of hat functions on the normal scale, and a line.
_KNOTS = np.linspace(-2.0, 2.0, 6)
# Most states of a feature that gets a value for each.
_FEW_STATES = 10
# Folds that are held out in turn.
_N_FOLDS = 3
# Penalties in a row without a gain after which the search ends.
_PATIENCE = 2
# Rows on which penalties are tried.
_TRIAL_ROWS = 6_000
# Most steps of a trial and of the final descent.
_TRIAL, _FINAL = 30, 60
# Products of one step: rows times numbers to learn.
_MOST_WORK = 60_000_000

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Correction:
    """Factor of the scores, and curves that states of some features add then."""

    scale: float  # above zero
    features: Whole  # (n_curves,), those with a curve
    curves: tuple[Floats, ...]  # each (n_states, n_classes), nats
    scores: Floats  # (n_rows, n_classes), left out and corrected


class _Task(NamedTuple):
    """Rows, what stands for each, and what is known of them.

    The parameters are a scale and, for each column of the design, nats for each class;
    with two classes one number, which speaks for the second as against the first.
    Scores have the shape (n_classes, n_rows), which sums over classes pass quickly.
    """

    scores: Floats
    design: Floats
    own: Whole
    weights: Floats

    def rows(self, chosen: Whole) -> _Task:
        return _Task(
            self.scores[:, chosen],
            self.design[chosen],
            self.own[chosen],
            self.weights[chosen],
        )

    @property
    def shares(self) -> Floats:
        """What a column's numbers add to each class, (n_numbers, n_classes)."""
        n_classes = len(self.scores)
        return np.array([[-0.5, 0.5]]) if n_classes == 2 else np.eye(n_classes)

    @property
    def start(self) -> Floats:
        """The parameters that correct nothing: a scale of one, no curves."""
        return np.append(1.0, np.zeros(self.design.shape[1] * len(self.shares)))

    def log_losses(self, parameters: Floats) -> Floats:
        """Log-loss (nats) of each row."""
        logs = self._log_posteriors(parameters)
        return np.asarray(-logs[self.own, np.arange(len(self.own))])

    def corrected(self, parameters: Floats) -> Floats:
        """Corrected scores, shape (n_classes, n_rows)."""
        shares = self.shares
        curves = parameters[1:].reshape(-1, len(shares))
        added = shares.T @ (self.design @ curves).T
        return np.asarray(parameters[0] * self.scores + added)

    def _log_posteriors(self, parameters: Floats) -> Floats:
        """Log posterior (nats) of each class in each row, (n_classes, n_rows)."""
        logs = self.corrected(parameters)
        logs -= logs.max(axis=0)
        logs -= np.log(np.exp(logs).sum(axis=0))
        return logs

    def penalised(self, parameters: Floats, penalty: float) -> tuple[float, Floats]:
        """Weighted log-loss and pull to no correction, and their gradient."""
        logs = self._log_posteriors(parameters)
        places, shares = np.arange(len(self.own)), self.shares
        loss = -float(self.weights @ logs[self.own, places])
        residual = np.exp(logs)
        residual[self.own, places] -= 1.0
        residual *= self.weights
        change = parameters - self.start
        # Nats of all classes are pulled, of which one number here may give two.
        pull = np.full(len(change), penalty * float(shares[0] @ shares[0]))
        pull[0] = penalty
        gradient = pull * change
        gradient[0] += float(np.vdot(residual, self.scores))
        gradient[1:] += ((shares @ residual) @ self.design).T.ravel()
        return loss + float(pull @ change**2) / 2, gradient

    def descend(self, start: Floats, penalty: float, max_iter: int) -> Floats:
        """Parameters of least penalised loss; the scale stays above zero."""
        bounds = [(0.1, None), *[(None, None)] * (len(start) - 1)]
        found = minimize(
            self.penalised,
            start,
            args=(penalty,),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": max_iter},
        )
        return np.asarray(found.x)


def learn_correction(
    scores: Floats,
    left_out: LeftOutRows,
    variables: Sequence[Variable],
    numbers: LinearGaussianFamilies | None,
) -> Correction | None:
    """Learn a correction of left-out scores; None unless it pays.

    `scores` (n_rows, n_classes) are log scores of rows in random order; `numbers` has
    the positions of numeric states. It pays if held-out rows gain by more than one
    standard error.
    """
    designs = _designs(variables, numbers)
    width = sum(design.shape[1] for _, design in designs)
    codes, n_classes = left_out.codes, scores.shape[1]
    work = left_out.n_rows * width * n_classes
    too_few = codes.weights.sum() < LEAST_WEIGHT
    if not designs or n_classes < 2 or work > _MOST_WORK or too_few:
        return None
    design = np.concatenate([d[codes.column(i)] for i, d in designs], axis=1)
    weights = np.asarray(codes.weights, dtype=np.float64)
    task = _Task(np.ascontiguousarray(scores.T), design, left_out.own, weights)
    found = _best(task)
    if found is None:
        return None
    curves, first = found[1:].reshape(width, -1) @ task.shares, 0
    features, tables = [], []
    for feature, own_design in designs:
        last = first + own_design.shape[1]
        table = own_design[: variables[feature].n_states] @ curves[first:last]
        features.append(feature)
        tables.append(table - table.mean(axis=1, keepdims=True))
        first = last
    return Correction(
        float(found[0]),
        np.array(features, np.int64),
        tuple(tables),
        task.corrected(found).T,
    )


def _designs(
    variables: Sequence[Variable], numbers: LinearGaussianFamilies | None
) -> list[tuple[int, Floats]]:
    """For each feature with a curve, what its states are made of, a row a code."""
    positions: dict[int, Floats] = {}
    if numbers is not None:
        positions = dict(zip(numbers.features.tolist(), numbers.positions, strict=True))
    found = []
    for feature, variable in enumerate(variables):
        if variable.n_states <= _FEW_STATES:
            design = np.eye(variable.n_states + 1, variable.n_states)
            found.append((feature, design))
        elif feature in positions:
            found.append((feature, _curve(positions[feature], variable.n_states)))
    return found


def _curve(positions: Floats, n_states: int) -> Floats:
    """Hat functions and the position itself; zero where there is none."""
    design = np.zeros((n_states + 1, len(_KNOTS) + 1))
    inside = np.clip(positions, _KNOTS[0], _KNOTS[-1])
    distance = np.abs(inside[:, None] - _KNOTS) / (_KNOTS[1] - _KNOTS[0])
    design[: len(positions), :-1] = np.maximum(0.0, 1.0 - distance)
    design[: len(positions), -1] = positions
    return design


def _best(task: _Task) -> Floats | None:
    """Parameters under the penalty that validates best; None if none pays."""
    n_rows = min(len(task.own), _TRIAL_ROWS)
    edges = [n_rows * part // _N_FOLDS for part in range(_N_FOLDS + 1)]
    everyone = np.arange(n_rows)
    folds = [everyone[edges[f] : edges[f + 1]] for f in range(_N_FOLDS)]
    fitted = [task.rows(np.setdiff1d(everyone, fold)) for fold in folds]
    held_out = [task.rows(fold) for fold in folds]
    weights = task.weights[:n_rows]
    before = task.rows(everyone).log_losses(task.start)
    found = [task.start] * _N_FOLDS
    best: tuple[float, Floats, Floats] | None = None
    least, risen = float(weights @ before), 0
    for penalty in _PENALTIES:
        found = [
            part.descend(start, penalty, _TRIAL)
            for part, start in zip(fitted, found, strict=True)
        ]
        losses = np.concatenate(
            [part.log_losses(own) for part, own in zip(held_out, found, strict=True)]
        )
        risen += 1
        if float(weights @ losses) < least:
            risen, least = 0, float(weights @ losses)
            best = penalty, losses, np.mean(found, axis=0)
        if risen == _PATIENCE:
            break
    if best is None or not pays(before - best[1], weights):
        return None
    return task.descend(best[2], best[0] * len(task.own) / n_rows, _FINAL)


def pays(gains: Floats, weights: Floats) -> bool:
    """Whether the weighted mean of `gains` exceeds its standard error."""
    total = float(weights.sum())
    mean = float(weights @ gains) / total
    squares = float(weights @ (gains - mean) ** 2) / total
    return mean > float(np.sqrt(squares / len(gains)))
