"""Messages of a junction tree, and what is read from them.

`junction_tree_kernels` says how factors are numbered and where their cells lie.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled
from bayleaf.models.junction_tree_kernels import (
    Floats,
    Integers,
    Schedule,
    Scratch,
    add_factor,
    bounds,
    contract,
    enter_likelihoods,
    enter_row,
    enter_table,
    gather,
    n_active_cells,
    normalise,
    rescale,
    reset,
)


@compiled
def _list_inputs(
    schedule: Schedule, scratch: Scratch, clique: int, with_parent: bool
) -> int:
    """List the factors that a clique multiplies; how many they are."""
    n, m = schedule.n_variables, schedule.n_cliques
    plan, factor = schedule.plan, scratch.factor
    n_in = 0
    lo, hi = bounds(schedule, schedule.table_start, clique)
    for place in range(lo, hi):
        scratch.memory[factor + n_in] = plan[schedule.tables + place]
        n_in += 1
    lo, hi = bounds(schedule, schedule.child_start, clique)
    for place in range(lo, hi):
        child = plan[schedule.children + place]
        if not scratch.memory[scratch.unit + child]:
            scratch.memory[factor + n_in] = n + child
            n_in += 1
    if with_parent and plan[schedule.parent + clique] >= 0:
        scratch.memory[factor + n_in] = n + m + clique
        n_in += 1
    return n_in


@compiled
def _contract_clique(
    schedule: Schedule,
    scratch: Scratch,
    clique: int,
    n_in: int,
    n_slots: int,
    maximise: bool,
) -> None:
    """Multiply the listed factors over a clique and sum into the others."""
    lo, hi = bounds(schedule, schedule.clique_start, clique)
    variables = schedule.clique_variables
    contract(schedule, scratch, variables, lo, hi, n_in, n_slots, maximise)


@compiled
def _enter_tables(schedule: Schedule, scratch: Scratch, clique: int) -> None:
    """Copy the active cells of the distributions that a clique multiplies."""
    lo, hi = bounds(schedule, schedule.table_start, clique)
    for place in range(lo, hi):
        enter_table(schedule, scratch, schedule.plan[schedule.tables + place])


@compiled
def _mark_dirty(schedule: Schedule, scratch: Scratch, from_prior: bool) -> None:
    """Mark the cliques whose message cannot be taken from the prior."""
    memory, plan, dirty = scratch.memory, schedule.plan, scratch.dirty
    for clique in range(schedule.n_cliques):
        memory[dirty + clique] = not from_prior
        # Distributions below that speak of the subtree alone sum to one.
        memory[scratch.unit + clique] = plan[schedule.barren + clique]
    for variable in range(schedule.n_variables):
        if memory[scratch.evident + variable]:
            memory[dirty + plan[schedule.home + variable]] = True
    for clique in range(schedule.n_cliques):
        if memory[dirty + clique]:
            memory[scratch.unit + clique] = False
            above = plan[schedule.parent + clique]
            if above >= 0:
                memory[dirty + above] = True


@compiled
def collect(
    schedule: Schedule, scratch: Scratch, maximise: bool, from_prior: bool
) -> float:
    """Send all messages towards the roots; the log probability of the evidence.

    With `from_prior`, messages of subtrees without evidence are those of the prior.
    """
    n, memory = schedule.n_variables, scratch.memory
    _mark_dirty(schedule, scratch, from_prior)
    total = 0.0
    for clique in range(schedule.n_cliques):
        message = n + clique
        if not memory[scratch.dirty + clique]:
            above = schedule.plan[schedule.parent + clique]
            used = above >= 0 and memory[scratch.dirty + above]
            if used and not memory[scratch.unit + clique]:
                gather(schedule, scratch, message, -1)
                total += schedule.fixed[schedule.prior_log + clique]
            continue
        _enter_tables(schedule, scratch, clique)
        n_in = _list_inputs(schedule, scratch, clique, False)
        memory[scratch.factor + n_in] = message
        _contract_clique(schedule, scratch, clique, n_in, n_in + 1, maximise)
        scale = rescale(schedule, scratch, message)
        if scale == 0.0:
            return -np.inf
        scratch.cells[scratch.log_scale + clique] = math.log(scale)
        total += scratch.cells[scratch.log_scale + clique]
    return total


@compiled
def subtree_logs(schedule: Schedule, scratch: Scratch) -> Floats:
    """Logarithms of what the messages were divided by, summed over subtrees."""
    first = scratch.log_scale
    totals = scratch.cells[first : first + schedule.n_cliques].copy()
    for clique in range(schedule.n_cliques):
        above = schedule.plan[schedule.parent + clique]
        if above >= 0:
            totals[above] += totals[clique]
    return totals


@compiled
def _list_reads(
    schedule: Schedule, scratch: Scratch, start: int, reads: int, which: int, first: int
) -> int:
    """List the marginals to be read in one place, from slot `first`; the next slot."""
    marginals = schedule.n_variables + 2 * schedule.n_cliques
    lo, hi = bounds(schedule, start, which)
    for place in range(lo, hi):
        variable = schedule.plan[reads + place]
        if scratch.memory[scratch.n_active + variable] > 1:
            scratch.memory[scratch.factor + first] = marginals + variable
            first += 1
    return first


@compiled
def _list_families(
    schedule: Schedule, scratch: Scratch, clique: int, first: int
) -> int:
    """List the family posteriors to be read in a clique; the next slot."""
    families = 2 * schedule.n_variables + 2 * schedule.n_cliques
    lo, hi = bounds(schedule, schedule.table_start, clique)
    for place in range(lo, hi):
        variable = schedule.plan[schedule.tables + place]
        if n_active_cells(schedule, scratch, variable) > 1:
            scratch.memory[scratch.factor + first] = families + variable
            first += 1
    return first


@compiled
def _list_clique_reads(
    schedule: Schedule, scratch: Scratch, clique: int, first: int, families: bool
) -> int:
    """List what is to be read in a clique, from slot `first`; the next slot."""
    if families:
        return _list_families(schedule, scratch, clique, first)
    start, reads = schedule.clique_read_start, schedule.clique_reads
    return _list_reads(schedule, scratch, start, reads, clique, first)


@compiled
def _list_separator_reads(
    schedule: Schedule, scratch: Scratch, clique: int, first: int, families: bool
) -> int:
    """List what is to be read over a separator, from slot `first`; the next slot."""
    if families:
        return first
    start, reads = schedule.separator_read_start, schedule.separator_reads
    return _list_reads(schedule, scratch, start, reads, clique, first)


@compiled
def _mark_needed(
    schedule: Schedule, scratch: Scratch, families: bool, from_prior: bool
) -> None:
    """Mark the cliques at or below which something is to be read."""
    memory, plan, needed = scratch.memory, schedule.plan, scratch.needed
    for clique in range(schedule.n_cliques):
        memory[needed + clique] = False
    for clique in range(schedule.n_cliques):
        n_reads = _list_clique_reads(schedule, scratch, clique, 0, families)
        n_reads += _list_separator_reads(schedule, scratch, clique, 0, families)
        if n_reads > 0:
            memory[needed + clique] = True
        above = plan[schedule.parent + clique]
        if memory[needed + clique] and above >= 0:
            memory[needed + above] = True
    for clique in range(schedule.n_cliques - 1, -1, -1):
        above = plan[schedule.parent + clique]
        if above >= 0:
            memory[needed + clique] &= memory[needed + above]
        elif from_prior:
            memory[needed + clique] &= memory[scratch.dirty + clique]


@compiled
def distribute(
    schedule: Schedule, scratch: Scratch, families: bool, from_prior: bool
) -> None:
    """Send messages away from the roots, and read marginals or families on the way.

    To be called after `collect`, unless the evidence is impossible. Trees without
    evidence are left alone if `from_prior`.
    """
    n, m = schedule.n_variables, schedule.n_cliques
    memory, plan = scratch.memory, schedule.plan
    _mark_needed(schedule, scratch, families, from_prior)
    for clique in range(m - 1, -1, -1):
        if not memory[scratch.needed + clique]:
            continue
        first, end = bounds(schedule, schedule.child_start, clique)
        if not memory[scratch.dirty + clique]:
            _enter_tables(schedule, scratch, clique)
            for place in range(first, end):
                child = plan[schedule.children + place]
                if not memory[scratch.unit + child]:
                    gather(schedule, scratch, n + child, -1)
        if plan[schedule.parent + clique] >= 0:
            _finish_message(schedule, scratch, clique, families)
        n_in = _list_inputs(schedule, scratch, clique, True)
        n_slots = n_in
        for place in range(first, end):
            child = plan[schedule.children + place]
            if memory[scratch.needed + child]:
                memory[scratch.factor + n_slots] = n + m + child
                n_slots += 1
        n_slots = _list_clique_reads(schedule, scratch, clique, n_slots, families)
        if n_slots > n_in:
            _contract_clique(schedule, scratch, clique, n_in, n_slots, False)


@compiled
def _finish_message(
    schedule: Schedule, scratch: Scratch, clique: int, families: bool
) -> None:
    """Turn the parent's belief over a separator into the message to the clique."""
    n, m, cells = schedule.n_variables, schedule.n_cliques, scratch.cells
    message = n + m + clique
    n_slots = _list_separator_reads(schedule, scratch, clique, 1, families)
    if n_slots > 1:
        scratch.memory[scratch.factor] = message
        lo, hi = bounds(schedule, schedule.factor_start, message)
        variables = schedule.factor_variables
        contract(schedule, scratch, variables, lo, hi, 1, n_slots, False)
    if not scratch.memory[scratch.unit + clique]:
        down = schedule.plan[schedule.factor_offset + message]
        up = schedule.plan[schedule.factor_offset + n + clique]
        for cell in range(n_active_cells(schedule, scratch, message)):
            # The belief is zero wherever the message that it contains is; not being
            # rescaled before, it cannot exceed that message by much either.
            if cells[up + cell] > 0.0:
                cells[down + cell] /= cells[up + cell]
    rescale(schedule, scratch, message)


