"""Native loops of searches for latent variables, and of mixtures of experts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F8, I4, I8, U2, Floats, Integers, readable, writable
from bayleaf.native.signatures import native

Column = NDArray[np.uint16]
Runs = NDArray[np.int32]

# Adds counts of the joint states of two nodes to those of a latent variable that joins
# them: `padded` has its state in each cell, and cells of an unknown one are left out.
merge_cells = native(
    """bl_merge_cells(in counts f8[n_runs, n_left, n_right], n_runs,
    in padded i8[n_left, n_right], n_left * n_right,
    out merged f8[n_runs, n_states], n_states)"""
)
# Computes what log scores gain when a latent variable takes two nodes' place, from the
# log tables of the three and the code of the latent variable in each cell.
changes = native(
    """bl_changes(in left f8[n_folds, n_left, n_classes], n_left,
    in right f8[n_folds, n_right, n_classes], n_right,
    in joined f8[n_folds, n_states, n_classes], n_states, in padded i8[n_left, n_right],
    n_folds, n_classes, out gains f8[n_folds, n_left, n_right, n_classes])"""
)
# Merges joint states of two variables while that gains more than the tolerance; gains
# that differ by less are equal, and `penalty` is what a merge saves (nats). `states`
# are those of each cell, numbered by first cells; `deltas` the gain of each merge, NaN
# after the last.
collapse = native(
    """bl_collapse(in counts f8[n_classes, n_left, n_right], n_classes, n_left, n_right,
    real penalty, real tolerance, out states i8[n_left, n_right],
    out deltas f8[n_left * n_right])"""
)
# Measures how much each left variable depends on each right one given the class.
# `dense` are joint counts, the states of each variable and then its missing one, which
# is not looked at. `kind` is 0 for G², 1 for the divergence, 2 for the latter with its
# moments; `results`, (3, n_left, n_right), take statistics and, for kind 2, means and
# variances, of pairs above the diagonal alone if `triangle`.
pair_statistics = native(
    """bl_pair_statistics(n_left = len(left_cards), n_right = len(right_cards),
    first = writable(results, f8, (3, n_left, n_right)), size = 8 * n_left * n_right,
    in dense f8[n_classes, left_width, right_width], n_classes, left_width, right_width,
    in left_cards i8[n_left], n_left, in right_cards i8[n_right], n_right,
    flag triangle, int kind, address first, address first + size,
    address first + 2 * size)""",
    "dense, left_cards, right_cards, triangle, kind, results",
)
# Deals rows, in an order, to the parts with least weight of their class: among those
# the part with the least weight in all takes the row, and then the first.
deal = native(
    """bl_deal(n_parts = _some(n_parts), in order i8[n_rows], in classes u2[n_rows],
    n_rows, in weights f8[1 if weights.size == 1 else n_rows], flag weights.size == 1,
    n_classes, n_parts, out parts i4[n_rows])""",
    "order, classes, weights, n_classes, n_parts, parts",
)
# Adds a row and a column for missing children to a latent variable's map. Where a child
# is missing, the latent variable is known only if it is the same for all states of that
# child; the number of states is the code of an unknown one.
with_missing = native(
    """bl_with_missing(states = _filled(states), in states i8[n_left, n_right], n_left,
    n_right, out padded i8[n_left + 1, n_right + 1])"""
)
_PAIR = """places = packed.places, codes = packed.n_codes, n_left = codes[left],
    n_right = codes[right], address places[left], address places[right], n_right"""
_RUNS = f"""packed = rows.packed, {_PAIR}, address rows.address, packed.n_rows"""
_WEIGHTS = "address rows.weight, flag rows.alike"
_GAINS = """n_classes = gains.shape[-1], n_folds = rows.n_folds(n_classes),
    in gains f8[n_folds, n_left, n_right, n_classes]"""
# Adds each row's weight to ``counts[run, left code, right code]`` of two nodes.
count_cells = native(
    f"""bl_count_cells({_RUNS}, {_WEIGHTS}, out counts f8[rows.n_runs, n_left, n_right],
    n_left * n_right)""",
    "rows, left, right, counts",
)
# Adds what rows gain by a change to their log scores, by fold, code of two nodes, and
# class.
add_gains = native(
    f"""bl_add_gains({_RUNS}, {_GAINS}, n_folds, n_left * n_right, n_classes,
    out scores f8[packed.n_rows, n_classes])""",
    "rows, left, right, gains, scores",
)
_predictive_scores = native(
    f"""bl_predictive_scores({_RUNS}, {_WEIGHTS},
    in scores f8[packed.n_rows, n_classes], {_GAINS}, n_folds, n_left * n_right,
    n_classes, flag wants_likelihood, out sums f8[2])""",
    "rows, left, right, scores, gains, wants_likelihood, sums",
)
_latent_codes = native(
    """bl_latent_codes(address left, address right, int n_right, int n_rows,
    address padded, int n_cells, int n_codes, address codes)"""
)
# Nodes are numbered level by level from the root, experts last; `columns` has the first
# counter column of each, one an output, and `first_child` the node of a gate's first
# output, which the others follow. `row_cells` has the row of `cells` that a table cell
# counts in, negative where it is missing; `totals`, by which a feature's cells are
# divided, grow there, too, if `all_rows`. An expert that gives the true class
# probability p is worth ``exp(-sigma * (1 - p))``. No counter exceeds `highest`, of
# which `most_factors` shares may be multiplied before a product underflows.
_learn_pass = native(
    """bl_learn_pass(in order i8[n_visits], n_visits,
    in row_cells i4[n_rows, n_features], n_rows, n_features, in classes i8[n_rows],
    in weights f8[n_rows], in columns i8[n_nodes + 1], n_nodes,
    in first_child i8[n_gates], n_gates, real sigma, flag all_rows, real highest,
    int most_factors, out priors f8[n_columns], out cells f8[n_values, n_columns],
    out totals f8[n_features, n_columns], n_columns, n_values, out loss f8[1])"""
)


class PackedColumns:
    """Codes of nodes in every row, (n_nodes, n_rows), and where they lie in memory.

    Addresses are found once: a search passes over the rows for every candidate. Numbers
    of codes include the missing state, and are zero before `latent_codes` makes them.
    """

    __slots__ = ("columns", "n_codes", "n_rows", "places")

    def __init__(self, columns: Column, n_codes: list[int]) -> None:
        n_nodes, self.n_rows = columns.shape
        if len(n_codes) != n_nodes:
            raise ValueError(f"{n_nodes} columns and {len(n_codes)} nodes do not fit")
        self.n_codes = n_codes
        # Kept alive, and used as long as this is.
        self.columns = columns
        first = writable(columns, U2, (n_nodes, self.n_rows))
        step = self.n_rows * U2.itemsize
        #: Address of each node's column.
        self.places = [first + step * node for node in range(n_nodes)]

    def __reduce__(self) -> tuple[object, ...]:
        return PackedColumns, (self.columns, self.n_codes)


class PackedRuns:
    """A run of every row: its part of the rows times the number of classes, plus class.

    Weights are those of each row, (n_rows,), or of all, (1,).
    """

    __slots__ = ("_weights", "address", "alike", "n_runs", "packed", "runs", "weight")

    def __init__(
        self, packed: PackedColumns, runs: Runs, n_runs: int, weights: Floats
    ) -> None:
        n_rows = packed.n_rows
        self.address = readable(runs, I4, (n_rows,))
        if n_rows and (int(runs.min()) < 0 or int(runs.max()) >= n_runs):
            raise ValueError(
                f"runs must be from 0 to {n_runs - 1}, got {int(runs.min())} to "
                f"{int(runs.max())}"
            )
        # Kept alive, and read from as long as this is.
        self.packed, self.runs, self.n_runs = packed, runs, n_runs
        self._weights, self.alike = weights, weights.shape == (1,)
        self.weight = readable(weights, F8, (1,) if self.alike else (n_rows,))

    def __reduce__(self) -> tuple[object, ...]:
        return PackedRuns, (self.packed, self.runs, self.n_runs, self._weights)

    def n_folds(self, n_classes: int) -> int:
        """Number of parts, if so many classes make up the runs."""
        n_folds, rest = divmod(self.n_runs, max(n_classes, 1))
        if rest:
            raise ValueError(f"{n_classes} classes do not make up {self.n_runs} runs")
        return n_folds


def _some(n_parts: int) -> int:
    """A number of parts, if there are any."""
    if n_parts < 1:
        raise ValueError(f"rows need parts, got n_parts = {n_parts}")
    return n_parts


def _filled(states: Integers) -> Integers:
    """The states of a latent variable, if it has cells."""
    if not states.size:
        raise ValueError("a latent variable needs cells, got none")
    return states


def latent_codes(
    packed: PackedColumns,
    left: int,
    right: int,
    padded: Integers,
    node: int,
    n_codes: int,
) -> None:
    """Make a latent variable: write its codes, by the map of `with_missing`."""
    codes, places = packed.n_codes, packed.places
    n_left, n_right = codes[left], codes[right]
    _latent_codes(
        places[left],
        places[right],
        n_right,
        packed.n_rows,
        readable(padded, I8, (n_left, n_right)),
        n_left * n_right,
        n_codes,
        places[node],
    )
    codes[node] = n_codes


def predictive_scores(*arguments: Any) -> tuple[float, float]:
    """Weight of the rows whose class is predicted after a change, and the likelihood.

    Of equally probable classes the first is; the sum of ln P(class | row) is in nats,
    and zero unless it is wanted.
    """
    sums = np.empty(2)
    _predictive_scores(*arguments, sums)
    correct, likelihood = sums.tolist()
    return correct, likelihood


def learn_pass(*arguments: Any) -> float:
    """Visit the rows in order, and let all gates and experts learn from each.

    Gives the sum of -ln P(class | features) by weight, nats, each row predicted just
    before it is learned.
    """
    loss = np.empty(1)
    _learn_pass(*arguments, loss)
    return float(loss[0])
