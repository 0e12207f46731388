"""Figures of each group of rows, beside those of a reference group."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.parameters import checked_loss
from bayleaf.data.class_labels import encode_labels
from bayleaf.evaluation.groups.estimates import LEAST_ROUNDINGS
from bayleaf.evaluation.groups.group_columns import Groups
from bayleaf.evaluation.groups.group_rates import GroupFigures, GroupRows, Task
from bayleaf.evaluation.groups.group_tables import MEANINGS, group_tables
from bayleaf.evaluation.operating_points import (
    LossMatrix,
    class_names,
    implied_threshold,
)
from bayleaf.evaluation.privacy import PredictedRows, Privacy, rounded_rows
from bayleaf.results.document import Document, Items
from bayleaf.results.result import Result
from bayleaf.typing import ColumnLike, MatrixLike
from bayleaf.wording import brief, counted, name_list, quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GroupedFigures(Result):
    """Figures of the groups that one or several columns make.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    groups : tuple of GroupFigures
        Of each group with rows, in the order of their values.
    reference : tuple of str or None
        Label of the group that the others are compared with; None for one group.
    level : float
        Probability of the intervals.
    min_count : int
        Numbers of rows below this cannot be found out; 1 shows all.
    """

    columns: tuple[str, ...]
    groups: tuple[GroupFigures, ...]
    reference: tuple[str, ...] | None
    level: float
    min_count: int

    def document(self) -> Document:
        """Tables of rates and scores by group, and what their heads mean."""
        tables = group_tables(self.columns, self.groups, self.reference)
        meanings = [f"{name}: {meaning}" for name, meaning in MEANINGS.items()]
        return Document("", [*tables, Items(meanings)])

    def __repr__(self) -> str:
        columns = f"by {name_list(self.columns)}"
        return brief(self, columns, counted(len(self.groups), "group"))


def figures_by_group(
    labels: ColumnLike,
    probabilities: MatrixLike,
    predictions: ColumnLike,
    groups: ColumnLike | Groups,
    *,
    classes: ColumnLike | None = None,
    positive: Hashable = None,
    reference: Hashable = None,
    loss: LossMatrix | MatrixLike | None = None,
    level: float = 0.95,
    min_count: int = 1,
    name: str = "group",
) -> GroupedFigures:
    """Rates, scores and calibration by group, with credible intervals.

    Rates have the posterior of Jeffreys' prior, means Student's t; differences and
    ratios to the reference group are of independent posteriors.

    Parameters
    ----------
    labels, predictions : array-like of shape (n_rows,)
        True and predicted classes.
    probabilities : array-like of shape (n_rows, n_classes)
        Predicted probabilities.
    groups : array-like of shape (n_rows,) or Groups
        The group of each row; missing cells are a group of their own.
    classes : array-like of shape (n_classes,), optional
        Classes in the order of the probabilities; by default those of `labels` and
        `predictions` in increasing order.
    positive : label, optional
        The class whose rates are shown, against all others: by default the second of
        two; of more, each in turn.
    reference : label or tuple of labels, optional
        The group that others are compared with, by default that of most rows.
    loss : LossMatrix or array-like of shape (n_classes, n_classes), optional
        Cost of each prediction (rows) where a class (columns) is true; groups then
        have a mean cost.
    level : float, default=0.95
        Probability of the intervals.
    min_count : int, default=1
        Numbers of rows below this cannot be found out: all are rounded to multiples of
        it, or of 5 where it is less, and all figures computed from them. Groups and
        shares of fewer than ten times as many rows are left out.
    name : str, default="group"
        What the groups are called.

    Returns
    -------
    GroupedFigures

    Raises
    ------
    ValueError
        If the arrays do not fit together, there are fewer than two classes or too few
        rows, or an argument names no class or group.

    Examples
    --------
    >>> truth, chosen = [0, 0, 1, 1], [0, 1, 1, 1]
    >>> proba = [[0.8, 0.2], [0.4, 0.6], [0.3, 0.7], [0.1, 0.9]]
    >>> found = figures_by_group(truth, proba, chosen, ["a", "b", "a", "b"])
    >>> [group.classes[0].selection_rate.value for group in found.groups]
    [0.5, 1.0]
    """
    known, truth, chosen = _coded(labels, predictions, classes)
    proba = _checked_proba(probabilities, len(truth), known)
    own = groups if isinstance(groups, Groups) else Groups.of_values(name, groups)
    if len(own.codes) != len(truth):
        raise ValueError(
            f"every row needs a label and a group, but there are {len(truth)} labels "
            f"and {len(own.codes)} groups"
        )
    privacy = Privacy(min_count=min_count)
    if len(truth) < privacy.least_rows:
        raise ValueError(
            f"there are {len(truth)} rows; min_count={min_count} needs "
            f"{privacy.least_rows}"
        )
    bits = [np.ascontiguousarray(column).view(np.int64) for column in proba.T]
    return grouped_figures(
        PredictedRows(truth, chosen, proba, own.codes),
        own,
        task_of(known, positive=positive, loss=loss, level=level),
        privacy.of_table([truth, chosen, own.codes, *bits]),
        reference,
    )


def task_of(
    classes: NDArray[Any],
    *,
    positive: Any = None,
    loss: Any = None,
    level: float = 0.95,
) -> Task:
    """The task for every group; ValueError for a wrong class, level or loss."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {quoted(level)}")
    names = tuple(class_names(classes.tolist()))
    if isinstance(loss, LossMatrix):
        loss = loss.for_classes(classes)
    costs = None if loss is None else checked_loss(loss, classes)
    places = (1,) if len(names) == 2 else tuple(range(len(names)))
    if positive is not None:
        wanted = class_names([positive])[0]
        if wanted not in names:
            raise ValueError(
                f"positive must be one of the classes {name_list(names)}, got "
                f"{quoted(positive)}"
            )
        places = (names.index(wanted),)
    return Task(names, places, None if costs is None else np.asarray(costs), level)