@compiled
def read_marginals(
    schedule: Schedule, scratch: Scratch, from_prior: bool, marginals: Floats
) -> None:
    """Write the marginals of all variables, one after another."""
    memory, plan, touched = scratch.memory, schedule.plan, scratch.needed
    for clique in range(schedule.n_cliques - 1, -1, -1):
        above = plan[schedule.parent + clique]
        if above >= 0:
            memory[touched + clique] = memory[touched + above]
        else:
            memory[touched + clique] = memory[scratch.dirty + clique] or not from_prior
    for variable in range(schedule.n_variables):
        start, end = bounds(schedule, schedule.state_start, variable)
        if memory[touched + plan[schedule.home + variable]]:
            _read_marginal(schedule, scratch, variable, marginals[start:end])
        else:
            for state in range(start, end):
                marginals[state] = schedule.fixed[schedule.prior_marginals + state]


@compiled
def _read_marginal(
    schedule: Schedule, scratch: Scratch, variable: int, marginal: Floats
) -> None:
    """Normalise a marginal and write it, zero where a state is ruled out."""
    states = scratch.states + schedule.plan[schedule.state_start + variable]
    n_active = scratch.memory[scratch.n_active + variable]
    marginal[:] = 0.0
    if n_active == 1:
        marginal[scratch.memory[states]] = 1.0
        return
    factor = schedule.n_variables + 2 * schedule.n_cliques + variable
    normalise(schedule, scratch, factor)
    first = schedule.plan[schedule.factor_offset + factor]
    for i in range(n_active):
        marginal[scratch.memory[states + i]] = scratch.cells[first + i]


