"""Figures of a report by groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.groups import Groups
from bayleaf.evaluation.groups.figures import Task
from bayleaf.evaluation.groups.grouped_figures import grouped_figures
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


def group_values(
    groups: Sequence[Groups], found: Predictions | None, task: Task, privacy: Privacy
) -> list[Values]:
    """Figures on held-out rows by group, for each column that makes groups.

    Parameters
    ----------
    groups : sequence of Groups
        One a column.
    found : Predictions or None
        Held-out predictions; None where there are none, and so no figures.
    task : Task
        What is asked of each group.
    privacy : Privacy
        What may be shown.
    """
    if found is None:
        return []
    return [
        grouped_figures(
            PredictedRows(found.truth, found.chosen, found.proba, own.codes),
            own,
            task,
            privacy,
        ).to_dict()
        for own in groups
    ]
