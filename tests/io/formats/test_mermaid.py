"""Mermaid's text names every variable and arc; files hold it by their suffix."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayleaf import BayesianNetwork, read_network, write_network
from bayleaf.datasets import load_network


def test_signs_with_a_meaning_are_replaced() -> None:
    structure = BayesianNetwork.from_edges([('a "b" #1', "x<y")])
    assert structure.to_mermaid() == (
        'flowchart TD\n  n0["a #quot;b#quot; #35;1"]\n  n1["x#lt;y"]\n  n0 --> n1'
    )


def test_graphs_are_written_by_suffix_and_not_read(tmp_path: Path) -> None:
    network = load_network("asia")
    for suffix, text in ((".dot", network.to_dot()), (".mmd", network.to_mermaid())):
        path = tmp_path / f"n{suffix}"
        write_network(network, path)
        assert path.read_text("utf-8") == text + "\n"
        with pytest.raises(ValueError, match=r"graph without tables.*from_edges"):
            read_network(path)
