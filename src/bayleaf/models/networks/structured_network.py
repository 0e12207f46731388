"""Networks from the structures that searches find, filled with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import fsum, prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayleaf.counts.threads import run_tasks, thread_count
from bayleaf.cpds.distribution import CPD, GroupedTableCPD, TableCPD, group_of_states
from bayleaf.cpds.local_structure import (
    log_probabilities_of_rows,
    positions_of_rows,
    rows_by_leaf,
)
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.inference.log_sums import log_of
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.search.structure import GroupedParents
from bayleaf.search.trees.shape import TreeShape

Floats = NDArray[np.float64]

Structure = GroupedParents | TreeShape

# Positions of rows in tables that are kept at most: 128 MB.
_MOST_POSITIONS = 1 << 24
# Rows that are looked up at a time: what they need stays in the cache.
_BLOCK_ROWS = 1 << 15
_NO_POSITIONS = np.zeros(0, dtype=np.int64)


def network_from_structures(
    domain: Domain,
    dag: DAG,
    structures: Sequence[Structure],
    codes: Codes,
    smoothing: Smoothing,
) -> BayesianNetwork:
    """Fill the structures of a network with probabilities by counting.

    Rows that miss a cell of a distribution do not count there. The rule smooths rows of
    tables and leaves of trees.
    """
    counts = [structure_counts(structure, codes) for structure in structures]
    return network_from_counts(domain, dag, structures, counts, smoothing)


def network_from_counts(
    domain: Domain,
    dag: DAG,
    structures: Sequence[Structure],
    counts: Sequence[Floats],
    smoothing: Smoothing,
) -> BayesianNetwork:
    """Fill the structures of a network from their counts, see `structure_counts`."""
    cards = tuple(variable.n_states for variable in domain)
    cpds = tuple(
        filled(structure, own, cards, smoothing)
        for structure, own in zip(structures, counts, strict=True)
    )
    return BayesianNetwork(domain, dag, cpds)


def counted_log_likelihood(counts: Sequence[Floats], smoothing: Smoothing) -> float:
    """Log-likelihood (nats) of complete rows under the network that they fill."""
    return fsum(float(xlogy(own, smoothing.estimate(own)).sum()) for own in counts)


def structure_counts(structure: Structure, codes: Codes) -> Floats:
    """Weight of the child's states in each distribution of a structure.

    Shape (n_leaves, child card) for a tree, (*groups of each parent, child card) for a
    table.
    """
    if isinstance(structure, TreeShape):
        return _leaf_counts(structure, codes)
    return _group_counts(structure, codes)


def filled(
    structure: Structure, counts: Floats, cards: Sequence[int], smoothing: Smoothing
) -> CPD:
    """The distribution of a structure that a rule makes of its counts.

    A table all of whose groups are single states becomes a plain one.
    """
    probabilities = smoothing.estimate(counts)
    if isinstance(structure, TreeShape):
        return structure.cpd(cards, probabilities)
    family = (*structure.parents, structure.child)
    own = tuple(cards[member] for member in family)
    if counts.shape == own:
        order = [np.array([g[0] for g in groups]) for groups in structure.groups]
        where = np.ix_(*map(np.argsort, order), np.arange(own[-1]))
        return TableCPD(family, probabilities[where])
    return GroupedTableCPD(family, own, structure.groups, probabilities)


def n_distributions(cpd: CPD) -> int:
    """Number of distributions that a form holds, shared ones once."""
    if isinstance(cpd, TableCPD):
        return int(prod(cpd.cards[:-1]))
    # Constants have distributions without parameters, but no parents either.
    return cpd.n_parameters // (cpd.cards[-1] - 1) if cpd.cards[-1] > 1 else 1


class PlacedStructures:
    """Structures over complete rows of which only the weights change.

    Where each row lies in each table is looked up once, in every pass of expectation
    maximisation but the first: most of a pass would go into that.
    """

    def __init__(self, structures: Sequence[Structure], codes: Codes) -> None:
        self._structures = structures
        self._codes = codes
        self._kept: dict[int, NDArray[np.int64]] = {}
        self._n_kept = _MOST_POSITIONS // max(codes.n_rows, 1)

    def counts(self, weights: Floats) -> list[Floats]:
        """What `structure_counts` gives for each structure under weights (n_rows,)."""
        codes = replace(self._codes, weights=weights, unit_weights=False)
        found = []
        for place, structure in enumerate(self._structures):
            if isinstance(structure, TreeShape):
                found.append(_leaf_counts(structure, codes))
                continue
            card = self._codes.cards[structure.child]
            shape = (*map(len, structure.groups), card)
            size = structure.n_rows * shape[-1]
            counts = np.bincount(self._positions(place), weights, minlength=size)
            found.append(counts.astype(np.float64).reshape(shape))
        return found

    def log_densities(
        self, tables: Sequence[Floats], n_jobs: int | None = None
    ) -> Floats:
        """Logarithm (nats) of the probability of each row, shape (n_rows,).

        Tables have the shapes of the counts.
        """
        logs = [log_of(table).ravel() for table in tables]
        total = np.zeros(self._codes.n_rows)
        for place in range(len(logs)):
            # Threads should find what is kept.
            self._positions(place)

        def add_up(first: int) -> None:
            rows = slice(first, first + _BLOCK_ROWS)
            for place, structure in enumerate(self._structures):
                if isinstance(structure, TreeShape):
                    cpd = structure.cpd(self._codes.cards, tables[place])
                    own = log_probabilities_of_rows(cpd, self._codes.rows(rows))
                else:
                    own = np.take(logs[place], self._positions(place)[rows])
                total[rows] += own

        starts = range(0, self._codes.n_rows, _BLOCK_ROWS)
        run_tasks([partial(add_up, first) for first in starts], thread_count(n_jobs))
        return total

    def _positions(self, place: int) -> NDArray[np.int64]:
        """Where each row lies in a table; nothing for a tree."""
        structure = self._structures[place]
        if isinstance(structure, TreeShape):
            return _NO_POSITIONS
        if place in self._kept:
            return self._kept[place]
        found = _group_positions(structure, self._codes)
        if len(self._kept) < self._n_kept:
            self._kept[place] = found
        return found


def _leaf_counts(shape: TreeShape, codes: Codes) -> Floats:
    """Counts of the child at each distribution of a tree."""
    card = codes.cards[shape.child]
    child = codes.column(shape.child)
    counts = np.zeros((shape.n_rows, card + 1))
    for leaf, rows in rows_by_leaf(shape.root, codes):
        weights = None if codes.unit_weights else codes.weights[rows]
        counts[leaf.row] += np.bincount(child[rows], weights, minlength=card + 1)
    return counts[:, :card]


def _group_counts(shape: GroupedParents, codes: Codes) -> Floats:
    """Counts of the child at each combination of groups of parents' states."""
    card = codes.cards[shape.child]
    positions = _group_positions(shape, codes)
    weights = None if codes.unit_weights else codes.weights
    if positions.min(initial=0) < 0:
        present = positions >= 0
        positions = positions[present]
        weights = None if weights is None else weights[present]
    counts = np.bincount(positions, weights, minlength=shape.n_rows * card)
    return counts.astype(np.float64).reshape(*map(len, shape.groups), card)


def _group_positions(shape: GroupedParents, codes: Codes) -> NDArray[np.int64]:
    """Where each row lies in the flat table; negative where a cell is missing."""
    axes = [
        group_of_states(groups, codes.cards[parent])
        for parent, groups in zip(shape.parents, shape.groups, strict=True)
    ]
    family = (*shape.parents, shape.child)
    return positions_of_rows(
        family, (*axes, np.arange(codes.cards[shape.child])), codes
    )
