"""Rows drawn from a network variable by variable, trees without their full tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.cpds.row_probabilities import distributions_of_rows
from bayleaf.data.codes import Codes
from bayleaf.models.bayesian_network import BayesianNetwork

# Rows drawn at a time; part of what a seed means.
_BLOCK = 1 << 14


def draw_forward(
    network: BayesianNetwork, n_rows: int, rng: np.random.Generator
) -> Codes:
    """Draw rows, each variable given its parents.

    Parameters
    ----------
    network : BayesianNetwork
        What to draw from.
    n_rows : int
        Number of rows.
    rng : Generator
        Source of one uniform a cell.

    Returns
    -------
    Codes
        No cell is missing.

    Notes
    -----
    Henrion (1988), "Propagating uncertainty in Bayesian networks by probabilistic
    logic sampling".
    """
    blocks = [
        _block(network, min(_BLOCK, n_rows - first), rng)
        for first in range(0, n_rows, _BLOCK)
    ]
    columns = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    return Codes.from_columns(columns, network.domain.cards)


def _block(
    network: BayesianNetwork, n_rows: int, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """A column for each variable."""
    cards = network.domain.cards
    columns = [np.full(n_rows, card, dtype=np.intp) for card in cards]
    for node in network.dag.order:
        given = Codes.from_columns(columns, cards)
        columns[node] = _drawn(network.cpds[node], given, rng.random(n_rows))
    return columns


def _drawn(cpd: CPD, given: Codes, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
    """The first state whose cumulative probability exceeds the row's uniform."""
    drawn = np.empty(len(uniforms), dtype=np.intp)
    for probabilities, rows in distributions_of_rows(cpd, given):
        cumulative = np.cumsum(probabilities, axis=-1)
        reached = uniforms[rows, None] * cumulative[..., -1:] >= cumulative
        drawn[rows] = np.minimum(reached.sum(axis=-1), cpd.cards[-1] - 1)
    return drawn
