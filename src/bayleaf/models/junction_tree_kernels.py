"""Compiled propagation in a junction tree over flat arrays.

Every table is a *factor*: an ordered list of variables and an offset in an array of
cells. All factors and cliques list their variables in one order, so that the last
variable of a clique is contiguous in every factor that mentions it. Clique tables are
never stored: a clique multiplies its factors cell by cell and adds the products up
into its outgoing factors at once.

Evidence leaves each variable with its *active* states only; a factor holds cells for
those alone. A variable that was observed thereby drops out of all loops.

Factor numbers, for `n` variables and `m` cliques: ``v`` is the distribution of
variable ``v``; ``n + c`` the message of clique ``c`` to its parent; ``n + m + c`` the
message from the parent to ``c``; ``n + 2m + v`` the marginal of ``v``; and
``2n + 2m + v`` the posterior of the family of ``v``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled_sums

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Rows of a clique's cells are joined up to this length, to stay in the first cache.
LONGEST_ROW = 1024


class Schedule(NamedTuple):
    """A junction forest with a root in each tree, as arrays.

    Cliques are numbered so that children come before their parents. ``x_start``
    arrays have one entry more than there are lists; list ``i`` is
    ``x[x_start[i]:x_start[i + 1]]``.
    """

    cards: Integers
    state_start: Integers
    factor_start: Integers
    factor_variables: Integers
    factor_offset: Integers
    fixed_offset: Integers
    clique_start: Integers
    clique_variables: Integers
    parent: Integers
    child_start: Integers
    children: Integers
    table_start: Integers
    tables: Integers
    home: Integers
    barren: Flags
    clique_read_start: Integers
    clique_reads: Integers
    separator_read_start: Integers
    separator_reads: Integers
    # Distributions, and after them the upward messages without any evidence.
    fixed: Floats
    # Logarithm of what those messages were divided by, their subtrees' included.
    prior_log: Floats
    prior_marginals: Floats


class Scratch(NamedTuple):
    """What one propagation writes, the cells of its factors apart."""

    states: Integers
    weights: Floats
    n_active: Integers
    evident: Flags
    weighted: Flags
    dirty: Flags
    needed: Flags
    unit: Flags
    log_scale: Floats
    factor: Integers
    axis: Integers
    size: Integers
    counter: Integers
    position: Integers
    stride: NDArray[np.int64]
    row: Floats
    cells: Floats


@compiled_sums
def reset(schedule: Schedule, scratch: Scratch) -> None:
    """Forget all evidence."""
    cards, start = schedule.cards, schedule.state_start
    for variable in range(len(cards)):
        scratch.n_active[variable] = cards[variable]
        scratch.evident[variable] = False
        scratch.weighted[variable] = False
        for state in range(cards[variable]):
            scratch.states[start[variable] + state] = state


@compiled_sums
def enter_likelihoods(
    schedule: Schedule, scratch: Scratch, variables: Integers, values: Floats
) -> bool:
    """Enter likelihood vectors, one after another in `values`; False if one is zero."""
    first = 0
    for variable in variables:
        start = schedule.state_start[variable]
        n_active = 0
        for state in range(schedule.cards[variable]):
            value = values[first + state]
            if value != 1.0:
                scratch.evident[variable] = True
            if value > 0.0:
                scratch.states[start + n_active] = state
                scratch.weights[start + n_active] = value
                if value != 1.0:
                    scratch.weighted[variable] = True
                n_active += 1
        scratch.n_active[variable] = n_active
        first += schedule.cards[variable]
        if n_active == 0:
            return False
    return True


@compiled_sums
def enter_row(
    schedule: Schedule, scratch: Scratch, codes: Integers, hidden: int
) -> None:
    """Enter the observed cells of a row, that of the variable `hidden` left out."""
    cards, start = schedule.cards, schedule.state_start
    for variable in range(len(cards)):
        code, card = codes[variable], cards[variable]
        seen = code < card and variable != hidden
        if seen:
            scratch.states[start[variable]] = code
            scratch.n_active[variable] = 1
        elif scratch.evident[variable] or variable == hidden:
            for state in range(card):
                scratch.states[start[variable] + state] = state
            scratch.n_active[variable] = card
        scratch.evident[variable] = seen


@compiled_sums
def _gather(schedule: Schedule, scratch: Scratch, factor: int, weighted: int) -> None:
    """Copy the active cells of a fixed factor, weighted along one variable's axis."""
    lo, hi = schedule.factor_start[factor], schedule.factor_start[factor + 1]
    variables, n_active = schedule.factor_variables, scratch.n_active
    source = schedule.fixed_offset[factor]
    target = schedule.factor_offset[factor]
    fixed, cells = schedule.fixed, scratch.cells
    n_cells, n_full = 1, 1
    stride, counter = scratch.stride[0], scratch.counter
    start = schedule.state_start
    for place in range(hi - 1, lo - 1, -1):
        variable = variables[place]
        stride[place - lo] = n_full
        counter[place - lo] = 0
        n_full *= schedule.cards[variable]
        n_cells *= n_active[variable]
        source += stride[place - lo] * scratch.states[start[variable]]
    if n_cells == n_full and weighted < 0:
        for cell in range(n_cells):
            cells[target + cell] = fixed[source + cell]
        return
    for cell in range(n_cells):
        value = fixed[source]
        if weighted >= 0:
            value *= scratch.weights[
                start[variables[weighted]] + counter[weighted - lo]
            ]
        cells[target + cell] = value
        for place in range(hi - 1, lo - 1, -1):
            variable = variables[place]
            axis, count = place - lo, n_active[variable]
            if count == 1:
                continue
            first = start[variable]
            old = scratch.states[first + counter[axis]]
            counter[axis] += 1
            if counter[axis] < count:
                new = scratch.states[first + counter[axis]]
                source += stride[axis] * (new - old)
                break
            counter[axis] = 0
            source += stride[axis] * (scratch.states[first] - old)


