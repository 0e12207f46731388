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

# Rows of a clique's cells are joined up to this length, to stay in the first cache.
LONGEST_ROW = 1024


class Schedule(NamedTuple):
    """A junction forest with a root in each tree.

    Cliques are numbered so that children come before their parents. Whole numbers
    tell where a list begins: most in `plan`, the last two in `fixed`. ``x_start`` is a
    list of where lists begin: list ``i`` of `x` is
    ``plan[x + plan[x_start + i]:x + plan[x_start + i + 1]]``.

    All lists lie in two arrays because a kernel that hands dozens of arrays on spends
    more time on counting references than on small tables.
    """

    plan: Integers
    # Distributions, then the upward messages without any evidence.
    fixed: Floats
    n_variables: int
    n_cliques: int
    cards: int
    state_start: int
    factor_start: int
    factor_variables: int
    factor_offset: int
    fixed_offset: int
    clique_start: int
    clique_variables: int
    parent: int
    child_start: int
    children: int
    table_start: int
    tables: int
    home: int
    barren: int
    clique_read_start: int
    clique_reads: int
    separator_read_start: int
    separator_reads: int
    # Logarithm of what those messages were divided by, their subtrees' included.
    prior_log: int
    prior_marginals: int


class Scratch(NamedTuple):
    """What one propagation writes; whole numbers tell where a list begins.

    The first group of lists lies in `memory`, the second in `cells`, whose first part
    are the factors.
    """

    memory: Integers
    cells: Floats
    stride: NDArray[np.int64]
    row: Floats
    states: int
    n_active: int
    evident: int
    weighted: int
    dirty: int
    needed: int
    unit: int
    factor: int
    axis: int
    size: int
    counter: int
    gap: int
    position: int
    weights: int
    log_scale: int


@compiled_sums
def reset(schedule: Schedule, scratch: Scratch) -> None:
    """Forget all evidence."""
    cards, start = schedule.cards, schedule.state_start
    for variable in range(schedule.n_variables):
        scratch.memory[scratch.n_active + variable] = schedule.plan[cards + variable]
        scratch.memory[scratch.evident + variable] = False
        scratch.memory[scratch.weighted + variable] = False
        for state in range(schedule.plan[cards + variable]):
            scratch.memory[scratch.states + schedule.plan[start + variable] + state] = (
                state
            )


@compiled_sums
def enter_likelihoods(
    schedule: Schedule, scratch: Scratch, variables: Integers, values: Floats
) -> bool:
    """Enter likelihood vectors, one after another in `values`; False if one is zero."""
    first = 0
    for variable in variables:
        start = schedule.plan[schedule.state_start + variable]
        n_active = 0
        for state in range(schedule.plan[schedule.cards + variable]):
            value = values[first + state]
            if value != 1.0:
                scratch.memory[scratch.evident + variable] = True
            if value > 0.0:
                scratch.memory[scratch.states + start + n_active] = state
                scratch.cells[scratch.weights + start + n_active] = value
                if value != 1.0:
                    scratch.memory[scratch.weighted + variable] = True
                n_active += 1
        scratch.memory[scratch.n_active + variable] = n_active
        first += schedule.plan[schedule.cards + variable]
        if n_active == 0:
            return False
    return True


@compiled_sums
def enter_row(
    schedule: Schedule, scratch: Scratch, codes: Integers, hidden: int
) -> None:
    """Enter the observed cells of a row, that of the variable `hidden` left out."""
    cards, start = schedule.cards, schedule.state_start
    for variable in range(schedule.n_variables):
        code, card = codes[variable], schedule.plan[cards + variable]
        seen = code < card and variable != hidden
        if seen:
            scratch.memory[scratch.states + schedule.plan[start + variable]] = code
            scratch.memory[scratch.n_active + variable] = 1
        elif scratch.memory[scratch.evident + variable] or variable == hidden:
            for state in range(card):
                scratch.memory[
                    scratch.states + schedule.plan[start + variable] + state
                ] = state
            scratch.memory[scratch.n_active + variable] = card
        scratch.memory[scratch.evident + variable] = seen


