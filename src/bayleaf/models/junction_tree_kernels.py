"""Propagation in a junction tree over flat arrays.

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

from bayleaf.compiled import compiled

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


@compiled
def bounds(schedule: Schedule, start: int, which: int) -> tuple[int, int]:
    """Where a list begins and ends, by its number."""
    return schedule.plan[start + which], schedule.plan[start + which + 1]


@compiled
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


@compiled
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


@compiled
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


@compiled
def gather(schedule: Schedule, scratch: Scratch, factor: int, weighted: int) -> None:
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


@compiled
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


@compiled
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
    for cell in range(n_active_cells(schedule, scratch, factor)):
        weight = scratch.cells[scratch.weights + start + cell // inner % count]
        scratch.cells[first + cell] *= weight


@compiled
def enter_table(schedule: Schedule, scratch: Scratch, variable: int) -> None:
    """Copy the active cells of a variable's distribution, its likelihoods included."""
    weighted = variable if scratch.memory[scratch.weighted + variable] else -1
    gather(schedule, scratch, variable, weighted)


@compiled
def n_active_cells(schedule: Schedule, scratch: Scratch, factor: int) -> int:
    """How many active cells a factor has."""
    n_cells = 1
    lo, hi = bounds(schedule, schedule.factor_start, factor)
    for place in range(lo, hi):
        n_cells *= scratch.memory[
            scratch.n_active + schedule.plan[schedule.factor_variables + place]
        ]
    return n_cells


@compiled
def _lay_axes(schedule: Schedule, scratch: Scratch, slot: int, n_axes: int) -> int:
    """Find the strides of a factor along a clique's axes; how many cells it has."""
    factor = scratch.memory[scratch.factor + slot]
    first, end = bounds(schedule, schedule.factor_start, factor)
    members, place, n_cells = schedule.factor_variables, end - 1, 1
    scratch.memory[scratch.position + slot] = schedule.plan[
        schedule.factor_offset + factor
    ]
    for j in range(n_axes - 1, -1, -1):
        while place >= first:
            variable = schedule.plan[members + place]
            if scratch.memory[scratch.n_active + variable] > 1:
                break
            place -= 1
        scratch.stride[slot, j] = 0
        wanted = scratch.memory[scratch.axis + j]
        if place >= first and schedule.plan[members + place] == wanted:
            scratch.stride[slot, j] = n_cells
            n_cells *= scratch.memory[scratch.size + j]
            place -= 1
    return n_cells


@compiled
def contract(
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
    memory, cells = scratch.memory, scratch.cells
    offset, factors = schedule.factor_offset, scratch.factor
    n_axes = 0
    for place in range(lo, hi):
        variable = schedule.plan[variables + place]
        count = memory[scratch.n_active + variable]
        if count > 1:
            memory[scratch.axis + n_axes] = variable
            memory[scratch.size + n_axes] = count
            n_axes += 1
    if n_axes == 0:
        value = 1.0
        for slot in range(n_in):
            value *= cells[schedule.plan[offset + memory[factors + slot]]]
        for slot in range(n_in, n_slots):
            cells[schedule.plan[offset + memory[factors + slot]]] = value
        return
    for slot in range(n_slots):
        n_cells = _lay_axes(schedule, scratch, slot, n_axes)
        if slot >= n_in:
            first = memory[scratch.position + slot]
            for cell in range(first, first + n_cells):
                cells[cell] = 0.0
    n_axes = _merge_axes(scratch, n_axes, n_slots)
    _run(scratch, n_axes, n_in, n_slots, maximise)


@compiled
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


@compiled
def total_of(values: Floats, first: int, end: int) -> float:
    """Sum of some numbers, in an order that lets a processor add four at once.

    A compiler that was free to choose the order would choose another than the
    interpreter's, and the sums would differ by rounding.
    """
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    last = end - (end - first) % 4
    for i in range(first, last, 4):
        one += values[i]
        two += values[i + 1]
        three += values[i + 2]
        four += values[i + 3]
    for i in range(last, end):
        one += values[i]
    return (one + three) + (two + four)


@compiled
def _add_row(
    cells: Floats, row: Floats, first: int, length: int, alone: bool, maximise: bool
) -> None:
    """Add a row up into one cell or cell by cell, or take the larger numbers."""
    if alone and maximise:
        for i in range(length):
            cells[first] = max(cells[first], row[i])
    elif alone:
        cells[first] += total_of(row, 0, length)
    elif maximise:
        for i in range(length):
            cells[first + i] = max(cells[first + i], row[i])
    else:
        for i in range(length):
            cells[first + i] += row[i]


@compiled
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
                alone = stride[slot, last] == 0
                _add_row(cells, row, first, length, alone, maximise)
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


@compiled
def rescale(schedule: Schedule, scratch: Scratch, factor: int) -> float:
    """Divide a factor by its largest cell, and return that."""
    first, cells = schedule.plan[schedule.factor_offset + factor], scratch.cells
    n_cells = n_active_cells(schedule, scratch, factor)
    largest = 0.0
    for cell in range(first, first + n_cells):
        largest = max(largest, cells[cell])
    if largest > 0.0:
        for cell in range(first, first + n_cells):
            cells[cell] /= largest
    return largest


@compiled
def normalise(schedule: Schedule, scratch: Scratch, factor: int) -> None:
    """Divide a factor by the sum of its cells."""
    first, cells = schedule.plan[schedule.factor_offset + factor], scratch.cells
    n_cells = n_active_cells(schedule, scratch, factor)
    total = total_of(cells, first, first + n_cells)
    for cell in range(first, first + n_cells):
        cells[cell] /= total


@compiled
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
    total = total_of(cells, source, source + n_cells)
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
