"""What states of latent variables mean, in network files and in other programs."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, HNBClassifier, read_network
from bayleaf.data.domain import Variable
from bayleaf.datasets import load_heart
from bayleaf.io.formats.safe_names import SafeNames, shown_text

SUFFIXES = (
    "net",
    "oobn",
    "xdsl",
    "xmlbif",
    "bif",
    "dne",
    "dsc",
    "pgmx",
    "xbn",
    "uai",
    "elv",
    "json",
)
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


@functools.cache
def odd_network() -> BayesianNetwork:
    """Hierarchical naive Bayes whose names have letters and signs of all kinds."""
    rng = np.random.default_rng(0)
    own, first = rng.integers(2, size=400), rng.integers(3, size=400)

    def column(states: list[str], codes: Any) -> list[str]:
        is_noise = rng.random(400) < 0.1
        codes = np.where(is_noise, rng.integers(len(states), size=400), codes)
        return [states[code % len(states)] for code in codes]

    table = {
        'Größe, "cm" <x>': column(['ja, "sicher"', "<5>", ">= 3 & <b>"], first),
        "年齢": column(["o'neil", "été", "Ж/щ"], first + own),
        "a;b{c}=d\\e": column(["node x", "probability (y)", "{z};"], first + 2 * own),
        "يوم": column(["\t tab", "  pad ", "x\ny"], 2 * first + 3 * own),
        "class": column(["1", "01", "1.0", "true"], first + own),
        "same": ['only <one>, "state"'] * 400,
    }
    model = HNBClassifier(search="significance", random_state=0)
    return model.fit(table, np.array(["<no>", '"yes", sure'])[own].tolist()).network_


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_networks_of_latent_variables_come_back_whole(
    network: BayesianNetwork, tmp_path: Path, suffix: str
) -> None:
    assert sum(meanings is not None for meanings in _meanings(network)) == 4
    for one in (network, odd_network()):
        one.save(tmp_path / f"a.{suffix}")
        found = read_network(tmp_path / f"a.{suffix}")
        assert found.domain == one.domain
        assert _meanings(found) == _meanings(one)
        for own, its in zip(found.cpds, one.cpds, strict=True):
            assert own.parents == its.parents
            np.testing.assert_array_equal(own.probabilities, its.probabilities)


def _as_they_name_it(
    network: BayesianNetwork, suffix: str, theirs: set[str]
) -> tuple[list[str], list[list[str]]]:
    """Names and states that another program has of a file, in our order."""
    safe = SafeNames.for_network(network.domain, at_least_two=suffix in ("net", "bif"))
    true = tuple(map(str, network.names))
    names = true if theirs == {*true} else safe.variables
    assert theirs == {*names}
    states = [list(own) for own in safe.states]
    if suffix == "bifxml":
        # Blanks at the ends of states would be lost.
        for own, variable in zip(states, network.variables, strict=True):
            texts = [*map(str, variable.states)]
            own[:] = [t if t == " ".join(t.split()) else o for t, o in zip(texts, own)]
    return list(names), states


def _cases(network: BayesianNetwork) -> Iterator[tuple[dict[int, int], int, Any]]:
    """Evidence by codes, a variable, and its posterior."""
    n_variables = len(network.names)
    rows = network.sample_codes(5, random_state=0)
    rng = np.random.default_rng(0)
    for row in range(5):
        places = rng.choice(n_variables, 3, replace=False).tolist()
        known = {place: int(rows.column(place)[row]) for place in places}
        columns = {
            network.names[place]: [network.variables[place].states[code]]
            for place, code in known.items()
        }
        for target in range(n_variables):
            if target not in known:
                found = network.posterior_table(columns, network.names[target])
                yield known, target, found[0]


def _agree(found: Any, expected: Any, tolerance: float) -> None:
    """Fail unless posteriors are alike; a second state of one has probability 0."""
    padded = np.zeros(len(found))
    padded[: len(expected)] = expected
    np.testing.assert_allclose(found, padded, rtol=0, atol=tolerance)


@pytest.mark.few(4)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart", "odd"])
@pytest.mark.parametrize("suffix", ["net", "xdsl", "bifxml", "bif"])
def test_pyagrum_finds_our_posteriors_in_files_with_meanings(
    network: BayesianNetwork, tmp_path: Path, suffix: str, name: str
) -> None:
    pyagrum = pytest.importorskip("pyagrum")
    network = network if name == "heart" else odd_network()
    path = tmp_path / f"a.{suffix}"
    network.save(path)
    theirs = pyagrum.loadBN(str(path))
    variables = [theirs.variable(node) for node in theirs.nodes()]
    labels = {variable.name(): list(variable.labels()) for variable in variables}
    names, states = _as_they_name_it(network, suffix, set(labels))
    assert [labels[one] for one in names] == states
    if suffix == "bifxml":
        latent = theirs.variable("L1").description()
        meaning = _meanings(network)[network.names.index("L1")][1]
        assert f"; 2: {shown_text(meaning)}" in latent
    # It reads the numbers of these two formats in single precision.
    tolerance = 1e-7 if suffix in ("net", "bif") else 1e-9
    for known, target, expected in _cases(network):
        engine = pyagrum.LazyPropagation(theirs)
        engine.setEvidence({names[place]: code for place, code in known.items()})
        engine.makeInference()
        _agree(engine.posterior(names[target]).toarray(), expected, tolerance)


@pytest.mark.few(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", ["heart", "odd"])
@pytest.mark.parametrize("suffix", ["net", "xdsl", "bifxml", "bif"])
def test_pgmpy_finds_our_posteriors_in_files_with_meanings(
    network: BayesianNetwork, tmp_path: Path, suffix: str, name: str
) -> None:
    readwrite = pytest.importorskip("pgmpy.readwrite")
    inference = pytest.importorskip("pgmpy.inference")
    network = network if name == "heart" else odd_network()
    path = tmp_path / f"a.{suffix}"
    network.save(path)
    readers = {"net": "NETReader", "xdsl": "XDSLReader", "bifxml": "XMLBIFReader"}
    reader = getattr(readwrite, readers.get(suffix, "BIFReader"))
    theirs = reader(str(path)).get_model()
    names, states = _as_they_name_it(network, suffix, set(theirs.nodes))
    assert [theirs.get_cpds(one).state_names[one] for one in names] == states
    engine = inference.VariableElimination(theirs)
    for known, target, expected in _cases(network):
        given = {names[place]: states[place][code] for place, code in known.items()}
        found = engine.query([names[target]], given, show_progress=False)
        _agree(found.values, expected, 1e-9)
