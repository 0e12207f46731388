"""Compiled loops over the nested families of one feature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled
from bayleaf.counts.occupied_kernels import (
    add_weights,
    find_slot,
    mapped_digits,
    number_cells,
    number_distinct,
)

Floats = NDArray[np.float64]
States = NDArray[np.uint16]
Whole = NDArray[np.int64]
Places = NDArray[np.int32]

# A product of probabilities below this goes over into its logarithm.
_SMALL = 1e-150
# What is left of a fractional weight once it is subtracted from itself.
_RESIDUE = 1e-9


@compiled
def number_within(keys: Whole, n_keys: int) -> tuple[Places, Whole]:
    """Number distinct keys below `n_keys`; returns each key's number, and the keys."""
    if n_keys <= 2 * keys.size:
        numbers, first = number_cells(keys, n_keys)
        distinct = np.empty(first.size, dtype=np.int64)
        for i in range(first.size):
            distinct[i] = keys[first[i]]
    else:
        numbers, _, distinct, _ = number_distinct(keys)
    return numbers, distinct


@compiled
def class_probabilities(
    upper: Floats, lower: Floats, priors: Floats, shares: Floats, strength: float
) -> tuple[Floats, Floats]:
    """P(x | class, parents) of lines of equal rows, shape (n_classes, n_lines).

    Once from all counts, and once with a share taken from those of the class. `upper`
    holds the counts of the joint state, `lower` those of its parents, `priors` the
    prior weight of its state of the child; without any, the state says nothing: 1.
    """
    whole = np.ones(upper.shape)
    left_out = np.ones(upper.shape)
    for c in range(upper.shape[0]):
        for k in range(priors.size):
            if priors[k] <= 0.0:
                continue
            count, total, share = upper[c, k], lower[c, k], shares[k]
            whole[c, k] = (count + priors[k]) / (total + strength)
            least = _RESIDUE * share
            count = count - share if count - share > least else 0.0
            total = total - share if total - share > least else 0.0
            left_out[c, k] = (count + priors[k]) / (total + strength)
    return whole, left_out


@compiled
def prior_weight(
    state: int,
    share: float,
    by_state: Floats,
    marginal: Floats,
    total: float,
    strength: float,
    is_marginal: bool,
) -> float:
    """Prior weight of a state of the child, after a share has left the marginal."""
    if not is_marginal or by_state[state] <= 0.0:
        return float(by_state[state])
    rest = total - share
    weight = marginal[state] - share
    if weight <= _RESIDUE * share or rest <= 0.0:
        return 0.0
    return float(strength * weight / rest)


@compiled
def multiply_families(
    feature: int,
    narrow: NDArray[np.uint8],
    wide: States,
    slots: Whole,
    bank: tuple[Whole, States, Whole, States, States, Floats, Whole],
    pseudo_weights: tuple[float, float, float],
    own: Whole,
    share_numbers: Whole,
    share_levels: Floats,
    products: Floats,
    logs: Floats,
) -> None:
    """Multiply one feature's evidence in several networks, see `multiply_evidence`.

    Rows are laid out as in `Codes`. The bank holds families, values and their starts,
    then the cells' states, classes, weights and starts: ``families[m, feature]`` lists
    the feature and its parents in network m, -1 after the last. There the codes of
    variable v stand for the states in
    ``values[value_starts[m, v] : value_starts[m, v + 1]]``, and the occupied counts of
    a feature's family begin at ``cell_starts[m, feature]``.
    `pseudo_weights` are the prior weight of each state, of all alike, and of all by
    their shares of the training rows.
    """
    families, values, value_starts = bank[:3]
    cell_states, cell_classes, cell_weights, cell_starts = bank[3:]
    n_rows, n_places = own.size, families.shape[2]
    least = np.ones(products.shape[0])
    row_states = np.empty((n_places, n_rows), dtype=np.uint16)
    radices = np.empty(n_places, dtype=np.int64)
    for network in range(families.shape[0]):
        n_used = 0
        while n_used < n_places and families[network, feature, n_used] >= 0:
            variable = families[network, feature, n_used]
            first = value_starts[network, variable]
            states = values[first : value_starts[network, variable + 1]]
            radices[n_used] = np.int64(states[-1]) + 1
            mapped_digits(narrow, wide, slots[variable], states, row_states[n_used])
            n_used += 1
        first = cell_starts[network, feature]
        last = cell_starts[network, feature + 1]
        multiply_evidence(
            cell_states[:n_used, first:last].copy(),
            cell_classes[first:last],
            cell_weights[first:last],
            row_states[:n_used],
            own,
            share_numbers,
            share_levels,
            pseudo_weights,
            radices[:n_used],
            products,
            logs,
            least,
        )


