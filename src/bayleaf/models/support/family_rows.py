"""How many training rows stand behind each row of a table, leaf or group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.cpds.distribution import CPD, GroupedTableCPD, group_of_states
from bayleaf.cpds.local_structure import contexts
from bayleaf.cpds.tree_cpd import TreeCPD
from bayleaf.data.codes import Codes

Floats = NDArray[np.float64]
Columns = Sequence[NDArray[np.integer[Any]]]


def cpd_shape(cpd: CPD) -> tuple[int, ...]:
    """One place a distribution."""
    if isinstance(cpd, TreeCPD):
        return (cpd.n_leaves,)
    if isinstance(cpd, GroupedTableCPD):
        return cpd.table.shape[:-1]
    return cpd.cards[:-1]


def distribution_places(cpd: CPD, columns: Columns) -> NDArray[np.intp]:
    """Position in `distributions` of that of each row; -1 where a parent is missing.

    `columns` (n_rows,) are codes of all variables.
    """
    n_rows = len(columns[0])
    own = [np.asarray(columns[parent], dtype=np.intp) for parent in cpd.parents]
    cards = cpd.cards[:-1]
    known = np.ones(n_rows, dtype=bool)
    for column, card in zip(own, cards, strict=True):
        known &= column < card
    if isinstance(cpd, TreeCPD):
        places = _leaf_places(cpd, own)
    else:
        places = np.zeros(n_rows, dtype=np.intp)
        for position, (column, card) in enumerate(zip(own, cards, strict=True)):
            size = card
            if isinstance(cpd, GroupedTableCPD):
                groups = cpd.groups[position]
                of_state = np.append(group_of_states(groups, card), 0)
                size, column = len(groups), of_state[column]
            places = places * size + column
    return np.where(known, places, -1)


def _leaf_places(cpd: TreeCPD, own: Columns) -> NDArray[np.intp]:
    """Number of the leaf, from left to right, that each row comes to."""
    known = contexts(cpd)
    places = np.full(len(own[0]) if own else 1, 0, dtype=np.intp)
    for leaf in range(len(known.rows)):
        inside = np.ones(len(places), dtype=bool)
        for column, allowed in zip(own, known.allowed, strict=True):
            inside &= np.append(allowed[leaf], False)[column]
        places[inside] = leaf
    return places


def distributions(cpd: CPD) -> Floats:
    """All distributions of a child, shape (n_distributions, child card)."""
    if isinstance(cpd, TreeCPD):
        return contexts(cpd).rows
    table = cpd.table if isinstance(cpd, GroupedTableCPD) else cpd.probabilities
    return np.asarray(table).reshape(-1, cpd.cards[-1])


def family_rows(cpds: Sequence[CPD], source: CountSource) -> Iterator[Floats]:
    """Rows behind each distribution of some variables given their parents."""
    plain = [c for c in cpds if not isinstance(c, TreeCPD | GroupedTableCPD)]
    tables = dict(
        zip(
            [cpd.child for cpd in plain],
            source.family_counts([cpd.family for cpd in plain]),
            strict=True,
        )
    )
    for cpd in cpds:
        if cpd.child in tables:
            yield tables[cpd.child].sum(axis=-1)
        else:
            yield _structured_rows(cpd, source.rows())


def _structured_rows(cpd: CPD, codes: Codes) -> Floats:
    """Rows behind each leaf of a tree or row of a grouped table."""
    columns = [codes.column(v) for v in range(codes.n_variables)]
    places = distribution_places(cpd, columns)
    counted = (places >= 0) & ~codes.missing(cpd.child)
    shape = cpd_shape(cpd)
    size = int(np.prod(shape, dtype=int))
    weights = codes.weights[counted]
    found: Floats = np.bincount(places[counted], weights, size).astype(np.float64)
    if isinstance(cpd, TreeCPD):
        # Leaves that were merged are one distribution.
        leaves = [id(leaf) for leaf, _ in cpd.leaves()]
        _, numbers = np.unique(leaves, return_inverse=True)
        found = np.bincount(numbers, found).astype(np.float64)[numbers]
    return found.reshape(shape)
