"""What cannot be done is refused before memory or time goes into it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayleaf import AveragedKDBClassifier
from bayleaf.cpds.distribution import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io import NetworkFileError, read_network
from bayleaf.io.formats import lexer, xml_elements
from bayleaf.models.bayesian_network import BayesianNetwork

MOST_BYTES = 200 << 20
REFUSAL = r"more than (65535 names are listed|131,070 elem)"


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Check that a test does not take much memory."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST_BYTES


def grid(side: int) -> BayesianNetwork:
    """Variables of two states; the one above and the one beside are parents."""
    place = {(i, j): i * side + j for i in range(side) for j in range(side)}
    parents = [
        tuple(place[p] for p in ((i - 1, j), (i, j - 1)) if p in place)
        for i, j in place
    ]
    cpds = tuple(
        TableCPD((*own, child), np.full((2,) * (len(own) + 1), 0.5))
        for child, own in enumerate(parents)
    )
    variables = tuple(Variable(f"v{n}", ("a", "b")) for n in range(len(cpds)))
    return BayesianNetwork(Domain(variables), DAG(tuple(parents)), cpds)


def check_refused(side: int, max_table_cells: int) -> None:
    """Check that any question is refused on a grid that is too wide for a limit."""
    network = grid(side).compile(max_table_cells)
    last = f"v{side * side - 1}"
    asks: list[Callable[[BayesianNetwork], object]] = [
        lambda network: network.query({"v0": "a"}),
        lambda network: network.query({last: "a"}),
        lambda network: network.most_probable_explanation({"v0": "a"}),
        lambda network: network.probability_of_evidence({last: "a"}),
    ]
    for ask in asks:
        with pytest.raises(ValueError, match="exact inference needs a table of"):
            ask(network)


@pytest.mark.usefixtures("little_memory")
def test_a_grid_too_wide_for_a_limit_is_refused_for_any_question() -> None:
    check_refused(8, 100)


@pytest.mark.long
@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("side", [25, 40])
def test_a_wide_grid_is_refused_for_any_question(side: int) -> None:
    check_refused(side, 20_000_000)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("side", "max_table_cells"),
    [
        (10, 100),
        pytest.param(25, 20_000_000, marks=pytest.mark.slow),
        pytest.param(40, 20_000_000, marks=[pytest.mark.slow, pytest.mark.long]),
    ],
)
def test_a_corner_of_a_wide_grid_is_answered(side: int, max_table_cells: int) -> None:
    network = grid(side).compile(max_table_cells)
    targets = [f"v{side + 1}", f"v{2 * side + 2}"]
    found = network.query({"v0": "a"}, targets=targets)
    assert found[targets[0]].probabilities == pytest.approx([0.5, 0.5])


def check_many_states(path: Path, text: str, sentence: str = REFUSAL) -> None:
    """Check that a file with too many states is refused."""
    path.write_text(text)
    with pytest.raises(NetworkFileError, match=sentence):
        read_network(path)


def bif(n_states: int, written: str) -> str:
    """A BIF file with so many states of a variable, and the number that it states."""
    states = ", ".join(f"s{n}" for n in range(n_states))
    return (
        "network x {}\n"
        f"variable a {{ type discrete [ {written} ] {{ {states} }}; }}\n"
        "probability ( a ) { table 0.5; }\n"
    )


FORMATS: dict[str, Callable[[int], str]] = {
    ".bif": lambda n: bif(n, "2"),
    ".net": lambda n: (
        "net {}\nnode a { states = (" + " ".join(f'"s{i}"' for i in range(n)) + "); }\n"
    ),
    ".xmlbif": lambda n: (
        "<BIF><NETWORK><NAME>x</NAME><VARIABLE><NAME>a</NAME>"
        + "".join(f"<OUTCOME>s{i}</OUTCOME>" for i in range(n))
        + "</VARIABLE></NETWORK></BIF>"
    ),
    ".xdsl": lambda n: (
        '<smile id="x"><nodes><cpt id="a">'
        + "".join(f'<state id="s{i}"/>' for i in range(n))
        + "</cpt></nodes></smile>"
    ),
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_with_more_states_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(lexer, "MAX_STATES", 500)
    monkeypatch.setattr(xml_elements, "MAX_CHILDREN", 1000)
    sentence = "more than 500 names|more than 1,000 elem"
    check_many_states(tmp_path / f"big{suffix}", FORMATS[suffix](1001), sentence)


def test_a_file_that_declares_more_states_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexer, "MAX_STATES", 500)
    text = bif(501, "2000000")
    check_many_states(tmp_path / "big.bif", text, "more than 500 names are listed")


@pytest.mark.long
@pytest.mark.usefixtures("little_memory")
def test_a_file_that_declares_millions_of_states_takes_little_memory(
    tmp_path: Path,
) -> None:
    check_many_states(tmp_path / "big.bif", bif(200_000, "2000000"))


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("suffix", "n_states"),
    [
        (".bif", 200_000),
        (".net", 600_000),
        pytest.param(".xmlbif", 600_000, marks=pytest.mark.long),
        pytest.param(".xdsl", 600_000, marks=pytest.mark.long),
    ],
)
def test_a_file_with_too_many_states_takes_little_memory(
    tmp_path: Path, suffix: str, n_states: int
) -> None:
    check_many_states(tmp_path / f"big{suffix}", FORMATS[suffix](n_states))


@pytest.mark.usefixtures("little_memory")
def test_averaging_over_ten_thousand_classes_is_refused() -> None:
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(10_000), rng.integers(0, 10_000, 1000)])
    X = pd.DataFrame(rng.integers(0, 4, (11_000, 5)), columns=[*"abcde"])
    with pytest.raises(ValueError, match="10000 classes and 5 features leave room for"):
        AveragedKDBClassifier().fit(X, labels)
