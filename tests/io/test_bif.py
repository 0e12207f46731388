"""BIF files: all that is published is read, and what we write comes back."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from bayleaf.io import read_network, write_network
from bayleaf.models.bayesian_network import BayesianNetwork

# Nodes, arcs and free parameters as the Bayesian Network Repository states them
# (Scutari, bnlearn.com/bnrepository).
PUBLISHED = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "munin1": (186, 273, 15622),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
    "pathfinder": (109, 195, 72079),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "water": (32, 66, 10083),
    "win95pts": (76, 112, 574),
}


def assert_same(first: BayesianNetwork, second: BayesianNetwork) -> None:
    """Fail unless two networks are the same bit for bit."""
    assert second.domain == first.domain
    assert second.dag == first.dag
    for one, other in zip(first.cpds, second.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_network_is_read_and_comes_back_bit_for_bit(
    name: str, data_folder: Path, tmp_path: Path
) -> None:
    network = read_network(data_folder / "networks" / f"{name}.bif")
    n_arcs = sum(1 for _ in network.dag.arcs)
    assert (len(network.domain), n_arcs, network.n_parameters) == PUBLISHED[name]
    write_network(network, tmp_path / "copy.bif")
    assert_same(network, read_network(tmp_path / "copy.bif"))


def test_munin_is_read_in_under_five_seconds(data_folder: Path) -> None:
    start = time.perf_counter()
    read_network(data_folder / "networks" / "munin.bif")
    assert time.perf_counter() - start < 5
