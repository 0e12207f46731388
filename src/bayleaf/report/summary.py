"""The contents of a report, as one dictionary; the page only lays it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import checked_loss
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable, masked_domain
from bayleaf.evaluation.groups.group_columns import GroupColumn, group_columns
from bayleaf.evaluation.operating_points import LossMatrix, class_names
from bayleaf.evaluation.privacy import BY_CLASS, Privacy
from bayleaf.evaluation.table_rows import labels_of, model_columns, other_columns
from bayleaf.explain import importance
from bayleaf.progress import displayed
from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor
from bayleaf.report.card.facts import card_facts
from bayleaf.report.chosen_rows import row_values
from bayleaf.report.columns import (
    column_parts,
    column_values,
    published_parts,
    quality_notes,
    reading_values,
)
from bayleaf.report.density import summarize_density
from bayleaf.report.groups import group_values, groups_together, task_of_report
from bayleaf.report.importance import (
    HELD_OUT,
    fresh_importance,
    importance_values,
    published_information,
)
from bayleaf.report.published_predictions import published_predictions
from bayleaf.report.quality import (
    Predictions,
    cross_validated,
    quality_values,
    scored_as_held_out,
)
from bayleaf.report.regression import summarize_regression
from bayleaf.report.schema import SCHEMA
from bayleaf.report.structure import structure_values
from bayleaf.report.wording import privacy_values
from bayleaf.wording import name_list, near_names

Values = dict[str, Any]


def summarize(
    model: Any,
    table: Any,
    target: str | int | None = None,
    *,
    by: str | Sequence[str] = (),
    held_out: bool = False,
    rows: bool = True,
    min_count: int = 1,
    loss: Any = None,
    positive: Any = None,
    n_folds: int = 10,
    random_state: int = 0,
    verbose: int = 0,
) -> Values:
    """Gather what a report shows of a model and a table.

    Parameters
    ----------
    model : classifier, regressor, BayesianNetworkEstimator or BayesianNetwork
        The fitted model.
    table : data frame
        Rows with the model's columns, in any order, and others.
    target : str, optional
        The column with the classes or numbers, by default the one of training. Not for
        models without a target.
    by : str or sequence of str, default=()
        Columns whose values make groups of rows that are scored apart, whether the
        model reads them or not. Only for classifiers.
    held_out : bool, default=False
        Whether the model has not learned from these rows. It is then scored on them;
        otherwise fresh estimators with its parameters are cross-validated.
    rows : bool, default=True
        Whether ten rows are shown with their values and explained.
    min_count : int, default=1
        Numbers of rows below this cannot be found out: all are rounded to multiples of
        it, or of 5 where it is less, and all else is computed from the rounded numbers.
        Names of rare states and all single rows are withheld. Not for regressors.
    loss : LossMatrix or array-like of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true.
    positive : label, optional
        Of two classes the one that thresholds are for, by default the second.
    n_folds : int, default=10
        Folds of the cross-validation.
    random_state : int, default=0
        Seed that deals the folds.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.

    Returns
    -------
    dict
        Plain values, ready for JSON; see the page on reports for its keys.

    Raises
    ------
    TypeError
        If the model is of another kind, or not fitted.
    ValueError
        If the table lacks a column, has fewer rows than `min_count`, or does not suit
        the model.
    """
    privacy = Privacy(rows, min_count)
    by = [by] if isinstance(by, str) else list(by)
    if by and not isinstance(model, BayesianClassifier):
        raise ValueError("by belongs to classifiers; this model has no classes")
    frame = nw.from_native(table, eager_only=True)
    if len(frame) < privacy.least_rows:
        rounded = f"; min_count={min_count} needs {privacy.least_rows}"
        raise ValueError(
            f"the table has {len(frame)} rows{rounded * privacy.withholds}; give more "
            "rows"
        )
    if isinstance(model, AveragedKDBRegressor):
        if loss is not None or positive is not None:
            raise ValueError(
                "loss and positive belong to classifiers; this model is of a numeric "
                "target"
            )
        with displayed(verbose):
            values = summarize_regression(
                model,
                frame,
                target,
                privacy=privacy,
                held_out=held_out,
                n_folds=n_folds,
                random_state=random_state,
            )
    elif not isinstance(model, BayesianClassifier):
        if target is not None or loss is not None or positive is not None:
            raise ValueError(
                "target, loss and positive belong to classifiers; this model has no "
                "class"
            )
        with displayed(verbose):
            values = summarize_density(
                model,
                frame,
                privacy=privacy,
                held_out=held_out,
                n_folds=n_folds,
                random_state=random_state,
            )
    else:
        with displayed(verbose):
            case = _Case(model, frame, target, privacy)
            values = case.values(
                held_out=held_out,
                loss=loss,
                positive=positive,
                n_folds=n_folds,
                random_state=random_state,
                by=by,
            )
    facts = card_facts(model, values["columns"], privacy)
    return {"schema": SCHEMA, **values, **facts, "privacy": privacy_values(privacy)}


class _Case:
    """A classifier and a table, and what the report shows of them."""

    def __init__(
        self, model: Any, frame: Any, target: str | int | None, privacy: Privacy
    ) -> None:
        self.model, self.frame = model, frame
        self.predictor = model._predictor()
        self.features: Domain = self.predictor.encoder.domain
        class_variable: Variable = self.predictor.model.domain[-1]
        self.target = class_variable.name if target is None else target
        names = frame.columns
        if self.target not in names:
            raise ValueError(
                f"the table has no target column {str(self.target)!r}; name the one "
                f"with the classes as target; {near_names(str(self.target), names)}"
            )
        columns = self.predictor.encoder.column_names
        self.X, self.read = model_columns(frame.drop(self.target), model, columns)
        self.left_out = [
            name for name in names if name not in {*self.read, self.target}
        ]
        self.labels, self.truth = labels_of(
            frame.get_column(self.target), self.predictor.classes
        )
        encoded = model._encode(self.X)
        self.codes: Codes = encoded.codes
        self.unknown = encoded.unknown
        own = [self.codes.column(i) for i in range(self.codes.n_variables)]
        if privacy.withholds:
            own += other_columns(frame, {*self.read, self.target})
        self.privacy = privacy.of_table([*own, self.truth])
        parts = column_parts(self.codes, self.features, self.unknown)
        by_class = np.bincount(self.truth, minlength=class_variable.n_states)
        self.parts = published_parts(parts, self.privacy)
        self.class_counts = self.privacy.published(by_class, BY_CLASS)
        written = class_names(list(class_variable.states))
        named = replace(class_variable, states=tuple(written))
        exact, told = [*parts, by_class], [*self.parts, self.class_counts]
        self.shown = masked_domain(
            Domain((*self.features, named)), [*map(self.privacy.unnamed, exact, told)]
        )
        self.names = [
            self.shown[-1].label(code) for code in range(self.shown[-1].n_states)
        ]

    def values(
        self,
        *,
        held_out: bool,
        loss: Any,
        positive: Any,
        n_folds: int,
        random_state: int,
        by: Sequence[str],
    ) -> Values:
        """Everything, section by section."""
        costs = self._costs(loss)
        place = self._positive(positive)
        columns_of_groups = self._groups(by)
        together = groups_together(columns_of_groups, self.frame.columns, self.privacy)
        found, reason = self._predictions(held_out, n_folds, random_state)
        features = Domain(self.shown.variables[:-1])
        columns = column_values(
            self.parts, features, self.predictor.encoder.notes, self.privacy
        )
        quality: Values = {
            "basis": "none",
            "basis_told": reason,
            "operating_points": None,
        }
        groups: list[Values] = []
        if found is not None:
            task = task_of_report(self.names, place, costs)
            # Rounded once: figures of the page and of all groups are of the same rows.
            told, own, asked = published_predictions(
                found, together, task, self.privacy
            )
            quality = quality_values(told, self.names, place, costs, self.privacy)
            groups = group_values(
                columns_of_groups, told, together, own, asked, self.privacy
            )
        n_rows = int(self.class_counts.sum())
        return {
            "kind": "classifier",
            "model": self._model_values(),
            "data": {
                "n_rows": n_rows,
                "n_columns": len(self.features),
                "left_out": [str(name) for name in self.left_out],
            },
            "structure": structure_values(
                self.predictor.model, self.shown, self.privacy
            ),
            "columns": columns,
            "reading": reading_values(self.predictor.encoder, self.privacy),
            "quality": quality,
            "groups": groups,
            "loss": None
            if costs is None
            else {"classes": self.names, "costs": costs.tolist()},
            "importance": self._importance(held_out, random_state, columns),
            "rows": self._rows(found),
            "notes": quality_notes(
                columns, n_rows, list(map(str, self.left_out)), self.privacy
            ),
        }

    def _model_values(self) -> Values:
        """Facts on the classifier."""
        summary = self.model.summary()
        priors = [prior for _, prior in summary.classes]
        if self.privacy.withholds:
            priors = (self.class_counts / self.class_counts.sum()).tolist()
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

    def _groups(self, by: Sequence[str]) -> list[GroupColumn]:
        """The columns that make groups."""
        if not by:
            return []
        encoder, codes = self.predictor.encoder, self.codes
        return group_columns(self.frame, by, encoder, codes, self.read, self.target)

    def _costs(self, loss: Any) -> NDArray[np.float64] | None:
        """The costs of errors: those given, or those of the classifier."""
        if isinstance(loss, LossMatrix):
            loss = loss.for_classes(self.predictor.classes)
        if loss is None:
            found = self.predictor.loss
        else:
            found = checked_loss(loss, self.predictor.classes)
            self.predictor = replace(self.predictor, loss=found)
        return None if found is None else np.asarray(found)

    def _positive(self, positive: Any) -> int:
        """Which of two classes thresholds are for."""
        if positive is None:
            return len(self.names) - 1
        known = class_names(self.predictor.classes.tolist())
        if len(known) != 2 or str(positive) not in known:
            raise ValueError(
                f"positive must be one of two classes, but there are "
                f"{name_list(known)} and positive is {positive!r}"
            )
        return known.index(str(positive))

    def _predictions(
        self, held_out: bool, n_folds: int, random_state: int
    ) -> tuple[Predictions | None, str]:
        """Held-out predictions, or why there are none."""
        if held_out:
            return scored_as_held_out(self.predictor, self.codes, self.truth), ""
        try:
            found = cross_validated(
                self.model,
                self.X,
                self.labels,
                self.truth,
                n_folds=n_folds,
                random_state=random_state,
            )
        except ValueError as error:
            why = "too few rows for the folds" if self.privacy.withholds else error
            return None, (
                f"No held-out scores: {why}. Scores on the training rows would be "
                "too optimistic and are not shown."
            )
        chosen = self.predictor.choose(found.proba)
        return replace(found, chosen=chosen), ""

    def _importance(
        self, held_out: bool, random_state: int, columns: Sequence[Values]
    ) -> Values | None:
        """What each feature is worth on rows that were not seen."""
        if self.privacy.withholds:
            return published_information(
                self.codes, self.truth, len(self.names), columns, self.privacy
            )
        if held_out:
            method, found = HELD_OUT, importance(self.model, self.X, self.labels)
        else:
            fresh = fresh_importance(
                self.model, self.X, self.labels, self.truth, random_state
            )
            if fresh is None:
                return None
            method, found = fresh
        return importance_values(method, found, columns)

    def _rows(self, found: Predictions | None) -> list[Values] | None:
        """Explained rows; None where rows may not be shown."""
        if not self.privacy.shows_rows or found is None:
            return None
        return row_values(self.model, self.predictor, self.codes, found, self.names)
