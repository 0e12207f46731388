"""Counts and parameters of hierarchical naive Bayes, its tree being known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import TableCounts
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.latent.em import learn_parameters
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_network import latent_names, latent_network

Tables = tuple[NDArray[np.float64], ...]


def flat_domain(tree: LatentTree, domain: Domain) -> Domain:
    """The children of the class as variables, and the class last."""
    *features, class_variable = domain.variables
    names = latent_names(domain, tree)
    variables = [
        features[node]
        if node < tree.n_features
        else Variable(names[node - tree.n_features], tuple(range(tree.cards[node])))
        for node in tree.class_children
    ]
    return Domain((*variables, class_variable))


def class_children_codes(tree: LatentTree, codes: Codes) -> Codes:
    """Rows of the children of the class, and the class last.

    Parameters
    ----------
    tree : LatentTree
        The latent variables.
    codes : Codes
        Features in the tree's order, then the class.
    """
    columns = tree.node_codes(codes)
    children = tree.class_children
    return Codes.from_columns(
        [*(columns[node] for node in children), codes.column(tree.n_features)],
        [*(tree.cards[node] for node in children), codes.cards[tree.n_features]],
        None if codes.unit_weights else codes.weights,
    )


def cell_counts(tree: LatentTree, codes: Codes, n_jobs: int) -> Tables:
    """Rows in each cell of each latent variable whose children are known.

    Shapes (left card, right card).
    """
    if not tree.latents:
        return ()
    nodes = Codes.from_columns(
        tree.node_codes(codes),
        tree.cards,
        None if codes.unit_weights else codes.weights,
    )
    counts = TableCounts(nodes, n_jobs)
    return tuple(
        counts.family_counts([(latent.left, latent.right) for latent in tree.latents])
    )


def tables_log_likelihood(
    model: HierarchicalNaiveBayesModel, flat: CountSource
) -> float:
    """Log-likelihood (nats) of the children of the class, where they are known.

    `flat` counts the rows of `class_children_codes`.
    """
    families = [(flat.class_index, child) for child in range(flat.class_index)]
    pairs = zip(flat.family_counts(families), model.tables, families, strict=True)
    return sum(
        TableCPD(family, table).log_likelihood(counts)
        for counts, table, family in pairs
    )


def learned_by_em(
    model: HierarchicalNaiveBayesModel,
    codes: Codes,
    smoothing: Smoothing,
    n_jobs: int,
) -> HierarchicalNaiveBayesModel:
    """The model with tables below the class that rows with holes have had a part in.

    The tables directly below the class are learned in the expanded network, as HUGIN
    does; all others stay. The smoothing rule turns the expected counts into tables.
    """
    network = _started(latent_network(model, np.zeros(len(model.prior))))
    class_index = codes.n_variables - 1
    between = network.domain.cards[class_index:-1]
    rows = Codes.from_columns(
        [
            *(codes.column(v) for v in range(class_index)),
            *(np.full(codes.n_rows, card) for card in between),
            codes.column(class_index),
        ],
        network.domain.cards,
        None if codes.unit_weights else codes.weights,
    )
    expected = learn_parameters(network, rows, n_jobs=n_jobs).expected_counts
    names = latent_names(model.domain, model.tree)
    tables = list(model.tables)
    for place, node in enumerate(model.tree.class_children):
        latent = node - model.tree.n_features
        index = node if latent < 0 else _index(network, names[latent])
        if index is not None and node in model.used_children:
            tables[place] = smoothing.estimate(expected[index])
    return replace(model, tables=tuple(tables))


def _started(network: BayesianNetwork) -> BayesianNetwork:
    """The network with even distributions, worth one row, wherever it will learn."""
    cpds = list(network.cpds)
    for node, cpd in enumerate(cpds):
        if isinstance(cpd, TableCPD) and cpd.experience is not None:
            even = np.full(cpd.cards, 1.0 / cpd.cards[-1])
            cpds[node] = TableCPD(cpd.family, even, np.ones(cpd.cards[:-1]))
    return replace(network, cpds=tuple(cpds))


def _index(network: BayesianNetwork, name: str) -> int | None:
    """Position of a variable; None if the network leaves it out."""
    names = network.domain.names
    return names.index(name) if name in names else None
