"""Banks of naive Bayes gates and experts: weights, posteriors, rows, and draws."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.dirichlet import log_dirichlet
from bayleaf.cpds.naive_bayes_bank import NaiveBayesBank
from bayleaf.data.codes import Codes
from bayleaf.inference.log_sums import log_sum_exp, logarithmic_mean_weights
from bayleaf.models.class_model import LogScores
from bayleaf.scoring.terms import Bank, Look

Floats = NDArray[np.float64]
# Those of one mixture: its gates by level, then its experts.
Banks = tuple[NaiveBayesBank, ...]

# Log posteriors of all mixtures' experts that are held at a time.
_BLOCK_CELLS = 1 << 22


def log_gate_weights(banks: Banks, codes: Codes) -> Floats:
    """Log weights (n_rows, n_experts) that one mixture's gates give its experts."""
    weights = np.zeros((codes.n_rows, 1))
    for bank in banks[:-1]:
        shares = weights[:, :, None] + bank.log_posteriors(codes)
        weights = shares.reshape(codes.n_rows, -1)
    return weights


def mixture_log_posteriors(starts: tuple[Banks, ...], codes: Codes) -> LogScores:
    """Log of the mean of the mixtures' posteriors, shape (n_rows, n_classes), nats."""
    n_members = sum(banks[-1].log_prior.size for banks in starts)
    found = np.empty((codes.n_rows, starts[0][-1].n_outputs))
    step = max(1, _BLOCK_CELLS // n_members)
    for first in range(0, codes.n_rows, step):
        rows = slice(first, first + step)
        found[rows] = log_sum_exp(_log_members(starts, codes.rows(rows)), axis=0)
    return np.asarray(found - np.log(len(starts)))


def _log_members(starts: tuple[Banks, ...], codes: Codes) -> Floats:
    """Log of gate weight times expert's posterior, for all mixtures' experts.

    Shape (n_starts * n_experts, n_rows, n_classes).
    """
    members = [
        log_gate_weights(banks, codes)[:, :, None] + banks[-1].log_posteriors(codes)
        for banks in starts
    ]
    return np.moveaxis(np.concatenate(members, axis=1), 1, 0)


def member_shares(
    starts: tuple[Banks, ...],
    codes: Codes,
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> Floats:
    """What each expert's log-odds are multiplied by so that they add up exactly.

    Shape (n_starts, n_experts, n_rows).
    """
    rows = np.arange(codes.n_rows)
    members = _log_members(starts, codes)
    shares = logarithmic_mean_weights(
        members[:, rows, target], members[:, rows, against]
    )
    return shares.reshape(len(starts), -1, codes.n_rows)


def node_path(architecture: tuple[int, ...], level: int, node: int) -> tuple[int, ...]:
    """Children, numbered from 1, on the way from the root to a node of a level."""
    path = []
    for width in reversed(architecture[:level]):
        node, child = divmod(node, width)
        path.append(child + 1)
    return tuple(reversed(path))


def path_name(path: tuple[int, ...]) -> str:
    """A node's name, such as 1.2 for child 2 of child 1 of the root."""
    return ".".join(map(str, path)) or "root"


def bank_term(bank: NaiveBayesBank) -> Bank:
    """A bank as terms hold it."""
    spans = itertools.pairwise(bank.offsets.tolist())
    tables = [bank.log_table[start:end] for start, end in spans]
    looks = [
        Look.of_states(feature, len(table), table.reshape(len(table), -1))
        for feature, table in enumerate(tables)
    ]
    return Bank(bank.log_prior, tuple(looks))


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
    bank: NaiveBayesBank, of_nodes: Floats, of_outputs: Floats, rng: np.random.Generator
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
        bank, log_prior=log_dirichlet(prior, of_nodes, 1, rng)[0], log_table=entries
    )
