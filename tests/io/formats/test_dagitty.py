"""Graphs in files of DAGitty's language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayleaf import BayesianNetwork, NetworkStructure, load, read_network
from bayleaf.datasets import load_network
from bayleaf.io import NetworkFileError
from bayleaf.io.conversion import convert_file
from offenders import check_each

DRAWN = BayesianNetwork.from_edges('"chest pain" <- X <-> Y; Z -> X', nodes=["dag"])


def test_a_graph_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    DRAWN.save(tmp_path / "drawn.dagitty")
    assert NetworkStructure.read(tmp_path / "drawn.dagitty") == DRAWN


def test_a_network_is_converted_to_its_graph(tmp_path: Path) -> None:
    network = load_network("asia")
    network.save(tmp_path / "asia.bif")
    convert_file(tmp_path / "asia.bif", tmp_path / "asia.dagitty")
    structure = NetworkStructure.read(tmp_path / "asia.dagitty")
    assert structure.names == network.names
    assert structure.edges == network.edges


def test_a_file_without_a_graph_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.dagitty"

    def check(case: tuple[str, str]) -> None:
        text, message = case
        path.write_text(text)
        with pytest.raises(NetworkFileError, match=message):
            NetworkStructure.read(path)

    check_each(
        [
            ("dag {\na -> b\na -- b\n}", "wrong.dagitty, line 3: 'a -- b' has an arc"),
            ("dag { a -> b -> a }", "wrong.dagitty: the arcs close a cycle among a, b"),
            ("", "the file is empty"),
            ("dag { }", "wrong.dagitty: a structure needs at least one variable"),
        ],
        check,
    )


def test_what_has_no_place_in_the_format_is_refused(tmp_path: Path) -> None:
    DRAWN.save(tmp_path / "drawn.dagitty")
    numbers: Any = [(1, "2"), ("1", "2")]

    def check(case: tuple[Any, str]) -> None:
        act, message = case
        with pytest.raises(ValueError, match=message):
            act()

    check_each(
        [
            (lambda: DRAWN.save(tmp_path / "x.bif"), "x.bif must end in .dagitty"),
            (lambda: read_network(tmp_path / "drawn.dagitty"), "NetworkStructure.read"),
            (lambda: load(tmp_path / "drawn.dagitty"), "NetworkStructure.read"),
            (
                lambda: BayesianNetwork.from_edges(numbers).save(
                    tmp_path / "n.dagitty"
                ),
                "two variables are written 1",
            ),
        ],
        check,
    )