@compiled_sums
def _enter_table(schedule: Schedule, scratch: Scratch, variable: int) -> None:
    """Copy the active cells of a variable's distribution, its likelihoods included."""
    weighted = -1
    if scratch.weighted[variable]:
        lo = schedule.factor_start[variable]
        weighted = lo
        while schedule.factor_variables[weighted] != variable:
            weighted += 1
    _gather(schedule, scratch, variable, weighted)


@compiled_sums
def _n_cells(schedule: Schedule, scratch: Scratch, factor: int) -> int:
    """How many active cells a factor has."""
    n_cells = 1
    for place in range(
        schedule.factor_start[factor], schedule.factor_start[factor + 1]
    ):
        n_cells *= scratch.n_active[schedule.factor_variables[place]]
    return n_cells


@compiled_sums
def _contract(
    schedule: Schedule,
    scratch: Scratch,
    variables: Integers,
    lo: int,
    hi: int,
    n_in: int,
    n_slots: int,
    maximise: bool,
) -> None:
    """Multiply factors over some variables and sum (or maximise) into others.

    ``scratch.factor[:n_in]`` are multiplied; the products are added up into
    ``scratch.factor[n_in:n_slots]``. `variables[lo:hi]` are those of the clique.
    """
    cells, size, stride = scratch.cells, scratch.size, scratch.stride
    position, axis = scratch.position, scratch.axis
    n_axes = 0
    for place in range(lo, hi):
        if scratch.n_active[variables[place]] > 1:
            axis[n_axes] = variables[place]
            size[n_axes] = scratch.n_active[variables[place]]
            n_axes += 1
    for slot in range(n_slots):
        factor = scratch.factor[slot]
        position[slot] = schedule.factor_offset[factor]
        first = schedule.factor_start[factor]
        place = schedule.factor_start[factor + 1] - 1
        n_cells = 1
        for j in range(n_axes - 1, -1, -1):
            while (
                place >= first
                and scratch.n_active[schedule.factor_variables[place]] == 1
            ):
                place -= 1
            if place >= first and schedule.factor_variables[place] == axis[j]:
                stride[slot, j] = n_cells
                n_cells *= size[j]
                place -= 1
            else:
                stride[slot, j] = 0
        if slot >= n_in:
            for cell in range(n_cells):
                cells[position[slot] + cell] = 0.0
    n_axes = _merge_axes(scratch, n_axes, n_slots)
    _run(scratch, n_axes, n_in, n_slots, maximise)


