"""Distributions smaller than tables: contexts, groups of states, rows under them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import (
    CPD,
    GroupedTableCPD,
    StateGroups,
    TableCPD,
    group_of_states,
)
from bayleaf.cpds.tree_cpd import Leaf, Split, TreeCPD
from bayleaf.data.codes import Codes

Rows = NDArray[np.intp]

# Below any position in a table, however many others are added to it.
_NOWHERE = -(1 << 48)


@dataclass(frozen=True, eq=False)
class Contexts:
    """Distributions of the child, each with the parents' states under which it holds.

    Every configuration of the parents belongs to exactly one context.
    """

    rows: NDArray[np.float64]  # (n_contexts, child card)
    allowed: tuple[NDArray[np.bool_], ...]  # by parent: (n_contexts, parent card)


def n_contexts(cpd: TreeCPD | GroupedTableCPD) -> int:
    """Number of leaves of a tree, or of rows of a grouped table."""
    if isinstance(cpd, TreeCPD):
        return cpd.n_leaves
    return prod(map(len, cpd.groups))


def contexts(cpd: TreeCPD | GroupedTableCPD) -> Contexts:
    """Paths of a tree from left to right, or rows of a grouped table in order."""
    if isinstance(cpd, TreeCPD):
        leaves = list(cpd.leaves())
        rows = np.array([leaf.probabilities for leaf, _ in leaves])
        allowed = tuple(
            _members([context[parent] for _, context in leaves], card)
            for parent, card in zip(cpd.parents, cpd.cards[:-1], strict=True)
        )
        return Contexts(rows, allowed)
    sizes = cpd.table.shape[:-1]
    places = np.indices(sizes).reshape(len(sizes), prod(sizes))
    by_parent = zip(places, cpd.groups, cpd.cards[:-1], strict=True)
    return Contexts(
        cpd.table.reshape(-1, cpd.cards[-1]),
        tuple(_members(groups, card)[own] for own, groups, card in by_parent),
    )


def _members(
    groups: StateGroups | list[tuple[int, ...]], card: int
) -> NDArray[np.bool_]:
    """Which states belong to each group, shape (n_groups, card)."""
    inside = np.zeros((len(groups), card), dtype=np.bool_)
    for place, group in enumerate(groups):
        inside[place, list(group)] = True
    return inside


def state_groups(cpd: TreeCPD | GroupedTableCPD) -> tuple[StateGroups, ...]:
    """Groups of each parent's states that a distribution treats alike, lowest first."""
    if isinstance(cpd, GroupedTableCPD):
        return tuple(
            tuple(sorted(tuple(sorted(group)) for group in groups))
            for groups in cpd.groups
        )
    # Paths, and whether each state of the parent may take them.
    found = []
    for allowed in contexts(cpd).allowed:
        alike: dict[bytes, list[int]] = {}
        for state, taken in enumerate(allowed.T):
            alike.setdefault(taken.tobytes(), []).append(state)
        found.append(tuple(map(tuple, alike.values())))
    return tuple(found)


def grouped_probabilities(
    cpd: TreeCPD | GroupedTableCPD, groups: tuple[StateGroups, ...]
) -> NDArray[np.float64]:
    """The table over `state_groups`, shape (numbers of groups ..., child card)."""
    first = [[group[0] for group in own] for own in groups]
    table = np.empty((*map(len, groups), cpd.cards[-1]))
    if isinstance(cpd, GroupedTableCPD):
        own = zip(cpd.groups, first, strict=True)
        order = [
            [next(i for i, group in enumerate(given) if state in group) for state in s]
            for given, s in own
        ]
        return cpd.table[np.ix_(*order)] if order else cpd.table
    known = contexts(cpd)
    for row, *allowed in zip(known.rows, *known.allowed, strict=True):
        where = [
            np.flatnonzero(inside[states])
            for inside, states in zip(allowed, first, strict=True)
        ]
        table[np.ix_(*where)] = row
    return table


def with_known_parents(
    cpd: CPD, known: Mapping[int, int], places: Mapping[int, int]
) -> CPD:
    """The distribution once some parents are fixed, its variables renumbered.

    `known` has states by variable, other variables ignored; `places` the new numbers of
    the child and the open parents. Trees and grouped tables are never expanded.
    """
    open_parents = [parent for parent in cpd.parents if parent not in known]
    family = tuple(places[variable] for variable in (*open_parents, cpd.child))
    cards = tuple(
        card
        for variable, card in zip(cpd.family, cpd.cards, strict=True)
        if variable == cpd.child or variable not in known
    )
    if isinstance(cpd, TreeCPD):
        return TreeCPD(family, cards, _below(cpd.root, known, places))
    if isinstance(cpd, GroupedTableCPD):
        row = tuple(
            next(i for i, group in enumerate(groups) if known[parent] in group)
            if parent in known
            else slice(None)
            for parent, groups in zip(cpd.parents, cpd.groups, strict=True)
        )
        left = tuple(
            groups
            for parent, groups in zip(cpd.parents, cpd.groups, strict=True)
            if parent not in known
        )
        return GroupedTableCPD(family, cards, left, cpd.table[row])
    index = tuple(known.get(parent, slice(None)) for parent in cpd.parents)
    return TableCPD(family, cpd.probabilities[index])


def distribution_at(cpd: CPD, states: Sequence[int]) -> NDArray[np.float64]:
    """Distribution of the child at one state per parent; trees are not expanded."""
    known = dict(zip(cpd.parents, states, strict=True))
    return with_known_parents(cpd, known, {cpd.child: 0}).probabilities


