"""Rows that come to the gates and experts of a mixture, and draws of their tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes

Floats = NDArray[np.float64]


def expert_shares(
    experts: NaiveBayesBank, log_gates: Floats, features: Codes, own: NDArray[np.intp]
) -> Floats:
    """How far each row, class included, belongs to each expert, (n_rows, n_experts).

    `log_gates` (n_rows, n_experts) are one mixture's log weights, `own` (n_rows,) the
    rows' classes.
    """
    right = experts.log_posteriors(features)[np.arange(len(own)), :, own]
    shares = log_gates + right
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def output_rows(
    bank: NaiveBayesBank, shares: Floats, own: NDArray[np.intp] | None
) -> Floats:
    """Shares of the rows by output of each node, (n_rows, n_nodes, n_outputs).

    `shares` (n_rows, n_experts); `own` (n_rows,) are classes, the outputs of experts,
    None for gates, whose outputs are the nodes below.
    """
    n_rows = len(shares)
    if own is None:
        parts = shares.reshape(n_rows, bank.n_nodes, bank.n_outputs, -1)
        return np.asarray(parts.sum(axis=3))
    outputs = np.zeros((n_rows, bank.n_nodes, bank.n_outputs))
    outputs[np.arange(n_rows), :, own] = shares
    return outputs


def drawn_bank(
    bank: NaiveBayesBank,
    of_nodes: Floats,
    of_outputs: Floats,
    rng: np.random.Generator,
) -> NaiveBayesBank:
    """A bank with drawn priors and tables around its own.

    `of_nodes` (n_nodes,) are the rows that each prior is worth, `of_outputs`
    (n_features, n_nodes, n_outputs) those of each distribution.
    """
    entries = bank.log_table.copy()
    for feature in range(bank.n_features):
        span = slice(*bank.offsets[feature : feature + 2])
        table = np.moveaxis(np.exp(entries[span]), 0, 2)
        total = table.sum(axis=2)
        logs = log_dirichlet(table / total[..., None], of_outputs[feature], 1, rng)[0]
        # Rows that miss a feature make its entries sum to less than one.
        entries[span] = np.moveaxis(logs + np.log(total)[..., None], 2, 0)
    prior = np.exp(bank.log_prior)
    prior /= prior.sum(axis=1, keepdims=True)
    return replace(
        bank,
        log_prior=log_dirichlet(prior, of_nodes, 1, rng)[0],
        log_table=entries,
    )
