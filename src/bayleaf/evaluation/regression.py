"""Shuffled cross-validation of a regressor that predicts distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

from bayleaf.data.tables.frames import take_rows
from bayleaf.progress import Work, displayed
from bayleaf.wording import brief

Floats = NDArray[np.float64]
COVERAGE = 0.9


@dataclass(frozen=True)
class RegressionScores:
    """How well distributions of held-out rows predict; all but R2 and coverage fall.

    Parameters
    ----------
    rmse, mae : float
        Root mean squared error of the mean and mean absolute error of the median, in
        the target's unit.
    r2 : float
        Share of the variance that the mean explains.
    crps : float
        Mean continuous ranked probability score, in the target's unit.
    pinball : float
        Mean pinball loss of the 5 %, 50 % and 95 % quantiles, in the target's unit.
    coverage : float
        Share of rows inside their central 90 % interval.
    width : float
        Mean width of these intervals, in the target's unit.
    n_rows : int
        Held-out rows, those of repeats counted again.
    """

    rmse: float
    mae: float
    r2: float
    crps: float
    pinball: float
    coverage: float
    width: float
    n_rows: int

    def to_dict(self) -> dict[str, float]:
        """The scores as plain values."""
        return asdict(self)

    def __repr__(self) -> str:
        facts = (f"RMSE {self.rmse:.5g}", f"CRPS {self.crps:.5g}")
        return brief(self, *facts, f"{self.coverage:.1%} in 90 % intervals")


def pinball_losses(target: Floats, quantiles: Floats, levels: Floats) -> Floats:
    """Mean pinball loss of each level, shape (n_levels,).

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        What came true.
    quantiles : ndarray of shape (n_rows, n_levels)
        What was predicted.
    levels : ndarray of shape (n_levels,)
        From 0 to 1.
    """
    away = target[:, None] - quantiles
    return np.asarray(np.maximum(levels * away, (levels - 1.0) * away).mean(axis=0))


def cross_validate_regressors(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    n_folds: int = 10,
    n_repeats: int = 1,
    random_state: int = 0,
    groups: Any = None,
    verbose: int = 0,
) -> dict[str, RegressionScores]:
    """Score regressors with `predict_distribution` on the same shuffled folds.

    Parameters
    ----------
    estimators : mapping of str to regressor
        Each is cloned for every fold.
    X : table of shape (n_rows, n_features)
        The features.
    y : array-like of shape (n_rows,)
        Numbers.
    n_folds, n_repeats : int, default=10, 1
        Number of folds and of shuffles; shuffle r uses the seed ``random_state + r``.
    random_state : int, default=0
        Seed of the first shuffle.
    groups : array-like of shape (n_rows,), optional
        Rows of one value share a fold.
    verbose : int, default=0
        Above zero, standard error shows how far it has come.

    Returns
    -------
    dict of str to RegressionScores
        In the order of `estimators`.

    Raises
    ------
    ValueError
        If there are fewer rows than folds.
    """
    target = np.asarray(y, dtype=np.float64)
    if not 2 <= n_folds <= len(target):
        raise ValueError(
            f"n_folds must be from 2 to the number of rows ({len(target)}), got "
            f"{n_folds}"
        )
    deals = []
    for repeat in range(n_repeats):
        kind = KFold if groups is None else GroupKFold
        folds = kind(n_folds, shuffle=True, random_state=random_state + repeat)
        deals += list(folds.split(np.empty((len(target), 1)), groups=groups))
    found = {}
    with displayed(verbose), Work(len(deals) * len(estimators)) as work:
        for name, estimator in estimators.items():
            parts = []
            for learned, held_out in deals:
                work.step(f"cross-validating {name}")
                fitted = clone(estimator).fit(take_rows(X, learned), target[learned])
                said = fitted.predict_distribution(take_rows(X, held_out))
                parts.append(row_facts(said, target[held_out]))
            found[name] = scores_of_rows(np.concatenate(parts))
    return found


def row_facts(said: Any, target: Floats) -> Floats:
    """Target, mean, score and the three quantiles of rows, shape (n_rows, 6).

    Parameters
    ----------
    said : TargetDistributions
        What was predicted.
    target : ndarray of shape (n_rows,)
        What came true.
    """
    outside = (1.0 - COVERAGE) / 2.0
    quantiles = said.quantiles([outside, 0.5, 1.0 - outside])
    return np.column_stack([target, said.mean, said.crps(target), quantiles])


def scores_of_rows(facts: Floats) -> RegressionScores:
    """Scores of held-out rows from what `row_facts` gave."""
    target, mean, crps = facts[:, :3].T
    quantiles = facts[:, 3:]
    low, median, high = quantiles.T
    square = float(np.mean((target - mean) ** 2))
    total = float(np.var(target))
    outside = (1.0 - COVERAGE) / 2.0
    levels = np.array([outside, 0.5, 1.0 - outside])
    return RegressionScores(
        float(np.sqrt(square)),
        float(np.mean(np.abs(target - median))),
        1.0 - square / total if total > 0 else float("nan"),
        float(np.mean(crps)),
        float(np.mean(pinball_losses(target, quantiles, levels))),
        float(np.mean((target >= low) & (target <= high))),
        float(np.mean(high - low)),
        len(target),
    )
