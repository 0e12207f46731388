"""Boosted trees of a target over codes, and their predictions of left-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bayleaf.counts.threads import run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.models.interval_target import Location, TargetTrees, TreeSum
from bayleaf.native.target_trees import Growth, Nodes, grow_target_trees

Floats = NDArray[np.float64]
# Fewer distinct rows than this cannot grow trees and leave rows out of them.
LEAST_ROWS = 20
_N_FOLDS = 5
# Rows of the mean that the mean of a state's rows is mixed with.
_PRIOR_ROWS = 3.0
# A residual's distance from zero that its logarithm sees, in standard deviations.
_LEAST_RESIDUAL = 0.02
# How much the weights of ensembles are pulled to a sum of one, as rows of the target.
_PULL = 30.0


# Deep trees for interactions and shallow ones for what is additive.
_MEANS = (Growth(300, 10, 0.1, 5, 4, 0.4, 0.7), Growth(700, 10, 0.2, 3, 4, 0.4, 0.7))
_SPREAD = Growth(80, 1, 0.05, 3, 10, 0.5, 0.5)
# The last trees are dropped if they raise the squared error of left-out rows by more.
_MAX_RISE = 0.02


@dataclass(frozen=True, eq=False)
class LearnedTrees:
    """Trees learned from all rows, and predictions of rows by trees without them."""

    trees: TargetTrees  # for mean and log scale
    left_out: Location  # per row, by trees grown without it


def learn_trees(
    codes: Codes,
    variables: Sequence[Variable],
    target: Floats,
    rng: np.random.Generator,
    n_jobs: int,
) -> LearnedTrees | None:
    """Grow trees for mean and scale of the target.

    None for fewer than 20 rows, or without features. Rows are distinct and in random
    order; `target` (n_rows,) is in standard deviations from the mean. The trees do not
    depend on `n_jobs`.
    """
    if codes.n_rows < LEAST_ROWS or not variables:
        return None
    task = _Task(codes, tuple(variables), np.asarray(codes.weights, float))
    means, left_out = task.grown(_MEANS, target, rng, n_jobs)
    shares = _shares(left_out, target, task.weights)
    mean = joined([(tree, share) for tree, share in zip(means, shares, strict=True)])
    said = left_out @ shares
    residual = np.abs(target - said)
    scale = np.sqrt(float(np.average(residual**2, weights=task.weights)))
    if scale == 0.0:
        return None
    logs = np.log(residual + _LEAST_RESIDUAL * scale)
    middle = float(np.average(logs, weights=task.weights))
    spreads, spread_said = task.grown((_SPREAD,), logs - middle, rng, n_jobs)
    return LearnedTrees(
        TargetTrees(mean, joined([(spreads[0], 1.0)])),
        Location(said, spread_said[:, 0]),
    )


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows from which trees are grown."""

    codes: Codes
    variables: tuple[Variable, ...]
    weights: Floats

    def grown(
        self,
        kinds: Sequence[Growth],
        target: Floats,
        rng: np.random.Generator,
        n_jobs: int,
    ) -> tuple[list[TreeSum], Floats]:
        """An ensemble of each kind, and the sums of left-out rows in each."""
        n_rows = self.codes.n_rows
        rows = np.arange(n_rows)
        folds = [*(rows[fold::_N_FOLDS] for fold in range(_N_FOLDS)), rows[:0]]
        seeds = rng.integers(1 << 63, size=(len(kinds), len(folds))).tolist()
        tasks = [
            partial(self._grow, kind, target, fold, seed)
            for kind, kind_seeds in zip(kinds, seeds, strict=True)
            for fold, seed in zip(folds, kind_seeds, strict=True)
        ]
        results = iter(run_tasks(tasks, n_jobs))
        left_out, ensembles = np.empty((n_rows, len(kinds))), []
        for column, kind in enumerate(kinds):
            sums = np.empty((kind.n_stages, n_rows))
            # The last fold is empty: its trees are those of all rows.
            for fold in folds:
                positions, nodes, sums[:, fold] = next(results)
            errors = np.average((sums - target) ** 2, axis=1, weights=self.weights)
            stage = int(np.flatnonzero(errors <= (1 + _MAX_RISE) * errors.min())[-1])
            left_out[:, column] = sums[stage]
            nodes = nodes.first(kind.n_trees * (stage + 1) // kind.n_stages)
            ensembles.append(TreeSum(0.0, positions, *nodes))
        return ensembles, left_out

    def _grow(
        self, kind: Growth, target: Floats, left_out: NDArray[np.intp], seed: int
    ) -> tuple[tuple[Floats, ...], Nodes, Floats]:
        """Positions of states, trees without some rows, sums of these by stage."""
        fitted = np.setdiff1d(np.arange(self.codes.n_rows), left_out)
        order = np.concatenate([fitted, left_out])
        ranks = np.empty((len(self.variables), len(order)), dtype=np.uint16)
        positions = []
        for feature, variable in enumerate(self.variables):
            column = self.codes.column(feature)[order]
            first = column[: len(fitted)]
            state_ranks = _ranks(variable, first, target[fitted], self.weights[fitted])
            # Rows of a feature without states have a code all the same.
            ranks[feature] = np.append(state_ranks, 0)[column]
            positions.append(state_ranks.astype(np.float64))
        nodes, sums = grow_target_trees(
            ranks,
            np.array(self.codes.cards, dtype=np.int64) + 1,
            target[fitted],
            self.weights[fitted],
            kind,
            seed,
        )
        return tuple(positions), nodes, sums[:, len(fitted) :]


def _ranks(
    variable: Variable, column: Any, target: Floats, weights: Floats
) -> NDArray[np.intp]:
    """Order of the states: intervals as they are, others by the mean target."""
    n_states = variable.n_states
    if variable.kind == "numeric":
        # The state of missing values comes last; its rank is below all numbers.
        return np.roll(np.arange(n_states), variable.n_known_states - n_states)
    totals = np.bincount(column, weights, n_states + 1)[:n_states]
    sums = np.bincount(column, weights * target, n_states + 1)[:n_states]
    middle = float(np.average(target, weights=weights))
    means = (sums + _PRIOR_ROWS * middle) / (totals + _PRIOR_ROWS)
    return np.unique(means, return_inverse=True)[1]


def _shares(said: Floats, target: Floats, weights: Floats) -> Floats:
    """Weight of each ensemble, none negative, that left-out rows are told best by."""
    roots = np.sqrt(weights)
    table = np.vstack([said * roots[:, None], np.full((1, said.shape[1]), _PULL)])
    return np.asarray(nnls(table, np.append(target * roots, _PULL))[0])


def joined(parts: Sequence[tuple[TreeSum, float]]) -> TreeSum:
    """Several sums of trees over the same positions, each times its weight, as one."""
    used = [(tree, weight) for tree, weight in parts if weight > 0.0] or [
        (parts[0][0], 0.0)
    ]
    sizes = np.cumsum([0, *(len(tree.features) for tree, _ in used)])[:-1].tolist()
    right = [
        np.where(tree.features >= 0, tree.right + size, 0)
        for (tree, _), size in zip(used, sizes, strict=True)
    ]
    return TreeSum(
        float(sum(weight * tree.base for tree, weight in used)),
        used[0][0].positions,
        _joined([tree.roots + s for (tree, _), s in zip(used, sizes)]),
        _joined([tree.features for tree, _ in used]),
        np.concatenate([tree.thresholds for tree, _ in used]),
        _joined(right),
        np.concatenate([weight * tree.values for tree, weight in used]),
    )


def _joined(parts: Sequence[Any]) -> NDArray[np.int64]:
    return np.concatenate(parts).astype(np.int64)