@compiled_sums
def _merge_axes(scratch: Scratch, n_axes: int, n_slots: int) -> int:
    """Join neighbouring axes that all factors run through alike; how many are left."""
    size, stride = scratch.size, scratch.stride
    kept = 0
    for j in range(1, n_axes):
        joined = size[kept] * size[j] <= LONGEST_ROW
        for slot in range(n_slots):
            if stride[slot, kept] != stride[slot, j] * size[j]:
                joined = False
                break
        if joined:
            size[kept] *= size[j]
        else:
            kept += 1
            size[kept] = size[j]
        for slot in range(n_slots):
            stride[slot, kept] = stride[slot, j]
    return min(kept + 1, n_axes)


@compiled_sums
def _run(
    scratch: Scratch, n_axes: int, n_in: int, n_slots: int, maximise: bool
) -> None:
    """Run through the cells of a clique, one row of the last axis after another."""
    cells, size, stride = scratch.cells, scratch.size, scratch.stride
    position, counter, row = scratch.position, scratch.counter, scratch.row
    if n_axes == 0:
        n_axes = 1
        size[0] = 1
        for slot in range(n_slots):
            stride[slot, 0] = 0
    last = n_axes - 1
    length = size[last]
    n_rows = 1
    for j in range(last):
        counter[j] = 0
        n_rows *= size[j]
    for _ in range(n_rows):
        value = 1.0
        n_long = 0
        for slot in range(n_in):
            if stride[slot, last] == 0:
                value *= cells[position[slot]]
        if value != 0.0:
            for slot in range(n_in):
                if stride[slot, last] != 0:
                    first = position[slot]
                    if n_long == 0:
                        for i in range(length):
                            row[i] = value * cells[first + i]
                    else:
                        for i in range(length):
                            row[i] *= cells[first + i]
                    n_long += 1
            if n_long == 0:
                for i in range(length):
                    row[i] = value
            for slot in range(n_in, n_slots):
                first = position[slot]
                if stride[slot, last] == 0:
                    if maximise:
                        largest = cells[first]
                        for i in range(length):
                            largest = max(largest, row[i])
                        cells[first] = largest
                    else:
                        total = 0.0
                        for i in range(length):
                            total += row[i]
                        cells[first] += total
                elif maximise:
                    for i in range(length):
                        cells[first + i] = max(cells[first + i], row[i])
                else:
                    for i in range(length):
                        cells[first + i] += row[i]
        for j in range(last - 1, -1, -1):
            counter[j] += 1
            if counter[j] < size[j]:
                for slot in range(n_slots):
                    position[slot] += stride[slot, j]
                break
            counter[j] = 0
            for slot in range(n_slots):
                position[slot] -= stride[slot, j] * (size[j] - 1)


@compiled_sums
def _gather_inputs(
    schedule: Schedule, scratch: Scratch, clique: int, with_parent: bool
) -> int:
    """List the factors that a clique multiplies; how many they are."""
    n, m = len(schedule.cards), len(schedule.parent)
    n_in = 0
    for place in range(schedule.table_start[clique], schedule.table_start[clique + 1]):
        scratch.factor[n_in] = schedule.tables[place]
        n_in += 1
    for place in range(schedule.child_start[clique], schedule.child_start[clique + 1]):
        child = schedule.children[place]
        if not scratch.unit[child]:
            scratch.factor[n_in] = n + child
            n_in += 1
    if with_parent and schedule.parent[clique] >= 0:
        scratch.factor[n_in] = n + m + clique
        n_in += 1
    return n_in


