"""Compiled loops over the nested families of one feature."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled
from bayleaf.counts.occupied_kernels import find_slot, number_distinct

Floats = NDArray[np.float64]
States = NDArray[np.uint16]
Whole = NDArray[np.int64]
Places = NDArray[np.int32]

# A product of probabilities below this goes over into its logarithm.
_SMALL = 1e-150
# What is left of a fractional weight once it is subtracted from itself.
_RESIDUE = 1e-9


@compiled
def sums_at_rows(
    cell_keys: Whole,
    classes: States,
    weights: Floats,
    row_keys: Whole,
    n_classes: int,
) -> tuple[Places, Floats]:
    """Weights a class of the cells that rows lie in.

    Returns the number of each row's cell, and the sums of shape (n_numbers, n_classes).
    """
    numbers, _, distinct, slots = number_distinct(row_keys)
    sums = np.zeros((distinct.size, n_classes))
    for cell in range(cell_keys.size):
        number = slots[find_slot(slots, distinct, cell_keys[cell])]
        if number >= 0:
            sums[number, classes[cell]] += weights[cell]
    return numbers, sums


@compiled
def multiply_evidence(
    states: States,
    classes: States,
    weights: Floats,
    row_states: States,
    own: Whole,
    shares: Floats,
    pseudo: Floats,
    strength: float,
    radices: Whole,
    products: Floats,
    logs: Floats,
) -> None:
    """Multiply P(x | class, first j parents) of each row, class and depth in.

    `states` (n_variables, n_cells), `classes` and `weights` are occupied counts;
    `row_states` (n_variables, n_rows) the rows' states, each of which has its share
    subtracted from the counts of its own class; `pseudo` (n_rows,) is the prior weight
    of the row's state of the child, zero for a state that says nothing, and `strength`
    that of all its states. `products` has shape (n_depths, n_rows, n_classes); depths
    beyond the last parent repeat the deepest, and what becomes too small moves to
    `logs`.
    """
    n_variables, n_rows = row_states.shape
    n_classes = products.shape[2]
    joint_cells = np.zeros(weights.size, dtype=np.int64)
    parent_cells = np.zeros(weights.size, dtype=np.int64)
    joint_rows = np.zeros(n_rows, dtype=np.int64)
    parent_rows = np.zeros(n_rows, dtype=np.int64)
    for depth in range(products.shape[0]):
        if depth < n_variables:
            radix = radices[depth]
            for i in range(weights.size):
                digit = np.int64(states[depth, i])
                joint_cells[i] = joint_cells[i] * radix + digit
                if depth > 0:
                    parent_cells[i] = parent_cells[i] * radix + digit
            for i in range(n_rows):
                digit = np.int64(row_states[depth, i])
                joint_rows[i] = joint_rows[i] * radix + digit
                if depth > 0:
                    parent_rows[i] = parent_rows[i] * radix + digit
            joint, joint_sums = sums_at_rows(
                joint_cells, classes, weights, joint_rows, n_classes
            )
            parent, parent_sums = sums_at_rows(
                parent_cells, classes, weights, parent_rows, n_classes
            )
        for i in range(n_rows):
            if pseudo[i] <= 0.0:
                continue
            for c in range(n_classes):
                upper = joint_sums[joint[i], c]
                lower = parent_sums[parent[i], c]
                if c == own[i]:
                    share = shares[i]
                    upper = upper - share if upper - share > _RESIDUE * share else 0.0
                    lower = lower - share if lower - share > _RESIDUE * share else 0.0
                value = products[depth, i, c]
                value *= (upper + pseudo[i]) / (lower + strength)
                if value < _SMALL:
                    logs[depth, i, c] += math.log(value)
                    value = 1.0
                products[depth, i, c] = value


@compiled
def build_dense(
    cells: Whole,
    classes: States,
    weights: Floats,
    radices: Whole,
    pseudo: Floats,
    strength: float,
    scales: Floats,
    n_classes: int,
) -> Floats:
    """Sum of the weighted log evidence of several families, for every cell and class.

    `cells` numbers the joint state of the child, most significant, and its parents;
    `pseudo` is the prior weight of each state of the child. Returns the sum over the
    depths of ``scale * ln(P(x | class, first j parents) / P(x))``, shape
    (n_cells, n_classes), zero for states without prior weight.
    """
    size = 1
    for radix in radices:
        size *= radix
    counts = np.zeros((size, n_classes))
    for i in range(weights.size):
        counts[cells[i], classes[i]] += weights[i]
    table = np.zeros((size, n_classes))
    stride = size
    for depth in range(radices.size):
        stride //= radices[depth]
        if scales[depth] <= 0.0:
            continue
        joint = np.zeros((size // stride, n_classes))
        for cell in range(size):
            for c in range(n_classes):
                joint[cell // stride, c] += counts[cell, c]
        n_parents = joint.shape[0] // radices[0]
        parents = np.zeros((n_parents, n_classes))
        for prefix in range(joint.shape[0]):
            for c in range(n_classes):
                parents[prefix % n_parents, c] += joint[prefix, c]
        for prefix in range(joint.shape[0]):
            prior = pseudo[prefix // n_parents]
            if prior <= 0.0:
                continue
            for c in range(n_classes):
                total = parents[prefix % n_parents, c] + strength
                ratio = (joint[prefix, c] + prior) / total * (strength / prior)
                value = scales[depth] * math.log(ratio)
                for cell in range(prefix * stride, (prefix + 1) * stride):
                    table[cell, c] += value
    return table


@compiled
def build_level(
    joint_keys: Whole,
    parent_keys: Whole,
    classes: States,
    weights: Floats,
    pseudo: Floats,
    strength: float,
    scale: float,
    n_classes: int,
) -> tuple[Places, Whole, Whole, Places, Floats, Places, Whole, Whole, Places, Floats]:
    """Weighted log evidence of a family, of the classes with data alone.

    For joint cells and for parent cells: hash slots, keys, where each cell's classes
    start, the classes, and their values. A joint cell lists the classes that its parent
    cell has, with ``scale * ln(P(x | class, parents) / P(x))``; a parent cell those of
    a state of the child that it never met.
    """
    joint, joint_first, joint_distinct, joint_slots = number_distinct(joint_keys)
    parent, _, parent_distinct, parent_slots = number_distinct(parent_keys)
    pair_keys = np.empty(weights.size, dtype=np.int64)
    for i in range(weights.size):
        pair_keys[i] = np.int64(parent[i]) * n_classes + np.int64(classes[i])
    pair, _, pair_distinct, _ = number_distinct(pair_keys)
    parent_starts = np.zeros(parent_distinct.size + 1, dtype=np.int64)
    for p in range(pair_distinct.size):
        parent_starts[pair_distinct[p] // n_classes + 1] += 1
    for b in range(parent_distinct.size):
        parent_starts[b + 1] += parent_starts[b]
    filled = parent_starts[:-1].copy()
    place = np.empty(pair_distinct.size, dtype=np.int64)
    parent_classes = np.empty(pair_distinct.size, dtype=np.int32)
    for p in range(pair_distinct.size):
        b = pair_distinct[p] // n_classes
        place[p] = filled[b]
        parent_classes[filled[b]] = pair_distinct[p] - b * n_classes
        filled[b] += 1
    totals = np.zeros(pair_distinct.size)
    for i in range(weights.size):
        totals[place[pair[i]]] += weights[i]
    joint_starts = np.zeros(joint_distinct.size + 1, dtype=np.int64)
    for a in range(joint_distinct.size):
        b = parent[joint_first[a]]
        size = parent_starts[b + 1] - parent_starts[b]
        joint_starts[a + 1] = joint_starts[a] + size
    counts = np.zeros(joint_starts[-1])
    for i in range(weights.size):
        offset = place[pair[i]] - parent_starts[parent[i]]
        counts[joint_starts[joint[i]] + offset] += weights[i]
    joint_classes = np.empty(counts.size, dtype=np.int32)
    for a in range(joint_distinct.size):
        first = parent_starts[parent[joint_first[a]]]
        prior = pseudo[joint_first[a]]
        for k in range(joint_starts[a], joint_starts[a + 1]):
            source = first + k - joint_starts[a]
            joint_classes[k] = parent_classes[source]
            ratio = (counts[k] + prior) / (totals[source] + strength)
            counts[k] = scale * (math.log(ratio) - math.log(prior / strength))
    for k in range(totals.size):
        totals[k] = scale * math.log(strength / (totals[k] + strength))
    return (
        joint_slots,
        joint_distinct,
        joint_starts,
        joint_classes,
        counts,
        parent_slots,
        parent_distinct,
        parent_starts,
        parent_classes,
        totals,
    )


@compiled
def add_dense(
    row_states: States,
    variables: Whole,
    radices: Whole,
    table: Floats,
    scores: Floats,
) -> None:
    """Add the entry of each row's cell, shape (n_cells, n_classes), to its scores."""
    for i in range(scores.shape[0]):
        cell = 0
        for k in range(variables.size):
            cell = cell * radices[k] + np.int64(row_states[variables[k], i])
        for c in range(scores.shape[1]):
            scores[i, c] += table[cell, c]