@compiled
def prior_of_states(
    children: States, weights: Floats, n_states: int, pseudo_weights: Any
) -> tuple[Floats, Floats, float, float]:
    """Prior weights of the child's states, their weights in training, and the sums.

    The reserved code past the last state has neither. First the sum in training.
    """
    each, together, shared = pseudo_weights
    marginal = np.zeros(n_states + 1)
    total = 0.0
    for i in range(weights.size):
        marginal[children[i]] += weights[i]
        total += weights[i]
    by_state = each + together / n_states + shared * marginal / total
    by_state[n_states] = 0.0
    return by_state, marginal, total, each * n_states + together + shared


@compiled
def joint_keys(states: States, row_states: States, radices: Whole) -> tuple[Whole, int]:
    """One whole number for the joint state of each cell, then of each row.

    The first variable is the most significant; the states of all others together are
    the remainder below the number that is returned too.
    """
    n_cells, n_rows = states.shape[1], row_states.shape[1]
    keys = np.zeros(n_cells + n_rows, dtype=np.int64)
    span = np.int64(1)
    for k in range(radices.size):
        if k > 0:
            span *= radices[k]
        for i in range(n_cells):
            keys[i] = keys[i] * radices[k] + np.int64(states[k, i])
        for i in range(n_rows):
            digit = np.int64(row_states[k, i])
            keys[n_cells + i] = keys[n_cells + i] * radices[k] + digit
    return keys, int(span)


