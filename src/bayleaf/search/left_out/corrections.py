"""Corrections of scores learned on left-out rows: a curve a feature, and trees."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import fmin_l_bfgs_b
from scipy.special import log_softmax

from bayleaf.counts.threads import run_tasks
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.native.class_trees import Growth, Nodes, add_class_trees, grow_class_trees
from bayleaf.search.left_out.left_out_scores import LeftOutRows

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# Folds that are held out in turn.
_N_FOLDS = 3

# Weight of the rows below which curves cannot be told from noise.
_LEAST_CURVE_WEIGHT = 1000.0
# Strengths of the pull to no correction, the strongest first; so many in a row without
# a gain end the search.
_PENALTIES, _PENALTY_PATIENCE = tuple(1000.0 / 10 ** (step / 2) for step in range(6)), 2
# A curve over numbers: knots of hat functions on the normal scale, and a line.
_KNOTS = np.linspace(-2.0, 2.0, 6)
# Most states of a feature that gets a value for each.
_FEW_STATES = 10
# Rows on which penalties are tried.
_TRIAL_ROWS = 6_000
# Most steps of a trial and of the final descent.
_TRIAL, _FINAL = 30, 60
# Products of one step: rows times numbers to learn.
_MOST_WORK = 60_000_000

# Weight of the rows below which trees cannot be told from noise.
_LEAST_TREE_WEIGHT = 300.0
# Rounds without a gain after which growth ends.
_PATIENCE = 20
# Least curvature of a leaf, and the pull of steps to nothing: one a thousand rows,
# within bounds.
_LEAST_CURVATURE, _PULL_A_ROW, _PULLS = 0.1, 0.001, (1.0, 10.0)
# Most rounds, leaves of a tree and share of a Newton step: where there are many rows,
# fewer rounds come as far.
_FEW, _MANY, _MANY_ROWS = (300, 16, 0.1), (100, 32, 0.3), 10_000


@dataclass(frozen=True, eq=False)
class Correction:
    """Factor of the scores, and curves that states of some features add then."""

    scale: float  # above zero
    features: Whole  # (n_curves,), those with a curve
    curves: tuple[Floats, ...]  # each (n_states, n_classes), nats
    scores: Floats  # (n_rows, n_classes), left out and corrected


class _CurveTask(NamedTuple):
    """Rows, what stands for each, and what is known of them.

    The parameters are a scale and, for each column of the design, nats for each class;
    with two classes one number, which speaks for the second as against the first.
    Scores have the shape (n_classes, n_rows), which sums over classes pass quickly.
    """

    scores: Floats
    design: Floats
    own: Whole
    weights: Floats

    def rows(self, chosen: Whole) -> _CurveTask:
        return _CurveTask(
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
        added = (self.design @ curves).T
        # With a number for each class the product with the shares changes nothing.
        if len(shares) < len(self.scores):
            added = shares.T @ added
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
        slopes = residual if len(shares) == len(residual) else shares @ residual
        gradient[1:] += (slopes @ self.design).T.ravel()
        return loss + float(pull @ change**2) / 2, gradient

    def descend(self, start: Floats, penalty: float, max_iter: int) -> Floats:
        """Parameters of least penalised loss; the scale stays above zero."""
        bounds = [(0.1, None), *[(None, None)] * (len(start) - 1)]
        # `minimize` would convert thousands of bounds there and back first.
        found, *_ = fmin_l_bfgs_b(
            self.penalised, start, args=(penalty,), bounds=bounds, maxiter=max_iter
        )
        return np.asarray(found)


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
    too_few = codes.weights.sum() < _LEAST_CURVE_WEIGHT
    if not designs or n_classes < 2 or work > _MOST_WORK or too_few:
        return None
    design = np.concatenate([d[codes.column(i)] for i, d in designs], axis=1)
    weights = np.asarray(codes.weights, dtype=np.float64)
    task = _CurveTask(np.ascontiguousarray(scores.T), design, left_out.own, weights)
    found = _best_parameters(task)
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


def _best_parameters(task: _CurveTask) -> Floats | None:
    """Parameters under the penalty that validates best; None if none pays."""
    n_rows = min(len(task.own), _TRIAL_ROWS)
    everyone, folds = np.arange(n_rows), _folds(n_rows)
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
        if risen == _PENALTY_PATIENCE:
            break
    if best is None or not pays(before - best[1], weights):
        return None
    return task.descend(best[2], best[0] * len(task.own) / n_rows, _FINAL)


def _folds(n_rows: int) -> list[Whole]:
    """Rows of each fold, all but equally many."""
    edges = [n_rows * part // _N_FOLDS for part in range(_N_FOLDS + 1)]
    return [np.arange(*ends) for ends in itertools.pairwise(edges)]


def pays(gains: Floats, weights: Floats) -> bool:
    """Whether the weighted mean of `gains` exceeds its standard error."""
    total = float(weights.sum())
    mean = float(weights @ gains) / total
    squares = float(weights @ (gains - mean) ** 2) / total
    return mean > float(np.sqrt(squares / len(gains)))


class GrownTrees(NamedTuple):
    """Trees, and what their roots add to all rows."""

    classes: Whole  # (n_trees,), the class that each tree adds to
    is_ordered: NDArray[np.bool_]  # (n_features,), whether states are intervals
    nodes: Nodes  # values are nats relative to the root
    base: Floats  # (n_classes,), nats that all rows get
    scores: Floats  # (n_rows, n_classes), left out, corrected by trees of other folds

    def scaled(self, scale: float) -> GrownTrees:
        """The trees, their values times a number."""
        nodes = self.nodes._replace(values=scale * self.nodes.values)
        return self._replace(nodes=nodes)


def learn_class_trees(
    scores: Floats,
    left_out: LeftOutRows,
    variables: Sequence[Variable],
    n_jobs: int = 1,
    without: Collection[int] = (),
) -> GrownTrees | None:
    """Grow trees on left-out scores; None unless they pay.

    `scores` (n_rows, n_classes) are log scores of rows in random order. Trees pay if
    rows that were held out gain by more than one standard error. They never branch at
    the features in `without`; folds run in `n_jobs` threads.
    """
    task = _TreeTask.of(scores, left_out, variables, without)
    if left_out.codes.weights.sum() < _LEAST_TREE_WEIGHT or scores.shape[1] < 2:
        return None
    n_rounds, out_of_fold = _best_number_of_rounds(task, n_jobs)
    if not n_rounds:
        return None
    everyone = np.arange(left_out.n_rows)
    _, nodes = task.grown(everyone, everyone[:0], n_rounds)
    return task.without_roots(nodes, out_of_fold)


class _TreeTask(NamedTuple):
    """What trees are grown on."""

    codes: Codes
    rows: NDArray[np.uint16]
    cards: Whole
    is_ordered: NDArray[np.bool_]
    own: Whole
    weights: Floats
    scores: Floats

    @classmethod
    def of(
        cls,
        scores: Floats,
        left_out: LeftOutRows,
        variables: Sequence[Variable],
        without: Collection[int],
    ) -> _TreeTask:
        features = left_out.features
        rows = np.empty((left_out.n_rows, features.n_variables), dtype=np.uint16)
        for feature in range(features.n_variables):
            # Nothing can be gained by branching where all rows are alike.
            rows[:, feature] = 0 if feature in without else features.column(feature)
        return cls(
            features,
            rows,
            np.array(features.cards, dtype=np.int64),
            np.array([variable.kind == "numeric" for variable in variables]),
            left_out.own.astype(np.int64),
            np.array(left_out.codes.weights, dtype=np.float64),
            np.ascontiguousarray(scores),
        )

    @property
    def classes_of_round(self) -> Whole:
        """The class of each tree of a round."""
        n_classes = self.scores.shape[1]
        return np.arange(1 if n_classes == 2 else 0, n_classes)

    def grown(
        self, fitted: Whole, held_out: Whole, n_rounds: int | None = None
    ) -> tuple[Floats, Nodes]:
        """Held-out loss (nats) by round, and the trees."""
        order = np.concatenate([fitted, held_out])
        most, leaves, rate = _MANY if len(self.own) > _MANY_ROWS else _FEW
        pull = float(np.clip(_PULL_A_ROW * self.weights.sum(), *_PULLS))
        return grow_class_trees(
            self.rows[order],
            self.cards,
            self.is_ordered,
            self.own[order],
            self.weights[order],
            self.scores[order],
            len(fitted),
            Growth(n_rounds or most, _PATIENCE, leaves, rate, pull, _LEAST_CURVATURE),
        )

    def without_roots(self, nodes: Nodes, scores: Floats) -> GrownTrees:
        """The trees beside what their roots say."""
        roots = nodes.roots
        sizes = np.diff(np.append(roots, len(nodes.values)))
        of_root = nodes.values[roots]
        classes = np.resize(self.classes_of_round, len(roots))
        base = np.zeros(self.scores.shape[1])
        np.add.at(base, classes, of_root)
        nodes = nodes._replace(values=nodes.values - np.repeat(of_root, sizes))
        return GrownTrees(classes, self.is_ordered, nodes, base, scores)

    def corrected(self, rows: Whole, nodes: Nodes, n_rounds: int) -> Floats:
        """Scores of rows after some rounds."""
        ends = np.append(nodes.roots, len(nodes.values))
        first = nodes.until(int(ends[n_rounds * len(self.classes_of_round)]))
        scores = self.scores[rows]
        grown = self.without_roots(first, scores)
        codes = self.codes.rows(rows)
        add_class_trees(
            codes.narrow,
            codes.wide,
            np.array(codes.slots, dtype=np.int64),
            codes.n_rows,
            self.cards,
            self.is_ordered,
            first.roots,
            grown.classes,
            grown.nodes,
            scores,
        )
        return scores + grown.base

    def losses(self, scores: Floats) -> Floats:
        """Log-loss (nats) of each row under scores."""
        logs = log_softmax(scores, axis=1)
        return np.asarray(-logs[np.arange(len(scores)), self.own])


def _best_number_of_rounds(task: _TreeTask, n_jobs: int) -> tuple[int, Floats]:
    """Rounds after which held-out rows lose least, and their scores then.

    No rounds if none pay.
    """
    n_rows = len(task.own)
    everyone, folds = np.arange(n_rows), _folds(n_rows)
    grow = [partial(task.grown, np.setdiff1d(everyone, f), f) for f in folds]
    found = run_tasks(grow, n_jobs)
    n_common = min(len(losses) for losses, _ in found)
    best = int(np.argmin(sum(losses[:n_common] for losses, _ in found)))
    if not best:
        return 0, task.scores
    parts = zip(folds, found, strict=True)
    scores = np.concatenate([task.corrected(f, own, best) for f, (_, own) in parts])
    gains = task.losses(task.scores) - task.losses(scores)
    return (best, scores) if pays(gains, task.weights) else (0, task.scores)
