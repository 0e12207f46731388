"""Probabilities of rows under single distributions, without their full tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD, group_of_states
from bayleaf.cpds.tree import TreeCPD
from bayleaf.data.codes import Codes

Rows = NDArray[np.intp]


def rows_by_leaf(root: Any, codes: Codes) -> Iterator[tuple[Any, Rows]]:
    """Leaves of a tree from left to right, each with the rows that lead to it.

    Parameters
    ----------
    root : leaf or split
        With or without probabilities: a split has `variable`, `groups` of states and
        a branch for each in `branches`; a leaf has none.
    codes : Codes
        Rows; those that miss a variable which their path asks for lead nowhere.

    Yields
    ------
    leaf
        In the order of the branches.
    rows : ndarray of shape (n_rows_here,), dtype intp
        Increasing positions.
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
    """Logarithm of P(child | parents) in each row.

    Parameters
    ----------
    cpd : CPD
        A distribution over some of the variables.
    codes : Codes
        Rows over all variables.

    Returns
    -------
    ndarray of shape (n_rows,), dtype float64
        Nats; NaN where a cell that counts is missing.
    """
    child = codes.column(cpd.child)
    missing = child == cpd.cards[-1]
    child = np.where(missing, 0, child)
    found = np.full(codes.n_rows, np.nan)
    with np.errstate(divide="ignore"):
        if isinstance(cpd, TreeCPD):
            for leaf, rows in rows_by_leaf(cpd.root, codes):
                found[rows] = np.log(leaf.probabilities)[child[rows]]
        else:
            table, places = _table_rows(cpd, codes)
            known = np.flatnonzero(places >= 0)
            found[known] = np.log(table)[places[known], child[known]]
    found[missing] = np.nan
    return found


def distributions_of_rows(
    cpd: CPD, codes: Codes
) -> Iterator[tuple[NDArray[np.float64], Rows]]:
    """Distributions of the child in rows that hold its parents.

    Yields
    ------
    probabilities : ndarray of shape (child card,) or (n_rows_here, child card)
        One for all these rows, or one each.
    rows : ndarray of shape (n_rows_here,), dtype intp
        Positions of the rows; all together hold each row once.
    """
    if isinstance(cpd, TreeCPD):
        for leaf, rows in rows_by_leaf(cpd.root, codes):
            yield leaf.probabilities, rows
        return
    table, places = _table_rows(cpd, codes)
    yield table[places], np.arange(codes.n_rows)


def _table_rows(cpd: CPD, codes: Codes) -> tuple[NDArray[np.float64], Rows]:
    """Distributions of a table, and which of them holds in each row; -1 for none."""
    if isinstance(cpd, GroupedTableCPD):
        table = cpd.table
        groups = [
            group_of_states(own, card)
            for own, card in zip(cpd.groups, cpd.cards[:-1], strict=True)
        ]
    else:
        table = cpd.probabilities
        groups = [np.arange(card) for card in cpd.cards[:-1]]
    places = np.zeros(codes.n_rows, dtype=np.intp)
    absent = np.zeros(codes.n_rows, dtype=bool)
    for parent, own, size in zip(cpd.parents, groups, table.shape, strict=False):
        # One entry more for a missing cell.
        place = np.append(own, -1)[codes.column(parent)]
        absent |= place < 0
        places = places * size + place
    places[absent] = -1
    return table.reshape(-1, cpd.cards[-1]), places
