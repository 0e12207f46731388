"""Native loops of mixtures that learn from one row after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, REAL, Function

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_learn_pass = Function(
    "bl_learn_pass",
    *[POINTER, INTEGER, POINTER, INTEGER, INTEGER, POINTER, POINTER],
    *[POINTER, INTEGER] * 2,
    *[REAL, FLAG, REAL, INTEGER],
    *[POINTER, POINTER, POINTER, INTEGER, INTEGER, POINTER],
)


def learn_pass(
    order: Integers,
    row_cells: NDArray[np.int32],
    classes: Integers,
    weights: Floats,
    columns: Integers,
    first_child: Integers,
    sigma: float,
    all_rows: bool,
    highest: float,
    most_factors: int,
    priors: Floats,
    cells: Floats,
    totals: Floats,
) -> float:
    """Visit the rows in order, and let all gates and experts learn from each.

    Nodes are numbered level by level from the root, experts last.

    Parameters
    ----------
    order : ndarray of shape (n_visits,), dtype int64
        The rows.
    row_cells : ndarray of shape (n_rows, n_features), dtype int32
        The row of `cells` that a table cell counts in, negative where it is missing.
    classes : ndarray of shape (n_rows,), dtype int64
        Class of each row.
    weights : ndarray of shape (n_rows,), dtype float64
        Weight of each row.
    columns : ndarray of shape (n_nodes + 1,), dtype int64
        First counter column of each node, one column an output.
    first_child : ndarray of shape (n_gates,), dtype int64
        Node that a gate's first output chooses; the others follow it.
    sigma : float
        An expert that gives the true class probability p is worth
        ``exp(-sigma * (1 - p))``.
    all_rows : bool
        Whether `totals` grow where a feature is missing, too.
    highest : float
        A number that no counter exceeds.
    most_factors : int
        So many shares of `highest` may be multiplied before a product underflows.
    priors : ndarray of shape (n_columns,), dtype float64
        Weight of each output; changed.
    cells : ndarray of shape (n_values, n_columns), dtype float64
        Weight of each value with each output; changed.
    totals : ndarray of shape (n_features, n_columns), dtype float64
        What a feature's cells are divided by; changed.

    Returns
    -------
    float
        Sum of -ln P(class | features) by weight, nats, each row predicted just before
        it is learned.

    Raises
    ------
    ValueError
        If a row, class or value is none, or the nodes make up no tree.
    """
    n_rows, n_features = row_cells.shape
    n_values, n_columns = cells.shape
    loss = np.empty(1)
    _learn_pass(
        readable(order, I8, order.shape[:1]),
        len(order),
        readable(row_cells, I4, (n_rows, n_features)),
        n_rows,
        n_features,
        readable(classes, I8, (n_rows,)),
        readable(weights, F8, (n_rows,)),
        readable(columns, I8, (max(len(columns), 2),)),
        len(columns) - 1,
        readable(first_child, I8, first_child.shape[:1]),
        len(first_child),
        sigma,
        all_rows,
        highest,
        most_factors,
        writable(priors, F8, (n_columns,)),
        writable(cells, F8, (n_values, n_columns)),
        writable(totals, F8, (n_features, n_columns)),
        n_columns,
        n_values,
        loss.ctypes.data,
    )
    return float(loss[0])
