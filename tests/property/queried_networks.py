"""Random networks with zeros in their tables, and evidence of every kind on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.inference.evidence import Not
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import joint_table
from property.networks import seeded_generators

# So few cells that most networks are answered in parts.
SMALL_LIMIT = 30
LIMITS = st.sampled_from([20_000_000, SMALL_LIMIT])
STATES = ("low", "middle", "high", "top")


@st.composite
def sparse_networks(draw: st.DrawFn, *, max_variables: int = 8) -> BayesianNetwork:
    """Networks over a random graph, about a third of the entries zero."""
    n_variables = draw(st.integers(1, max_variables))
    cards = draw(
        st.lists(st.integers(1, 3), min_size=n_variables, max_size=n_variables)
    )
    order = draw(st.permutations(range(n_variables)))
    rng = draw(seeded_generators())
    parents: list[tuple[int, ...]] = [()] * n_variables
    for position, node in enumerate(order):
        n_parents = int(rng.integers(0, min(position, 3) + 1))
        chosen = rng.choice(order[:position], n_parents, replace=False)
        parents[node] = tuple(int(parent) for parent in chosen)
    return sparse_network(rng, cards, DAG(tuple(parents)))


def sparse_network(
    rng: np.random.Generator, cards: list[int], dag: DAG, zeros: float = 0.35
) -> BayesianNetwork:
    """A network whose tables hold zeros."""
    cpds = []
    for family in dag.families:
        shape = tuple(cards[member] for member in family)
        table = rng.random(shape) * (rng.random(shape) > zeros)
        empty = table.sum(axis=-1) == 0
        table[empty, rng.integers(0, shape[-1])] = 1.0
        cpds.append(TableCPD(family, table / table.sum(axis=-1, keepdims=True)))
    domain = Domain(
        tuple(Variable(f"v{i}", STATES[:card]) for i, card in enumerate(cards))
    )
    return BayesianNetwork(domain, dag, tuple(cpds))


def random_evidence(
    rng: np.random.Generator, network: BayesianNetwork, share: float = 0.5
) -> tuple[dict[str, Any], dict[int, NDArray[np.float64]]]:
    """Evidence as a user gives it, and as likelihoods."""
    given: dict[str, Any] = {}
    likelihoods: dict[int, NDArray[np.float64]] = {}
    for position, variable in enumerate(network.domain):
        card = variable.n_states
        if rng.random() > share:
            continue
        likelihood = (rng.random(card) < 0.6).astype(float)
        likelihood[rng.integers(card)] = 1.0
        named = [s for s, w in zip(variable.states, likelihood, strict=True) if w]
        absent = [s for s in variable.states if s not in named]
        weights = likelihood * rng.random(card)
        kind = rng.integers(5)
        if kind == 0:
            likelihood = np.eye(card)[rng.integers(card)]
            value: Any = variable.states[int(likelihood.argmax())]
        elif kind == 1:
            value = set(named)
        elif kind == 2:
            value = Not(*absent)
        elif kind == 3:
            value = dict(zip(variable.states, weights.tolist(), strict=True))
            likelihood = weights
        else:
            value = likelihood = weights
        given[str(variable.name)] = value
        likelihoods[position] = likelihood
    return given, likelihoods


@st.composite
def queries(
    draw: st.DrawFn, *, max_variables: int = 8
) -> tuple[BayesianNetwork, dict[str, Any], dict[int, NDArray[np.float64]]]:
    """Networks with possible evidence on some of their variables."""
    network = draw(sparse_networks(max_variables=max_variables))
    rng = draw(seeded_generators())
    return network, *possible_evidence(rng, network)


def possible_evidence(
    rng: np.random.Generator, network: BayesianNetwork
) -> tuple[dict[str, Any], dict[int, NDArray[np.float64]]]:
    """Random evidence, some of it left out if it is impossible together."""
    given, likelihoods = random_evidence(rng, network)
    while joint_table(network, likelihoods).sum() == 0:
        position, _ = likelihoods.popitem()
        del given[f"v{position}"]
    return given, likelihoods


def within_limit(ask: Callable[[], Any], limit: int) -> Any:
    """What a question gives; None where even a part exceeds a small limit."""
    try:
        return ask()
    except ValueError as error:
        if limit > SMALL_LIMIT or "max_table_cells" not in str(error):
            raise
        return None
