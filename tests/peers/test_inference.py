"""Posteriors equal those of pyAgrum, and of pgmpy where pyAgrum cannot read a file.

Tried with pyAgrum 3.3.1, which stores tables as float32, and pgmpy 1.1.2.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, read_network
from bayleaf.inference.queries import Inference

NETWORKS = [
    "alarm",
    "andes",
    "asia",
    "barley",
    "cancer",
    "diabetes",
    "earthquake",
    "hailfinder",
    "hepar2",
    "insurance",
    "link",
    "mildew",
    "munin",
    "munin1",
    "munin2",
    "munin3",
    "munin4",
    "pathfinder",
    "pigs",
    "sachs",
    "survey",
    "water",
    "win95pts",
]
SHARES = (0.0, 0.1, 0.3)
# The largest clique of munin1 has 78 million cells.
MAX_TABLE_CELLS = 100_000_000
# pyAgrum takes from ten seconds to a minute for each of these.
LONG = {"barley", "diabetes", "link", "munin", "munin1", "munin2", "munin3", "munin4"}
# Without evidence pyAgrum asks for more than 16 GiB here.
OUT_OF_REACH = {("link", 0.0)}
# The largest cliques of munin1 take pyAgrum a quarter of a minute each time.
ONCE = {("munin1", 0.1), ("munin1", 0.3)}


SECONDS, BYTES = 300, 16 << 30


@pytest.fixture
def bounded() -> Iterator[None]:
    """16 GiB of memory and five minutes for what a test does."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, before[1]))
    start = time.monotonic()
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.monotonic() - start < SECONDS


def _evidence(
    network: BayesianNetwork, inference: Inference, share: float, seed: int
) -> dict[Any, Any]:
    """States of some nodes in one row drawn from the network."""
    rng = np.random.default_rng(seed)
    n_nodes = len(network.domain)
    chosen = rng.choice(n_nodes, round(share * n_nodes), replace=False)
    row = inference.sample_codes(1, random_state=seed)
    return {
        network.domain[node].name: network.domain[node].states[row.column(node)[0]]
        for node in sorted(chosen)
    }


@pytest.mark.few(5)
@pytest.mark.slow
@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in NETWORKS],
)
def test_posteriors_equal_those_of_pyagrum(data_folder: Path, name: str) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    path = data_folder / "networks" / f"{name}.bif"
    network = read_network(path)
    inference = Inference(network, max_table_cells=MAX_TABLE_CELLS)
    peer = pyagrum.loadBN(str(path))
    for share in SHARES:
        if (name, share) in OUT_OF_REACH | ONCE:
            continue
        evidence = _evidence(network, inference, share, seed=1)
        posteriors = inference.query(evidence)
        engine = pyagrum.LazyPropagation(peer)
        engine.setEvidence(evidence)
        engine.makeInference()
        for variable in network.domain:
            theirs = engine.posterior(variable.name)
            labels = peer.variable(variable.name).labels()
            expected = dict(zip(labels, theirs.tolist(), strict=True))
            found = posteriors[variable.name]
            for state in variable.states:
                assert found[state] == pytest.approx(expected[state], abs=1e-6)


# pgmpy warns of its own changes to come.
@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "alarm", "child"])
def test_posteriors_equal_those_of_pgmpy(data_folder: Path, name: str) -> None:
    readwrite = pytest.importorskip("pgmpy.readwrite")
    from pgmpy.inference import VariableElimination

    path = data_folder / "networks" / f"{name}.bif"
    network = read_network(path)
    engine = VariableElimination(readwrite.BIFReader(str(path)).get_model())
    for share in SHARES:
        evidence = _evidence(network, network, share, seed=2)
        posteriors = network.query(evidence)
        for variable in network.domain:
            if variable.name in evidence:
                continue
            factor = engine.query([variable.name], evidence, show_progress=False)
            states = factor.state_names[variable.name]
            for state, expected in zip(states, factor.values, strict=True):
                assert posteriors[variable.name][state] == pytest.approx(
                    expected, abs=1e-6
                )
