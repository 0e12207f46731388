"""Starts that tell the states of a latent variable apart, and those that do not."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.codes import Codes
from bayleaf.models.bayesian_network import BayesianNetwork
from bayleaf.models.network_parts import Name
from bayleaf.wording import name_list

# Differences that rounding leaves.
_EQUAL = 1e-12


def stalled_latents(
    network: BayesianNetwork, codes: Codes, learned: Collection[int]
) -> list[Name]:
    """Latent variables whose states no step of expectation maximisation separates.

    Where the distributions of all children are the same in every state of a variable
    that no row shows, its posterior is its prior in every row, so expected counts leave
    the children's distributions alike: a saddle point. `learned` are the variables
    whose distributions are learned.
    """
    children = network.dag.children()
    return [
        variable.name
        for node, variable in enumerate(network.domain)
        if variable.n_states > 1
        and any(child in learned for child in children[node])
        and codes.missing(node).all()
        and all(_is_blind(network, child, node) for child in children[node])
    ]


def _is_blind(network: BayesianNetwork, child: int, parent: int) -> bool:
    """Whether a child's distributions are the same in all states of a parent."""
    cpd = network.cpds[child]
    axis = cpd.parents.index(parent)
    table = cpd.probabilities
    first = np.take(table, [0], axis=axis)
    return bool((np.abs(table - first) <= _EQUAL).all())


def warn_of_saddle_point(
    network: BayesianNetwork, codes: Codes, learned: Collection[int]
) -> None:
    """Warn where a start is a saddle point; the RuntimeWarning names the variables."""
    stalled = stalled_latents(network, codes, learned)
    if stalled:
        warnings.warn(
            f"the start does not tell the states of the latent {name_list(stalled)} "
            "apart, so no step of expectation maximisation will; give the children "
            "different distributions in each state, or raise n_restarts",
            RuntimeWarning,
            stacklevel=3,
        )


def with_random_tables(
    network: BayesianNetwork, latent: Collection[int], generator: np.random.Generator
) -> BayesianNetwork:
    """The network with random tables of some variables and of their children."""
    cpds = list(network.cpds)
    for node, cpd in enumerate(cpds):
        if isinstance(cpd, TableCPD) and not set(cpd.family).isdisjoint(latent):
            drawn = generator.standard_exponential(cpd.cards)
            drawn /= drawn.sum(axis=-1, keepdims=True)
            cpds[node] = replace(cpd, probabilities=drawn)
    return replace(network, cpds=tuple(cpds))
