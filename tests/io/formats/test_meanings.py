"""What states of latent variables mean, in network files and in other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayleaf import BayesianNetwork, HNBClassifier, read_network
from bayleaf.data.domain import Variable
from bayleaf.datasets import load_heart
from offenders import check_each

SUFFIXES = ("net", "oobn", "xdsl", "xmlbif", "bif", "dne", "dsc", "pgmx", "xbn", "json")
# Every sign and word that some reader takes for its own inside of strings.
ODD = 'data = (1) or node b != {x; y} and "q" \\ t <= 1\nand u >= é\x00'


@pytest.fixture(scope="module")
def network() -> BayesianNetwork:
    """A network with nested latent variables; a meaning has all odd signs."""
    X, y = load_heart(return_X_y=True)
    model = HNBClassifier(search="significance", significance_level=0.001)
    found = model.fit(X, y).network_
    states, parents, tables = {}, {}, {}
    for variable, cpd in zip(found.variables, found.cpds, strict=True):
        meanings = variable.meanings
        if variable.name == "L1":
            assert meanings is not None
            meanings = (ODD, *meanings[1:])
        states[variable.name] = Variable(
            variable.name, variable.states, meanings=meanings
        )
        parents[variable.name] = [found.names[parent] for parent in cpd.parents]
        tables[variable.name] = found.cpt(variable.name).probabilities
    return BayesianNetwork.from_tables(states, tables, parents)


def _meanings(network: BayesianNetwork) -> list[Any]:
    return [variable.meanings for variable in network.variables]


def test_meanings_come_back_from_every_format(
    network: BayesianNetwork, tmp_path: Path
) -> None:
    def check(suffix: str) -> None:
        path = tmp_path / f"heart.{suffix}"
        network.save(path)
        assert _meanings(read_network(path)) == _meanings(network)

    assert sum(meanings is not None for meanings in _meanings(network)) == 4
    check_each(SUFFIXES, check)


def test_readers_see_meanings_where_their_program_shows_them(
    network: BayesianNetwork, tmp_path: Path
) -> None:
    third = "st_depression > 1.7 and st_slope is flat"
    shown = {
        "net": f'HR_State_2 = "{third}";',
        "xdsl": f"s_3: {third.replace('>', '&gt;')}</comment>",
        "xmlbif": f"; 3: {third.replace('>', '&gt;')}</PROPERTY>",
    }
    for suffix, text in shown.items():
        path = tmp_path / f"heart.{suffix}"
        network.save(path)
        assert text in path.read_text(encoding="utf-8")


def test_meanings_that_do_not_fit_the_states_are_refused(
    network: BayesianNetwork, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="'L1' has 2 states, but meanings of 1"):
        Variable("L1", ("1", "2"), meanings=("a = b",))
    path = tmp_path / "heart.net"
    network.save(path)
    text = path.read_text(encoding="utf-8")
    at = text.index("bayleaf_meanings")
    end = text.index(";", at)
    path.write_text(
        text[:at] + "bayleaf_meanings = \"['a']\"" + text[end:], encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r'"bayleaf_meanings" of variable "L1"'):
        read_network(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["net", "xdsl", "bifxml", "bif"])
def test_pyagrum_and_pgmpy_open_files_with_meanings(
    network: BayesianNetwork, tmp_path: Path, suffix: str
) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    readwrite = pytest.importorskip("pgmpy.readwrite")
    path = tmp_path / f"heart.{suffix}"
    network.save(path)
    theirs = pyagrum.loadBN(str(path))
    assert theirs.size() == len(network.names)
    if suffix == "bifxml":
        assert "3: st_depression > 1.7" in theirs.variable("L1").description()
    readers = {"net": "NETReader", "xdsl": "XDSLReader", "bifxml": "XMLBIFReader"}
    reader = getattr(readwrite, readers.get(suffix, "BIFReader"))
    assert len(reader(str(path)).get_model().nodes()) == len(network.names)
