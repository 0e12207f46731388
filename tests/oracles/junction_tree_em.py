"""Tables of hierarchical naive Bayes by the junction tree, every row on its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.latent import learn_parameters
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.hierarchical_naive_bayes import (
    HierarchicalNaiveBayesModel,
    latent_network,
)
from bayleaf.models.latent_rules import latent_names


def tables_by_junction_tree(
    model: HierarchicalNaiveBayesModel, codes: Codes, smoothing: Smoothing
) -> tuple[list[np.ndarray], int]:
    """P(node | class) of the class children, learned in the expanded network.

    Also the number of steps that expectation maximisation made.
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
        codes.weights,
    )
    learned = learn_parameters(network, rows, tol=1e-10, n_restarts=1)
    names = network.domain.names
    tables = [np.asarray(table) for table in model.tables]
    for place, node in enumerate(model.tree.class_children):
        latent = node - model.tree.n_features
        name = latent_names(model.domain, model.tree)[latent] if latent >= 0 else None
        index = node if name is None else names.index(name) if name in names else None
        if index is not None and node in model.used_children:
            tables[place] = smoothing.estimate(learned.expected_counts[index])
    return tables, learned.n_iter


def _started(network: BayesianNetwork) -> BayesianNetwork:
    """The network with even distributions, worth one row, wherever it learns."""
    cpds = list(network.cpds)
    for node, cpd in enumerate(cpds):
        if isinstance(cpd, TableCPD) and cpd.experience is not None:
            even = np.full(cpd.cards, 1.0 / cpd.cards[-1])
            cpds[node] = TableCPD(cpd.family, even, np.ones(cpd.cards[:-1]))
    return replace(network, cpds=tuple(cpds))
