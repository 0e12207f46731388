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

# Weights are worked off so many at a time.
_LANES = 8

# Joins values until one cluster is left. `shares` are those of the rows with each value
# in each state of the context variables, one after another from `starts` on;
# overwritten. Clusters differ `by_modes`, or by information. A loss may exceed the
# least one by `margin`, a share of it, to be joined in the same step; only pairs are if
# it is negative. `parents` takes the cluster that each value and cluster went into, -1
# for the last one and what is beyond.
join_values = native(
    """bl_join_values(out shares f8[n_values, n_cells], n_values, n_cells,
    in starts i8[n_contexts + 1], n_contexts, flag by_modes, real margin,
    out parents i8[max(2 * n_values - 1, 0)])"""
)
_count_rows = native(
    """bl_count_rows(handle packed, in rows i4[n_rows], n_rows, int child,
    out counts f8[*packed.shapes[child]])"""
)
_partition_rows = native(
    """bl_partition_rows(handle packed, out rows i4[n_rows], n_rows, int variable,
    in branch_of i8[packed.shapes[variable][0]], len(branch_of),
    out starts i8[n_branches + 1], n_branches)"""
)
_LOSS = """in contrasts f4[n_rows, n_contrasts, width], n_rows, n_contrasts, width,
    in own i8[n_rows], in row_weights f8[n_rows], in ranges i8[n_ranges, 2], n_ranges"""
_weighted_loss = native(
    f"""bl_weighted_loss({_LOSS}, in parameters f8[n], int n_weights,
    out gradient f8[n], out loss f8[1])"""
)
_weights_descent = native(
    f"""bl_weights_descent({_LOSS}, out parameters f8[n], int n_weights,
    in centre f8[n], in pull f8[n], int max_steps, real tolerance, int n_threads)"""
)


class _Table(ctypes.Structure):
    """A table as the native loops take it: one argument instead of six."""

    _fields_ = (
        ("cells", POINTER),
        ("offsets", POINTER),
        ("weights", POINTER),
        ("n_rows", INTEGER),
        ("n_variables", INTEGER),
        ("is_wide", INTEGER),
    )


class PackedRows:
    """Rows of a table with their weights, and where they lie in memory.

    Addresses are found once: a search asks for the counts of thousands of leaves. The
    codes, (n_rows, n_variables) uint8 or uint16, have a row's cells side by side;
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


def count_rows(packed: PackedRows, rows: Rows, child: int, counts: Floats) -> None:
    """Add the weight of each state of every variable with each state of the child.

    Of some rows, to counts of shape (child's card, all states).
    """
    _count_rows(packed, rows, packed.variables[child], counts)


def partition_rows(
    packed: PackedRows,
    rows: Rows,
    variable: int,
    branch_of: Integers,
    starts: Integers,
) -> None:
    """Order rows in place by branch of a variable's state, keeping their order in each.

    `starts` takes where each branch starts, and the number of rows.
    """
    _partition_rows(packed, rows, packed.variables[variable], branch_of, starts)


def contrast_width(n_weights: int) -> int:
    """Length of a row of contrasts: the weights, and what fills them up."""
    return -(-n_weights // _LANES) * _LANES


def weighted_loss(
    contrasts: NDArray[np.float32],
    own: Integers,
    row_weights: Floats,
    ranges: Integers,
    parameters: Floats,
    gradient: Floats,
) -> float:
    """Weighted log-loss, nats, of ``softmax(biases + contrasts @ weights)``.

    `contrasts`, (n_rows, n_classes - 1, width), are the log-probabilities under each
    class less those under the first, filled up with zeros to `contrast_width`; `ranges`
    the first row and end of each range that counts; `parameters` the weights, then a
    bias for each class.
    """
    loss, n_weights = np.empty(1), _weight_count(contrasts, parameters)
    _weighted_loss(
        contrasts, own, row_weights, ranges, parameters, n_weights, gradient, loss
    )
    return float(loss[0])


def weights_descent(
    contrasts: NDArray[np.float32],
    own: Integers,
    row_weights: Floats,
    ranges: Integers,
    parameters: Floats,
    *arguments: Any,
) -> None:
    """Take parameters to the least penalised loss, weights staying above zero.

    The arguments are a `centre` and how strongly it pulls: half of `pull` times the
    squared distance is the penalty; the most steps; the gain of a step, as a share of
    the loss, below which the descent ends; and the threads, which change no result.
    """
    n_weights = _weight_count(contrasts, parameters)
    _weights_descent(
        contrasts, own, row_weights, ranges, parameters, n_weights, *arguments
    )


def _weight_count(contrasts: NDArray[np.float32], parameters: Floats) -> int:
    """Number of weights among the parameters, if contrasts are as wide as they need."""
    if contrasts.ndim != 3 or parameters.ndim != 1:
        raise ValueError(
            "contrasts of shape (n_rows, n_classes - 1, width) and a row of parameters "
            f"are needed here, got shapes {contrasts.shape} and {parameters.shape}"
        )
    n_weights = len(parameters) - int(contrasts.shape[1]) - 1
    if n_weights < 0 or contrasts.shape[2] != contrast_width(n_weights):
        raise ValueError(
            f"{len(parameters)} parameters do not fit contrasts of shape "
            f"{contrasts.shape}"
        )
    return n_weights