def grouped_figures(
    rows: PredictedRows,
    groups: Groups,
    task: Task,
    privacy: Privacy,
    reference: Any = None,
) -> GroupedFigures:
    """Figures of groups of rows, counts rounded as the privacy of their table requires.

    ValueError if the reference, by default the group of most rows, is not shown.
    """
    kept, task = kept_rows(rows, groups, task, privacy)
    return figures_of_kept(kept, groups, task, privacy, reference)


def figures_of_kept(
    kept: PredictedRows,
    groups: Groups,
    task: Task,
    privacy: Privacy,
    reference: Any = None,
    cells: NDArray[np.intp] | None = None,
) -> GroupedFigures:
    """Figures of groups from `kept_rows`, rows that may be shown.

    Where numbers are rounded, groups whose figures would be those of rounding are left
    out. `groups` has the codes of the table's rows, whose numbers decide what is shown;
    `cells` (n_rows,) are the finer groups by which rows were rounded, by default the
    groups.
    """
    n_shown = np.bincount(kept.groups, minlength=len(groups.labels))
    rounding = _roundings(kept, len(groups.labels), privacy, cells)
    shown = (n_shown > 0) & ~privacy.unnamed(groups.n_rows, n_shown)
    shown &= n_shown >= LEAST_ROUNDINGS * rounding
    found = []
    for code in np.flatnonzero(shown).tolist():
        rows = PredictedRows(*(column[kept.groups == code] for column in kept))
        label = groups.labels[code]
        found.append(GroupRows.of(label, rows, task, float(rounding[code])))
    compared = _reference(groups, np.where(shown, n_shown, 0), reference)
    others = next((one for one in found if one.label == compared), None)
    return GroupedFigures(
        groups.columns,
        tuple(one.figures(task, None if one is others else others) for one in found),
        compared,
        task.level,
        privacy.min_count,
    )


def overall_figures(kept: PredictedRows, task: Task, privacy: Privacy) -> GroupFigures:
    """Figures of all rows together, from rows that may be told of."""
    together = kept._replace(groups=np.zeros_like(kept.groups))
    (rounding,) = _roundings(together, 1, privacy, kept.groups)
    return GroupRows.of((), kept, task, float(rounding)).figures(task, None)