@compiled_sums
def _rescale(schedule: Schedule, scratch: Scratch, factor: int) -> float:
    """Divide a factor by its largest cell, and return that."""
    first, cells = schedule.factor_offset[factor], scratch.cells
    n_cells = _n_cells(schedule, scratch, factor)
    largest = 0.0
    for cell in range(first, first + n_cells):
        largest = max(largest, cells[cell])
    if largest > 0.0:
        for cell in range(first, first + n_cells):
            cells[cell] /= largest
    return largest


@compiled_sums
def collect(
    schedule: Schedule, scratch: Scratch, maximise: bool, from_prior: bool
) -> float:
    """Send all messages towards the roots; the log probability of the evidence.

    With `from_prior`, messages of subtrees without evidence are those of the prior.
    """
    n, m = len(schedule.cards), len(schedule.parent)
    dirty, parent = scratch.dirty, schedule.parent
    for clique in range(m):
        dirty[clique] = not from_prior
        scratch.unit[clique] = False
    for variable in range(n):
        if scratch.evident[variable]:
            dirty[schedule.home[variable]] = True
    for clique in range(m):
        if dirty[clique] and parent[clique] >= 0:
            dirty[parent[clique]] = True
    total = 0.0
    for clique in range(m):
        if not dirty[clique]:
            # Distributions below that speak of the subtree alone sum to one.
            scratch.unit[clique] = schedule.barren[clique]
            if parent[clique] >= 0 and not schedule.barren[clique]:
                _gather(schedule, scratch, n + clique, -1)
                if dirty[parent[clique]]:
                    total += schedule.prior_log[clique]
            continue
        for place in range(
            schedule.table_start[clique], schedule.table_start[clique + 1]
        ):
            _enter_table(schedule, scratch, schedule.tables[place])
        n_in = _gather_inputs(schedule, scratch, clique, False)
        scratch.factor[n_in] = n + clique
        _contract(
            schedule,
            scratch,
            schedule.clique_variables,
            schedule.clique_start[clique],
            schedule.clique_start[clique + 1],
            n_in,
            n_in + 1,
            maximise,
        )
        scale = _rescale(schedule, scratch, n + clique)
        if scale == 0.0:
            return -np.inf
        scratch.log_scale[clique] = np.log(scale)
        total += scratch.log_scale[clique]
    return total


@compiled_sums
def subtree_logs(schedule: Schedule, scratch: Scratch) -> Floats:
    """Logarithms of what the messages were divided by, summed over subtrees."""
    totals = scratch.log_scale.copy()
    for clique in range(len(totals)):
        if schedule.parent[clique] >= 0:
            totals[schedule.parent[clique]] += totals[clique]
    return totals


@compiled_sums
def _is_wanted(
    schedule: Schedule, scratch: Scratch, variable: int, families: bool
) -> bool:
    """Whether a variable's marginal, or its family's, is not plain from evidence."""
    if not families:
        return bool(scratch.n_active[variable] > 1)
    return _n_cells(schedule, scratch, variable) > 1


@compiled_sums
def _mark_needed(schedule: Schedule, scratch: Scratch, families: bool) -> None:
    """Mark the cliques below or at which something has to be read."""
    needed, parent = scratch.needed, schedule.parent
    n, m = len(schedule.cards), len(schedule.parent)
    for clique in range(m):
        needed[clique] = False
    for variable in range(n):
        if families and _is_wanted(schedule, scratch, variable, True):
            needed[schedule.home[variable]] = True
    for clique in range(m):
        if not families:
            for place in range(
                schedule.clique_read_start[clique],
                schedule.clique_read_start[clique + 1],
            ):
                if scratch.n_active[schedule.clique_reads[place]] > 1:
                    needed[clique] = True
            for place in range(
                schedule.separator_read_start[clique],
                schedule.separator_read_start[clique + 1],
            ):
                if scratch.n_active[schedule.separator_reads[place]] > 1:
                    needed[clique] = True
        if needed[clique] and parent[clique] >= 0:
            needed[parent[clique]] = True


