"""XMLBIF and XDSL files mean the same to pgmpy and pyAgrum as to us."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io.formats import xdsl, xmlbif
from bayleaf.io.formats.bif import read as read_bif
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.hard_networks import (
    PRINTABLE_NAMES,
    mixed_network,
    with_random_tables,
)

# The peers warn of what will change in them.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

# pyAgrum keeps tables in single precision.
CLOSE = 1e-6


@pytest.fixture
def pgmpy() -> Any:
    """pgmpy's readers, writers and inference."""
    readwrite = pytest.importorskip("pgmpy.readwrite")
    inference = pytest.importorskip("pgmpy.inference")
    logging.getLogger("pgmpy").setLevel(logging.ERROR)
    return SimpleNamespace(
        read={"xml": readwrite.XMLBIFReader, "xdsl": readwrite.XDSLReader},
        write={"xml": readwrite.XMLBIFWriter, "xdsl": readwrite.XDSLWriter},
        inference=inference.VariableElimination,
    )


@pytest.fixture
def agrum() -> Any:
    """pyAgrum."""
    return pytest.importorskip("pyagrum")


OURS: dict[str, Any] = {"xml": xmlbif, "xdsl": xdsl}


def printable_network() -> BayesianNetwork:
    """Five variables of unequal cards with odd names, some with two parents."""
    names = PRINTABLE_NAMES[2:7]
    variables = [
        Variable(name, PRINTABLE_NAMES[: 2 + i % 3]) for i, name in enumerate(names)
    ]
    dag = DAG(((), (0,), (1, 0), (0, 2), (3, 1)))
    return with_random_tables(Domain(tuple(variables)), dag, 3)


def published(data_folder: Path, name: str) -> BayesianNetwork:
    """A published network."""
    return read_bif(data_folder / "networks" / f"{name}.bif")


def joint(network: BayesianNetwork) -> NDArray[np.float64]:
    """The joint distribution, one axis a variable."""
    operands: list[Any] = []
    for cpd in network.cpds:
        operands += [cpd.probabilities, list(cpd.family)]
    table = np.einsum(*operands, list(range(len(network.domain))))
    return np.asarray(table / table.sum())


def posterior(
    network: BayesianNetwork, target: int, evidence: dict[int, int]
) -> NDArray[np.float64]:
    """P(target | evidence) from the joint distribution."""
    table = joint(network)
    index = tuple(evidence.get(i, slice(None)) for i in range(table.ndim))
    left = [i for i in range(table.ndim) if i not in evidence]
    others = tuple(axis for axis, i in enumerate(left) if i != target)
    values = table[index].sum(axis=others)
    return np.asarray(values / values.sum())


def assert_pgmpy_has(
    model: Any, network: BayesianNetwork, names: list[str], tolerance: float
) -> None:
    """Fail unless pgmpy's model has our arcs and tables under these names."""
    assert set(model.nodes) == set(names)
    assert set(model.edges) == {(names[a], names[b]) for a, b in network.dag.arcs}
    for cpd in network.cpds:
        theirs = model.get_cpds(names[cpd.child])
        family = [names[member] for member in (cpd.child, *cpd.parents)]
        assert list(theirs.variables) == family
        table = theirs.get_values().T.reshape(cpd.cards)
        np.testing.assert_allclose(table, cpd.probabilities, atol=tolerance)


def agrum_table(bn: Any, names: list[str], family: tuple[int, ...]) -> Any:
    """pyAgrum's table of a family with our order of axes."""
    tensor = bn.cpt(names[family[-1]])
    axes = list(reversed(tensor.names))
    order = [axes.index(names[member]) for member in family]
    return np.transpose(tensor.toarray(), order)


@pytest.mark.parametrize("suffix", OURS)
@pytest.mark.parametrize("name", ["asia", "alarm", "insurance", "hailfinder"])
def test_pgmpy_reads_our_published_networks(
    pgmpy: Any, data_folder: Path, tmp_path: Path, suffix: str, name: str
) -> None:
    network = published(data_folder, name)
    path = tmp_path / f"a.{suffix}"
    OURS[suffix].write(network, path)
    model = pgmpy.read[suffix](str(path)).get_model()
    assert_pgmpy_has(model, network, list(network.domain.names), 0.0)


