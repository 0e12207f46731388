"""Effects and adjustment sets equal those of pgmpy and pyAgrum.

Tried with pgmpy 1.1.2 and pyAgrum 3.3.1, which stores tables as float32.
"""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, write_network
from bayleaf.graph.dag import DAG
from property.networks import random_network

NAMES = [f"v{i}" for i in range(5)]


def random_binary_network(seed: int) -> BayesianNetwork:
    """Five variables in an order of their own, half of the arcs."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(5)
    parents: list[tuple[int, ...]] = [()] * 5
    for place, node in enumerate(order):
        chosen = order[:place][rng.random(place) < 0.5]
        parents[node] = tuple(int(parent) for parent in chosen)
    return random_network(rng, [2] * 5, DAG(tuple(parents)))


def causal_inference(network: BayesianNetwork, path: Path) -> Any:
    """The same network in pgmpy."""
    pytest.importorskip("pgmpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import CausalInference
        from pgmpy.readwrite import BIFReader

        write_network(network, path)
        return CausalInference(BIFReader(str(path)).get_model())


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_sets_are_valid_where_pgmpy_finds_them_so(seed: int, tmp_path: Path) -> None:
    network = random_binary_network(seed)
    theirs = causal_inference(network, tmp_path / "network.bif")
    for size in range(4):
        for nodes in itertools.combinations(NAMES[2:], size):
            expected = theirs.is_valid_adjustment_set(["v0"], ["v1"], list(nodes))
            found = network.is_adjustment_set("v0", "v1", nodes, kind="complete")
            assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_effects_equal_those_of_pyagrum(seed: int, tmp_path: Path) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    causal = pytest.importorskip("pyagrum.causal")
    network = random_binary_network(seed)
    path = tmp_path / "network.bif"
    write_network(network, path)
    model = causal.CausalModel(pyagrum.loadBN(str(path)))
    _, table, _ = causal.causalImpact(model, on="v1", doing="v0")
    # Without an effect its table has no axis for the treatment.
    expected = np.broadcast_to(table.toarray(), (2, 2))
    found = network.causal_effect("v0", "v1").probabilities
    np.testing.assert_allclose(found, expected, atol=1e-6)
