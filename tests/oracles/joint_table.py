"""Inference by the whole joint distribution as one array: slow, and plainly right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.bayesian_network import BayesianNetwork

Floats = NDArray[np.float64]


def joint_table(
    network: BayesianNetwork, likelihoods: Mapping[int, Any] | None = None
) -> Floats:
    """P(all variables, evidence), one axis a variable."""
    n_variables = len(network.domain)
    joint = np.ones(network.domain.cards)
    for cpd in network.cpds:
        table = cpd.probabilities / cpd.probabilities.sum(axis=-1, keepdims=True)
        order = np.argsort(cpd.family)
        shape = np.ones(n_variables, dtype=int)
        shape[list(cpd.family)] = cpd.cards
        joint = joint * table.transpose(order).reshape(shape)
    for variable, likelihood in (likelihoods or {}).items():
        shape = np.ones(n_variables, dtype=int)
        shape[variable] = -1
        joint = joint * np.reshape(likelihood, shape)
    return joint


def marginal(joint: Floats, *variables: int) -> Floats:
    """Sums of a joint table over all other variables, axes as named."""
    others = tuple(v for v in range(joint.ndim) if v not in variables)
    kept = sorted(variables)
    return joint.sum(axis=others).transpose([kept.index(v) for v in variables])


def entropy(distribution: Floats) -> float:
    """Entropy in nats of a distribution on any scale."""
    normalised = distribution / distribution.sum()
    positive = normalised[normalised > 0]
    return float(-(positive * np.log(positive)).sum())