@compiled
def evidence_of(
    schedule: Schedule,
    scratch: Scratch,
    variables: Integers,
    values: Floats,
    maximise: bool,
    from_prior: bool,
) -> float:
    """Enter likelihoods and collect; the log evidence, or that of the best states."""
    reset(schedule, scratch)
    if not enter_likelihoods(schedule, scratch, variables, values):
        return -np.inf
    return collect(schedule, scratch, maximise, from_prior)


@compiled
def read_root(
    schedule: Schedule, scratch: Scratch, variable: int, posterior: Floats
) -> None:
    """Write the marginal of a variable of a root clique after `collect`."""
    plan, memory = schedule.plan, scratch.memory
    clique = plan[schedule.home + variable]
    while plan[schedule.parent + clique] >= 0:
        clique = plan[schedule.parent + clique]
    if memory[scratch.dirty + clique]:
        n_in = _list_inputs(schedule, scratch, clique, False)
        factor = schedule.n_variables + 2 * schedule.n_cliques + variable
        memory[scratch.factor + n_in] = factor
        _contract_clique(schedule, scratch, clique, n_in, n_in + 1, False)
        _read_marginal(schedule, scratch, variable, posterior)
    else:
        first = schedule.prior_marginals + plan[schedule.state_start + variable]
        for state in range(len(posterior)):
            posterior[state] = schedule.fixed[first + state]


