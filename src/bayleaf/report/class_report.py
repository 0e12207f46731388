"""What a report shows of a classifier."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.parameters import checked_loss
from bayleaf.counts.information import left_out_information
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, masked_domain
from bayleaf.data.tables.frames import take_rows
from bayleaf.evaluation.cross_validation import held_out_probabilities
from bayleaf.evaluation.groups import Groups
from bayleaf.evaluation.groups.group_columns import (
    GroupColumn,
    crossed,
    decoded,
    group_columns,
)
from bayleaf.evaluation.groups.group_rates import Task
from bayleaf.evaluation.groups.grouped_figures import figures_of_kept, kept_rows
from bayleaf.evaluation.operating_points import LossMatrix, class_names
from bayleaf.evaluation.privacy import BY_CLASS, PredictedRows, Privacy
from bayleaf.evaluation.table_rows import labels_of, other_columns
from bayleaf.explain import Importance, importance
from bayleaf.report.case import HELD_OUT_BASIS, Case
from bayleaf.report.chosen_rows import row_values
from bayleaf.report.intervals import fold_error, student_interval
from bayleaf.report.overview import MAX_SHAPES, class_sentences, outcomes, shape_values
from bayleaf.report.quality import Predictions, quality_values
from bayleaf.wording import name_list

Values = dict[str, Any]
_LEVEL = 0.95
# How importance was found, in a report.
_HELD_OUT, _FOLDS = "held_out", "folds"
_INFORMATION, _DIGITS = "information", 6


class ClassReport(Case):
    """A classifier, a table with classes, and what the report shows of them."""

    kind = "classifier"
    contains = "classes"

    def read_target(self) -> None:
        """Keep the class of each row, and the scorer with the costs that are given."""
        self.fold_parts: list[Importance] = []  # by fold
        self.labels, self.truth = labels_of(
            self.frame.get_column(self.target), self.scorer.classes
        )

    def other_columns(self, privacy: Privacy) -> list[NDArray[np.intp]]:
        """The columns that the model does not read, and the classes."""
        if not privacy.withholds:
            return [self.truth]
        return [*other_columns(self.frame, {*self.read, self.target}), self.truth]

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """Rows of each class as they may be shown, (n_classes,)."""
        return self.privacy.published(self._exact_counts(), BY_CLASS)

    def _exact_counts(self) -> NDArray[np.intp]:
        n_states = self.source.domain[-1].n_states
        return np.bincount(self.truth, minlength=n_states)

    @property
    def n_rows(self) -> int:
        """Number of rows, summed over classes."""
        return int(self.class_counts.sum())

    @property
    def shown_domain(self) -> Domain:
        """Features and class under the names that may be shown."""
        variable = self.source.domain[-1]
        written = tuple(class_names(list(variable.states)))
        unnamed = self.privacy.unnamed(self._exact_counts(), self.class_counts)
        shown = masked_domain(Domain((replace(variable, states=written),)), [unnamed])
        return Domain((*self.features, *shown))

    @cached_property
    def names(self) -> list[str]:
        """The classes as they may be shown."""
        variable = self.shown_domain[-1]
        return [variable.label(code) for code in range(variable.n_states)]

    def model_values(self) -> Values:
        """Classes with their priors, and the size of the model."""
        summary = self.model.summary()
        priors = [prior for _, prior in summary.classes]
        if self.privacy.withholds:
            priors = (self.class_counts / self.n_rows).tolist()
        return {
            "name": summary.model,
            "target": str(self.target),
            "classes": [
                {"label": name, "prior": prior}
                for name, prior in zip(self.names, priors, strict=True)
            ],
            "n_features": summary.n_features,
            "n_arcs": summary.n_arcs,
            "n_parameters": summary.n_parameters,
            "temperature": None if self.privacy.withholds else summary.temperature,
        }

    def scored_values(self) -> Values:
        """Scores, figures by group, costs, importance and explained rows."""
        names = self.names
        costs = self._costs()
        positive = self._positive()
        columns = self._group_columns()
        together = None
        if columns and self.privacy.withholds:
            # Groups by all columns, by which rows are rounded.
            mend = "with min_count, name fewer columns"
            together = crossed(columns, self.frame.columns, mend)
        found, reason = self._predictions()
        quality: Values = {
            "basis": "none",
            "basis_told": reason,
            "operating_points": None,
        }
        groups: list[Values] = []
        points: list[Values] = []
        if found is not None:
            # Of two classes rates are those of the positive one.
            places = (positive,) if len(names) == 2 else tuple(range(len(names)))
            task = Task(tuple(names), places, costs, _LEVEL)
            # Rounded once: figures of the page and of all groups are of the same rows.
            shown, cells, task = self._published(found, together, task)
            quality = quality_values(shown, names, positive, costs, self.privacy)
            points = outcomes(shown, positive, quality)
            groups = [
                self._group_values(own, shown, together, cells, task) for own in columns
            ]
        importance = self._importance()
        return {
            "overview": {
                "sentences": class_sentences(quality, str(self.target)),
                "points": points,
                "shapes": self._shapes(importance, positive),
            },
            "quality": quality,
            "groups": groups,
            "loss": None
            if costs is None
            else {"classes": names, "costs": costs.tolist()},
            "importance": importance,
            "rows": None
            if found is None or not self.privacy.shows_rows
            else row_values(self.model, self.scorer, self.rows, found, names, self.X),
        }

    def _costs(self) -> NDArray[np.float64] | None:
        """The costs of errors: those given, or those of the classifier."""
        loss = self.options.loss
        if isinstance(loss, LossMatrix):
            loss = loss.for_classes(self.scorer.classes)
        if loss is not None:
            costs = checked_loss(loss, self.scorer.classes)
            self.scorer = replace(self.scorer, loss=costs)
        found = self.scorer.loss
        return None if found is None else np.asarray(found)

    def _positive(self) -> int:
        """Which of two classes thresholds are for."""
        positive = self.options.positive
        if positive is None:
            return len(self.names) - 1
        known = class_names(self.scorer.classes.tolist())
        if len(known) != 2 or str(positive) not in known:
            raise ValueError(
                f"positive must be one of two classes, but there are "
                f"{name_list(known)} and positive is {positive!r}"
            )
        return known.index(str(positive))

    def _group_columns(self) -> list[GroupColumn]:
        """The columns that make groups."""
        by = self.options.by
        if not by:
            return []
        assert self.encoder is not None
        assert self.target is not None
        return group_columns(
            self.frame, by, self.encoder, self.codes, self.read, self.target
        )

    def _predictions(self) -> tuple[Predictions | None, str]:
        """Held-out predictions, or why there are none."""
        options = self.options
        if options.held_out:
            basis, told = "held_out", HELD_OUT_BASIS
            folds, proba = None, self.scorer.proba(self.rows)
        else:
            n_folds, seed = options.n_folds, options.random_state
            basis = "cross_validation"
            told = (
                f"{n_folds}-fold cross-validation on the rows of this table (seed "
                f"{seed}): {n_folds} fresh models of the same kind and settings, each "
                "scored on its held-out rows. The model on this page was fitted to all "
                "rows and is not scored on them."
            )
            try:
                folds, proba = held_out_probabilities(
                    self.model,
                    self.X,
                    self.labels,
                    self.truth,
                    n_folds=n_folds,
                    random_state=seed,
                    sample_weight=options.weights,
                    look=None if self.privacy.withholds else self._look,
                )
            except ValueError as error:
                why = "too few rows for the folds" if self.privacy.withholds else error
                return None, (
                    f"No held-out scores: {why}. Scores on the training rows would be "
                    "too optimistic and are not shown."
                )
        chosen = self.scorer.choose(proba)
        unweighted = "confusions, intervals, ROC curves and figures by group and column"
        text = options.described(told, unweighted)
        weights = options.weights
        return Predictions(basis, text, self.truth, chosen, proba, folds, weights), ""

    def _published(
        self, found: Predictions, together: Groups | None, task: Task
    ) -> tuple[Predictions, NDArray[np.intp], Task]:
        """Held-out rows that may be shown, rounded once by group and class.

        All scores, curves and figures of groups are computed from these rows as they
        would be from others, so that they reveal no more than
        `bayleaf.evaluation.rounded_rows` keeps. Returns the predictions (the same
        where nothing is withheld, otherwise without folds), their groups (n_rows,),
        and the task that remains possible.
        """
        if together is None:
            together = Groups((), ((),), np.zeros(len(found.truth), dtype=np.intp))
        rows = PredictedRows(found.truth, found.chosen, found.proba, together.codes)
        kept, task = kept_rows(rows, together, task, self.privacy, BY_CLASS)
        if self.privacy.withholds:
            found = replace(
                found,
                truth=kept.truth,
                chosen=kept.chosen,
                proba=kept.proba,
                folds=None,
            )
        return found, kept.groups, task

    def _group_values(
        self,
        column: GroupColumn,
        found: Predictions,
        together: Groups | None,
        cells: NDArray[np.intp],
        task: Task,
    ) -> Values:
        """Figures on held-out rows by group; `cells` (n_rows,) are codes `together`."""
        codes = column.groups.codes
        if together is not None:
            codes = decoded(cells, together, column)
        rows = PredictedRows(found.truth, found.chosen, found.proba, codes)
        return figures_of_kept(
            rows, column.groups, task, self.privacy, cells=cells
        ).to_dict()

    def _shapes(self, importance: Values | None, positive: int) -> list[Values]:
        """The most informative features by themselves; none where counts are rounded.

        Of two classes they are of the positive one, otherwise of the commonest.
        """
        if self.privacy.withholds or importance is None:
            return []
        label = positive if len(self.names) == 2 else int(self.class_counts.argmax())
        ranked = sorted(importance["features"], key=lambda f: -f["information_bits"])
        names = {str(name): name for name in self.source.domain.names}
        chosen = [names[feature["feature"]] for feature in ranked[:MAX_SHAPES]]
        return shape_values(self.model, chosen, label)

    def _importance(self) -> Values | None:
        """What each feature is worth on held-out rows."""
        columns: Sequence[Values] = self.columns
        if self.privacy.withholds:
            return _published_information(
                self.codes, self.truth, len(self.names), columns, self.privacy
            )
        if self.options.held_out:
            weights = self.options.weights
            found = importance(self.model, self.X, self.labels, sample_weight=weights)
            return _importance_values(_HELD_OUT, found, columns, found.n_rows - 1)
        # A column may have no value at all in the rows of a fold.
        if len(self.fold_parts) < self.options.n_folds:
            return None
        pooled = _fold_importance(self.fold_parts)
        return _importance_values(_FOLDS, pooled, columns, self.options.n_folds - 1)

    def _look(self, learned: Any, rows: NDArray[np.intp]) -> None:
        """Measure the importance of features on the rows that a fold holds out."""
        weights = self.options.weights
        with contextlib.suppress(ValueError):
            row_weights = None if weights is None else weights[rows]
            features, labels = take_rows(self.X, rows), self.labels[rows]
            part = importance(learned, features, labels, sample_weight=row_weights)
            self.fold_parts.append(part)


def _importance_values(
    method: str, found: Importance, columns: Sequence[Values], degrees: float
) -> Values:
    """Importance as plain values, with how often each feature is missing.

    Intervals are Student's with so many degrees of freedom.
    """
    missing = {column["name"]: column["missing"] for column in columns}
    return {
        "method": method,
        "log_loss": found.log_loss,
        "features": [
            {
                "feature": str(one.feature),
                "information_bits": round(one.information, _DIGITS),
                "information_error_bits": round(one.information_error, _DIGITS),
                "loss_increase": round(one.loss_increase, _DIGITS),
                "loss_error": round(one.loss_error, _DIGITS),
                "interval": student_interval(
                    one.loss_increase, one.loss_error, degrees
                ),
                "missing": missing[str(one.feature)],
            }
            for one in found.ranked()
        ],
    }


def _published_information(
    codes: Codes,
    truth: NDArray[np.intp],
    n_classes: int,
    columns: Sequence[Values],
    privacy: Privacy,
) -> Values:
    """Each feature's information on the class, in bits, from rounded numbers of rows.

    `truth` (n_rows,), dtype intp; `columns` from `column_values`.
    """
    features = []
    for feature, column in enumerate(columns):
        n_codes = codes.cards[feature] + 1
        cells = truth * n_codes + codes.column(feature)
        counts = np.bincount(cells, minlength=n_classes * n_codes)
        table = privacy.published(counts, BY_CLASS).reshape(n_classes, n_codes)
        known = table[:, :-1].astype(np.float64).T
        bits, error = (own / math.log(2) for own in left_out_information(known))
        features.append(
            {
                "feature": column["name"],
                "information_bits": round(bits, _DIGITS),
                "information_error_bits": round(error, _DIGITS),
                "loss_increase": None,
                "loss_error": None,
                "interval": None,
                "missing": column["missing"],
            }
        )
    features.sort(key=lambda one: -one["information_bits"])
    return {"method": _INFORMATION, "log_loss": None, "features": features}


def _fold_importance(parts: Sequence[Importance]) -> Importance:
    """Importances of several folds as one; standard errors of losses are over folds."""
    weights = np.array([part.n_rows for part in parts])
    features = []
    for same in zip(*(part.features for part in parts), strict=True):
        information = np.average([one.information for one in same], weights=weights)
        errors = weights * [part.information_error for part in same]
        rises = [one.loss_increase for one in same]
        features.append(
            replace(
                same[0],
                information=float(information),
                information_error=float(np.hypot.reduce(errors) / weights.sum()),
                loss_increase=float(np.average(rises, weights=weights)),
                loss_error=float(fold_error(rises)),
                missing=math.fsum(one.missing for one in same),
            )
        )
    log_loss = np.average([part.log_loss for part in parts], weights=weights)
    method = parts[0].method
    return Importance(tuple(features), float(log_loss), method, float(weights.sum()))
