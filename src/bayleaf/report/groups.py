"""Figures of a report by groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.domain import Variable
from bayleaf.evaluation.groups import Groups
from bayleaf.evaluation.groups.figures import Task
from bayleaf.evaluation.groups.grouped_figures import grouped_figures
from bayleaf.evaluation.privacy import Privacy
from bayleaf.evaluation.rounded_rows import PredictedRows
from bayleaf.report.quality import Predictions
from bayleaf.wording import near_names, quoted

Values = dict[str, Any]

# More groups are no table that a person reads.
MOST_GROUPS = 50
_LEVEL = 0.95


def groups_of_codes(variable: Variable, codes: NDArray[Any]) -> Groups:
    """Groups by a feature, as the model reads it.

    Parameters
    ----------
    variable : Variable
        The feature, as it may be named.
    codes : ndarray of shape (n_rows,)
        Its codes; unknown values are missing cells.
    """
    labels = [variable.label(code) for code in range(variable.n_states)]
    return _checked(Groups.of_codes(str(variable.name), labels, codes))


def groups_of_column(frame: Any, name: str | int, target: str | int) -> Groups:
    """Groups by the values of a column that the model does not read.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The table.
    name : str or int
        The column.
    target : str or int
        The column of the classes, which makes no groups.

    Raises
    ------
    ValueError
        If there is no such column, it is the target, or it has too many values.
    """
    names = {str(own): own for own in frame.columns}
    if str(name) == str(target):
        raise ValueError(f"by names the target {quoted(name)}; name other columns")
    if str(name) not in names:
        raise ValueError(
            f"by names {quoted(name)}, which is no column of the table; "
            f"{near_names(str(name), names)}"
        )
    cells = frame.get_column(names[str(name)]).to_native()
    return _checked(Groups.of_values(str(name), cells))


def _checked(groups: Groups) -> Groups:
    """The same groups, if they are few enough for a table."""
    if len(groups.labels) > MOST_GROUPS:
        raise ValueError(
            f"by names {quoted(groups.columns[0])}, whose {len(groups.labels)} values "
            f"are more than {MOST_GROUPS} groups; name a column of fewer values"
        )
    return groups


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
