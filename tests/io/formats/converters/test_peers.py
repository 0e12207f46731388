"""Libraries that are not installed are named in a sentence."""

from __future__ import annotations

import sys

import pytest

from bayleaf import BayesianNetwork
from bayleaf.datasets import load_network

MODULES = {"networkx": "networkx", "pgmpy": "pgmpy.models", "pyagrum": "pyagrum"}


@pytest.mark.parametrize("library", MODULES)
def test_a_missing_library_is_named(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (library, MODULES[library], "pgmpy.factors.discrete"):
        monkeypatch.setitem(sys.modules, name, None)
    sentence = f"^{library} is not installed; install it to exchange "
    with pytest.raises(ImportError, match=sentence):
        getattr(load_network("cancer"), f"to_{library}")()
    with pytest.raises(ImportError, match=sentence):
        getattr(BayesianNetwork, f"from_{library}")(None)


def test_a_network_goes_through_networkx_by_its_methods() -> None:
    pytest.importorskip("networkx")
    network = load_network("cancer")
    back = BayesianNetwork.from_networkx(network.to_networkx())
    assert back.domain == network.domain
    assert back.edges == network.edges
