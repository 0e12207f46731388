"""What cannot be done is refused before memory or time goes into it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayleaf import AveragedKDBClassifier
from bayleaf.cpds.table import TableCPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG
from bayleaf.io import NetworkFileError, read_network
from bayleaf.models.bayesian_network import BayesianNetwork

MOST_BYTES = 200 << 20


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """No test here takes much memory."""
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


@pytest.mark.parametrize("side", [25, pytest.param(40, marks=pytest.mark.slow)])
def test_a_wide_grid_is_refused_for_any_question(side: int) -> None:
    network = grid(side)
    for ask in (
        lambda: network.query({"v0": "a"}),
        lambda: network.query({f"v{side * side - 1}": "a"}),
        lambda: network.most_probable_explanation({"v0": "a"}),
        lambda: network.probability_of_evidence({f"v{side * side - 1}": "a"}),
    ):
        with pytest.raises(ValueError, match="exact inference needs a table of"):
            ask()


def test_a_corner_of_a_wide_grid_is_answered() -> None:
    found = grid(40).query({"v0": "a"}, targets=["v41", "v82"])
    assert found["v41"].probabilities == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("written", ["2000000", "2"])
def test_a_file_of_millions_of_states_is_refused(tmp_path: Path, written: str) -> None:
    states = ", ".join(f"s{n}" for n in range(200_000))
    path = tmp_path / "big.bif"
    path.write_text(
        "network x {}\n"
        f"variable a {{ type discrete [ {written} ] {{ {states} }}; }}\n"
        "probability ( a ) { table 0.5; }\n"
    )
    with pytest.raises(NetworkFileError, match="more than 65535 names are listed"):
        read_network(path)


@pytest.mark.parametrize("suffix", [".net", ".xmlbif", ".xdsl"])
def test_a_file_of_another_format_with_so_many_states_is_refused(
    tmp_path: Path, suffix: str
) -> None:
    names = [f"s{n}" for n in range(600_000)]
    path = tmp_path / f"big{suffix}"
    path.write_text(
        {
            ".net": "net {}\nnode a { states = ("
            + " ".join(f'"{name}"' for name in names)
            + "); }\n",
            ".xmlbif": "<BIF><NETWORK><NAME>x</NAME><VARIABLE><NAME>a</NAME>"
            + "".join(f"<OUTCOME>{name}</OUTCOME>" for name in names)
            + "</VARIABLE></NETWORK></BIF>",
            ".xdsl": '<smile id="x"><nodes><cpt id="a">'
            + "".join(f'<state id="{name}"/>' for name in names)
            + "</cpt></nodes></smile>",
        }[suffix]
    )
    with pytest.raises(NetworkFileError, match=r"65535 names|more than 131,070 elem"):
        read_network(path)


def test_averaging_over_ten_thousand_classes_is_refused() -> None:
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.arange(10_000), rng.integers(0, 10_000, 20_000)])
    X = pd.DataFrame(rng.integers(0, 4, (30_000, 5)).astype(str), columns=[*"abcde"])
    with pytest.raises(ValueError, match="10000 classes and 5 features leave room for"):
        AveragedKDBClassifier().fit(X, labels)
