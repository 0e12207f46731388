"""Cells of which only a set of states is known, as those that name a group."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.fitted_hierarchies import has_range_leaves, leaf_states
from bayleaf.data.tables.columns import Column, Matrix, Name, NumberColumn, ValueColumn
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.wording import quoted

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

    def n_completions(self, n_rows: int) -> Floats:
        """In how many ways each row's cells may have states, (n_rows,), up to 1e12."""
        sizes = np.array([len(states) for states in self.states], dtype=np.float64)
        numbers = np.ones(n_rows)
        depth = np.arange(len(self)) - np.searchsorted(self.rows, self.rows)
        for each in range(depth.max(initial=-1) + 1):
            cells = np.flatnonzero(depth == each)
            # Far too many remain far too many, and none overflows.
            products = numbers[self.rows[cells]] * sizes[self.sets[cells]]
            numbers[self.rows[cells]] = np.minimum(products, 1e12)
        return numbers

    def of_rows(self, rows: NDArray[np.intp]) -> PartialValues:
        """The cells of some distinct rows, in the order of `rows`."""
        new = np.full(int(self.rows.max(initial=-1)) + 1, -1, dtype=np.intp)
        inside = rows < len(new)
        new[rows[inside]] = np.flatnonzero(inside)
        cells = np.flatnonzero(new[self.rows] >= 0)
        cells = cells[np.argsort(new[self.rows[cells]], kind="stable")]
        return replace(self._cells(cells), rows=new[self.rows[cells]])

    def repeated(self, n_rows: int) -> PartialValues:
        """The cells of a single row as those of some rows alike."""
        rows = np.repeat(np.arange(n_rows), len(self))
        variables, sets = np.tile([self.variables, self.sets], n_rows)
        return PartialValues(rows, variables, sets, self.states)

    def without(self, is_excluded: NDArray[np.bool_]) -> PartialValues:
        """The cells left without some, flags of shape (n_variables, n_rows)."""
        return self._cells(np.flatnonzero(~is_excluded[self.variables, self.rows]))

    def of_variables(self, is_included: NDArray[np.bool_]) -> PartialValues:
        """The cells of some variables, flags of shape (n_variables,)."""
        return self._cells(np.flatnonzero(is_included[self.variables]))

    def _cells(self, cells: NDArray[np.intp]) -> PartialValues:
        """Some of the cells."""
        rows, variables = self.rows[cells], self.variables[cells]
        return PartialValues(rows, variables, self.sets[cells], self.states)

    def cells_of(self, variable: int, position: int) -> list[Cells]:
        """The cells of a variable, as those of one at another position."""
        cells = self.variables == variable
        return [
            (self.rows[cells & (self.sets == kind)], position, self.states[kind])
            for kind in np.unique(self.sets[cells])
        ]

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
class PartialCodes:
    """Rows of which some cells are sets of states: for code that can sum over these.

    It is not `Codes`, so that other code cannot take such a cell for a missing one.
    """

    codes: Codes  # missing where a set of states is known
    partial: PartialValues
    domain: Domain  # the variables of the codes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.codes.n_rows

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return self.codes.n_variables

    def rows(self, selection: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Rows:
        """Some distinct rows; plain codes if no cell of theirs is a set of states."""
        partial = self.partial.of_rows(np.arange(self.n_rows)[selection])
        return rows_of(self.codes.rows(selection), partial, self.domain)

    def without(self, variable: int) -> Rows:
        """The same rows in which the sets of states of a variable are missing."""
        is_other = np.arange(self.n_variables) != variable
        return rows_of(self.codes, self.partial.of_variables(is_other), self.domain)

    def replaced(self, index: int, column: NDArray[np.integer[Any]]) -> Rows:
        """The same rows with other codes of one variable, none of them sets."""
        others = self.without(index)
        codes = available_codes(others).replaced(index, column)
        return rows_of(codes, sets_in(others), self.domain)

    def label(self, cell: int) -> str:
        """The group that a partial cell names, or the states that it may have."""
        variable = self.domain[int(self.partial.variables[cell])]
        states = self.partial.states[self.partial.sets[cell]]
        tree = variable.hierarchy
        if tree is not None:
            for node in tree.inner_nodes:
                under = map(variable.state_index.__getitem__, tree.states_under(node))
                if set(under) == set(states):
                    return str(node)
        return " or ".join(variable.label(state) for state in states)

    def refusal(self, reason: str) -> ValueError:
        """The error of code that needs single states, naming the first such cell."""
        name = self.domain[int(self.partial.variables[0])].name
        return ValueError(
            f"column {quoted(name)} has a cell that names {quoted(self.label(0))}, a "
            f"group of its hierarchy (row {self.partial.rows[0]}), but {reason}; name "
            "one of its states, or leave the cell empty"
        )


# What encoded tables contain.
Rows = Codes | PartialCodes


def rows_of(codes: Codes, partial: PartialValues, domain: Domain) -> Rows:
    """Codes with their sets of states, or as they are where there are none."""
    return PartialCodes(codes, partial, domain) if len(partial) else codes


def alone(rows: Rows, feature: int, domain: Domain) -> Rows:
    """The rows with all other features missing."""
    codes, is_only = available_codes(rows), np.arange(rows.n_variables) == feature
    columns = [np.full(rows.n_rows, card) for card in codes.cards]
    columns[feature] = codes.column(feature)
    only = Codes.from_columns(columns, codes.cards)
    return rows_of(only, sets_in(rows).of_variables(is_only), domain)


def available_codes(rows: Rows) -> Codes:
    """Codes of rows in which sets of states are missing cells."""
    return rows.codes if isinstance(rows, PartialCodes) else rows


def single_states(rows: Rows, reason: str = "single states are needed here") -> Codes:
    """The codes of rows without sets of states; ValueError names the first cell."""
    if isinstance(rows, PartialCodes):
        raise rows.refusal(reason)
    return rows


def open_states(rows: Rows, row: int, variable: int) -> States:
    """The states that a cell of which something is known may have."""
    partial = sets_in(rows)
    cells = (partial.rows == row) & (partial.variables == variable)
    if cells.any():
        return partial.states[partial.sets[cells.argmax()]]
    return (int(available_codes(rows).column(variable)[row]),)


def cell_label(rows: Rows, domain: Domain, row: int, variable: int) -> str:
    """A cell as a reader sees it: its state, or the group that it names."""
    partial = sets_in(rows)
    cells = (partial.rows == row) & (partial.variables == variable)
    if isinstance(rows, PartialCodes) and cells.any():
        return rows.label(int(cells.argmax()))
    return domain[variable].label(int(available_codes(rows).column(variable)[row]))


def is_unknown(
    rows: Rows, variable: int, n_states: int | None = None
) -> NDArray[np.bool_]:
    """In which rows nothing is known of a variable, (n_rows,).

    Codes from `n_states` on, by default that of a missing cell, count as missing.
    """
    codes, partial = available_codes(rows), sets_in(rows)
    is_missing = codes.column(variable) >= (n_states or codes.cards[variable])
    is_missing[partial.rows[partial.variables == variable]] = False
    return np.asarray(is_missing)


def sets_in(rows: Rows) -> PartialValues:
    """The sets of states of rows."""
    return rows.partial if isinstance(rows, PartialCodes) else PartialValues.none()


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


Hierarchies = Mapping[Name, ValueHierarchy]


@dataclass(frozen=True, eq=False)
class GroupCells:
    """The cells of one column that name groups."""

    nodes: tuple[Hashable, ...]  # inner nodes of the column's hierarchy
    places: NDArray[np.intp]  # (n_rows,), index into nodes, -1 for none


def take_groups_out(
    parts: Matrix | list[Column], hierarchies: Hierarchies, domain: Domain | None = None
) -> tuple[Matrix | list[Column], dict[Name, GroupCells]]:
    """Put states in the place of the cells that name groups, and remember these.

    Without `domain` it is a training table. Columns of numbers name no groups; columns
    of text do, even if all other cells are numbers. As a state replaces each group, the
    cell does not count as missing. Only columns with such cells have `GroupCells`.
    """
    if isinstance(parts, Matrix) or not hierarchies:
        return parts, {}
    known = {} if domain is None else {v.name: v for v in domain}
    columns: list[Column] = []
    cells: dict[Name, GroupCells] = {}
    for column in parts:
        tree = hierarchies.get(column.name)
        if tree is not None and isinstance(column, ValueColumn):
            groups = cells_naming_groups(column, tree)
            is_group = groups.places >= 0
            if is_group.any():
                cells[column.name] = groups
                plain = _with_stand_ins(column, is_group, known.get(column.name))
                # Next to names, a file contains numbers as text.
                column = (has_range_leaves(tree) and _as_numbers(plain)) or plain
        columns.append(column)
    return columns, cells


def put_groups_back(
    codes: Codes,
    domain: Domain,
    hierarchies: Hierarchies,
    cells: Mapping[Name, GroupCells],
) -> tuple[Codes, PartialValues]:
    """Code the cells that named groups as missing, and return what they may be.

    A cell whose group has one state of the variable gets that state. A cell that may be
    any state, or none that is known, is missing and has no partial value.
    """
    if not cells:
        return codes, PartialValues.none()
    columns = [codes.column(v) for v in range(codes.n_variables)]
    found = []
    for index, variable in enumerate(domain):
        if variable.name not in cells:
            continue
        groups = cells[variable.name]
        column = columns[index] = columns[index].copy()
        for place, node in enumerate(groups.nodes):
            rows = np.flatnonzero(groups.places == place)
            states = states_of_group(variable, hierarchies[variable.name], node)
            column[rows] = states[0] if len(states) == 1 else variable.n_states
            if 1 < len(states) < variable.n_states and len(rows):
                found.append((rows, index, states))
    marked = Codes.from_columns(columns, codes.cards, codes.weights)
    return marked, PartialValues.from_cells(found)


def cells_naming_groups(column: ValueColumn, tree: ValueHierarchy) -> GroupCells:
    """Find the cells of a column that are names of inner nodes."""
    nodes = tree.inner_nodes
    place = {node: i for i, node in enumerate(nodes)}
    # One entry more for the index -1 of a missing cell.
    places = [place.get(value, -1) for value in column.values] + [-1]
    return GroupCells(nodes, np.array(places, dtype=np.intp)[column.indices])


def _with_stand_ins(
    column: ValueColumn, is_group: NDArray[np.bool_], variable: Variable | None
) -> ValueColumn:
    """A column in which a state stands for the cells that name groups."""
    values, indices = column.values, column.indices.copy()
    if variable is None:
        plain = indices[(indices >= 0) & ~is_group]
        stand_in = int(plain[0]) if len(plain) else -1
    else:
        number_or_state = 0 if variable.kind == "numeric" else variable.states[0]
        values = [*values, number_or_state]
        stand_in = len(values) - 1
    indices[is_group] = stand_in
    return replace(column, indices=indices, values=values)


def _as_numbers(column: ValueColumn) -> NumberColumn | None:
    """A column as numbers; None if a cell holds something else."""
    numbers = np.full(len(column.values) + 1, np.nan)
    try:
        for i in np.unique(column.indices[column.indices >= 0]):
            numbers[i] = float(str(column.values[i]))
    except ValueError:
        return None
    values, missing = numbers[column.indices], column.indices < 0
    is_finite = bool(np.isfinite(values[~missing]).all())
    if not is_finite:
        return None
    return NumberColumn(column.name, values, missing, column.repeats)


def states_of_group(variable: Variable, tree: ValueHierarchy, node: Hashable) -> States:
    """States of a variable under a node, increasing."""
    meant = leaf_states(tree, variable)
    under = [meant[leaf] for leaf in tree.states_under(node) if leaf in meant]
    return tuple(sorted(variable.state_index[state] for state in under))
