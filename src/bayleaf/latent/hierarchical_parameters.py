"""Counts of hierarchical naive Bayes, its tree being known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import TableCounts
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.table import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_rules import latent_names

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

    `codes` contain the features in the tree's order, then the class.
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
