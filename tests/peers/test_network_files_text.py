"""BIF and net files go to pyAgrum and pgmpy and come from them unchanged."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf.io import NetworkFileError, read_network, write_network
from bayleaf.io.formats import bif, net
from bayleaf.io.formats.safe_names import SafeNames
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.odd_networks import network_of, odd_network
from oracles.public_like import damaged
from oracles.small_networks import random_network

# Peers warn about their own inner workings.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),
]
SUFFIXES = (".bif", ".net")
# With intervals, signs and digits among the states, which pyAgrum 3.3.1 cannot read in
# the published files, but can in ours.
PUBLISHED = ("asia", "survey", "sachs", "child", "alarm", "hepar2", "hailfinder")


@pytest.fixture(scope="module")
def gum() -> Any:
    """The package pyAgrum."""
    return pytest.importorskip("pyagrum")


@pytest.fixture(scope="module")
def pgmpy_io() -> Any:
    """Readers and writers of pgmpy."""
    return pytest.importorskip("pgmpy.readwrite")


def networks(data_folder: Path) -> dict[str, BayesianNetwork]:
    """Published networks, and one with odd names."""
    folder = data_folder / "networks"
    found = {name: read_network(folder / f"{name}.bif") for name in PUBLISHED}
    odd = odd_network()
    # pyAgrum 3.3.1 takes no variable with one state, which is the last one.
    parents = [cpd.parents for cpd in odd.cpds[:-1]]
    found["odd"] = network_of(list(odd.domain)[:-1], parents)
    return found


def axes(axis_names: list[str], names: SafeNames, family: tuple[int, ...]) -> list[int]:
    """Where the members of a family are among a peer's axes."""
    return [axis_names.index(names.variable(member)) for member in family]


def agrum_table(model: Any, names: SafeNames, family: tuple[int, ...]) -> Any:
    """A table of pyAgrum with our axes."""
    table = model.cpt(names.variable(family[-1]))
    # The array's axes stand in the reverse order of the variables.
    order = axes(list(reversed(table.names)), names, family)
    return np.transpose(table.toarray(), order)


def pgmpy_table(model: Any, names: SafeNames, family: tuple[int, ...]) -> Any:
    """A table of pgmpy with our axes."""
    cpd = model.get_cpds(names.variable(family[-1]))
    return np.transpose(cpd.values, axes(list(cpd.variables), names, family))


def assert_tables(
    network: BayesianNetwork, model: Any, table: Callable[..., Any], names: SafeNames
) -> None:
    """Fail unless a peer's model has the network's tables."""
    for cpd in network.cpds:
        np.testing.assert_allclose(
            table(model, names, cpd.family), cpd.probabilities, atol=1e-6
        )


def assert_same_tables(first: BayesianNetwork, second: BayesianNetwork) -> None:
    """Fail unless two networks agree, in whatever order their variables stand."""
    assert set(second.domain) == set(first.domain)
    place = [first.domain.index(variable.name) for variable in second.domain]
    for cpd in second.cpds:
        family = tuple(place[member] for member in cpd.family)
        other = first.cpds[family[-1]]
        assert set(other.family) == set(family)
        order = [family.index(member) for member in other.family]
        np.testing.assert_allclose(
            np.transpose(cpd.probabilities, order), other.probabilities, atol=1e-6
        )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", [*PUBLISHED, "odd"])
def test_pyagrum_reads_our_files_and_we_read_its(
    gum: Any, data_folder: Path, tmp_path: Path, name: str, suffix: str
) -> None:
    network = networks(data_folder)[name]
    names = SafeNames.for_network(network.domain)
    path = tmp_path / f"ours{suffix}"
    write_network(network, path)
    model = gum.loadBN(str(path))
    for index in range(len(network.domain)):
        labels = model.variable(names.variable(index)).labels()
        assert tuple(labels) == names.states[index]
    assert_tables(network, model, agrum_table, names)
    theirs = tmp_path / f"theirs{suffix}"
    gum.saveBN(model, str(theirs))
    # Notes are lost on the way, so both are compared under their identifiers.
    plain = without_notes(path, suffix)
    assert_same_tables(plain, read_network(theirs))