def _roundings(
    kept: PredictedRows, n_groups: int, privacy: Privacy, cells: NDArray[np.intp] | None
) -> Floats:
    """By about how much numbers of rows of each group may be off.

    Errors of the cells that make up a group are nearly independent of each other.
    """
    if not privacy.withholds:
        return np.zeros(n_groups)
    finest = kept.groups if cells is None else cells
    pairs = np.unique(np.column_stack([kept.groups, finest]), axis=0)
    n_cells = np.bincount(pairs[:, 0], minlength=n_groups)
    return np.asarray(privacy.base * np.sqrt(n_cells))


def kept_rows(
    rows: PredictedRows,
    groups: Groups,
    task: Task,
    privacy: Privacy,
    partition: str | None = None,
) -> tuple[PredictedRows, Task]:
    """Rows that may be shown, with their groups, and the figures that they allow.

    They refine `partition`, by default that of the table by these groups.
    """
    rows = rows._replace(groups=groups.codes)
    if not privacy.withholds:
        return rows, task
    # Groups by several columns have the totals of those by the first of them alone.
    partition = partition or f"group {groups.columns[0]}"
    likeliest = rows.proba.argmax(axis=1)
    if len(task.names) > 2:
        kept = rounded_rows(rows, likeliest, None, privacy, partition)
        return kept, task._replace(ranks=False)
    (positive,) = task.positive
    threshold = 0.5 if task.loss is None else implied_threshold(task.loss, positive)
    looked_at = np.full_like(likeliest, positive)
    return rounded_rows(rows, looked_at, threshold, privacy, partition), task


def _reference(
    groups: Groups, n_rows: NDArray[np.intp], reference: Any
) -> tuple[str, ...] | None:
    """Label of the group that others are compared with."""
    shown = [groups.labels[code] for code in np.flatnonzero(n_rows).tolist()]
    if reference is not None:
        parts = reference if isinstance(reference, tuple | list) else [reference]
        label = tuple(class_names(parts))
        if label not in shown:
            known = [", ".join(one) for one in shown]
            raise ValueError(
                f"the reference {quoted(', '.join(label))} is no group by "
                f"{name_list(groups.columns)} that is shown; there are "
                f"{name_list(known)}"
            )
        return label
    return groups.labels[int(n_rows.argmax())] if len(shown) > 1 else None


def _coded(
    labels: Any, predictions: Any, classes: Any
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
    """Classes, and the place of each true and predicted label among them."""
    found, truth = encode_labels(labels)
    predicted, chosen = encode_labels(predictions)
    if len(truth) != len(chosen):
        raise ValueError(
            f"every row needs a label and a prediction, but there are {len(truth)} "
            f"labels and {len(chosen)} predictions"
        )
    both = [*found.tolist(), *predicted.tolist()]
    classes = np.asarray(encode_labels(both)[0] if classes is None else classes)
    places = {label: place for place, label in enumerate(classes.tolist())}
    strange = [label for label in both if label not in places]
    if strange:
        raise ValueError(
            f"{quoted(strange[0])} is none of the classes {name_list(list(places))}"
        )

    def placed(labels: NDArray[Any]) -> NDArray[np.intp]:
        return np.array([places[label] for label in labels.tolist()], dtype=np.intp)

    return classes, placed(found)[truth], placed(predicted)[chosen]


def _checked_proba(given: Any, n_rows: int, classes: NDArray[Any]) -> Floats:
    """Probabilities as an array, once there is one for each row and class."""
    proba = np.asarray(given, dtype=np.float64)
    if proba.shape != (n_rows, len(classes)) or len(classes) < 2:
        raise ValueError(
            f"probabilities must have a column for each of two or more classes, but "
            f"their shape is {proba.shape} for {n_rows} rows and the classes "
            f"{name_list(list(classes))}; name the classes as classes="
        )
    if not ((proba >= 0).all() and (np.abs(proba.sum(axis=1) - 1) < 1e-4).all()):
        raise ValueError(
            "probabilities must be distributions over the classes: not negative, not "
            "missing, and of sum 1 in each row"
        )
    return proba
