"""Sentences of context-specific independence, groups and rules are true of the row."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetworkClassifier, ValueHierarchy
from bayleaf.cpds import Leaf, Split, TreeCPD
from bayleaf.explain import contexts
from bayleaf.explain.contexts import tree_path
from oracles.small_tables import classifier, small_table


def car_table(seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Consumption depends on the model only for cars that are no hybrids."""
    rng = np.random.default_rng(seed)
    hybrid = rng.choice(["no", "yes"], 1500)
    model = rng.choice(["coupe", "truck", "van"], 1500)
    likely = np.where(
        hybrid == "yes", 0.02, np.select([model == "truck", model == "van"], [0.9, 0.6])
    )
    thirsty = np.where(rng.random(1500) < likely, "high", "low")
    X = pd.DataFrame({"Hybrid": hybrid, "Model": model}).astype(object)
    return X, thirsty.tolist()


def test_a_tree_says_what_the_class_does_not_depend_on() -> None:
    X, y = car_table(0)
    trees = BayesianNetworkClassifier(
        local_structure="tree",
        n_restarts=1,
        required_edges=[("Hybrid", "class"), ("Model", "class")],
        random_state=0,
    ).fit(X, y)
    rows = pd.DataFrame({"Hybrid": ["yes", "no"], "Model": ["truck", "truck"]})
    hybrid, other = contexts(trees, rows)
    assert "given Hybrid = yes, class does not depend on Model" in hybrid
    assert not any("not depend on Model" in sentence for sentence in other)


def test_the_path_is_known_only_where_its_cells_are() -> None:
    leaves = [Leaf(np.array([p, 1 - p])) for p in (0.1, 0.2, 0.3)]
    tree = Split(0, ((0,), (1, 2)), (leaves[0], Split(1, ((0,), (1,)), (*leaves[1:],))))
    cpd = TreeCPD((0, 1, 2), (3, 2, 2), tree)
    assert tree_path(cpd, {0: 0}) == {0: (0,)}
    assert tree_path(cpd, {0: 2, 1: 1}) == {0: (1, 2), 1: (1,)}
    assert tree_path(cpd, {0: 1}) is None
    assert tree_path(cpd, {1: 0}) is None


def test_a_parent_that_a_path_leaves_out_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    leaves = [Leaf(rng.dirichlet([1, 1])) for _ in range(3)]
    tree = Split(0, ((0,), (1, 2)), (leaves[0], Split(1, ((0,), (1,)), (*leaves[1:],))))
    cpd = TreeCPD((0, 1, 2), (3, 2, 2), tree)
    for states in itertools.product(range(3), range(2)):
        path = tree_path(cpd, dict(enumerate(states)))
        assert path is not None
        if 1 not in path:
            rows = cpd.probabilities[states[0]]
            assert (rows == rows[0]).all()


def test_a_grouped_table_says_which_group_is_used() -> None:
    rng = np.random.default_rng(2)
    kind = rng.choice(["oak", "ash", "fir", "pine"], 2000)
    conifer = np.isin(kind, ["fir", "pine"])
    y = np.where(rng.random(2000) < np.where(conifer, 0.9, 0.1), "green", "bare")
    hierarchy = ValueHierarchy.from_nested(
        {"any": {"conifer": ["fir", "pine"], "broadleaf": ["ash", "oak"]}}
    )
    model = BayesianNetworkClassifier(
        hierarchies={"tree": hierarchy},
        abstraction="given",
        n_restarts=1,
        required_edges=[("tree", "class")],
        random_state=0,
    ).fit(pd.DataFrame({"tree": kind.astype(object)}), y)
    (sentences,) = contexts(model, pd.DataFrame({"tree": ["fir"]}))
    assert sentences == ["for class, tree = fir counts as conifer"]


def test_latent_rules_that_hold_are_told_once() -> None:
    rng = np.random.default_rng(3)
    bits = rng.integers(2, size=(600, 2))
    X = pd.DataFrame(np.where(bits == 1, "on", "off"), columns=["a", "b"]).astype(
        object
    )
    model = classifier("hnb").fit(X, bits[:, 0] ^ bits[:, 1])
    fired = contexts(model, X.iloc[:20])
    assert any(fired)
    for row, sentences in enumerate(fired):
        assert len(sentences) == len(set(sentences))
        equal = X["a"].iloc[row] == X["b"].iloc[row]
        assert all(s.startswith("L1: ") for s in sentences)
        assert all((" != " in s) is not equal or "and" in s for s in sentences)


@pytest.mark.parametrize(
    "kind", ["nb", "tan", "kdb", "aode", "a2de", "auto", "mixture"]
)
def test_models_without_contexts_say_nothing(kind: str) -> None:
    X, y = small_table(1)
    assert contexts(classifier(kind).fit(X, y), X.iloc[:3]) == [[], [], []]