@compiled
def decode(schedule: Schedule, scratch: Scratch, states: Integers) -> None:
    """Read the most probable states, root first, after `collect` with the maximum.

    Each clique takes the cell that agrees with its parent; among cells within
    rounding of the largest, the one with the lowest state of its lowest variable.
    """
    memory = scratch.memory
    chosen = np.zeros(schedule.n_variables, dtype=np.int64)
    for variable in range(schedule.n_variables):
        if memory[scratch.n_active + variable] > 1:
            chosen[variable] = -1
    for clique in range(schedule.n_cliques - 1, -1, -1):
        n_in = _list_inputs(schedule, scratch, clique, False)
        n_axes, n_cells = _open_axes(schedule, scratch, clique, chosen)
        best_cell, best = 0, -1.0
        for cell in range(n_cells):
            _choose(scratch, n_axes, cell, chosen)
            value = _product(schedule, scratch, n_in, chosen)
            if value > best * (1.0 + 1e-12):
                best_cell, best = cell, value
        _choose(scratch, n_axes, best_cell, chosen)
    for variable in range(schedule.n_variables):
        first = scratch.states + schedule.plan[schedule.state_start + variable]
        states[variable] = memory[first + chosen[variable]]


@compiled
def _open_axes(
    schedule: Schedule, scratch: Scratch, clique: int, chosen: Integers
) -> tuple[int, int]:
    """List a clique's variables without a state, by index; they and their cells."""
    memory, axis = scratch.memory, scratch.axis
    n_axes, n_cells = 0, 1
    lo, hi = bounds(schedule, schedule.clique_start, clique)
    for place in range(lo, hi):
        variable = schedule.plan[schedule.clique_variables + place]
        if chosen[variable] < 0:
            j = n_axes
            while j > 0 and memory[axis + j - 1] > variable:
                memory[axis + j] = memory[axis + j - 1]
                j -= 1
            memory[axis + j] = variable
            n_axes += 1
            n_cells *= memory[scratch.n_active + variable]
    return n_axes, n_cells


@compiled
def _choose(scratch: Scratch, n_axes: int, cell: int, chosen: Integers) -> None:
    """Give the listed variables the active states of a cell, the last one fastest."""
    for j in range(n_axes - 1, -1, -1):
        variable = scratch.memory[scratch.axis + j]
        count = scratch.memory[scratch.n_active + variable]
        chosen[variable] = cell % count
        cell //= count


@compiled
def _product(
    schedule: Schedule, scratch: Scratch, n_in: int, chosen: Integers
) -> float:
    """Product of the listed factors at the chosen active states."""
    value = 1.0
    for slot in range(n_in):
        factor = scratch.memory[scratch.factor + slot]
        cell = 0
        lo, hi = bounds(schedule, schedule.factor_start, factor)
        for place in range(lo, hi):
            variable = schedule.plan[schedule.factor_variables + place]
            count = scratch.memory[scratch.n_active + variable]
            cell = cell * count + chosen[variable]
        value *= scratch.cells[schedule.plan[schedule.factor_offset + factor] + cell]
    return value


@compiled
def read_family(
    schedule: Schedule,
    scratch: Scratch,
    variable: int,
    weight: float,
    totals: Floats,
    first: int,
) -> None:
    """Add a family's posterior, times a weight, to cells that begin at `first`."""
    families = 2 * schedule.n_variables + 2 * schedule.n_cliques
    add_factor(schedule, scratch, families + variable, weight, totals, first)


@compiled
def evidence_of_rows(
    schedule: Schedule, scratch: Scratch, rows: NDArray[np.int64], log_evidence: Floats
) -> None:
    """Write the log probability of each row's observed cells."""
    reset(schedule, scratch)
    for row in range(len(rows)):
        enter_row(schedule, scratch, rows[row], -1)
        log_evidence[row] = collect(schedule, scratch, False, True)


@compiled
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


@compiled
def families_of_rows(
    schedule: Schedule,
    scratch: Scratch,
    rows: NDArray[np.int64],
    weights: Floats,
    totals: Floats,
) -> None:
    """Add each possible row's family posteriors, times its weight, to `totals`."""
    reset(schedule, scratch)
    for row in range(len(rows)):
        enter_row(schedule, scratch, rows[row], -1)
        collect(schedule, scratch, False, True)
        distribute(schedule, scratch, True, False)
        for variable in range(schedule.n_variables):
            first = schedule.plan[schedule.fixed_offset + variable]
            read_family(schedule, scratch, variable, weights[row], totals, first)
