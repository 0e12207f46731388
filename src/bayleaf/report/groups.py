"""Figures of a report by groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.groups import Groups
from bayleaf.evaluation.groups.group_columns import GroupColumn, crossed, decoded
from bayleaf.evaluation.groups.group_rates import Task
from bayleaf.evaluation.groups.grouped_figures import figures_of_kept
from bayleaf.evaluation.privacy import PredictedRows, Privacy
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

    ValueError if there are too many groups for rounded numbers to show much.
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

    `codes` (n_rows,) are the rows' groups in `together`.
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
