"""Networks of pgmpy, and back."""

from __future__ import annotations

import pytest

from bayleaf import BayesianNetwork
from bayleaf.datasets import load_network

WORKS_WITH = {
    "tool": "pgmpy",
    "tried": "1.1.2",
    "use": "`network.to_pgmpy()`, `BayesianNetwork.from_pgmpy(model)`",
    "refused": "",
}
pytestmark = pytest.mark.long


def test_a_network_comes_back_with_its_tables() -> None:
    pytest.importorskip("pgmpy.models", reason="needs pgmpy")
    network = load_network("asia")
    again = BayesianNetwork.from_pgmpy(network.to_pgmpy())
    assert str(again.cpt("dysp")) == str(network.cpt("dysp"))
