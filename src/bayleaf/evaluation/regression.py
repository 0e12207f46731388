"""Shuffled cross-validation of a regressor that predicts distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayleaf.classifiers.shared.training import row_weights
from bayleaf.data.tables.frames import take_rows
from bayleaf.data.unknown_cells import UnknownCells, reported_elsewhere
from bayleaf.data.weight_scale import one_warning
from bayleaf.evaluation.cross_validation import unknown_in_fold
from bayleaf.evaluation.folds import Rows, fold_plans, shuffled_folds, validate_each
from bayleaf.results.document import Document, Facts, Text
from bayleaf.results.result import Result
from bayleaf.wording import brief, rough

Floats = NDArray[np.float64]
COVERAGE = 0.9


@dataclass(frozen=True)
class RegressionScores(Result):
    """How well distributions of held-out rows predict; smaller is better but for R2.

    Errors, scores and width are in the target's unit; coverage and width are those of
    the central 90 % interval, whose coverage is best near 0.9. `n_rows` counts repeats
    again.
    """

    rmse: float  # of the mean
    mae: float  # of the median
    r2: float  # share of variance that the mean explains
    crps: float  # mean continuous ranked probability score
    pinball: float  # mean loss of the 5 %, 50 % and 95 % quantiles
    coverage: float  # share of rows inside
    width: float  # mean
    n_rows: int

    def document(self) -> Document:
        """The scores, one per line."""
        rows: list[tuple[str, Text]] = [
            ("RMSE", f"{self.rmse:.5g}"),
            ("MAE", f"{self.mae:.5g}"),
            ("R2", f"{self.r2:.4f}"),
            ("CRPS", f"{self.crps:.5g}"),
            ("pinball loss", f"{self.pinball:.5g}"),
            (
                "90 % interval",
                f"holds {100 * self.coverage:.1f} %, {self.width:.5g} wide",
            ),
        ]
        return Document(f"{self.n_rows:,} held-out rows", [Facts(rows)])

    @property
    def verdict(self) -> str:
        """What the scores come to, as the end of a sentence on the regressor."""
        return (
            f"is off by {rough(self.mae)} on average; its 90 % intervals contain "
            f"{100 * self.coverage:.0f} of 100 held-out numbers"
        )

    def __repr__(self) -> str:
        facts = (f"RMSE {self.rmse:.5g}", f"CRPS {self.crps:.5g}")
        return brief(self, *facts, f"{100 * self.coverage:.1f} % in 90 % intervals")


def pinball_losses(
    target: Floats, quantiles: Floats, levels: Floats, weights: Floats | None = None
) -> Floats:
    """Mean pinball loss of each level, shape (n_levels,).

    `target` and `weights` (n_rows,), `quantiles` (n_rows, n_levels); `levels`
    (n_levels,), 0 to 1.
    """
    away = target[:, None] - quantiles
    losses = np.maximum(levels * away, (levels - 1.0) * away)
    return np.asarray(np.average(losses, axis=0, weights=weights))


@one_warning()
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
    sample_weight: Any = None,
    unknown: list[UnknownCells] | None = None,
    plan: Any = None,
) -> dict[str, RegressionScores]:
    """Score regressors with `predict_distribution` on the same shuffled folds.

    Each is cloned for every fold. Shuffle r uses the seed ``random_state + r``; rows of
    one value in `groups` (n_rows,) share a fold; above 0, `verbose` shows progress on
    standard error. `sample_weight` (n_rows,) weighs rows in fits and in scores; those
    of weight zero are left out. To the list `unknown` are added, fold by fold, values
    that training rows did not contain; `plan` is as for `fit`, and decides the kinds of
    columns, or all rows do. ValueError if there are fewer rows than folds, or weights
    cannot be used.
    """
    target = np.asarray(y, dtype=np.float64)
    weights = row_weights(sample_weight, len(target))
    rows = np.flatnonzero(weights)
    if not 2 <= n_folds <= len(rows):
        raise ValueError(
            f"n_folds must be from 2 to the number of rows ({len(rows)}), got {n_folds}"
        )
    if groups is not None:
        groups = take_rows(list(groups), rows)
    dealt = shuffled_folds(len(rows), n_folds, n_repeats, random_state, groups)
    splits = [(rows[train], rows[test]) for train, test in dealt]
    plans = fold_plans(estimators, X, plan, weights)

    def validate(name: str, estimator: Any, train: Rows, test: Rows) -> Floats:
        # Any regressor may take part, and not all take weights.
        weighted = {} if sample_weight is None else {"sample_weight": weights[train]}
        given = {**weighted, **plans[name]}
        fitted = clone(estimator).fit(take_rows(X, train), target[train], **given)
        with reported_elsewhere():
            predicted = fitted.predict_distribution(take_rows(X, test))
        if unknown is not None:
            unknown.extend(unknown_in_fold(fitted, test))
        return row_facts(predicted, target[test])

    held_out = np.concatenate([weights[test] for _, test in splits])
    validated = validate_each(estimators, splits, validate, verbose)
    return {
        name: scores_of_rows(np.concatenate(folds), held_out)
        for name, folds in validated
    }


def row_facts(said: Any, target: Floats) -> Floats:
    """Target, mean, score and the three quantiles of rows, shape (n_rows, 6)."""
    outside = (1.0 - COVERAGE) / 2.0
    quantiles = said.quantiles([outside, 0.5, 1.0 - outside])
    return np.column_stack([target, said.mean, said.crps(target), quantiles])


def scores_of_rows(facts: Floats, weights: Floats | None = None) -> RegressionScores:
    """Scores of held-out rows, by `weights` (n_rows,), from what `row_facts` gave."""
    mean_of = partial(np.average, weights=weights)
    target, mean, crps = facts[:, :3].T
    quantiles = facts[:, 3:]
    low, median, high = quantiles.T
    square = float(mean_of((target - mean) ** 2))
    total = float(mean_of((target - mean_of(target)) ** 2))
    outside = (1.0 - COVERAGE) / 2.0
    levels = np.array([outside, 0.5, 1.0 - outside])
    return RegressionScores(
        float(np.sqrt(square)),
        float(mean_of(np.abs(target - median))),
        1.0 - square / total if total > 0 else float("nan"),
        float(mean_of(crps)),
        float(np.mean(pinball_losses(target, quantiles, levels, weights))),
        float(mean_of((target >= low) & (target <= high))),
        float(mean_of(high - low)),
        len(target),
    )