@pytest.mark.parametrize("suffix", OURS)
@pytest.mark.parametrize("make", [printable_network, mixed_network])
def test_pgmpy_finds_our_posteriors(
    pgmpy: Any, tmp_path: Path, suffix: str, make: Any
) -> None:
    network = make()
    path = tmp_path / f"a.{suffix}"
    OURS[suffix].write(network, path)
    model = pgmpy.read[suffix](str(path)).get_model()
    # Nodes stand in the order of our variables.
    names = list(model.nodes)
    engine = pgmpy.inference(model)
    evidence = {0: 1, 2: 1}
    states = {names[i]: model.get_cpds(names[i]).state_names for i in evidence}
    given = {names[i]: states[names[i]][names[i]][code] for i, code in evidence.items()}
    for target in (1, 3):
        found = engine.query([names[target]], given, show_progress=False).values
        expected = posterior(network, target, evidence)
        np.testing.assert_allclose(found, expected, atol=CLOSE)


def test_pgmpy_reads_odd_names_as_they_are(pgmpy: Any, tmp_path: Path) -> None:
    network = printable_network()
    xmlbif.write(network, tmp_path / "a.xml")
    model = pgmpy.read["xml"](str(tmp_path / "a.xml")).get_model()
    assert_pgmpy_has(model, network, list(network.domain.names), 0.0)
    for variable in network.domain:
        states = model.get_cpds(variable.name).state_names[variable.name]
        assert tuple(states) == variable.states


@pytest.mark.parametrize("suffix", OURS)
@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_we_read_what_pgmpy_writes(
    pgmpy: Any, data_folder: Path, tmp_path: Path, suffix: str, name: str
) -> None:
    network = published(data_folder, name)
    OURS[suffix].write(network, tmp_path / f"a.{suffix}")
    model = pgmpy.read[suffix](str(tmp_path / f"a.{suffix}")).get_model()
    pgmpy.write[suffix](model).write(str(tmp_path / f"b.{suffix}"))
    back = OURS[suffix].read(tmp_path / f"b.{suffix}")
    assert_pgmpy_has(model, back, list(back.domain.names), 1e-12)
    for variable in network.domain:
        copy = back.domain[back.domain.index(variable.name)]
        # pgmpy spells states with letters, digits and underscores alone.
        assert copy.n_states == variable.n_states


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance", "hailfinder"])
def test_pyagrum_reads_our_published_networks_and_we_read_its_own(
    agrum: Any, data_folder: Path, tmp_path: Path, name: str
) -> None:
    network = published(data_folder, name)
    names = [str(name) for name in network.domain.names]
    xmlbif.write(network, tmp_path / "a.bifxml")
    bn = agrum.loadBN(str(tmp_path / "a.bifxml"))
    for cpd in network.cpds:
        labels = bn.variable(names[cpd.child]).labels()
        assert tuple(labels) == network.domain[cpd.child].states
        table = agrum_table(bn, names, cpd.family)
        np.testing.assert_allclose(table, cpd.probabilities, atol=CLOSE)
    agrum.saveBN(bn, str(tmp_path / "b.bifxml"))
    back = xmlbif.read(tmp_path / "b.bifxml")
    assert set(back.edges) == set(network.edges)
    for cpd in back.cpds:
        table = agrum_table(bn, list(map(str, back.domain.names)), cpd.family)
        np.testing.assert_allclose(cpd.probabilities, table, atol=CLOSE)


@pytest.mark.parametrize("make", [printable_network, mixed_network])
def test_pyagrum_finds_our_posteriors(agrum: Any, tmp_path: Path, make: Any) -> None:
    network = make()
    names = [str(name) for name in network.domain.names]
    xmlbif.write(network, tmp_path / "a.bifxml")
    bn = agrum.loadBN(str(tmp_path / "a.bifxml"))
    assert {bn.variable(node).name() for node in bn.nodes()} == set(names)
    engine = agrum.LazyPropagation(bn)
    evidence = {0: 1, 2: 1}
    engine.setEvidence({names[i]: code for i, code in evidence.items()})
    engine.makeInference()
    for target in (1, 3):
        found = engine.posterior(names[target]).toarray()
        expected = posterior(network, target, evidence)
        np.testing.assert_allclose(found, expected, atol=CLOSE)
