"""Networks in our own files come back bit for bit, or the file says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import AODEClassifier, TANClassifier
from bayleaf.cpds import DeterministicCPD, Leaf, Split, TableCPD, TreeCPD
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.graph.dag import DAG
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.network_json import read, write
from bayleaf.models.bayesian_network import BayesianNetwork
from offenders import check_each


def every_form() -> BayesianNetwork:
    """A network with a table, a tree and a value map, odd names and a hierarchy."""
    tree = ValueHierarchy.from_nested({"any": {"warm": ["red", 1.5], "cold": [True]}})
    domain = Domain(
        (
            Variable("été, <=2", ("red", 1.5, True), hierarchy=tree),
            Variable(7, (0, 2, None)),
            numeric_variable("age", (0.1, 1 / 3)),
        )
    )
    leaves = [Leaf(np.array([1 / 3, 2 / 3, 0.0])), Leaf(np.array([0.1, 0.2, 0.7]))]
    root = TableCPD((0,), np.array([0.1, 0.2, 0.7]), np.array(17.25))
    split = TreeCPD((0, 1), (3, 3), Split(0, ((0, 2), (1,)), (leaves[0], leaves[1])))
    values = DeterministicCPD((1, 0, 2), 3, np.arange(9).reshape(3, 3) % 3)
    return BayesianNetwork(domain, DAG(((), (0,), (1, 0))), (root, split, values))


def _cpd(document: dict[str, Any], variable: int) -> Any:
    """The distribution of a variable in a file."""
    return document["network"]["cpds"][variable]


def _changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    path = folder / "network.json"
    write(every_form(), path)
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_every_form_comes_back_bit_for_bit(tmp_path: Path) -> None:
    network = every_form()
    write(network, tmp_path / "a.json")
    again = read(tmp_path / "a.json")
    assert again.domain == network.domain
    assert again.dag == network.dag
    for found, expected in zip(again.cpds, network.cpds, strict=True):
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
    assert again.cpds[0].experience == 17.25  # type: ignore[attr-defined]
    write(again, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_the_network_of_a_classifier_is_read(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(3, size=(50, 3))
    classifier = TANClassifier().fit(X, X[:, 0] > 1)
    classifier.save(tmp_path / "tan.json")
    found = read(tmp_path / "tan.json")
    assert found.edges == classifier.network_.edges


def test_a_model_that_is_no_network_is_refused(tmp_path: Path) -> None:
    X = np.random.default_rng(0).integers(3, size=(50, 3))
    AODEClassifier().fit(X, X[:, 0] > 1).save(tmp_path / "aode.json")
    with pytest.raises(ModelFileError, match="not a single Bayesian network"):
        read(tmp_path / "aode.json")


DAMAGES: list[Any] = [
    (lambda d: d.update(format="x"), 'lacks "format": "bayleaf-network"'),
    (lambda d: d["network"]["dag"].update(parents=[[1], [0], []]), "cycle"),
    (lambda d: _cpd(d, 1).update(type="x"), "tree, grouped_table, deterministic"),
    (lambda d: _cpd(d, 1).update(leaves=[[0.5, 0.6, 0.0]] * 2), "sum to 1"),
    (lambda d: _cpd(d, 1).update(leaves=[[0.5, 0.5]] * 2), "3 states"),
    (lambda d: _cpd(d, 1)["splits"][0].update(groups=[[0], [1]]), "share out"),
    (lambda d: _cpd(d, 1)["splits"][0].update(groups=[0]), "should be a list"),
    (lambda d: _cpd(d, 1)["splits"][0].update(variable=1), "no parent"),
    (lambda d: _cpd(d, 1)["splits"][0].update(variable=[]), "of type int"),
    (lambda d: _cpd(d, 1)["splits"][0].update(branches=[0, 2]), "no earlier node"),
    (lambda d: _cpd(d, 1).update(splits=[], leaves=[]), "one branch's"),
    (lambda d: _cpd(d, 2)["values"].update(numbers=[3] * 9), "names state 3"),
    (lambda d: _cpd(d, 2)["values"].update(numbers=[0] * 8), "9 numbers"),
    (lambda d: _cpd(d, 0).update(experience=[1.0]), "experience of shape"),
    (
        lambda d: _cpd(d, 0).update(experience={"shape": [], "numbers": [-1.0]}),
        "at least 0",
    ),
    (lambda d: d["domain"][0]["hierarchy"].update(parents=[0]), "hierarchy"),
    (lambda d: d["domain"][0]["hierarchy"].update(parents=["x"]), "of type int"),
    (lambda d: d["domain"][0]["hierarchy"].update(nodes=[[]]), "of type str"),
]


def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    def check(case: tuple[Callable[[dict[str, Any]], object], str]) -> None:
        change, message = case
        with pytest.raises(ModelFileError, match=message) as caught:
            read(_changed(tmp_path, change))
        assert "\n" not in str(caught.value)

    check_each(DAMAGES, check)


def test_a_tree_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    def nest(document: dict[str, Any]) -> None:
        splits = [
            {"variable": 0, "groups": [[0, 1, 2]], "branches": [node]}
            for node in range(1, 401)
        ]
        splits[0]["branches"] = [0]
        _cpd(document, 1)["splits"] = splits

    with pytest.raises(ModelFileError, match="deeper than"):
        read(_changed(tmp_path, nest))