@compiled_sums
def distribute(
    schedule: Schedule, scratch: Scratch, families: bool, from_prior: bool
) -> None:
    """Send messages away from the roots, and read marginals or families on the way.

    To be called after `collect`, unless the evidence is impossible. Trees without
    evidence are left alone if `from_prior`.
    """
    n, m = len(schedule.cards), len(schedule.parent)
    parent, factor = schedule.parent, scratch.factor
    _mark_needed(schedule, scratch, families)
    for clique in range(m - 1, -1, -1):
        above = parent[clique]
        if above < 0:
            scratch.needed[clique] &= scratch.dirty[clique] or not from_prior
        else:
            scratch.needed[clique] &= scratch.needed[above]
        if not scratch.needed[clique]:
            continue
        if not scratch.dirty[clique]:
            for place in range(
                schedule.table_start[clique], schedule.table_start[clique + 1]
            ):
                _enter_table(schedule, scratch, schedule.tables[place])
        if above >= 0:
            _finish_message(schedule, scratch, clique, families)
        n_in = _gather_inputs(schedule, scratch, clique, True)
        n_slots = n_in
        for place in range(
            schedule.child_start[clique], schedule.child_start[clique + 1]
        ):
            if scratch.needed[schedule.children[place]]:
                factor[n_slots] = n + m + schedule.children[place]
                n_slots += 1
        if families:
            for place in range(
                schedule.table_start[clique], schedule.table_start[clique + 1]
            ):
                if _is_wanted(schedule, scratch, schedule.tables[place], True):
                    factor[n_slots] = 2 * n + 2 * m + schedule.tables[place]
                    n_slots += 1
        else:
            for place in range(
                schedule.clique_read_start[clique],
                schedule.clique_read_start[clique + 1],
            ):
                if scratch.n_active[schedule.clique_reads[place]] > 1:
                    factor[n_slots] = n + 2 * m + schedule.clique_reads[place]
                    n_slots += 1
        if n_slots > n_in:
            _contract(
                schedule,
                scratch,
                schedule.clique_variables,
                schedule.clique_start[clique],
                schedule.clique_start[clique + 1],
                n_in,
                n_slots,
                False,
            )


@compiled_sums
def _finish_message(
    schedule: Schedule, scratch: Scratch, clique: int, families: bool
) -> None:
    """Turn the parent's belief over a separator into the message to the clique."""
    n, m = len(schedule.cards), len(schedule.parent)
    cells, message = scratch.cells, n + m + clique
    _rescale(schedule, scratch, message)
    n_slots = 1
    if not families:
        for place in range(
            schedule.separator_read_start[clique],
            schedule.separator_read_start[clique + 1],
        ):
            if scratch.n_active[schedule.separator_reads[place]] > 1:
                scratch.factor[n_slots] = n + 2 * m + schedule.separator_reads[place]
                n_slots += 1
    if n_slots > 1:
        scratch.factor[0] = message
        _contract(
            schedule,
            scratch,
            schedule.factor_variables,
            schedule.factor_start[message],
            schedule.factor_start[message + 1],
            1,
            n_slots,
            False,
        )
    if scratch.unit[clique]:
        return
    down, up = schedule.factor_offset[message], schedule.factor_offset[n + clique]
    for cell in range(_n_cells(schedule, scratch, message)):
        # The belief is zero wherever the message that it contains is.
        if cells[up + cell] > 0.0:
            cells[down + cell] /= cells[up + cell]
    _rescale(schedule, scratch, message)


@compiled_sums
def _normalise(schedule: Schedule, scratch: Scratch, factor: int) -> None:
    """Divide a factor by the sum of its cells."""
    first, cells = schedule.factor_offset[factor], scratch.cells
    n_cells = _n_cells(schedule, scratch, factor)
    total = 0.0
    for cell in range(first, first + n_cells):
        total += cells[cell]
    for cell in range(first, first + n_cells):
        cells[cell] /= total


