"""DSL and UAI files, keywords and constants mean the same to peers as to us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, read_network, write_network
from bayleaf.data.domain import Variable
from bayleaf.datasets import load_network
from bayleaf.io.formats.safe_names import SafeNames
from oracles.hard_networks import assert_same_network
from oracles.odd_networks import network_of

# Peers warn about their own inner workings.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),
]
# Words that mean something in a format or to the programs that read it.
KEYWORDS = (
    *("network", "variable", "probability", "property", "type", "discrete", "default"),
    *("table", "node", "potential", "net", "states", "label", "data", "class", "name"),
    *(
        "experience",
        "decision",
        "utility",
        "continuous",
        "true",
        "false",
        "none",
        "null",
    ),
    *("nan", "inf", "function", "model", "subtype", "number", "boolean", "interval"),
    *("BAYES", "MARKOV", "impossible", "True", "Table", "NODE", "parents", "cpt"),
)
SUFFIXES = (".bif", ".net", ".bifxml", ".xdsl", ".uai")
READERS = {".bif": "BIFReader", ".net": "NETReader", ".xml": "XMLBIFReader"}


@pytest.fixture(scope="module")
def gum() -> Any:
    """The package pyAgrum."""
    return pytest.importorskip("pyagrum")


@pytest.fixture(scope="module")
def pgmpy_io() -> Any:
    """Readers and writers of pgmpy."""
    return pytest.importorskip("pgmpy.readwrite")


def keyword_network() -> BayesianNetwork:
    """Variables and states whose names mean something to formats."""
    variables = [
        Variable(word, (word, KEYWORDS[i - 1], KEYWORDS[i - 2])[: 2 + i % 2])
        for i, word in enumerate(KEYWORDS)
    ]
    parents: list[tuple[int, ...]] = [(), (0,)]
    parents += [(i - 1, i - 2) for i in range(2, len(variables))]
    return network_of(variables, parents)


def constant_network() -> BayesianNetwork:
    """A constant that is a child and a parent."""
    variables = [
        Variable("a", ("n", "y")),
        Variable("c", ("always",)),
        Variable("b", ("p", "q", "r")),
        Variable("only", (1.5,)),
    ]
    return network_of(variables, [(), (0,), (1, 0), ()])


def joint_of(network: BayesianNetwork) -> Any:
    """The joint distribution, one axis a variable."""
    operands: list[Any] = []
    for cpd in network.cpds:
        operands += [cpd.probabilities, list(cpd.family)]
    return np.einsum(*operands, list(range(len(network.domain))))


@pytest.mark.parametrize("suffix", [".bif", ".net", ".xml", ".xdsl", ".uai", ".json"])
@pytest.mark.parametrize("make", [keyword_network, constant_network])
def test_keywords_and_constants_come_back_from_our_own_files(
    tmp_path: Path, suffix: str, make: Any
) -> None:
    write_network(make(), tmp_path / f"a{suffix}")
    assert_same_network(make(), read_network(tmp_path / f"a{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("make", [keyword_network, constant_network])
def test_pyagrum_reads_keywords_and_constants(
    gum: Any, tmp_path: Path, suffix: str, make: Any
) -> None:
    network = make()
    path = tmp_path / f"a{suffix}"
    write_network(network, path)
    model = gum.loadBN(str(path))
    assert model.size() == len(network.domain)
    if suffix != ".xdsl":
        # pyAgrum 3.3.1 turns the order of parents round in XDSL.
        assert_agrum_tables(model, network, suffix)


def assert_agrum_tables(model: Any, network: BayesianNetwork, suffix: str) -> None:
    """Fail unless pyAgrum has our tables, with zeros for states that we added."""
    safe = SafeNames.for_network(network.domain)
    names = [safe.variable(index) for index in range(len(network.domain))]
    if suffix == ".uai":
        names = [str(index) for index in range(len(names))]
    elif suffix == ".bifxml":
        names = [str(name) for name in network.domain.names]
    for cpd in network.cpds:
        if suffix == ".uai" and len(cpd.parents) > 1:
            # pyAgrum 3.3.1 has the first parent fastest, against the format.
            continue
        table = model.cpt(names[cpd.child])
        axes = list(reversed(table.names))
        order = [axes.index(names[member]) for member in cpd.family]
        cells = np.transpose(table.toarray(), order)
        kept = cells[tuple(slice(card) for card in cpd.cards)]
        np.testing.assert_allclose(kept, cpd.probabilities, atol=1e-6)
        assert not cells[..., cpd.cards[-1] :].any()


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("make", [keyword_network, constant_network])
def test_pgmpy_reads_keywords_and_constants(
    pgmpy_io: Any, tmp_path: Path, suffix: str, make: Any
) -> None:
    network = make()
    path = tmp_path / f"a{suffix}"
    write_network(network, path)
    model = getattr(pgmpy_io, READERS[suffix])(str(path)).get_model()
    safe = SafeNames.for_network(network.domain)
    names = [safe.variable(index) for index in range(len(network.domain))]
    if suffix == ".xml":
        names = [str(name) for name in network.domain.names]
    for cpd in network.cpds:
        theirs = model.get_cpds(names[cpd.child])
        order = [theirs.variables.index(names[member]) for member in cpd.family]
        cells = np.transpose(theirs.values, order)
        kept = cells[tuple(slice(card) for card in cpd.cards)]
        np.testing.assert_allclose(kept, cpd.probabilities, atol=1e-6)


@pytest.mark.parametrize("suffix", [".bif", ".net"])
def test_pyagrum_finds_our_posteriors_beside_a_constant(
    gum: Any, tmp_path: Path, suffix: str
) -> None:
    network = constant_network()
    write_network(network, tmp_path / f"a{suffix}")
    model = gum.loadBN(str(tmp_path / f"a{suffix}"))
    engine = gum.LazyPropagation(model)
    engine.setEvidence({"b": "q"})
    joint = joint_of(network)[:, 0, 1, 0]
    np.testing.assert_allclose(
        engine.posterior("a").toarray(), joint / joint.sum(), atol=1e-6
    )
    np.testing.assert_allclose(engine.posterior("c").toarray(), [1, 0], atol=1e-12)


@pytest.mark.parametrize("name", ["asia", "alarm", "survey"])
def test_we_read_the_dsl_files_of_pyagrum(gum: Any, tmp_path: Path, name: str) -> None:
    network = load_network(name)
    path = tmp_path / "a.dsl"
    gum.saveBN(network.to_pyagrum(), str(path))
    found = read_network(path)
    for variable, cpd in zip(network.domain, network.cpds, strict=True):
        theirs = found.cpd(variable.name)
        above = [found.domain.names[p] for p in theirs.parents]
        assert above == [network.domain.names[p] for p in cpd.parents]
        # pyAgrum writes six digits.
        np.testing.assert_allclose(theirs.probabilities, cpd.probabilities, atol=1e-5)


def test_uai_files_go_to_pyagrum_and_come_from_it(gum: Any, tmp_path: Path) -> None:
    # A chain, for pyAgrum 3.3.1 turns the order of parents round.
    variables = [Variable(name, ("n", "y", "u")) for name in "abcd"]
    network = network_of(variables, [(), (0,), (1,), (1,)])
    write_network(network, tmp_path / "ours.uai")
    model = gum.loadBN(str(tmp_path / "ours.uai"))
    assert_agrum_tables(model, network, ".uai")
    gum.saveBN(model, str(tmp_path / "theirs.uai"))
    found = read_network(tmp_path / "theirs.uai")
    np.testing.assert_allclose(marginals(found), marginals(network), atol=1e-4)


@pytest.mark.parametrize("suffix", [".uai", ".xdsl"])
def test_files_of_pyagrum_whose_parents_are_turned_round_are_told_of(
    gum: Any, tmp_path: Path, suffix: str, caplog: pytest.LogCaptureFixture
) -> None:
    for name, told in (("asia", True), ("chain", False)):
        network = load_network("asia")
        if name == "chain":
            variables = [Variable(v, ("n", "y")) for v in "ab"]
            network = network_of(variables, [(), (0,)])
        caplog.clear()
        gum.saveBN(network.to_pyagrum(), str(tmp_path / f"{name}{suffix}"))
        read_network(tmp_path / f"{name}{suffix}")
        said = any("a file of pyAgrum" in r.getMessage() for r in caplog.records)
        assert said == told


@pytest.mark.parametrize("name", ["cancer", "asia", "survey"])
def test_we_read_the_uai_files_of_pgmpy(
    pgmpy_io: Any, tmp_path: Path, name: str
) -> None:
    network = load_network(name)
    pgmpy_io.UAIWriter(network.to_pgmpy()).write(str(tmp_path / "a.uai"))
    found = read_network(tmp_path / "a.uai")
    np.testing.assert_allclose(marginals(found), marginals(network), atol=1e-9)


@pytest.mark.parametrize("name", ["cancer", "asia", "survey"])
def test_pgmpy_reads_our_xbn_files(pgmpy_io: Any, tmp_path: Path, name: str) -> None:
    network = load_network(name)
    write_network(network, tmp_path / "a.xbn")
    model = pgmpy_io.XBNReader(str(tmp_path / "a.xbn")).get_model()
    for cpd in model.get_cpds():
        table = np.moveaxis(cpd.values, 0, -1)
        np.testing.assert_array_equal(table, network.cpd(cpd.variable).probabilities)


def marginals(network: BayesianNetwork) -> Any:
    """Marginals of all variables in an order that does not ask for their names."""
    found = network.query({})
    tables = [found[name].probabilities for name in network.domain.names]
    return sorted(p for table in tables for p in table)


@pytest.mark.parametrize("suffix", [".bif", ".net"])
def test_what_an_hnb_of_a_constant_column_writes_is_read_by_pyagrum(
    gum: Any, tmp_path: Path, suffix: str
) -> None:
    from bayleaf import HNBClassifier

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = (y[:, None] ^ (rng.random((200, 9)) < 0.2)).astype(str)
    X[:, 4] = "same"
    path = tmp_path / f"a{suffix}"
    write_network(HNBClassifier(random_state=0).fit(X, y).network_, path)
    assert gum.loadBN(str(path)).size() == len(read_network(path).domain)
