"""What a report shows of a model of a numeric target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from bayleaf.data.domain import Domain
from bayleaf.data.tables.frames import take_rows
from bayleaf.evaluation.folds import fitted_plan
from bayleaf.evaluation.privacy import Privacy
from bayleaf.evaluation.regression import row_facts, scores_of_rows
from bayleaf.models.explanation import noted
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.progress import Work
from bayleaf.regression.learning import checked_target
from bayleaf.report.case import Case
from bayleaf.report.intervals import (
    fold_error,
    mean_interval,
    number_intervals,
    student_interval,
)
from bayleaf.report.overview import expectation_shapes, number_sentences

Floats = NDArray[np.float64]
Values = dict[str, Any]

# Levels at which quantiles are held to what came true.
_LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
# Most dots of the picture of observed and expected numbers, rows explained, and terms.
_DOTS, _ROWS_A_KIND, _TERMS = 600, 2, 8


class _HeldOut(NamedTuple):
    """What is known of rows that were held out, each in the order of the table.

    `facts` are those of `row_facts`, `below` whether what came true was at most the
    quantile (n_rows, n_levels), `rises` how much more score (n_rows, n_features) a row
    has without a feature, `fold` (n_rows,) which fold held a row out.
    """

    facts: Floats
    below: NDArray[np.bool_]
    rises: Floats
    fold: NDArray[np.intp]


class NumberReport(Case):
    """A regressor, a table with numbers, and what the report shows of them."""

    kind = "regression"
    contains = "numbers"
    # Those of averaged KDB are on classes.
    remarks = ()

    def read_target(self) -> None:
        """Keep the number of each row, once it is known that options suit it."""
        if self.options.loss is not None or self.options.positive is not None:
            raise ValueError(
                "loss and positive belong to classifiers; this model is of a numeric "
                "target"
            )
        column = self.frame.get_column(self.target).to_native()
        try:
            self.truth = checked_target(column, len(self.frame))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the target column {str(self.target)!r} must hold finite numbers; "
                "correct or remove the other rows"
            ) from error

    def other_columns(self, privacy: Privacy) -> list[NDArray[np.intp]]:
        """None: counts of a numeric target are not withheld."""
        if privacy.withholds:
            raise ValueError(
                "min_count is not possible for a numeric target: errors and "
                "expectations are averages over single rows; leave it out, or report "
                "on a model of classes"
            )
        return []

    @property
    def shown_domain(self) -> Domain:
        """Features and target."""
        domain: Domain = self.source.domain
        return domain

    def model_values(self) -> Values:
        """Facts on the regressor."""
        summary = self.model.summary()
        return {
            "name": summary.model,
            "target": str(self.target),
            "mean": summary.mean,
            "lowest": summary.lowest,
            "highest": summary.highest,
            "n_features": summary.n_features,
            "intervals": list(summary.intervals),
            "n_networks": summary.n_networks,
            "n_trees": summary.n_trees,
        }

    def scored_values(self) -> Values:
        """Scores, importance and explained rows."""
        options, shows_rows = self.options, self.privacy.shows_rows
        found, told = _held_out(
            self.model,
            self.X,
            self.truth,
            held_out=options.held_out,
            n_folds=options.n_folds,
            seed=options.random_state,
            weights=options.weights,
        )
        unweighted = "baselines, calibration, intervals and importance"
        basis = "held_out" if options.held_out else "cross_validation"
        quality = {
            **_quality(
                found,
                self.truth,
                options.described(told, unweighted),
                shows_rows=shows_rows,
                weights=options.weights,
            ),
            "basis": "none" if found is None else basis,
        }
        importance = None if found is None else _importance(found, self.columns)
        return {
            "quality": quality,
            "overview": {
                "sentences": number_sentences(quality, str(self.target)),
                "shapes": self._shapes(importance),
            },
            "importance": importance,
            "rows": _rows(self.model, self.scorer, self.X, found)
            if shows_rows
            else None,
        }

    def _shapes(self, importance: Values | None) -> list[Values]:
        """The most important features by themselves."""
        if importance is None:
            return []
        names = {str(name): name for name in self.source.domain.names}
        chosen = [names[feature["feature"]] for feature in importance["features"]]
        return expectation_shapes(self.model, chosen, self.X)


def _held_out(
    model: Any,
    X: Any,
    truth: Floats,
    *,
    held_out: bool,
    n_folds: int,
    seed: int,
    weights: Floats | None,
) -> tuple[_HeldOut | None, str]:
    """What rows say that were held out, and how; None with the reason."""
    if held_out:
        told = "Scores of the model itself, on rows that it was not fitted to."
        return _of_rows(model, X, truth), told
    if not 2 <= n_folds <= len(truth):
        return None, (
            f"No held-out scores: {len(truth)} rows are too few for {n_folds} folds. "
            "Scores on the training rows would be too optimistic and are not shown."
        )
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    order: list[NDArray[np.intp]] = []
    parts: list[_HeldOut] = []
    plan = fitted_plan(model, X)
    with Work(n_folds) as work:
        for learned, others in folds.split(np.empty((len(truth), 1))):
            work.step("cross-validating")
            fold_weights = None if weights is None else weights[learned]
            rows = take_rows(X, learned)
            fitted = clone(model).fit(rows, truth[learned], fold_weights, plan=plan)
            part = _of_rows(fitted, take_rows(X, others), truth[others])
            parts.append(part._replace(fold=np.full(len(others), len(parts))))
            order.append(others)
    place = np.argsort(np.concatenate(order))
    together = _HeldOut(*(np.concatenate(own)[place] for own in zip(*parts)))
    return together, (
        f"Scores of fresh models with the same parameters, on rows held out in "
        f"{n_folds} folds (seed {seed})."
    )


def _of_rows(model: Any, X: Any, truth: Floats) -> _HeldOut:
    """What a model says of rows that it has not learned from."""
    codes = model._encode(X).codes
    said = model.model_.distributions(codes)
    score = said.crps(truth)
    rises = np.empty((len(truth), codes.n_variables))
    for feature in range(codes.n_variables):
        unseen = np.full(codes.n_rows, codes.cards[feature])
        hidden = codes.replaced(feature, unseen)
        without = model.model_.distributions(hidden)
        rises[:, feature] = without.crps(truth) - score
    below = truth[:, None] <= said.quantiles(_LEVELS)
    alike = np.zeros(len(truth), dtype=np.intp)
    return _HeldOut(row_facts(said, truth), below, rises, alike)


def _quality(
    found: _HeldOut | None,
    truth: Floats,
    told: str,
    *,
    shows_rows: bool,
    weights: Floats | None,
) -> Values:
    """Scores, what is expected without any feature, and how quantiles hold."""
    if found is None:
        return {"basis_told": told, "operating_points": None}
    expected, shares = found.facts[:, 1], found.below.mean(axis=0).tolist()
    dots = np.linspace(0, len(truth) - 1, min(_DOTS, len(truth))).astype(int)
    return {
        "basis_told": told,
        "operating_points": None,
        "n_rows": len(truth),
        "intervals": number_intervals(found.facts),
        "scores": scores_of_rows(found.facts, weights).to_dict(),
        "baseline": _baseline(truth),
        "calibration": {
            "of": "quantiles",
            "bins": [
                {"n": len(truth), "mean_probability": level, "share": share}
                for level, share in zip(_LEVELS.tolist(), shares, strict=True)
            ],
        },
        "observed": np.column_stack([expected, truth])[dots].tolist()
        if shows_rows
        else None,
    }


def _baseline(truth: Floats) -> Values:
    """Errors of the mean, the median and the rows' own distribution."""
    ranked = np.sort(truth)
    n_rows = len(truth)
    # Half the mean distance of two rows is what their distribution cannot undercut.
    places = 2.0 * np.arange(1, n_rows + 1) - n_rows - 1.0
    return {
        "rmse": float(np.std(truth)),
        "mae": float(np.mean(np.abs(truth - np.median(truth)))),
        "crps": float(places @ ranked) / n_rows**2,
    }