@compiled_sums
def _gather(schedule: Schedule, scratch: Scratch, factor: int, weighted: int) -> None:
    """Copy the active cells of a fixed factor, weighted along one variable's axis."""
    lo, hi = (
        schedule.plan[schedule.factor_start + factor],
        schedule.plan[schedule.factor_start + factor + 1],
    )
    variables, n_active = schedule.factor_variables, scratch.n_active
    states, start, cards = scratch.states, schedule.state_start, schedule.cards
    size, stride, axis = scratch.size, scratch.gap, scratch.axis
    source = schedule.plan[schedule.fixed_offset + factor]
    target = schedule.plan[schedule.factor_offset + factor]
    fixed, cells = schedule.fixed, scratch.cells
    n_cells, n_full, n_axes = 1, 1, 0
    for place in range(hi - 1, lo - 1, -1):
        variable = schedule.plan[variables + place]
        count = scratch.memory[n_active + variable]
        source += n_full * scratch.memory[states + schedule.plan[start + variable]]
        if count > 1:
            # Axes from the fastest to the slowest.
            scratch.memory[axis + n_axes] = variable
            scratch.memory[size + n_axes] = count
            scratch.memory[stride + n_axes] = n_full
            n_axes += 1
        n_full *= schedule.plan[cards + variable]
        n_cells *= count
    if n_cells == n_full and weighted < 0:
        for cell in range(n_cells):
            cells[target + cell] = fixed[source + cell]
    elif n_cells == 1:
        cells[target] = fixed[source]
        if weighted >= 0:
            cells[target] *= scratch.cells[
                scratch.weights + schedule.plan[start + weighted]
            ]
    else:
        _gather_cells(schedule, scratch, source, target, n_axes)
        if weighted >= 0:
            _weigh(schedule, scratch, factor, weighted)


@compiled_sums
def _gather_cells(
    schedule: Schedule, scratch: Scratch, source: int, target: int, n_axes: int
) -> None:
    """Copy the active cells of a fixed factor, axes listed from the fastest on."""
    memory, plan = scratch.memory, schedule.plan
    axis, size, stride = scratch.axis, scratch.size, scratch.gap
    states, counter, start = scratch.states, scratch.counter, schedule.state_start
    n_rows = 1
    for j in range(1, n_axes):
        memory[counter + j] = 0
        n_rows *= memory[size + j]
    length, step = memory[size], memory[stride]
    first = states + plan[start + memory[axis]]
    source -= step * memory[first]
    for _ in range(n_rows):
        for i in range(length):
            cell = source + step * memory[first + i]
            scratch.cells[target + i] = schedule.fixed[cell]
        target += length
        for j in range(1, n_axes):
            begin = states + plan[start + memory[axis + j]]
            old = memory[begin + memory[counter + j]]
            memory[counter + j] += 1
            if memory[counter + j] < memory[size + j]:
                new = memory[begin + memory[counter + j]]
                source += memory[stride + j] * (new - old)
                break
            memory[counter + j] = 0
            source += memory[stride + j] * (memory[begin] - old)