def _below(
    node: Leaf | Split, known: Mapping[int, int], places: Mapping[int, int]
) -> Leaf | Split:
    """What is left of a tree once some of its questions are answered."""
    while isinstance(node, Split) and node.variable in known:
        state = known[node.variable]
        node = next(
            branch
            for branch, group in zip(node.branches, node.groups, strict=True)
            if state in group
        )
    if isinstance(node, Leaf):
        return node
    branches = tuple(_below(branch, known, places) for branch in node.branches)
    return replace(node, variable=places[node.variable], branches=branches)


def with_distributions(cpd: CPD, tables: Sequence[NDArray[np.float64]]) -> CPD:
    """A CPD of the same form with another table, or with others for a tree's leaves.

    Leaves that are one have one; tables lose their experience.
    """
    if isinstance(cpd, GroupedTableCPD):
        return replace(cpd, table=tables[0])
    if not isinstance(cpd, TreeCPD):
        return TableCPD(cpd.family, tables[0])
    keys = dict.fromkeys(id(leaf) for leaf, _ in cpd.leaves())
    leaves = dict(zip(keys, map(Leaf, tables), strict=True))

    def rebuilt(node: Leaf | Split) -> Leaf | Split:
        if isinstance(node, Leaf):
            return leaves[id(node)]
        return replace(node, branches=tuple(map(rebuilt, node.branches)))

    return replace(cpd, root=rebuilt(cpd.root))


def rows_by_leaf(root: Any, codes: Codes) -> Iterator[tuple[Any, Rows]]:
    """Leaves of a tree from left to right, each with the increasing rows that reach it.

    Trees need no probabilities: a split has `variable`, `groups` and `branches`, a leaf
    has no branches. Rows that miss a variable of their path reach no leaf.
    """
    open_nodes = [(root, np.arange(codes.n_rows, dtype=np.intp))]
    while open_nodes:
        node, rows = open_nodes.pop()
        branches = getattr(node, "branches", ())
        if not branches:
            yield node, rows
            continue
        branch_of = group_of_states(node.groups, codes.cards[node.variable] + 1, -1)
        taken = branch_of[codes.column(node.variable)[rows]]
        open_nodes += [
            (branches[branch], rows[taken == branch])
            for branch in reversed(range(len(branches)))
        ]


def log_probabilities_of_rows(cpd: CPD, codes: Codes) -> NDArray[np.float64]:
    """Log P(child | parents) per row, in nats; NaN where a needed cell is missing."""
    with np.errstate(divide="ignore"):
        if isinstance(cpd, TreeCPD):
            child = codes.column(cpd.child)
            found = np.full(codes.n_rows, np.nan)
            for leaf, rows in rows_by_leaf(cpd.root, codes):
                found[rows] = np.append(np.log(leaf.probabilities), np.nan)[child[rows]]
            return found
        table, axes = _table_and_axes(cpd)
        states = np.arange(cpd.cards[-1])
        positions = positions_of_rows(cpd.family, (*axes, states), codes)
        # Rows without a position take the entry at the end.
        np.maximum(positions, -1, out=positions)
        return np.append(np.log(table), np.nan)[positions]


def distributions_of_rows(
    cpd: CPD, codes: Codes
) -> Iterator[tuple[NDArray[np.float64], Rows]]:
    """Distributions of the child in rows without missing parents, each row once.

    Yields probabilities (child card,) or (n_rows_here, child card), and their rows.
    """
    if isinstance(cpd, TreeCPD):
        for leaf, rows in rows_by_leaf(cpd.root, codes):
            yield leaf.probabilities, rows
        return
    table, axes = _table_and_axes(cpd)
    positions = positions_of_rows(cpd.parents, axes, codes)
    yield table.reshape(-1, cpd.cards[-1])[positions], np.arange(codes.n_rows)


def distribution_indices(cpd: CPD, codes: Codes) -> Rows:
    """Index of each row's distribution, tables flat; -1 where a parent is missing."""
    if not isinstance(cpd, TreeCPD):
        _, axes = _table_and_axes(cpd)
        return np.maximum(positions_of_rows(cpd.parents, axes, codes), -1)
    indices = np.full(codes.n_rows, -1)
    for leaf, (_, rows) in enumerate(rows_by_leaf(cpd.root, codes)):
        indices[rows] = leaf
    for parent in cpd.parents:
        indices[codes.missing(parent)] = -1
    return indices


def positions_of_rows(
    variables: Sequence[int], axes: Sequence[Rows], codes: Codes
) -> NDArray[np.int64]:
    """Where each row lies in a flat table, shape (n_rows,), the last axis fastest.

    Each of `axes` (card,) has the place of every state on its axis, whose length is the
    largest place plus one. Negative where a variable is missing.
    """
    positions = np.zeros(codes.n_rows, dtype=np.int64)
    step = np.empty_like(positions)
    size = 1
    for variable, places in zip(reversed(variables), reversed(axes), strict=True):
        steps = np.append(places * size, _NOWHERE)
        np.take(steps, codes.column(variable), out=step, mode="clip")
        positions += step
        size *= int(places.max(initial=-1)) + 1
    return positions


def _table_and_axes(cpd: CPD) -> tuple[NDArray[np.float64], list[Rows]]:
    """Distributions of a table, and the place of each parent's states on its axis."""
    if isinstance(cpd, GroupedTableCPD):
        groups = zip(cpd.groups, cpd.cards[:-1], strict=True)
        return cpd.table, [group_of_states(own, card) for own, card in groups]
    return cpd.probabilities, [np.arange(card) for card in cpd.cards[:-1]]