def _importance(found: _HeldOut, columns: Sequence[Values]) -> Values:
    """How much more score a feature costs that is unknown, the greatest first."""
    rises = found.rises.mean(axis=0).tolist()
    n_folds = found.fold.max() + 1
    if n_folds > 1:
        by_fold = [found.rises[found.fold == k].mean(axis=0) for k in range(n_folds)]
        errors = fold_error(by_fold).tolist()
        intervals = [
            student_interval(rise, error, n_folds - 1)
            for rise, error in zip(rises, errors, strict=True)
        ]
    else:
        intervals = [mean_interval(own) for own in found.rises.T]
    features = [
        {
            "feature": one["name"],
            "rise": rise,
            "interval": interval,
            "missing": one["missing"],
        }
        for one, rise, interval in zip(columns, rises, intervals, strict=True)
    ]
    return {
        "method": "crps",
        "crps": float(found.facts[:, 2].mean()),
        "features": sorted(features, key=lambda one: -one["rise"]),
    }


def _rows(
    estimator: Any, model: IntervalTargetModel, X: Any, found: _HeldOut | None
) -> list[Values] | None:
    """Rows that were expected well, too low, too high, and that are hardest to tell."""
    if found is None:
        return None
    truth, expected, score, low, median, high = found.facts.T
    orders = {
        "as expected": np.argsort(score, kind="stable"),
        "above what was expected": np.argsort(expected - truth, kind="stable"),
        "below what was expected": np.argsort(truth - expected, kind="stable"),
        "hard to tell": np.argsort(low - high, kind="stable"),
    }
    chosen: dict[int, str] = {}
    for kind, order in orders.items():
        free = [row for row in order.tolist() if row not in chosen]
        chosen |= dict.fromkeys(free[:_ROWS_A_KIND], kind)
    encoded = estimator._encode(take_rows(X, np.array([*chosen])), return_notes=True)
    told = noted(model.explain(encoded.codes), encoded)
    rows = []
    for (row, kind), one in zip(chosen.items(), told, strict=True):
        terms = one.to_dict()["terms"]
        rows.append(
            {
                "row": row + 1,
                "kind": kind,
                "truth": float(truth[row]),
                "held_out": {
                    "expectation": float(expected[row]),
                    "low": float(low[row]),
                    "median": float(median[row]),
                    "high": float(high[row]),
                },
                "expectation": one.expectation,
                "baseline": one.baseline,
                "terms": terms[:_TERMS],
                "n_rest": len(terms[_TERMS:]),
                "rest": sum(term["contribution"] for term in terms[_TERMS:]),
            }
        )
    return rows