@compiled_sums
def _weigh(schedule: Schedule, scratch: Scratch, factor: int, weighted: int) -> None:
    """Multiply a factor by the likelihoods of one of its variables."""
    inner, first = 1, schedule.plan[schedule.factor_offset + factor]
    place = schedule.plan[schedule.factor_start + factor + 1] - 1
    while schedule.plan[schedule.factor_variables + place] != weighted:
        inner *= scratch.memory[
            scratch.n_active + schedule.plan[schedule.factor_variables + place]
        ]
        place -= 1
    count, start = (
        scratch.memory[scratch.n_active + weighted],
        schedule.plan[schedule.state_start + weighted],
    )
    for cell in range(_n_cells(schedule, scratch, factor)):
        weight = scratch.cells[scratch.weights + start + cell // inner % count]
        scratch.cells[first + cell] *= weight


@compiled_sums
def _enter_table(schedule: Schedule, scratch: Scratch, variable: int) -> None:
    """Copy the active cells of a variable's distribution, its likelihoods included."""
    weighted = variable if scratch.memory[scratch.weighted + variable] else -1
    _gather(schedule, scratch, variable, weighted)


@compiled_sums
def _n_cells(schedule: Schedule, scratch: Scratch, factor: int) -> int:
    """How many active cells a factor has."""
    n_cells = 1
    for place in range(
        schedule.plan[schedule.factor_start + factor],
        schedule.plan[schedule.factor_start + factor + 1],
    ):
        n_cells *= scratch.memory[
            scratch.n_active + schedule.plan[schedule.factor_variables + place]
        ]
    return n_cells


@compiled_sums
def _contract(
    schedule: Schedule,
    scratch: Scratch,
    variables: int,
    lo: int,
    hi: int,
    n_in: int,
    n_slots: int,
    maximise: bool,
) -> None:
    """Multiply factors over some variables and sum (or maximise) into others.

    The first `n_in` of the factors listed in the scratch are multiplied, the products
    added up into the others. The clique's variables are the `lo`-th to before the
    `hi`-th of the list `variables`.
    """
    cells, size = scratch.cells, scratch.size
    position, axis, n_active = scratch.position, scratch.axis, scratch.n_active
    offset, start = schedule.factor_offset, schedule.factor_start
    members, factors = schedule.factor_variables, scratch.factor
    n_axes = 0
    for place in range(lo, hi):
        if scratch.memory[n_active + schedule.plan[variables + place]] > 1:
            scratch.memory[axis + n_axes] = schedule.plan[variables + place]
            scratch.memory[size + n_axes] = scratch.memory[
                n_active + schedule.plan[variables + place]
            ]
            n_axes += 1
    if n_axes == 0:
        value = 1.0
        for slot in range(n_in):
            value *= cells[schedule.plan[offset + scratch.memory[factors + slot]]]
        for slot in range(n_in, n_slots):
            cells[schedule.plan[offset + scratch.memory[factors + slot]]] = value
        return
    for slot in range(n_slots):
        factor = scratch.memory[factors + slot]
        scratch.memory[position + slot] = schedule.plan[offset + factor]
        first, place = (
            schedule.plan[start + factor],
            schedule.plan[start + factor + 1] - 1,
        )
        n_cells = 1
        for j in range(n_axes - 1, -1, -1):
            while (
                place >= first
                and scratch.memory[n_active + schedule.plan[members + place]] == 1
            ):
                place -= 1
            if (
                place >= first
                and schedule.plan[members + place] == scratch.memory[axis + j]
            ):
                scratch.stride[slot, j] = n_cells
                n_cells *= scratch.memory[size + j]
                place -= 1
            else:
                scratch.stride[slot, j] = 0
        if slot >= n_in:
            for cell in range(n_cells):
                cells[scratch.memory[position + slot] + cell] = 0.0
    n_axes = _merge_axes(scratch, n_axes, n_slots)
    _run(scratch, n_axes, n_in, n_slots, maximise)


@compiled_sums
def _merge_axes(scratch: Scratch, n_axes: int, n_slots: int) -> int:
    """Join neighbouring axes that all factors run through alike; how many are left."""
    memory, size, stride = scratch.memory, scratch.size, scratch.stride
    kept = 0
    for j in range(1, n_axes):
        count = memory[size + j]
        joined = memory[size + kept] * count <= LONGEST_ROW
        for slot in range(n_slots):
            if stride[slot, kept] != stride[slot, j] * count:
                joined = False
                break
        if joined:
            memory[size + kept] *= count
        else:
            kept += 1
            memory[size + kept] = count
        for slot in range(n_slots):
            stride[slot, kept] = stride[slot, j]
    return kept + 1


@compiled_sums
def _run(
    scratch: Scratch, n_axes: int, n_in: int, n_slots: int, maximise: bool
) -> None:
    """Run through the cells of a clique, one row of the last axis after another."""
    memory, cells, row = scratch.memory, scratch.cells, scratch.row
    size, position, counter = scratch.size, scratch.position, scratch.counter
    stride = scratch.stride
    last = n_axes - 1
    length = memory[size + last]
    n_rows = 1
    for j in range(last):
        memory[counter + j] = 0
        n_rows *= memory[size + j]
    for _ in range(n_rows):
        value = 1.0
        n_long = 0
        for slot in range(n_in):
            if stride[slot, last] == 0:
                value *= cells[memory[position + slot]]
        if value != 0.0:
            for slot in range(n_in):
                if stride[slot, last] != 0:
                    first = memory[position + slot]
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
                first = memory[position + slot]
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
            memory[counter + j] += 1
            if memory[counter + j] < memory[size + j]:
                for slot in range(n_slots):
                    memory[position + slot] += stride[slot, j]
                break
            memory[counter + j] = 0
            for slot in range(n_slots):
                step = stride[slot, j] * (memory[size + j] - 1)
                memory[position + slot] -= step


@compiled_sums
def _gather_inputs(
    schedule: Schedule, scratch: Scratch, clique: int, with_parent: bool
) -> int:
    """List the factors that a clique multiplies; how many they are."""
    n, m = schedule.n_variables, schedule.n_cliques
    n_in = 0
    for place in range(
        schedule.plan[schedule.table_start + clique],
        schedule.plan[schedule.table_start + clique + 1],
    ):
        scratch.memory[scratch.factor + n_in] = schedule.plan[schedule.tables + place]
        n_in += 1
    for place in range(
        schedule.plan[schedule.child_start + clique],
        schedule.plan[schedule.child_start + clique + 1],
    ):
        child = schedule.plan[schedule.children + place]
        if not scratch.memory[scratch.unit + child]:
            scratch.memory[scratch.factor + n_in] = n + child
            n_in += 1
    if with_parent and schedule.plan[schedule.parent + clique] >= 0:
        scratch.memory[scratch.factor + n_in] = n + m + clique
        n_in += 1
    return n_in


@compiled_sums
def _rescale(schedule: Schedule, scratch: Scratch, factor: int) -> float:
    """Divide a factor by its largest cell, and return that."""
    first, cells = schedule.plan[schedule.factor_offset + factor], scratch.cells
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
    n, m = schedule.n_variables, schedule.n_cliques
    dirty, parent = scratch.dirty, schedule.parent
    for clique in range(m):
        scratch.memory[dirty + clique] = not from_prior
        scratch.memory[scratch.unit + clique] = False
    for variable in range(n):
        if scratch.memory[scratch.evident + variable]:
            scratch.memory[dirty + schedule.plan[schedule.home + variable]] = True
    for clique in range(m):
        if scratch.memory[dirty + clique] and schedule.plan[parent + clique] >= 0:
            scratch.memory[dirty + schedule.plan[parent + clique]] = True
    total = 0.0
    for clique in range(m):
        if not scratch.memory[dirty + clique]:
            # Distributions below that speak of the subtree alone sum to one.
            scratch.memory[scratch.unit + clique] = schedule.plan[
                schedule.barren + clique
            ]
            above = schedule.plan[parent + clique]
            if (
                above >= 0
                and scratch.memory[dirty + above]
                and not schedule.plan[schedule.barren + clique]
            ):
                _gather(schedule, scratch, n + clique, -1)
                total += schedule.fixed[schedule.prior_log + clique]
            continue
        for place in range(
            schedule.plan[schedule.table_start + clique],
            schedule.plan[schedule.table_start + clique + 1],
        ):
            _enter_table(schedule, scratch, schedule.plan[schedule.tables + place])
        n_in = _gather_inputs(schedule, scratch, clique, False)
        scratch.memory[scratch.factor + n_in] = n + clique
        _contract(
            schedule,
            scratch,
            schedule.clique_variables,
            schedule.plan[schedule.clique_start + clique],
            schedule.plan[schedule.clique_start + clique + 1],
            n_in,
            n_in + 1,
            maximise,
        )
        scale = _rescale(schedule, scratch, n + clique)
        if scale == 0.0:
            return -np.inf
        scratch.cells[scratch.log_scale + clique] = np.log(scale)
        total += scratch.cells[scratch.log_scale + clique]
    return total


@compiled_sums
def subtree_logs(schedule: Schedule, scratch: Scratch) -> Floats:
    """Logarithms of what the messages were divided by, summed over subtrees."""
    first = scratch.log_scale
    totals = scratch.cells[first : first + schedule.n_cliques].copy()
    for clique in range(schedule.n_cliques):
        above = schedule.plan[schedule.parent + clique]
        if above >= 0:
            totals[above] += totals[clique]
    return totals


@compiled_sums
def _is_wanted(
    schedule: Schedule, scratch: Scratch, variable: int, families: bool
) -> bool:
    """Whether a variable's marginal, or its family's, is not plain from evidence."""
    if not families:
        return bool(scratch.memory[scratch.n_active + variable] > 1)
    return _n_cells(schedule, scratch, variable) > 1


@compiled_sums
def _mark_needed(schedule: Schedule, scratch: Scratch, families: bool) -> None:
    """Mark the cliques below or at which something has to be read."""
    needed, parent = scratch.needed, schedule.parent
    n, m = schedule.n_variables, schedule.n_cliques
    for clique in range(m):
        scratch.memory[needed + clique] = False
    for variable in range(n):
        if families and _is_wanted(schedule, scratch, variable, True):
            scratch.memory[needed + schedule.plan[schedule.home + variable]] = True
    for clique in range(m):
        if not families:
            for place in range(
                schedule.plan[schedule.clique_read_start + clique],
                schedule.plan[schedule.clique_read_start + clique + 1],
            ):
                if (
                    scratch.memory[
                        scratch.n_active + schedule.plan[schedule.clique_reads + place]
                    ]
                    > 1
                ):
                    scratch.memory[needed + clique] = True
            for place in range(
                schedule.plan[schedule.separator_read_start + clique],
                schedule.plan[schedule.separator_read_start + clique + 1],
            ):
                if (
                    scratch.memory[
                        scratch.n_active
                        + schedule.plan[schedule.separator_reads + place]
                    ]
                    > 1
                ):
                    scratch.memory[needed + clique] = True
        if scratch.memory[needed + clique] and schedule.plan[parent + clique] >= 0:
            scratch.memory[needed + schedule.plan[parent + clique]] = True


@compiled_sums
def distribute(
    schedule: Schedule, scratch: Scratch, families: bool, from_prior: bool
) -> None:
    """Send messages away from the roots, and read marginals or families on the way.

    To be called after `collect`, unless the evidence is impossible. Trees without
    evidence are left alone if `from_prior`.
    """
    n, m = schedule.n_variables, schedule.n_cliques
    parent, factor = schedule.parent, scratch.factor
    _mark_needed(schedule, scratch, families)
    for clique in range(m - 1, -1, -1):
        above = schedule.plan[parent + clique]
        if above < 0:
            scratch.memory[scratch.needed + clique] &= (
                scratch.memory[scratch.dirty + clique] or not from_prior
            )
        else:
            scratch.memory[scratch.needed + clique] &= scratch.memory[
                scratch.needed + above
            ]
        if not scratch.memory[scratch.needed + clique]:
            continue
        if not scratch.memory[scratch.dirty + clique]:
            for place in range(
                schedule.plan[schedule.table_start + clique],
                schedule.plan[schedule.table_start + clique + 1],
            ):
                _enter_table(schedule, scratch, schedule.plan[schedule.tables + place])
            for place in range(
                schedule.plan[schedule.child_start + clique],
                schedule.plan[schedule.child_start + clique + 1],
            ):
                if not scratch.memory[
                    scratch.unit + schedule.plan[schedule.children + place]
                ]:
                    _gather(
                        schedule,
                        scratch,
                        n + schedule.plan[schedule.children + place],
                        -1,
                    )
        if above >= 0:
            _finish_message(schedule, scratch, clique, families)
        n_in = _gather_inputs(schedule, scratch, clique, True)
        n_slots = n_in
        for place in range(
            schedule.plan[schedule.child_start + clique],
            schedule.plan[schedule.child_start + clique + 1],
        ):
            if scratch.memory[
                scratch.needed + schedule.plan[schedule.children + place]
            ]:
                scratch.memory[factor + n_slots] = (
                    n + m + schedule.plan[schedule.children + place]
                )
                n_slots += 1
        if families:
            for place in range(
                schedule.plan[schedule.table_start + clique],
                schedule.plan[schedule.table_start + clique + 1],
            ):
                if _is_wanted(
                    schedule, scratch, schedule.plan[schedule.tables + place], True
                ):
                    scratch.memory[factor + n_slots] = (
                        2 * n + 2 * m + schedule.plan[schedule.tables + place]
                    )
                    n_slots += 1
        else:
            for place in range(
                schedule.plan[schedule.clique_read_start + clique],
                schedule.plan[schedule.clique_read_start + clique + 1],
            ):
                if (
                    scratch.memory[
                        scratch.n_active + schedule.plan[schedule.clique_reads + place]
                    ]
                    > 1
                ):
                    scratch.memory[factor + n_slots] = (
                        n + 2 * m + schedule.plan[schedule.clique_reads + place]
                    )
                    n_slots += 1
        if n_slots > n_in:
            _contract(
                schedule,
                scratch,
                schedule.clique_variables,
                schedule.plan[schedule.clique_start + clique],
                schedule.plan[schedule.clique_start + clique + 1],
                n_in,
                n_slots,
                False,
            )


@compiled_sums
def _finish_message(
    schedule: Schedule, scratch: Scratch, clique: int, families: bool
) -> None:
    """Turn the parent's belief over a separator into the message to the clique."""
    n, m = schedule.n_variables, schedule.n_cliques
    cells, message = scratch.cells, n + m + clique
    _rescale(schedule, scratch, message)
    n_slots = 1
    if not families:
        for place in range(
            schedule.plan[schedule.separator_read_start + clique],
            schedule.plan[schedule.separator_read_start + clique + 1],
        ):
            if (
                scratch.memory[
                    scratch.n_active + schedule.plan[schedule.separator_reads + place]
                ]
                > 1
            ):
                scratch.memory[scratch.factor + n_slots] = (
                    n + 2 * m + schedule.plan[schedule.separator_reads + place]
                )
                n_slots += 1
    if n_slots > 1:
        scratch.memory[scratch.factor + 0] = message
        _contract(
            schedule,
            scratch,
            schedule.factor_variables,
            schedule.plan[schedule.factor_start + message],
            schedule.plan[schedule.factor_start + message + 1],
            1,
            n_slots,
            False,
        )
    if scratch.memory[scratch.unit + clique]:
        return
    down, up = (
        schedule.plan[schedule.factor_offset + message],
        schedule.plan[schedule.factor_offset + n + clique],
    )
    for cell in range(_n_cells(schedule, scratch, message)):
        # The belief is zero wherever the message that it contains is.
        if cells[up + cell] > 0.0:
            cells[down + cell] /= cells[up + cell]
    _rescale(schedule, scratch, message)


@compiled_sums
def _normalise(schedule: Schedule, scratch: Scratch, factor: int) -> None:
    """Divide a factor by the sum of its cells."""
    first, cells = schedule.plan[schedule.factor_offset + factor], scratch.cells
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
    n, m = schedule.n_variables, schedule.n_cliques
    touched = scratch.needed
    for clique in range(m - 1, -1, -1):
        above = schedule.plan[schedule.parent + clique]
        if above < 0:
            scratch.memory[touched + clique] = (
                scratch.memory[scratch.dirty + clique] or not from_prior
            )
        else:
            scratch.memory[touched + clique] = scratch.memory[touched + above]
    for variable in range(n):
        start, card = (
            schedule.plan[schedule.state_start + variable],
            schedule.plan[schedule.cards + variable],
        )
        if not scratch.memory[touched + schedule.plan[schedule.home + variable]]:
            for state in range(start, start + card):
                marginals[state] = schedule.fixed[schedule.prior_marginals + state]
            continue
        for state in range(start, start + card):
            marginals[state] = 0.0
        n_active = scratch.memory[scratch.n_active + variable]
        if n_active == 1:
            marginals[start + scratch.memory[scratch.states + start]] = 1.0
            continue
        factor = n + 2 * m + variable
        _normalise(schedule, scratch, factor)
        first = schedule.plan[schedule.factor_offset + factor]
        for i in range(n_active):
            state = scratch.memory[scratch.states + start + i]
            marginals[start + state] = scratch.cells[first + i]


@compiled_sums
def propagate(
    schedule: Schedule,
    scratch: Scratch,
    variables: Integers,
    values: Floats,
    marginals: Floats,
) -> float:
    """Enter likelihoods, write all marginals, and return the log evidence."""
    reset(schedule, scratch)
    if not enter_likelihoods(schedule, scratch, variables, values):
        return -np.inf
    log_evidence = collect(schedule, scratch, False, True)
    if log_evidence > -np.inf:
        distribute(schedule, scratch, False, True)
        read_marginals(schedule, scratch, True, marginals)
    return float(log_evidence)


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
    lo, hi = (
        schedule.plan[schedule.factor_start + factor],
        schedule.plan[schedule.factor_start + factor + 1],
    )
    stride, counter = scratch.gap, scratch.counter
    n_cells, n_full = 1, 1
    for place in range(hi - 1, lo - 1, -1):
        variable = schedule.plan[schedule.factor_variables + place]
        scratch.memory[stride + place - lo] = n_full
        scratch.memory[counter + place - lo] = 0
        n_full *= schedule.plan[schedule.cards + variable]
        n_cells *= scratch.memory[scratch.n_active + variable]
    source, cells = schedule.plan[schedule.factor_offset + factor], scratch.cells
    total = 0.0
    for cell in range(source, source + n_cells):
        total += cells[cell]
    for cell in range(source, source + n_cells):
        target = first
        for place in range(lo, hi):
            start = schedule.plan[
                schedule.state_start + schedule.plan[schedule.factor_variables + place]
            ]
            state = scratch.memory[
                scratch.states + start + scratch.memory[counter + place - lo]
            ]
            target += scratch.memory[stride + place - lo] * state
        # All cells observed: the family has this state for certain.
        share = cells[cell] / total if n_cells > 1 else 1.0
        totals[target] += weight * share
        for place in range(hi - 1, lo - 1, -1):
            scratch.memory[counter + place - lo] += 1
            variable = schedule.plan[schedule.factor_variables + place]
            if (
                scratch.memory[counter + place - lo]
                < scratch.memory[scratch.n_active + variable]
            ):
                break
            scratch.memory[counter + place - lo] = 0


@compiled_sums
def read_root(
    schedule: Schedule, scratch: Scratch, variable: int, posterior: Floats
) -> None:
    """Write the marginal of a variable of a root clique after `collect`."""
    n, m = schedule.n_variables, schedule.n_cliques
    clique = schedule.plan[schedule.home + variable]
    while schedule.plan[schedule.parent + clique] >= 0:
        clique = schedule.plan[schedule.parent + clique]
    if not scratch.memory[scratch.dirty + clique]:
        start = schedule.plan[schedule.state_start + variable]
        for state in range(schedule.plan[schedule.cards + variable]):
            posterior[state] = schedule.fixed[schedule.prior_marginals + start + state]
        return
    factor = n + 2 * m + variable
    n_in = _gather_inputs(schedule, scratch, clique, False)
    scratch.memory[scratch.factor + n_in] = factor
    _contract(
        schedule,
        scratch,
        schedule.clique_variables,
        schedule.plan[schedule.clique_start + clique],
        schedule.plan[schedule.clique_start + clique + 1],
        n_in,
        n_in + 1,
        False,
    )
    _normalise(schedule, scratch, factor)
    first = schedule.plan[schedule.factor_offset + factor]
    for state in range(schedule.plan[schedule.cards + variable]):
        posterior[state] = scratch.cells[first + state]


@compiled_sums
def decode(schedule: Schedule, scratch: Scratch, states: Integers) -> None:
    """Read the most probable states, root first, after `collect` with the maximum.

    Each clique takes the cell that agrees with its parent; among cells within
    rounding of the largest, the one with the lowest state of its lowest variable.
    """
    n, m = schedule.n_variables, schedule.n_cliques
    n_active, axis, counter = scratch.n_active, scratch.axis, scratch.counter
    chosen = np.full(n, -1, dtype=np.int64)
    for clique in range(m - 1, -1, -1):
        n_in = _gather_inputs(schedule, scratch, clique, False)
        n_axes = 0
        n_cells = 1
        for place in range(
            schedule.plan[schedule.clique_start + clique],
            schedule.plan[schedule.clique_start + clique + 1],
        ):
            variable = schedule.plan[schedule.clique_variables + place]
            if chosen[variable] < 0:
                # By index, so that the first of several equal cells is the lowest.
                j = n_axes
                while j > 0 and scratch.memory[axis + j - 1] > variable:
                    scratch.memory[axis + j] = scratch.memory[axis + j - 1]
                    j -= 1
                scratch.memory[axis + j] = variable
                n_axes += 1
                n_cells *= scratch.memory[n_active + variable]
        for j in range(n_axes):
            scratch.memory[counter + j] = 0
            chosen[scratch.memory[axis + j]] = 0
        best_cell, best = 0, -1.0
        for cell in range(n_cells):
            value = 1.0
            for slot in range(n_in):
                place_in = 0
                factor = scratch.memory[scratch.factor + slot]
                for place in range(
                    schedule.plan[schedule.factor_start + factor],
                    schedule.plan[schedule.factor_start + factor + 1],
                ):
                    variable = schedule.plan[schedule.factor_variables + place]
                    place_in = (
                        place_in * scratch.memory[n_active + variable]
                        + chosen[variable]
                    )
                value *= scratch.cells[
                    schedule.plan[schedule.factor_offset + factor] + place_in
                ]
            if value > best * (1.0 + 1e-12):
                best_cell, best = cell, value
            for j in range(n_axes - 1, -1, -1):
                chosen[scratch.memory[axis + j]] += 1
                if (
                    chosen[scratch.memory[axis + j]]
                    < scratch.memory[n_active + scratch.memory[axis + j]]
                ):
                    break
                chosen[scratch.memory[axis + j]] = 0
        for j in range(n_axes - 1, -1, -1):
            chosen[scratch.memory[axis + j]] = (
                best_cell % scratch.memory[n_active + scratch.memory[axis + j]]
            )
            best_cell //= scratch.memory[n_active + scratch.memory[axis + j]]
    for variable in range(n):
        states[variable] = scratch.memory[
            scratch.states
            + schedule.plan[schedule.state_start + variable]
            + chosen[variable]
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
    n, m = schedule.n_variables, schedule.n_cliques
    reset(schedule, scratch)
    for row in range(len(rows)):
        enter_row(schedule, scratch, rows[row], -1)
        collect(schedule, scratch, False, True)
        distribute(schedule, scratch, True, False)
        for variable in range(n):
            first = schedule.plan[schedule.fixed_offset + variable]
            factor = 2 * n + 2 * m + variable
            add_factor(schedule, scratch, factor, weights[row], totals, first)