# pgmpy takes minutes to read the larger ones.
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.long] * (name in ("hepar2", "hailfinder"))
        )
        for name in (*PUBLISHED, "odd")
    ],
)
def test_pgmpy_reads_our_files_and_we_read_its(
    pgmpy_io: Any, data_folder: Path, tmp_path: Path, name: str, suffix: str
) -> None:
    network = networks(data_folder)[name]
    names = SafeNames.for_network(network.domain)
    path = tmp_path / f"ours{suffix}"
    write_network(network, path)
    kind = suffix[1:].upper()
    model = getattr(pgmpy_io, f"{kind}Reader")(str(path)).get_model()
    for index in range(len(network.domain)):
        states = model.get_cpds(names.variable(index)).state_names
        assert tuple(states[names.variable(index)]) == names.states[index]
    assert_tables(network, model, pgmpy_table, names)
    theirs = tmp_path / f"theirs{suffix}"
    getattr(pgmpy_io, f"{kind}Writer")(model).write(str(theirs))
    assert_same_tables(without_notes(path, suffix), read_network(theirs))


def without_notes(path: Path, suffix: str) -> BayesianNetwork:
    """A network of ours under its identifiers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if "bayleaf_" not in line)
    return (bif if suffix == ".bif" else net).parsed(text, path.name)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pyagrum_draws_the_same_posteriors_from_our_files(
    gum: Any, data_folder: Path, tmp_path: Path, suffix: str
) -> None:
    network = networks(data_folder)["asia"]
    path = tmp_path / f"asia{suffix}"
    write_network(network, path)
    engine = gum.LazyPropagation(gum.loadBN(str(path)))
    engine.setEvidence({"dysp": "yes", "xray": "no"})
    joint = np.ones(network.domain.cards)
    for cpd in network.cpds:
        order = np.argsort(cpd.family)
        shape = [1] * joint.ndim
        for member in cpd.family:
            shape[member] = network.domain.cards[member]
        joint = joint * np.transpose(cpd.probabilities, order).reshape(shape)
    xray, dysp = network.domain.index("xray"), network.domain.index("dysp")
    given = np.moveaxis(joint, (xray, dysp), (-2, -1))[..., 1, 0]
    rest = [name for name in network.domain.names if name not in ("xray", "dysp")]
    for axis, name in enumerate(rest):
        others = tuple(i for i in range(given.ndim) if i != axis)
        ours = given.sum(axis=others) / given.sum()
        theirs = engine.posterior(str(name)).toarray()
        np.testing.assert_allclose(theirs, ours, atol=1e-6)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".bifxml"])
def test_a_damaged_file_that_pyagrum_reads_too_means_the_same(
    gum: Any, tmp_path: Path, suffix: str
) -> None:
    n_compared = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        path = tmp_path / f"{seed}{suffix}"
        write_network(random_network(rng, int(rng.integers(1, 6))), path)
        path.write_text(damaged(path.read_text(), rng))
        try:
            network = read_network(path)
            engine = gum.LazyPropagation(gum.loadBN(str(path)))
            engine.makeInference()
        except (NetworkFileError, gum.GumException):
            continue
        n_compared += 1
        answers = network.query().to_dict()
        assert set(engine.BN().names()) == set(answers), seed
        for name, ours in answers.items():
            # pyAgrum gives a variable with one state another that is impossible.
            theirs = engine.posterior(name).toarray().ravel()[: len(ours)]
            np.testing.assert_allclose([*ours.values()], theirs, atol=1e-5)
    assert n_compared > 20


def test_a_bif_table_with_parents_means_to_pyagrum_and_pgmpy_what_it_means_to_us(
    gum: Any, pgmpy_io: Any, tmp_path: Path
) -> None:
    cards = {"a": 2, "b": 3, "c": 2}
    text = "network x {\n}\n"
    for name, card in cards.items():
        states = ", ".join(f"{name}{i}" for i in range(card))
        text += f"variable {name} {{\n type discrete [{card}] {{ {states} }};\n}}\n"
    text += "probability ( a ) {\n table 0.25, 0.75;\n}\n"
    text += "probability ( b ) {\n table 0.5, 0.25, 0.25;\n}\n"
    first = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    table = ", ".join(f"{p:.1f}" for p in (*first, *(1 - p for p in first)))
    text += f"probability ( c | b, a ) {{\n table {table};\n}}\n"
    path = tmp_path / "x.bif"
    path.write_text(text, encoding="ascii")
    network = read_network(path)
    names = SafeNames.for_network(network.domain)
    rows = itertools.product(range(3), range(2))
    expected = dict(zip(rows, first, strict=True))
    for (b, a), p in expected.items():
        assert network.cpds[2].probabilities[b, a, 0] == p
    assert_tables(network, gum.loadBN(str(path)), agrum_table, names)
    model = pgmpy_io.BIFReader(str(path)).get_model()
    assert_tables(network, model, pgmpy_table, names)