@compiled_sums
def read_marginals(
    schedule: Schedule, scratch: Scratch, from_prior: bool, marginals: Floats
) -> None:
    """Write the marginals of all variables, one after another."""
    n, m = len(schedule.cards), len(schedule.parent)
    touched = scratch.needed
    for clique in range(m - 1, -1, -1):
        above = schedule.parent[clique]
        if above < 0:
            touched[clique] = scratch.dirty[clique] or not from_prior
        else:
            touched[clique] = touched[above]
    for variable in range(n):
        start, card = schedule.state_start[variable], schedule.cards[variable]
        if not touched[schedule.home[variable]]:
            for state in range(start, start + card):
                marginals[state] = schedule.prior_marginals[state]
            continue
        for state in range(start, start + card):
            marginals[state] = 0.0
        n_active = scratch.n_active[variable]
        if n_active == 1:
            marginals[start + scratch.states[start]] = 1.0
            continue
        factor = n + 2 * m + variable
        _normalise(schedule, scratch, factor)
        first = schedule.factor_offset[factor]
        for i in range(n_active):
            state = scratch.states[start + i]
            marginals[start + state] = scratch.cells[first + i]


@compiled_sums
def add_factor(
    schedule: Schedule,
    scratch: Scratch,
    factor: int,
    weight: float,
    totals: Floats,
    first: int,
) -> None:
    """Add a factor's cells, normalised and times a weight, to a table of all states."""
    lo, hi = schedule.factor_start[factor], schedule.factor_start[factor + 1]
    stride, counter = scratch.stride[0], scratch.counter
    n_cells, n_full = 1, 1
    for place in range(hi - 1, lo - 1, -1):
        variable = schedule.factor_variables[place]
        stride[place - lo] = n_full
        counter[place - lo] = 0
        n_full *= schedule.cards[variable]
        n_cells *= scratch.n_active[variable]
    source, cells = schedule.factor_offset[factor], scratch.cells
    total = 0.0
    for cell in range(source, source + n_cells):
        total += cells[cell]
    for cell in range(source, source + n_cells):
        target = first
        for place in range(lo, hi):
            start = schedule.state_start[schedule.factor_variables[place]]
            state = scratch.states[start + counter[place - lo]]
            target += stride[place - lo] * state
        # All cells observed: the family has this state for certain.
        share = cells[cell] / total if n_cells > 1 else 1.0
        totals[target] += weight * share
        for place in range(hi - 1, lo - 1, -1):
            counter[place - lo] += 1
            variable = schedule.factor_variables[place]
            if counter[place - lo] < scratch.n_active[variable]:
                break
            counter[place - lo] = 0


@compiled_sums
def read_root(
    schedule: Schedule, scratch: Scratch, variable: int, posterior: Floats
) -> None:
    """Write the marginal of a variable of a root clique after `collect`."""
    n, m = len(schedule.cards), len(schedule.parent)
    clique = schedule.home[variable]
    while schedule.parent[clique] >= 0:
        clique = schedule.parent[clique]
    if not scratch.dirty[clique]:
        start = schedule.state_start[variable]
        for state in range(schedule.cards[variable]):
            posterior[state] = schedule.prior_marginals[start + state]
        return
    factor = n + 2 * m + variable
    n_in = _gather_inputs(schedule, scratch, clique, False)
    scratch.factor[n_in] = factor
    _contract(
        schedule,
        scratch,
        schedule.clique_variables,
        schedule.clique_start[clique],
        schedule.clique_start[clique + 1],
        n_in,
        n_in + 1,
        False,
    )
    _normalise(schedule, scratch, factor)
    first = schedule.factor_offset[factor]
    for state in range(schedule.cards[variable]):
        posterior[state] = scratch.cells[first + state]


