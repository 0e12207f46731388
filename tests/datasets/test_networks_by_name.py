"""Networks that come with the library, and those that it finds."""

from __future__ import annotations

import sys
from importlib.resources import files
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bayleaf import read_network, write_network
from bayleaf.datasets import load_network, networks_by_name
from bayleaf.datasets.networks_by_name import ELSEWHERE, SHIPPED
from offenders import check_each
from oracles.hard_networks import assert_same_network


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a folder of data nor pgmpy."""
    monkeypatch.delenv("BAYLEAF_DATA", raising=False)
    monkeypatch.setattr(networks_by_name.importlib.util, "find_spec", lambda name: None)


def test_a_shipped_network_is_the_published_one(data_folder: Path) -> None:
    def check(name: str) -> None:
        published = read_network(data_folder / "networks" / f"{name}.bif")
        assert_same_network(published, load_network(name))

    check_each(SHIPPED, check)


@pytest.mark.usefixtures("nothing_installed")
def test_a_shipped_network_needs_nothing_else() -> None:
    def check(name: str) -> None:
        assert len(load_network(name).domain) >= 5

    check_each(SHIPPED, check)


def test_asia_gives_the_marginals_of_lauritzen_and_spiegelhalter() -> None:
    # The paper's section 9 prints .45 and .11 for bronchitis and either.
    network = load_network("asia")
    marginals = network.query({})
    assert round(marginals["bronc"]["yes"], 2) == 0.45
    assert round(marginals["lung"]["yes"], 3) == 0.055
    assert round(marginals["tub"]["yes"], 4) == 0.0104


def test_shipped_networks_are_small() -> None:
    folder = files("bayleaf.datasets") / "networks"
    assert sum(len(path.read_bytes()) for path in folder.iterdir()) < 10_000


@pytest.mark.usefixtures("nothing_installed")
def test_other_networks_are_read_from_a_folder(tmp_path: Path) -> None:
    def check(case: tuple[str, str]) -> None:
        place, suffix = case
        folder = tmp_path / f"{place}{suffix}"
        (folder / place).mkdir(parents=True)
        write_network(load_network("cancer"), folder / place / f"child{suffix}")
        found = load_network("child", folder=folder)
        assert found.edges == load_network("cancer").edges

    check_each(product(["", "networks"], [".bif", ".bif.gz", ".json"]), check)


def test_the_folder_may_stand_in_the_environment(
    tmp_path: Path, nothing_installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_network(load_network("cancer"), tmp_path / "own.bif")
    monkeypatch.setenv("BAYLEAF_DATA", str(tmp_path))
    assert len(load_network("own").domain) == 5


def test_an_installed_pgmpy_lends_its_example_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pgmpy")
    monkeypatch.delenv("BAYLEAF_DATA", raising=False)
    before = set(sys.modules)
    network = load_network("child")
    assert len(network.domain) == 20
    assert all(np.isfinite(cpd.probabilities).all() for cpd in network.cpds)
    assert "pgmpy.models" not in set(sys.modules) - before


def test_a_network_that_is_not_there_says_where_to_put_it(
    nothing_installed: None,
) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"put its file munin\.bif into a folder"
    ):
        load_network("munin")


def test_an_unknown_name_is_refused_with_near_ones() -> None:
    message = r"there is no network .*; the library comes"

    def check(name: str) -> None:
        with pytest.raises(ValueError, match=message):
            load_network(name)

    check_each(["asai", "../asia", ""], check)


def test_no_name_is_both_shipped_and_elsewhere() -> None:
    assert not set(SHIPPED) & set(ELSEWHERE)
