"""Networks from the structures that searches find, filled with probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.grouped_table import GroupedTableCPD, group_of_states
from bayleaf.cpds.row_probabilities import positions_of_rows, rows_by_leaf
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.graph.dag import DAG
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.search.structure import GroupedParents
from bayleaf.search.trees.shape import TreeShape

Structure = GroupedParents | TreeShape


def network_from_structures(
    domain: Domain,
    dag: DAG,
    structures: Sequence[Structure],
    codes: Codes,
    smoothing: Smoothing,
) -> BayesianNetwork:
    """Fill the structures of a network with probabilities by counting.

    Parameters
    ----------
    domain : Domain
        The variables.
    dag : DAG
        Parents of each variable, increasing.
    structures : sequence of GroupedParents or TreeShape
        Shape of each variable's distribution.
    codes : Codes
        Rows; those that miss a cell which a distribution asks for do not count there.
    smoothing : Smoothing
        Rule for the rows of each table, and for the leaves of each tree.
    """
    counts = [structure_counts(structure, codes) for structure in structures]
    return network_from_counts(domain, dag, structures, counts, smoothing)


def network_from_counts(
    domain: Domain,
    dag: DAG,
    structures: Sequence[Structure],
    counts: Sequence[NDArray[np.float64]],
    smoothing: Smoothing,
) -> BayesianNetwork:
    """Fill the structures of a network from their counts, see `structure_counts`."""
    cards = tuple(variable.n_states for variable in domain)
    cpds = tuple(
        filled(structure, own, cards, smoothing)
        for structure, own in zip(structures, counts, strict=True)
    )
    return BayesianNetwork(domain, dag, cpds)


def counted_log_likelihood(
    counts: Sequence[NDArray[np.float64]], smoothing: Smoothing
) -> float:
    """Log-likelihood (nats) of complete rows under the network that they fill."""
    return fsum(float(xlogy(own, smoothing.estimate(own)).sum()) for own in counts)


def structure_counts(structure: Structure, codes: Codes) -> NDArray[np.float64]:
    """Weight of the child's states in each distribution of a structure.

    Returns
    -------
    ndarray of shape (n_rows, child card), or (*groups of each parent, child card)
        One row a distribution for a tree, one axis a parent for a table; float64.
    """
    if isinstance(structure, TreeShape):
        return _leaf_counts(structure, codes)
    return _group_counts(structure, codes)


def filled(
    structure: Structure,
    counts: NDArray[np.float64],
    cards: Sequence[int],
    smoothing: Smoothing,
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


def _leaf_counts(shape: TreeShape, codes: Codes) -> NDArray[np.float64]:
    """Counts of the child at each distribution of a tree."""
    card = codes.cards[shape.child]
    child = codes.column(shape.child)
    counts = np.zeros((shape.n_rows, card + 1))
    for leaf, rows in rows_by_leaf(shape.root, codes):
        weights = None if codes.unit_weights else codes.weights[rows]
        counts[leaf.row] += np.bincount(child[rows], weights, minlength=card + 1)
    return counts[:, :card]


def _group_counts(shape: GroupedParents, codes: Codes) -> NDArray[np.float64]:
    """Counts of the child at each combination of groups of parents' states."""
    card = codes.cards[shape.child]
    axes = [
        group_of_states(groups, codes.cards[parent])
        for parent, groups in zip(shape.parents, shape.groups, strict=True)
    ]
    positions = positions_of_rows(
        (*shape.parents, shape.child), (*axes, np.arange(card)), codes
    )
    weights = None if codes.unit_weights else codes.weights
    if positions.min(initial=0) < 0:
        present = positions >= 0
        positions = positions[present]
        weights = None if weights is None else weights[present]
    counts = np.bincount(positions, weights, minlength=shape.n_rows * card)
    return counts.astype(np.float64).reshape(*map(len, shape.groups), card)
