"""`bayleaf.load` reads whatever was saved, and networks without scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bayleaf import (
    BayesianNetwork,
    BayesianNetworkEstimator,
    NaiveBayesClassifier,
    load,
    write_network,
)
from bayleaf.io import ModelFileError

NETWORK = BayesianNetwork.from_tables(
    states={"a": ["n", "y"], "b": ["n", "y"]},
    parents={"b": ["a"]},
    tables={"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]},
)
SUFFIXES = [".json", ".bif", ".net", ".xdsl", ".xml", ".bifxml"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_saved_network_is_loaded(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    NETWORK.save(path)
    loaded = load(path)
    assert isinstance(loaded, BayesianNetwork)
    assert loaded.edges == NETWORK.edges
    table = loaded.cpd("b").probabilities
    np.testing.assert_array_equal(table, NETWORK.cpd("b").probabilities)


def test_a_file_of_another_kind_than_expected_is_refused(tmp_path: Path) -> None:
    model = NaiveBayesClassifier().fit([["a"], ["b"]], ["p", "q"])
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json", kind=NaiveBayesClassifier)
    assert read.predict([["a"]]) == ["p"]
    sentence = "contains a NaiveBayesClassifier, not a BayesianNetwork; leave out kind"
    with pytest.raises(ModelFileError, match=sentence):
        load(tmp_path / "model.json", kind=BayesianNetwork)


def test_a_network_of_many_numbers_is_loaded_from_its_archive(tmp_path: Path) -> None:
    states = list(range(1001))
    wide = BayesianNetwork.from_tables(
        states={"a": states, "b": states},
        parents={"b": ["a"]},
        tables={"a": np.full(1001, 1 / 1001), "b": np.full((1001, 1001), 1 / 1001)},
    )
    wide.save(tmp_path / "wide.json")
    loaded = load(tmp_path / "wide.json")
    assert isinstance(loaded, BayesianNetwork)
    assert loaded.domain == wide.domain


def test_estimators_are_loaded_as_before(tmp_path: Path) -> None:
    rows, labels = [["u", "v"], ["w", "v"], ["u", "x"]] * 5, ["p", "q", "p"] * 5
    for model in (
        NaiveBayesClassifier().fit(rows, labels),
        BayesianNetworkEstimator(random_state=0).fit(rows),
    ):
        model.save(tmp_path / "model.json")
        assert type(load(tmp_path / "model.json")) is type(model)


@pytest.mark.slow
def test_a_network_is_loaded_without_scikit_learn(tmp_path: Path) -> None:
    NETWORK.save(tmp_path / "n.json")
    write_network(NETWORK, tmp_path / "n.bif")
    code = (
        "import sys, bayleaf\n"
        "for path in sys.argv[1:]: print(bayleaf.load(path).edges)\n"
        "sys.exit('sklearn' in sys.modules)"
    )
    paths = [str(tmp_path / "n.json"), str(tmp_path / "n.bif")]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[('a', 'b')]\n" * 2


def test_what_is_no_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(ModelFileError, match="is no bayleaf model file"):
        load(path)
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        load(tmp_path / "absent.json")


def test_a_size_limit_holds_for_networks(tmp_path: Path) -> None:
    NETWORK.save(tmp_path / "n.json")
    with pytest.raises(ModelFileError, match="more bytes than the limit"):
        load(tmp_path / "n.json", max_bytes=20)


@pytest.mark.slow
def test_packages_for_users_come_with_the_library() -> None:
    code = "import bayleaf; bayleaf.plot.cpt, bayleaf.explain.drift; bayleaf.datasets"
    subprocess.run([sys.executable, "-c", code], check=True)
