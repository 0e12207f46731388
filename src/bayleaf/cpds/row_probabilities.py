"""Probabilities of rows under single distributions, without their full tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD, group_of_states
from bayleaf.cpds.tree import TreeCPD
from bayleaf.data.codes import Codes

Rows = NDArray[np.intp]

# Below any position in a table, however many others are added to it.
_NOWHERE = -(1 << 48)


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
        branch_of = np.full(codes.cards[node.variable] + 1, -1)
        for branch, group in enumerate(node.groups):
            branch_of[list(group)] = branch
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