@compiled
def add_hashed(
    row_states: States,
    variables: Whole,
    radices: Whole,
    alive: NDArray[np.bool_],
    scores: Floats,
    joint_slots: Places,
    joint_keys: Whole,
    joint_starts: Whole,
    joint_classes: Places,
    joint_values: Floats,
    parent_slots: Places,
    parent_keys: Whole,
    parent_starts: Whole,
    parent_classes: Places,
    parent_values: Floats,
) -> None:
    """Add what a level of `build_level` holds for each row that is still alive.

    A row whose parents' states never occurred together dies: deeper levels hold
    nothing for it.
    """
    for i in range(scores.shape[0]):
        child = np.int64(row_states[variables[0], i])
        if not alive[i] or child == radices[0] - 1:
            continue
        key = child
        parent_key = np.int64(0)
        for k in range(1, variables.size):
            digit = np.int64(row_states[variables[k], i])
            key = key * radices[k] + digit
            parent_key = parent_key * radices[k] + digit
        number = joint_slots[find_slot(joint_slots, joint_keys, key)]
        if number >= 0:
            for k in range(joint_starts[number], joint_starts[number + 1]):
                scores[i, joint_classes[k]] += joint_values[k]
            continue
        number = parent_slots[find_slot(parent_slots, parent_keys, parent_key)]
        if number < 0:
            alive[i] = False
            continue
        for k in range(parent_starts[number], parent_starts[number + 1]):
            scores[i, parent_classes[k]] += parent_values[k]
