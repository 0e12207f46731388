"""Audit a classifier by groups: figures on rows, and what the model itself holds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.base import BayesianClassifier
from bayleaf.classifiers.shared.parameters import checked_loss
from bayleaf.data.partial_values import Rows, available_codes
from bayleaf.evaluation.audits.audit_result import Audit, ChangedCell
from bayleaf.evaluation.audits.parity import ModelParity, model_parity
from bayleaf.evaluation.audits.routes import (
    RouteCase,
    Routes,
    routes_of_feature,
    routes_of_other,
)
from bayleaf.evaluation.cross_validation import held_out_probabilities
from bayleaf.evaluation.groups.estimates import (
    Sample,
    Share,
    mean_estimate,
    share_estimate,
)
from bayleaf.evaluation.groups.group_columns import (
    Bins,
    GroupColumn,
    Groups,
    crossed,
    decoded,
    group_columns,
)
from bayleaf.evaluation.groups.group_rates import Task
from bayleaf.evaluation.groups.grouped_figures import (
    figures_of_kept,
    kept_rows,
    overall_figures,
    task_of,
)
from bayleaf.evaluation.operating_points import LossMatrix
from bayleaf.evaluation.privacy import PredictedRows, Privacy
from bayleaf.evaluation.table_rows import labels_of, model_columns, other_columns
from bayleaf.models.predictor import ModelLike, Predictor
from bayleaf.progress import displayed
from bayleaf.typing import FrameLike, LossLike
from bayleaf.wording import near_names, quoted

Floats = NDArray[np.float64]


def audit(
    model: ModelLike,
    table: FrameLike,
    target: str | int | None = None,
    *,
    by: str | Sequence[str],
    bins: Bins | None = None,
    positive: Hashable = None,
    reference: Mapping[str, Hashable] | None = None,
    loss: LossMatrix | LossLike | None = None,
    n_folds: int | None = None,
    random_state: int = 0,
    level: float = 0.95,
    min_count: int = 1,
    verbose: int = 0,
) -> Audit:
    """Compare the predictions for groups of rows, and find how groups reach them.

    Parameters
    ----------
    model : classifier
        The fitted classifier.
    table : data frame
        Rows with the model's columns, the target and the columns that make groups.
    target : str, optional
        The column with the classes, by default that of training.
    by : str or sequence of str
        Columns that make groups, each by itself and all of them together. They need
        not be features. Numeric features are cut where the model cuts them; missing
        cells are a group of their own.
    bins : mapping of str to sequence of float, optional
        Cut points of columns of numbers, instead of the model's.
    positive : label, optional
        The class whose rates are shown, against all others: by default the second of
        two; of more, each in turn.
    reference : mapping of str to label, optional
        By column the group that others are compared with, by default that of most
        rows. Groups by all columns together have one where every column has.
    loss : LossMatrix, mapping or array-like of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true, by default that
        of the classifier; predictions are those of least expected cost.
    n_folds : int, optional
        Score fresh classifiers of the same settings on held-out folds, cut points
        learned inside of them. By default the model itself is scored on the rows,
        which flatters it where it learned from them.
    random_state : int, default=0
        Seed that deals the folds.
    level : float, default=0.95
        Probability of the credible intervals.
    min_count : int, default=1
        Numbers of rows below this cannot be found out, as in a report: all are rounded
        to multiples of it, or of 5 where it is less, and all figures computed from
        them. Groups and shares of fewer than ten times as many rows are left out, as
        rounding would make their figures, and so are numbers of the model.
    verbose : int, default=0
        Above zero, standard error shows the fold, the share done and the time left.

    Returns
    -------
    Audit
        Text when printed, tables in a notebook, plain values by `to_dict`.

    Raises
    ------
    TypeError
        If the model is no fitted classifier.
    ValueError
        If the table lacks a column or has too few rows, a column has too many values
        for groups, or an argument names no class or group.

    References
    ----------
    Hardt, M., Price, E., Srebro, N. (2016). Equality of opportunity in supervised
    learning. NeurIPS.
    Chouldechova, A. (2017). Fair prediction with disparate impact. Big Data 5.

    Examples
    --------
    >>> from bayleaf import TANClassifier
    >>> from bayleaf.datasets import load_heart
    >>> heart = load_heart()
    >>> tan = TANClassifier().fit(heart.X, heart.y)
    >>> found = audit(tan, heart.frame, "disease", by="sex")
    >>> [(group.name, group.n_rows) for group in found.groupings[0].groups]
    [('female', 87), ('male', 183)]
    """
    if not isinstance(model, BayesianClassifier):
        raise TypeError(
            f"an audit needs a fitted classifier, got a {type(model).__name__}"
        )
    names = [by] if isinstance(by, str) else list(by)
    case = _Case(model, table, target, Privacy(min_count=min_count), loss)
    columns = group_columns(
        case.frame,
        names,
        case.predictor.encoder,
        case.codes,
        case.read,
        case.target,
        bins,
    )
    task = task_of(
        case.predictor.classes, positive=positive, loss=case.predictor.loss, level=level
    )
    together = crossed(columns, case.frame.columns)
    given = _references(columns, together, reference)
    with displayed(verbose):
        proba, told = case.probabilities(n_folds, random_state)
    return case.audited(columns, together, given, task, proba, told)


class _Case:
    """A classifier and a table that is read as it reads tables."""

    def __init__(
        self,
        model: Any,
        table: Any,
        target: str | int | None,
        privacy: Privacy,
        loss: Any,
    ) -> None:
        self.estimator = model
        self.predictor: Predictor = model._predictor()
        self.model = self.predictor.model
        self.frame = nw.from_native(table, eager_only=True)
        self.target = self.model.domain[-1].name if target is None else target
        names = self.frame.columns
        if self.target not in names:
            raise ValueError(
                f"the table has no target column {quoted(self.target)}; name the one "
                f"with the classes as target; {near_names(str(self.target), names)}"
            )
        if len(self.frame) < privacy.least_rows:
            rounded = f"; min_count={privacy.min_count} needs {privacy.least_rows}"
            raise ValueError(
                f"the table has {len(self.frame)} rows{rounded * privacy.withholds}; "
                "give more rows"
            )
        wanted = self.predictor.encoder.column_names
        self.X, self.read = model_columns(self.frame.drop(self.target), model, wanted)
        column = self.frame.get_column(self.target)
        self.labels, self.truth = labels_of(column, self.predictor.classes)
        self.rows: Rows = model._encode(self.X).rows
        self.codes = available_codes(self.rows)
        self.privacy = privacy.of_table(
            self._all_columns() if privacy.withholds else []
        )
        if isinstance(loss, LossMatrix):
            loss = loss.for_classes(self.predictor.classes)
        if loss is not None:
            costs = checked_loss(loss, self.predictor.classes)
            self.predictor = replace(self.predictor, loss=costs)

    def _all_columns(self) -> list[NDArray[Any]]:
        """Codes of all columns, those that the model does not read included."""
        own = [self.codes.column(v) for v in range(self.codes.n_variables)]
        others = other_columns(self.frame, {*self.read, self.target})
        return [*own, self.truth, *others]

    def probabilities(
        self, n_folds: int | None, random_state: int
    ) -> tuple[Floats, tuple[str, str]]:
        """Predicted probabilities of the rows, and whence they come, told twice."""
        if n_folds is None:
            told = (
                "The model itself, scored on the rows of this table. Whether it "
                "learned from them cannot be known; if so, error rates and calibration "
                "are too favourable: cross-validate with folds."
            )
            return self.predictor.proba(self.rows), ("rows", told)
        _, proba = held_out_probabilities(
            self.estimator,
            self.X,
            self.labels,
            self.truth,
            n_folds=n_folds,
            random_state=random_state,
        )
        told = (
            f"{n_folds}-fold cross-validation on the rows of this table (seed "
            f"{random_state}): each row is predicted by a fresh model of the same "
            "settings that was fitted without it, cut points included."
        )
        return proba, ("cross_validation", told)

    def audited(
        self,
        columns: Sequence[GroupColumn],
        together: Groups,
        references: Sequence[Any],
        task: Task,
        proba: Floats,
        told: tuple[str, str],
    ) -> Audit:
        """All figures."""
        rows = PredictedRows(
            self.truth, self.predictor.choose(proba), proba, together.codes
        )
        # Rounded once: all groups are then sums of the same rows.
        kept, asked = kept_rows(rows, together, task, self.privacy)
        groupings = [(c.groups, decoded(kept.groups, together, c)) for c in columns]
        if len(columns) > 1:
            groupings.append((together, kept.groups))
        withheld = self.privacy.withholds
        return Audit(
            model=type(self.estimator).__name__,
            target=str(self.target),
            classes=task.names,
            positive=tuple(task.names[place] for place in task.positive),
            basis=told[0],
            basis_told=told[1],
            level=task.level,
            min_count=self.privacy.min_count,
            overall=overall_figures(kept, asked, self.privacy),
            groupings=tuple(
                figures_of_kept(
                    kept._replace(groups=codes),
                    groups,
                    asked,
                    self.privacy,
                    reference,
                    kept.groups,
                )
                for (groups, codes), reference in zip(
                    groupings, references, strict=True
                )
            ),
            parity=() if withheld else tuple(self._parity(columns, task)),
            routes=tuple(self._routes(column) for column in columns),
            changed=()
            if withheld
            else tuple(
                self._changed(column.name, column.feature, task)
                for column in columns
                if column.feature is not None
            ),
        )

    def _parity(self, columns: Sequence[GroupColumn], task: Task) -> list[ModelParity]:
        """What the model holds of the groups that its features make."""
        features = [c.feature for c in columns if c.feature is not None]
        sets = [(feature,) for feature in features]
        asked = [*sets, tuple(features)] if len(features) > 1 else sets
        found = [model_parity(self.model, own, task.names) for own in asked]
        return [one for one in found if one is not None]

    def _routes(self, column: GroupColumn) -> Routes:
        """How a group variable reaches the predictions."""
        withheld = self.privacy.withholds
        feature = column.feature
        if feature is None and column.name in self.read:
            # Groups by other cut points are still groups of a feature.
            feature = self.read.index(column.name)
        case = RouteCase(self.model, self.codes, self.truth, str(self.target), withheld)
        if feature is not None:
            return routes_of_feature(case, feature, column.name)
        return routes_of_other(case, column.name, column.groups.codes)

    def _changed(self, name: str, feature: int, task: Task) -> ChangedCell:
        """What other values of one cell would change, all others as they are."""
        before = self.predictor.proba(self.rows)
        chosen = self.predictor.choose(before)
        changes = np.zeros(len(before), dtype=bool)
        largest = np.zeros(len(before))
        for state in range(self.model.domain[feature].n_known_states):
            changed = self.rows.replaced(feature, np.full(len(before), state))
            after = self.predictor.proba(changed)
            changes |= self.predictor.choose(after) != chosen
            np.maximum(largest, np.abs(after - before).max(axis=1), out=largest)
        share = Share(int(changes.sum()), len(changes))
        return ChangedCell(
            name,
            share_estimate(share, task.level),
            mean_estimate(Sample.of(largest), task.level),
        )


def _references(
    columns: Sequence[GroupColumn],
    together: Groups,
    reference: Mapping[str, Any] | None,
) -> list[Any]:
    """The group that each grouping is compared with; None for that of most rows."""
    given = dict(reference or {})
    known = [column.name for column in columns]
    strange = [name for name in given if name not in known]
    if strange:
        raise ValueError(
            f"a reference is given for {quoted(strange[0])}, which makes no groups; "
            "name it in by"
        )
    sets = [(name,) for name in known]
    return [
        tuple(given[name] for name in own) if all(n in given for n in own) else None
        for own in ([*sets, together.columns] if len(known) > 1 else sets)
    ]
