"""Boosted trees of a target over codes, and what they say of rows left out of them."""

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
from bayleaf.models.interval_target import Location, TargetTrees
from bayleaf.models.support.tree_sum import TreeSum, columns_at

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


@dataclass(frozen=True)
class Growth:
    """How an ensemble of trees is grown; names and meaning are scikit-learn's."""

    n_estimators: int
    learning_rate: float
    max_depth: int
    min_samples_leaf: int
    max_features: float
    subsample: float

    def fitted(self, table: Floats, target: Floats, weights: Floats, seed: int) -> Any:
        """A fitted ensemble."""
        # It takes a while to import, and few need it.
        from sklearn.ensemble import GradientBoostingRegressor

        ensemble = GradientBoostingRegressor(
            init="zero", random_state=seed, **vars(self)
        )
        return ensemble.fit(table, target, sample_weight=weights)


# Deep trees for interactions and shallow ones for what is additive.
_MEANS = (
    Growth(300, 0.1, 5, 4, 0.4, 0.7),
    Growth(700, 0.2, 3, 4, 0.4, 0.7),
)
_SPREAD = Growth(80, 0.05, 3, 10, 0.5, 0.5)


@dataclass(frozen=True, eq=False)
class LearnedTrees:
    """Trees learned from all rows, and what trees without a row say of it.

    Parameters
    ----------
    trees : TargetTrees
        Mean and logarithm of the scale.
    left_out : Location
        Of each row, by trees that were grown without it.
    """

    trees: TargetTrees
    left_out: Location


def learn_trees(
    codes: Codes,
    variables: Sequence[Variable],
    target: Floats,
    rng: np.random.Generator,
    n_jobs: int,
) -> LearnedTrees | None:
    """Grow trees for mean and scale of the target.

    Parameters
    ----------
    codes : Codes
        Features of distinct rows in random order, with their weights.
    variables : sequence of Variable
        The features.
    target : ndarray of shape (n_rows,)
        In standard deviations from the mean.
    rng : Generator
        Gives every ensemble a seed.
    n_jobs : int
        Threads; the trees do not depend on it.

    Returns
    -------
    LearnedTrees or None
        None with fewer than 20 rows, or without features.
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
        """An ensemble of each kind, and what is said of left-out rows by each."""
        n_rows = self.codes.n_rows
        places = np.arange(n_rows)
        folds = [places[fold::_N_FOLDS] for fold in range(_N_FOLDS)]
        kept = [places, *(np.setdiff1d(places, fold) for fold in folds)]
        seeds = rng.integers(1 << 31, size=(len(kinds), len(kept))).tolist()
        tasks = [
            partial(self._ensemble, kind, target, rows, seed)
            for kind, own in zip(kinds, seeds, strict=True)
            for rows, seed in zip(kept, own, strict=True)
        ]
        found = run_tasks(tasks, n_jobs)
        said, whole = np.empty((n_rows, len(kinds))), []
        for kind in range(len(kinds)):
            of_all, *parts = found[kind * len(kept) : (kind + 1) * len(kept)]
            whole.append(of_all)
            for fold, part in zip(folds, parts, strict=True):
                said[fold, kind] = part.sums(self.codes.rows(fold))
        return whole, said

    def _ensemble(
        self, kind: Growth, target: Floats, rows: NDArray[np.intp], seed: int
    ) -> TreeSum:
        """Trees grown from some of the rows."""
        codes, own, weights = self.codes.rows(rows), target[rows], self.weights[rows]
        positions = tuple(
            _positions(variable, codes.column(feature), own, weights)
            for feature, variable in enumerate(self.variables)
        )
        # A state that the other rows lack stands with the mean of all.
        table = np.nan_to_num(columns_at(codes, positions))
        return flat(kind.fitted(table, own, weights, seed), positions)


def _positions(
    variable: Variable, column: Any, target: Floats, weights: Floats
) -> Floats:
    """Where states stand: intervals in their order, others by the mean target."""
    n_states = variable.n_states
    if variable.kind == "numeric":
        found = np.arange(n_states, dtype=np.float64)
        # The state of missing values comes last; here it stands below all numbers.
        found[variable.n_known_states :] = -1.0
        return found
    totals = np.bincount(column, weights, n_states + 1)[:n_states]
    sums = np.bincount(column, weights * target, n_states + 1)[:n_states]
    middle = float(np.average(target, weights=weights))
    means = (sums + _PRIOR_ROWS * middle) / (totals + _PRIOR_ROWS)
    # Trees compare numbers in single precision.
    return means.astype(np.float32).astype(np.float64)


def _shares(said: Floats, target: Floats, weights: Floats) -> Floats:
    """Weight of each ensemble, none negative, that left-out rows are told best by."""
    roots = np.sqrt(weights)
    table = np.vstack([said * roots[:, None], np.full((1, said.shape[1]), _PULL)])
    return np.asarray(nnls(table, np.append(target * roots, _PULL))[0])


def flat(ensemble: Any, positions: tuple[Floats, ...]) -> TreeSum:
    """The trees of a fitted `GradientBoostingRegressor` as one sum."""
    trees = [tree.tree_ for tree in ensemble.estimators_[:, 0]]
    sizes = [tree.node_count for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    inner = [tree.children_left > 0 for tree in trees]
    right = [
        np.where(own, tree.children_right + root, 0)
        for tree, own, root in zip(trees, inner, roots, strict=True)
    ]
    rate = ensemble.learning_rate
    return TreeSum(
        0.0,
        positions,
        roots,
        _joined([np.where(o, t.feature, -1) for t, o in zip(trees, inner)]),
        np.concatenate([np.where(o, t.threshold, 0.0) for t, o in zip(trees, inner)]),
        _joined(right),
        rate * np.concatenate([tree.value[:, 0, 0] for tree in trees]),
    )


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
