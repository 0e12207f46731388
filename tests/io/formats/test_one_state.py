"""Variables with one state, which some programs refuse, go through every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayleaf import BayesianNetwork
from bayleaf.data.domain import numeric_variable
from bayleaf.io import NetworkFileError, read_network, write_network
from offenders import check_each
from oracles.hard_networks import assert_same_network
from oracles.odd_networks import network_of

PADDED = (".bif", ".net", ".uai")


def constant_network() -> BayesianNetwork:
    """A constant in the middle of a graph, with a state that is a word of ours."""
    network = BayesianNetwork.from_tables(
        states={"a": ["n", "y"], "c": ["impossible"], "b": ["n", "y", "z"]},
        parents={"c": ["a"], "b": ["c", "a"]},
        tables={
            "a": [0.25, 0.75],
            "c": [[1.0], [1.0]],
            "b": [[[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]]],
        },
    )
    return network.with_experience(3.0)


def as_others_see_it(path: Path) -> BayesianNetwork:
    """The network of a file without our notes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    plain = path.with_name(f"plain{path.suffix}")
    kept = [line for line in lines if "bayleaf_" not in line]
    plain.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return read_network(plain)


def test_a_constant_comes_back_with_one_state(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        network = constant_network()
        if suffix in {".bif", ".uai"}:
            # These have no place for experience.
            network = network.with_experience({})
        path = tmp_path / f"a{suffix}"
        write_network(network, path)
        assert_same_network(network, read_network(path))

    check_each([*PADDED, ".xml", ".xdsl", ".json"], check)


def test_other_programs_see_a_second_state_that_never_occurs(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        network = constant_network()
        path = tmp_path / f"a{suffix}"
        write_network(network, path)
        seen = as_others_see_it(path)
        np.testing.assert_array_equal(seen.domain.cards, [2, 2, 3])
        np.testing.assert_array_equal(seen.cpds[1].probabilities, [[1, 0], [1, 0]])

    check_each(PADDED, check)


def test_posteriors_of_the_other_variables_are_the_same_with_it(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        network = constant_network()
        path = tmp_path / f"a{suffix}"
        write_network(network, path)
        seen = as_others_see_it(path)
        names, values = seen.domain.names, seen.domain[2].states
        theirs = seen.query({names[2]: values[1]})[names[0]].probabilities
        ours = network.query({"b": "y"})["a"].probabilities
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-15)

    check_each(PADDED, check)


def test_a_constant_number_keeps_its_kind(tmp_path: Path) -> None:
    def check(suffix: str) -> None:
        network = network_of([numeric_variable("age", [])], [()])
        path = tmp_path / f"a{suffix}"
        write_network(network, path)
        assert read_network(path).domain == network.domain

    check_each(PADDED, check)


def test_a_note_that_a_table_contradicts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    write_network(network_of([constant_network().domain[1]], [()]), path)
    text = path.read_text("utf-8").replace("1.0, 0.0", "0.5, 0.5")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NetworkFileError, match="a state that a note calls impossible"):
        read_network(path)


def test_a_note_of_another_number_is_refused(tmp_path: Path) -> None:
    def check(note: str) -> None:
        path = tmp_path / "a.bif"
        write_network(network_of([constant_network().domain[1]], [()]), path)
        text = path.read_text("utf-8").replace(
            'impossible = "1"', f'impossible = "{note}"'
        )
        path.write_text(text, encoding="utf-8")
        with pytest.raises(NetworkFileError, match=r"note .bayleaf_impossible. of"):
            read_network(path)

    check_each(["2", "-1", "true", "x", "[1]", "9" * 400], check)


def test_a_table_that_added_states_make_too_large_is_refused(tmp_path: Path) -> None:
    network = constant_network()
    write_network(network, tmp_path / "a.bif", max_table_cells=12)
    with pytest.raises(ValueError, match=r"'b' would have 12 cells"):
        write_network(network, tmp_path / "a.bif", max_table_cells=11)