@compiled
def multiply_evidence(
    states: States,
    classes: States,
    weights: Floats,
    row_states: States,
    own: Whole,
    share_numbers: Whole,
    share_levels: Floats,
    pseudo_weights: tuple[float, float, float],
    radices: Whole,
    products: Floats,
    logs: Floats,
    least: Floats,
) -> None:
    """Multiply P(x | class, first j parents) of each row, class and depth in.

    `states` (n_variables, n_cells), `classes` and `weights` are occupied counts;
    `row_states` (n_variables, n_rows) the rows' states, each of which has its share,
    ``share_levels[share_numbers[i]]``, subtracted from the counts of its own class.
    Where the prior weights of the child's states follow their shares of the training
    rows, a row's share leaves those too. `products` has shape
    (n_depths, n_classes, n_rows); depths beyond the last parent repeat the deepest.
    Before a product may fall below `least` (n_depths,), it moves to `logs`.
    """
    n_cells, n_rows = weights.size, row_states.shape[1]
    n_depths, n_classes, _ = products.shape
    deepest = min(n_depths, row_states.shape[0]) - 1
    keys, span = joint_keys(states, row_states, radices[: deepest + 1])
    numbers, joint = number_within(keys, span * radices[0])
    # Rows of one joint state and one share have one line of probabilities.
    n_levels = share_levels.size
    for i in range(n_rows):
        keys[i] = np.int64(numbers[n_cells + i]) * n_levels + share_numbers[i]
    line_of_row, line_keys = number_within(keys[:n_rows], joint.size * n_levels)
    joint_of_line = line_keys // n_levels
    shares = share_levels[line_keys - joint_of_line * n_levels]
    children = joint[joint_of_line] // span
    joint_of_cell = numbers[:n_cells]
    by_state, marginal, total, strength = prior_of_states(
        states[0], weights, radices[0] - 1, pseudo_weights
    )
    is_marginal = pseudo_weights[2] > 0.0
    priors = np.empty(shares.size)
    for k in range(shares.size):
        priors[k] = prior_weight(
            children[k], shares[k], by_state, marginal, total, strength, is_marginal
        )
    for depth in range(deepest, -1, -1):
        if depth < deepest:
            # The last parent is the last digit; without it, states fall together.
            radix = radices[depth + 1]
            span //= radix
            above, joint = number_within(joint // radix, span * radices[0])
            joint_of_cell, classes, weights = merge_cells(
                above[joint_of_cell], classes, weights, joint.size, n_classes
            )
            for k in range(joint_of_line.size):
                joint_of_line[k] = above[joint_of_line[k]]
        of_joint, parents = number_within(joint % span, int(span))
        upper = counts_of_lines(
            joint_of_cell, classes, weights, joint_of_line, joint.size, n_classes
        )
        lower = counts_of_lines(
            of_joint[joint_of_cell],
            classes,
            weights,
            of_joint[joint_of_line],
            parents.size,
            n_classes,
        )
        whole, left_out = class_probabilities(upper, lower, priors, shares, strength)
        smallest = min(whole.min(), left_out.min())
        last = n_depths if depth == deepest else depth + 1
        for repeated in range(depth, last):
            if least[repeated] * smallest < _SMALL:
                move_to_logs(products[repeated], logs[repeated])
                least[repeated] = 1.0
            least[repeated] *= smallest
            multiply_rows(line_of_row, own, whole, left_out, products[repeated])


@compiled
def merge_cells(
    joint: Places, classes: States, weights: Floats, n_states: int, n_classes: int
) -> tuple[Places, States, Floats]:
    """Cells of one state, below `n_states`, and class become one."""
    keys = np.empty(joint.size, dtype=np.int64)
    for i in range(joint.size):
        keys[i] = np.int64(joint[i]) * n_classes + np.int64(classes[i])
    numbers, distinct = number_within(keys, n_states * n_classes)
    states = distinct // n_classes
    own = distinct - states * n_classes
    sums = add_weights(numbers, weights, distinct.size)
    return states.astype(np.int32), own.astype(np.uint16), sums


@compiled
def counts_of_lines(
    cells: Places,
    classes: States,
    weights: Floats,
    of_line: NDArray[np.signedinteger[Any]],
    n_states: int,
    n_classes: int,
) -> Floats:
    """Weight by class of the state that each line has, shape (n_classes, n_lines).

    `cells` holds the state of each occupied cell, below `n_states`.
    """
    places = np.full(n_states, -1, dtype=np.int32)
    count = 0
    for k in range(of_line.size):
        if places[of_line[k]] < 0:
            places[of_line[k]] = count
            count += 1
    sums = np.zeros((count, n_classes))
    for i in range(cells.size):
        place = places[cells[i]]
        if place >= 0:
            sums[place, classes[i]] += weights[i]
    found = np.empty((n_classes, of_line.size))
    for k in range(of_line.size):
        for c in range(n_classes):
            found[c, k] = sums[places[of_line[k]], c]
    return found


@compiled
def move_to_logs(products: Floats, logs: Floats) -> None:
    """Add the logarithms of products to `logs`, and start again at 1."""
    for i in range(products.shape[0]):
        for c in range(products.shape[1]):
            logs[i, c] += math.log(products[i, c])
            products[i, c] = 1.0


@compiled
def multiply_rows(
    lines: Places, own: Whole, whole: Floats, left_out: Floats, products: Floats
) -> None:
    """Multiply each row's line of probabilities in, the left-out one of its class."""
    for c in range(products.shape[0]):
        for i in range(lines.size):
            line = np.uint32(lines[i])
            ratio = left_out[c, line] if own[i] == c else whole[c, line]
            products[c, i] *= ratio


@compiled
def store_evidence(
    products: Floats, logs: Floats, n_networks: int, values: NDArray[Any]
) -> None:
    """Store the mean of logarithms as (n_rows, n_classes, n_depths).

    `products` holds the logarithm of what was not moved to `logs`.
    """
    n_depths, n_classes, n_rows = products.shape
    for i in range(n_rows):
        for c in range(n_classes):
            for depth in range(n_depths):
                value = products[depth, c, i] + logs[depth, c, i]
                values[i, c, depth] = value / n_networks


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