@compiled_sums
def decode(schedule: Schedule, scratch: Scratch, states: Integers) -> None:
    """Read the most probable states, root first, after `collect` with the maximum.

    Each clique takes the cell that agrees with its parent; among cells within
    rounding of the largest, the one with the lowest state of its lowest variable.
    """
    n, m = len(schedule.cards), len(schedule.parent)
    n_active, axis, counter = scratch.n_active, scratch.axis, scratch.counter
    chosen = np.full(n, -1, dtype=np.int64)
    for clique in range(m - 1, -1, -1):
        n_in = _gather_inputs(schedule, scratch, clique, False)
        n_axes = 0
        n_cells = 1
        for place in range(
            schedule.clique_start[clique], schedule.clique_start[clique + 1]
        ):
            variable = schedule.clique_variables[place]
            if chosen[variable] < 0:
                # By index, so that the first of several equal cells is the lowest.
                j = n_axes
                while j > 0 and axis[j - 1] > variable:
                    axis[j] = axis[j - 1]
                    j -= 1
                axis[j] = variable
                n_axes += 1
                n_cells *= n_active[variable]
        for j in range(n_axes):
            counter[j] = 0
            chosen[axis[j]] = 0
        best_cell, best = 0, -1.0
        for cell in range(n_cells):
            value = 1.0
            for slot in range(n_in):
                place_in = 0
                factor = scratch.factor[slot]
                for place in range(
                    schedule.factor_start[factor], schedule.factor_start[factor + 1]
                ):
                    variable = schedule.factor_variables[place]
                    place_in = place_in * n_active[variable] + chosen[variable]
                value *= scratch.cells[schedule.factor_offset[factor] + place_in]
            if value > best * (1.0 + 1e-12):
                best_cell, best = cell, value
            for j in range(n_axes - 1, -1, -1):
                chosen[axis[j]] += 1
                if chosen[axis[j]] < n_active[axis[j]]:
                    break
                chosen[axis[j]] = 0
        for j in range(n_axes - 1, -1, -1):
            chosen[axis[j]] = best_cell % n_active[axis[j]]
            best_cell //= n_active[axis[j]]
    for variable in range(n):
        states[variable] = scratch.states[
            schedule.state_start[variable] + chosen[variable]
        ]


@compiled_sums
def evidence_of_rows(
    schedule: Schedule, scratch: Scratch, rows: NDArray[np.int64], log_evidence: Floats
) -> None:
    """Write the log probability of each row's observed cells."""
    reset(schedule, scratch)
    for row in range(len(rows)):
        enter_row(schedule, scratch, rows[row], -1)
        log_evidence[row] = collect(schedule, scratch, False, True)


@compiled_sums
def posteriors_of_rows(
    schedule: Schedule,
    scratch: Scratch,
    rows: NDArray[np.int64],
    target: int,
    posteriors: NDArray[np.float64],
    log_evidence: Floats,
) -> None:
    """Write each row's posterior of a variable that a root clique holds."""
    reset(schedule, scratch)
    for row in range(len(rows)):
        enter_row(schedule, scratch, rows[row], target)
        log_evidence[row] = collect(schedule, scratch, False, True)
        if log_evidence[row] == -np.inf:
            posteriors[row] = np.nan
        else:
            read_root(schedule, scratch, target, posteriors[row])


@compiled_sums
def families_of_rows(
    schedule: Schedule,
    scratch: Scratch,
    rows: NDArray[np.int64],
    weights: Floats,
    totals: Floats,
) -> None:
    """Add each possible row's family posteriors, times its weight, to `totals`."""
    n, m = len(schedule.cards), len(schedule.parent)
    reset(schedule, scratch)
    for row in range(len(rows)):
        enter_row(schedule, scratch, rows[row], -1)
        collect(schedule, scratch, False, True)
        distribute(schedule, scratch, True, False)
        for variable in range(n):
            first = schedule.fixed_offset[variable]
            factor = 2 * n + 2 * m + variable
            add_factor(schedule, scratch, factor, weights[row], totals, first)
