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
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.graph.dag import DAG
from bayleaf.io.fields import ModelFileError
from bayleaf.io.native.network_json import read, write
from bayleaf.models.bayesian_network import BayesianNetwork


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
    with pytest.raises(ModelFileError, match="no single Bayesian network"):
        read(tmp_path / "aode.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="x"), 'lacks "format": "bayleaf-network"'),
        (lambda d: d["network"].update(parents=[[1], [0], []]), "cycle"),
        (
            lambda d: d["network"]["tables"][1].update(kind="x"),
            "tree, grouped_table, deterministic",
        ),
        (lambda d: d["network"]["tables"][1].update(root=[0.5, 0.6]), "sum to 1"),
        (lambda d: d["network"]["tables"][1].update(root=[0.5, 0.5]), "3 states"),
        (
            lambda d: d["network"]["tables"][1]["root"].update(groups=[[0], [1]]),
            "share out",
        ),
        (lambda d: d["network"]["tables"][1]["root"].update(groups=[0]), "no list"),
        (lambda d: d["network"]["tables"][1]["root"].update(variable=1), "no parent"),
        (lambda d: d["network"]["tables"][1]["root"].update(variable=[]), "without a"),
        (lambda d: d["network"]["tables"][2].update(values=[3] * 9), "names state 3"),
        (lambda d: d["network"]["tables"][2].update(values=[0] * 8), "9 numbers"),
        (
            lambda d: d["network"].update(experience=[[1.0]]),
            "one experience a variable",
        ),
        (
            lambda d: d["network"].update(experience=[[-1.0], None, None]),
            "at least 0",
        ),
        (lambda d: d["domain"][0]["hierarchy"].update(parents=[0]), "hierarchy"),
        (lambda d: d["domain"][0]["hierarchy"].update(parents=["x"]), "no position"),
        (lambda d: d["domain"][0]["hierarchy"].update(nodes=[[]]), "no text or number"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(ModelFileError, match=message) as caught:
        read(_changed(tmp_path, change))
    assert "\n" not in str(caught.value)


def test_a_tree_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    def nest(document: dict[str, Any]) -> None:
        node: Any = [0.1, 0.2, 0.7]
        for _ in range(400):
            node = {"variable": 0, "groups": [[0, 1, 2]], "branches": [node]}
        document["network"]["tables"][1]["root"] = node

    with pytest.raises(ModelFileError, match="deeper than"):
        read(_changed(tmp_path, nest))
