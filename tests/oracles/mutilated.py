"""Interventions by the whole joint distribution without the tables of what is set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import marginal

Floats = NDArray[np.float64]


def mutilated_joint(
    network: BayesianNetwork,
    settings: Mapping[int, Floats],
    likelihoods: Mapping[int, Floats] | None = None,
) -> Floats:
    """The truncated factorisation, one axis a variable."""
    joint = np.ones(network.domain.cards)
    for node, cpd in enumerate(network.cpds):
        family = (node,) if node in settings else cpd.family
        table = settings.get(node, cpd.probabilities)
        axes = list(range(joint.ndim))
        joint = np.einsum(joint, axes, table, list(family), axes)
    for node, likelihood in (likelihoods or {}).items():
        axes = list(range(joint.ndim))
        joint = np.einsum(joint, axes, likelihood, [node], axes)
    return joint


def interventional(
    network: BayesianNetwork,
    treatment: int,
    outcome: int,
    likelihoods: Mapping[int, Floats] | None = None,
) -> Floats:
    """P(outcome | do(treatment), evidence), shape (n_treatments, n_outcomes)."""
    rows = []
    for point in np.eye(network.domain.cards[treatment]):
        joint = mutilated_joint(network, {treatment: point}, likelihoods)
        own = marginal(joint, outcome)
        rows.append(own / own.sum() if own.sum() > 0 else np.full(own.shape, np.nan))
    return np.array(rows)
