"""Cells that name a group of a value hierarchy instead of a state."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.hierarchies.files import leaf_states
from bayleaf.data.hierarchies.ranges import has_range_leaves
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.data.partial_values import PartialValues
from bayleaf.data.tables.columns import Column, Matrix, Name, NumberColumn, ValueColumn

Hierarchies = Mapping[Name, ValueHierarchy]


@dataclass(frozen=True, eq=False)
class GroupCells:
    """The cells of one column that name groups."""

    nodes: tuple[Hashable, ...]  # inner nodes of the column's hierarchy
    places: NDArray[np.intp]  # (n_rows,), index into nodes, -1 for none


def take_groups_out(
    parts: Matrix | list[Column],
    hierarchies: Hierarchies,
    domain: Domain | None = None,
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
        variable = known.get(column.name)
        if tree is None or not isinstance(column, ValueColumn):
            columns.append(column)
            continue
        found = _named_groups(column, tree)
        if (found.places >= 0).any():
            cells[column.name] = found
            plain = _with_stand_ins(column, found.places >= 0, variable)
            # Beside names, a file holds numbers as text.
            numbers = _as_numbers(plain) if has_range_leaves(tree) else None
            columns.append(numbers or plain)
        else:
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
    columns = [codes.column(v) for v in range(codes.n_variables)]
    found = []
    for index, variable in enumerate(domain):
        if variable.name not in cells:
            continue
        groups = cells[variable.name]
        column = columns[index] = columns[index].copy()
        for place, node in enumerate(groups.nodes):
            rows = np.flatnonzero(groups.places == place)
            states = _known_states(variable, hierarchies[variable.name], node)
            column[rows] = states[0] if len(states) == 1 else variable.n_states
            if 1 < len(states) < variable.n_states and len(rows):
                found.append((rows, index, states))
    if not cells:
        return codes, PartialValues.none()
    marked = Codes.from_columns(columns, codes.cards, codes.weights)
    return marked, PartialValues.from_cells(found)


def _named_groups(column: ValueColumn, tree: ValueHierarchy) -> GroupCells:
    """Which cells of a column are names of inner nodes."""
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
    return ValueColumn(column.name, indices, values, column.ordered)


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
    return NumberColumn(column.name, values, missing) if is_finite else None


def _known_states(
    variable: Variable, tree: ValueHierarchy, node: Hashable
) -> tuple[int, ...]:
    """States of a variable under a node, increasing."""
    meant = leaf_states(tree, variable)
    under = [meant[leaf] for leaf in tree.states_under(node) if leaf in meant]
    return tuple(sorted(variable.state_index[state] for state in under))
