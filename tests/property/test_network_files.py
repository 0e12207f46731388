"""Any network comes back from the text formats as it was, whatever its names."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io import read_network, write_network
from bayleaf.models.bayesian_network import BayesianNetwork
from property.for_all import for_all

STATES = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["table", "default", "a b", "a.b", '"', "\\", "//", "/*", "%"]),
    st.integers(-5, 5),
    st.floats(allow_nan=False),
    st.booleans(),
)


@st.composite
def networks(draw: st.DrawFn) -> BayesianNetwork:
    """Small networks with random names, graphs, tables and experience."""
    names = st.lists(
        st.one_of(st.text(max_size=8), st.integers(-3, 3)), min_size=1, max_size=4
    )
    states = st.lists(STATES, min_size=1, max_size=3, unique=True)
    variables = [
        Variable(name, tuple(draw(states))) for name in dict.fromkeys(draw(names))
    ]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    parents: list[tuple[int, ...]] = []
    cpds = []
    for child in range(len(variables)):
        above = rng.permutation(child)[: rng.integers(child + 1)]
        parents.append(tuple(int(node) for node in above))
        shape = tuple(variables[node].n_states for node in (*parents[-1], child))
        table = rng.dirichlet(np.full(shape[-1], 0.1), size=shape[:-1])
        experience = rng.random(shape[:-1]) if rng.random() < 0.5 else None
        cpds.append(TableCPD((*parents[-1], child), table, experience))
    return BayesianNetwork(Domain(tuple(variables)), DAG(tuple(parents)), tuple(cpds))


def types(network: BayesianNetwork) -> list[list[type]]:
    """Types of all states."""
    return [[type(state) for state in variable.states] for variable in network.domain]


def check_round_trip(network: Any, suffix: str) -> None:
    """Check that a file gives the network that was written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        write_network(network, path)
        back = read_network(path)
    assert back.domain == network.domain
    assert types(back) == types(network)
    assert back.dag == network.dag
    for one, other in zip(network.cpds, back.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
        expected = one.experience if suffix == ".net" else None
        assert (other.experience is None) == (expected is None)
        if expected is not None:
            np.testing.assert_array_equal(expected, other.experience)


@for_all(networks(), few=40, many=100)
def test_a_network_comes_back_from_bif_bit_for_bit(network: Any) -> None:
    check_round_trip(network, ".bif")


@for_all(networks(), few=40, many=100)
def test_a_network_comes_back_from_net_bit_for_bit(network: Any) -> None:
    check_round_trip(network, ".net")
