"""Cells of which only a set of states is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes

Floats = NDArray[np.float64]
States = tuple[int, ...]
# Rows of some cells, their variable, and the states that these cells may hold.
Cells = tuple[NDArray[np.intp], int, States]

# Complete rows that one row may stand for.
MAX_COMPLETIONS = 1 << 16


@dataclass(frozen=True, eq=False)
class PartialValues:
    """Cells of a table of which a set of states is known; missing in its codes."""

    rows: NDArray[np.intp]  # (n_cells,), increasing
    variables: NDArray[np.intp]  # (n_cells,)
    sets: NDArray[np.intp]  # (n_cells,), indices into states
    states: tuple[States, ...]  # distinct sets, each increasing

    @classmethod
    def none(cls) -> PartialValues:
        """No such cells."""
        return cls.from_cells([])

    @classmethod
    def from_cells(cls, cells: Iterable[Cells]) -> PartialValues:
        """Gather (rows (n,), variable, states) of cells that have one of the states."""
        listed = [(np.asarray(r, dtype=np.intp), v, tuple(s)) for r, v, s in cells]
        states = tuple(dict.fromkeys(group for _, _, group in listed))
        empty = np.empty(0, dtype=np.intp)
        rows = np.concatenate([empty, *(r for r, _, _ in listed)])
        variables = np.concatenate([empty, *(np.full(len(r), v) for r, v, _ in listed)])
        sets = np.concatenate(
            [empty, *(np.full(len(r), states.index(s)) for r, _, s in listed)]
        )
        order = np.lexsort((variables, rows))
        return cls(rows[order], variables[order], sets[order], states)

    def __len__(self) -> int:
        return len(self.rows)

    def likelihoods(self, row: int, codes: Codes) -> dict[int, Floats]:
        """Likelihoods (card,) of a row's partial cells by variable, 1 if possible."""
        found = {}
        for cell in np.flatnonzero(self.rows == row):
            variable = int(self.variables[cell])
            weights = np.zeros(codes.cards[variable])
            weights[list(self.states[self.sets[cell]])] = 1.0
            found[variable] = weights
        return found


@dataclass(frozen=True, eq=False)
class Completions:
    """Rows in which each partial cell has one of its states, all ways to choose."""

    codes: Codes  # each row with the weight of its source
    source: NDArray[np.intp]  # (n_completions,), row of the table; increasing
    starts: NDArray[np.intp]  # (n_rows,), first completion of each row

    def log_sums(self, logs: Floats) -> Floats:
        """Log-sum-exp (nats) of rows' completions, (n_completions,) -> (n_rows,)."""
        if len(self.starts) == len(self.source):
            return logs
        highest = np.maximum.reduceat(logs, self.starts)
        anchor = np.where(np.isfinite(highest), highest, 0.0)
        shifted = np.exp(logs - anchor[self.source])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.add.reduceat(shifted, self.starts)) + anchor)

    def shared(self, logs: Floats | None = None, sums: Floats | None = None) -> Codes:
        """The completions, with each row's weight dealt out in proportion to exp(logs).

        `logs` (n_completions,) are in nats; shares are equal by default, and where all
        of a row's are minus infinity. `sums` (n_rows,) are their `log_sums`, if known.
        """
        if len(self.starts) == len(self.source):
            return self.codes
        if logs is None:
            logs = np.zeros(len(self.source))
        sums = self.log_sums(logs) if sums is None else sums
        impossible = np.isneginf(sums)
        if impossible.any():
            logs = np.where(impossible[self.source], 0.0, logs)
            sums = self.log_sums(logs)
        shares = np.exp(logs - sums[self.source])
        weights = self.codes.weights * shares
        return replace(self.codes, weights=weights, unit_weights=False)


def complete(codes: Codes, partial: PartialValues) -> Completions:
    """List all ways to choose a state for each partial cell; missing ones stay.

    ValueError names a row that has more than `MAX_COMPLETIONS`.
    """
    strides, numbers = _strides(partial, codes.n_rows)
    source = np.repeat(np.arange(codes.n_rows), numbers)
    starts = np.cumsum(numbers) - numbers
    place = np.arange(len(source)) - starts[source]
    weights = None if codes.unit_weights else codes.weights[source]
    columns = [codes.column(v)[source] for v in range(codes.n_variables)]
    n_states = np.array([len(states) for states in partial.states], dtype=np.intp)
    first_state = np.cumsum(n_states) - n_states
    all_states = np.array([*chain(*partial.states)], dtype=np.intp)
    for variable in np.unique(partial.variables).tolist():
        cells = np.flatnonzero(partial.variables == variable)
        # A row has one cell of a variable at most.
        of_row = np.full(codes.n_rows, -1, dtype=np.intp)
        of_row[partial.rows[cells]] = cells
        here = np.flatnonzero(of_row[source] >= 0)
        cell = of_row[source[here]]
        sets = partial.sets[cell]
        chosen = place[here] // strides[cell] % n_states[sets]
        columns[variable][here] = all_states[first_state[sets] + chosen]
    return Completions(
        Codes.from_columns(columns, codes.cards, weights), source, starts
    )


def _strides(
    partial: PartialValues, n_rows: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """After how many completions of its row a cell changes; each row's completions."""
    sizes = np.array([len(states) for states in partial.states], dtype=np.float64)
    numbers = np.ones(n_rows)
    strides = np.ones(len(partial))
    first_of_row = np.searchsorted(partial.rows, partial.rows)
    depth = np.arange(len(partial)) - first_of_row
    for each in range(depth.max(initial=-1) + 1):
        cells = np.flatnonzero(depth == each)
        rows = partial.rows[cells]
        strides[cells] = numbers[rows]
        # Far too many remain far too many, and none overflows.
        more = numbers[rows] * sizes[partial.sets[cells]]
        numbers[rows] = np.minimum(more, 2 * MAX_COMPLETIONS)
    too_many = np.flatnonzero(numbers > MAX_COMPLETIONS)
    if len(too_many):
        raise ValueError(
            f"the cells of row {too_many[0]} allow more than {MAX_COMPLETIONS} rows; "
            "name states in some of them, or leave them empty"
        )
    return strides.astype(np.intp), numbers.astype(np.intp)
