"""Exact leave-one-out for the average of one-dependence networks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.constraints import Constraints
from bayleaf.search.left_out.cells import Floats, less
from bayleaf.search.left_out.leave_one_out import LeaveOneOut


def one_dependence_log_scores(
    left_out: LeaveOneOut,
    min_count: float,
    constraints: Constraints | None = None,
) -> Floats:
    """Log of the mean joint probability under all networks learned without the row.

    A super-parent whose value has less weight than `min_count` in the other rows is
    skipped; naive Bayes scores a row that has none left. Constraints forbid arcs among
    the features. Returns (n_rules, n_classes, n_rows), nats.
    """
    class_index = left_out.rows.class_index
    features = range(class_index)
    is_open = (constraints or Constraints()).open_arcs(class_index)
    naive = left_out.log_scores([(class_index, i) for i in features])
    total = np.full(naive.shape, -np.inf)
    n_kept = np.zeros(left_out.rows.n_rows, dtype=np.int64)
    for parent in features:
        children = [
            (class_index, parent, i) if is_open[i, parent] else (class_index, i)
            for i in features
            if i != parent
        ]
        member = left_out.log_scores([(class_index, parent), *children])
        kept = _is_kept(left_out, parent, min_count)
        total[:, :, kept] = np.logaddexp(total[:, :, kept], member[:, :, kept])
        n_kept += kept
    mean = total - np.log(np.maximum(n_kept, 1))
    return np.where(n_kept > 0, mean, naive)


def _is_kept(left_out: LeaveOneOut, parent: int, min_count: float) -> NDArray[np.bool_]:
    """Rows whose value of a super-parent others show often enough, or which lack it."""
    rows = left_out.rows
    (counts,) = left_out.counts.family_counts([(rows.class_index, parent)])
    states = np.append(counts.sum(axis=0), np.inf)
    column = rows.codes.column(parent)
    return np.asarray(less(states[column], rows.shares) >= min_count)
