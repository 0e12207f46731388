"""Predictions of which a report may tell: rows alike, in rounded numbers.

All scores, curves and operating points, and all figures of groups, are computed from
these rows as they would be from others, so that they can tell no more than
`bayleaf.evaluation.privacy` keeps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.evaluation.groups import Groups
from bayleaf.evaluation.groups.group_rates import Task
from bayleaf.evaluation.groups.grouped_figures import kept_rows
from bayleaf.evaluation.privacy import BY_CLASS, PredictedRows, Privacy
from bayleaf.report.quality import Predictions


def published_predictions(
    found: Predictions, together: Groups | None, task: Task, privacy: Privacy
) -> tuple[Predictions, NDArray[np.intp], Task]:
    """Replace held-out rows by rows that may be shown, rounded once by group and class.

    Without `together` there are no groups. Returns the predictions (the same where
    nothing is withheld, otherwise without folds), their groups (n_rows,), and the task
    that remains possible.
    """
    if together is None:
        together = Groups((), ((),), np.zeros(len(found.truth), dtype=np.intp))
    rows = PredictedRows(found.truth, found.chosen, found.proba, together.codes)
    kept, asked = kept_rows(rows, together, task, privacy, BY_CLASS)
    if not privacy.withholds:
        return found, kept.groups, asked
    told = replace(
        found, truth=kept.truth, chosen=kept.chosen, proba=kept.proba, folds=None
    )
    return told, kept.groups, asked
