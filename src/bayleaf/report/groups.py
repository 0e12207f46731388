"""Figures of a report by groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.audits.group_columns import GroupColumn, crossed, decoded
from bayleaf.evaluation.groups import Groups
from bayleaf.evaluation.groups.figures import Task
from bayleaf.evaluation.groups.grouped_figures import figures_of_kept
from bayleaf.evaluation.privacy import Privacy
from bayleaf.evaluation.rounded_rows import PredictedRows
from bayleaf.report.quality import Predictions

Values = dict[str, Any]

_LEVEL = 0.95


def task_of_report(
    names: Sequence[str], positive: int, loss: NDArray[np.float64] | None
) -> Task:
    """What is asked of each group: of two classes rates of the positive one."""
    places = (positive,) if len(names) == 2 else tuple(range(len(names)))
    return Task(tuple(names), places, loss, _LEVEL)


def groups_together(
    columns: Sequence[GroupColumn], order: Sequence[str], privacy: Privacy
) -> Groups | None:
    """Groups by all columns together, by which rows are rounded; None without any.

    Parameters
    ----------
    columns : sequence of GroupColumn
        The columns that make groups.
    order : sequence of str
        The columns of the table.
    privacy : Privacy
        What may be shown.

    Raises
    ------
    ValueError
        If there are too many for rounded numbers to say much.
    """
    if not (columns and privacy.withholds):
        return None
    return crossed(columns, order, "with min_count, name fewer columns")


def group_values(
    columns: Sequence[GroupColumn],
    found: Predictions,
    together: Groups | None,
    codes: NDArray[np.intp],
    task: Task,
    privacy: Privacy,
) -> list[Values]:
    """Figures on held-out rows by group, for each column that makes groups.

    Parameters
    ----------
    columns : sequence of GroupColumn
        The columns that make groups.
    found : Predictions
        Held-out predictions of which may be told.
    together : Groups or None
        From `groups_together`.
    codes : ndarray of shape (n_rows,)
        Groups of the predictions by all columns together, where there are any.
    task : Task
        What is asked of each group.
    privacy : Privacy
        What may be shown.
    """
    return [
        figures_of_kept(
            PredictedRows(
                found.truth,
                found.chosen,
                found.proba,
                own.groups.codes if together is None else decoded(codes, together, own),
            ),
            own.groups,
            task,
            privacy,
            cells=codes,
        ).to_dict()
        for own in columns
    ]
