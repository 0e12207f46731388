"""Native loops of searches for trees, of the joining of values, and for weights."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I8, U1, U2, Floats, Integers, readable
from bayleaf.native.library import INTEGER, POINTER
from bayleaf.native.signatures import native

Rows = NDArray[np.int32]

# Joins values until one cluster is left. `shares` are those of the rows with each value
# in each state of the context variables, one after another from `starts` on;
# overwritten. Clusters differ `by_modes`, or by information; a share is as large as the
# largest that exceeds it by no more than `rounding`, a share of it. A loss may exceed
# the least one by `margin`, a share of it, to be joined in the same step; only pairs
# are if it is negative. `parents` takes the cluster that each value and cluster went
# into, -1 for the last one and what is beyond.
join_values = native(
    """bl_join_values(out shares f8[n_values, n_cells], n_values, n_cells,
    in starts i8[n_contexts + 1], n_contexts, flag by_modes, real rounding,
    real margin,
    out parents i8[max(2 * n_values - 1, 0)])"""
)
# Adds the weight of each state of every variable with each state of the child, of some
# rows.
count_rows = native(
    """bl_count_rows(child = packed.variables[child], handle packed, in rows i4[n_rows],
    n_rows, child, out counts f8[*packed.shapes[child]])""",
    "packed, rows, child, counts",
)
# Orders rows in place by branch of a variable's state, keeping their order within each;
# `starts` takes where each branch starts, and the number of rows.
partition_rows = native(
    """bl_partition_rows(variable = packed.variables[variable],
    card = packed.shapes[variable][0], handle packed, out rows i4[n_rows], n_rows,
    variable, in branch_of i8[card], card, out starts i8[n_parts + 1], n_parts)""",
    "packed, rows, variable, branch_of, starts",
)
# Rows with log-probabilities under each class. Ranges have the first row and end of
# those that count; parameters are the weights, then a bias for each class.
_LOSS = """n = _parameter_count(logs), in logs f4[n_rows, n_classes, n_weights], n_rows,
    n_classes, n_weights, in own i8[n_rows], in row_weights f8[n_rows],
    in ranges i8[n_ranges, 2], n_ranges"""
_weighted_loss = native(
    f"""bl_weighted_loss({_LOSS}, in parameters f8[n], out gradient f8[n],
    out loss f8[1])"""
)
# Takes each row of parameters to its least penalised loss, weights staying above zero:
# half of its `pulls` times the squared distance from its `centres` is the penalty. Ends
# after `max_steps`, or where a step gains less than `tolerance`, a share of the loss.
# Neither threads nor other rows change a result.
weights_descents = native(
    f"""bl_weights_descents({_LOSS}, out parameters f8[n_descents, n], n_descents,
    in centres f8[n_descents, n], in pulls f8[n_descents, n], int max_steps,
    real tolerance, int n_threads)"""
)


class _Table(ctypes.Structure):
    """A table as the native loops take it: one argument instead of six."""

    _fields_ = (
        *(("cells", POINTER), ("offsets", POINTER), ("weights", POINTER)),
        *(("n_rows", INTEGER), ("n_variables", INTEGER), ("is_wide", INTEGER)),
    )


class PackedRows:
    """Rows of a table with their weights, and where they lie in memory, found once.

    `offsets` are where the states of each variable start in a table of counts, from 0
    on, and the number of all; weights, (n_rows,), are empty if all are one.
    """

    __slots__ = ("_arrays", "_table", "address", "n_rows", "shapes", "variables")

    def __init__(
        self,
        table: NDArray[np.unsignedinteger[Any]],
        offsets: Integers,
        weights: Floats,
    ) -> None:
        n_rows, n_variables = table.shape
        is_wide = table.dtype == U2
        # Kept alive, and read from as long as this is.
        self._arrays = table, offsets, weights
        self._table = _Table(
            readable(table, U2 if is_wide else U1, (n_rows, n_variables)),
            readable(offsets, I8, (n_variables + 1,)),
            # An empty array tells that all rows weigh one.
            readable(weights, F8, (n_rows,)) if weights.shape != (0,) else None,
            n_rows,
            n_variables,
            is_wide,
        )
        self.address = ctypes.addressof(self._table)
        self.n_rows = n_rows
        starts: list[int] = offsets.tolist()
        if starts[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must grow from 0 on, got {starts}")
        self.variables = range(n_variables)
        # Shape of the counts of each variable with all.
        self.shapes = [(b - a, starts[-1]) for a, b in pairwise(starts)]

    def __reduce__(self) -> tuple[object, ...]:
        return PackedRows, self._arrays


def weighted_loss(*arguments: Any) -> float:
    """Weighted log-loss, nats, of ``softmax(biases + logs @ weights)``.

    Takes rows, parameters, and the gradient to fill; see `weights_descents`.
    """
    loss = np.empty(1)
    _weighted_loss(*arguments, loss)
    return float(loss[0])


def _parameter_count(logs: NDArray[np.float32]) -> int:
    """Number of weights and biases of log-probabilities."""
    if logs.ndim != 3:
        raise ValueError(
            "logs of shape (n_rows, n_classes, n_weights) are needed here, got shape "
            f"{logs.shape}"
        )
    return int(logs.shape[1] + logs.shape[2])
