"""Networks of pyAgrum, and back."""

from __future__ import annotations

import pytest

from bayleaf import BayesianNetwork
from bayleaf.datasets import load_network

WORKS_WITH = {
    "tool": "pyAgrum",
    "tried": "3.3.1",
    "use": "`network.to_pyagrum()`, `BayesianNetwork.from_pyagrum(bn)`",
    "refused": "",
}
pytestmark = pytest.mark.slow


def test_a_network_comes_back_with_its_tables() -> None:
    pytest.importorskip("pyagrum", reason="needs pyAgrum")
    network = load_network("asia")
    again = BayesianNetwork.from_pyagrum(network.to_pyagrum())
    assert str(again.cpt("dysp")) == str(network.cpt("dysp"))
