from __future__ import annotations

import math

import numpy as np
import pytest

from bayleaf.inference import junction_tree as trees
from bayleaf.inference.junction_tree import JunctionTree, Passes
from bayleaf.io import read_network
from offenders import check_each
from oracles.small_networks import (
    joint_table,
    make_network,
    onto,
    random_likelihoods,
    random_network,
)


@pytest.fixture
def always_without_observed(monkeypatch) -> list[frozenset[int]]:
    """Trees leave observed variables out, however small; the sets compiled so far."""
    found = []
    compile_forest = trees.forest_without

    def spied(neighbours, cards, observed):
        found.append(frozenset(observed))
        return compile_forest(neighbours, cards, observed)

    count_cells = trees._cells

    def cells(tree, known, passes):
        return 10**9 if tree.has_prior else 0, count_cells(tree, known, passes)[1]

    monkeypatch.setattr(trees, "MANY_CELLS", 0)
    monkeypatch.setattr(trees, "_cells", cells)
    monkeypatch.setattr(trees, "forest_without", spied)
    return found


def test_trees_without_observed_variables_answer_like_the_whole_joint(
    always_without_observed,
) -> None:
    def check(seed: int) -> None:
        always_without_observed.clear()
        rng = np.random.default_rng(seed)
        network = random_network(rng, 2 + seed % 7, zeros=0.15)
        cards = network.domain.cards
        likelihoods = random_likelihoods(rng, cards)
        likelihoods[0] = np.eye(cards[0])[-1] * 0.7
        joint = joint_table(network, likelihoods)
        tree = JunctionTree.compile(network)
        answer = tree.propagate(likelihoods)
        states, log_most = tree.most_probable(likelihoods)
        assert len(always_without_observed) == 1
        assert 0 in always_without_observed[0]
        assert tree.log_evidence(likelihoods) == answer.log_evidence
        if joint.sum() == 0:
            assert answer.log_evidence == log_most == -np.inf
            return
        assert answer.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
        assert log_most == pytest.approx(np.log(joint.max()), abs=1e-11)
        assert joint[tuple(states)] == pytest.approx(joint.max(), rel=1e-12)
        joint /= joint.sum()
        for node, cpd in enumerate(network.cpds):
            assert answer.marginal(node) == pytest.approx(
                onto(joint, [node]), abs=1e-12
            )
            assert answer.family(node) == pytest.approx(
                onto(joint, cpd.family), abs=1e-12
            )

    check_each(range(60), check)


def test_other_states_of_the_same_variables_need_no_other_tree(
    always_without_observed,
) -> None:
    network = random_network(np.random.default_rng(0), 6, zeros=0.0)
    tree = JunctionTree.compile(network)
    for state in (0, -1):
        hard = {v: np.eye(network.domain.cards[v])[state] for v in (1, 4)}
        answer = tree.propagate({**hard, 0: np.ones(network.domain.cards[0]) / 2})
        joint = joint_table(network, hard)
        expected = onto(joint / joint.sum(), [5])
        assert answer.marginal(5) == pytest.approx(expected, abs=1e-12)
    fixed = {v for v in (0, 1, 4) if v != 0 or network.domain.cards[0] == 1}
    assert always_without_observed == [frozenset(fixed)]


def test_only_the_sets_observed_last_are_remembered(
    always_without_observed, monkeypatch
) -> None:
    monkeypatch.setattr(trees, "_KEPT_SETS", 2)
    tables = [np.ones(2) / 2] * 3
    tree = JunctionTree.compile(make_network([2] * 3, [[]] * 3, tables))
    for variable in (0, 1, 0, 2, 0, 1):
        tree.propagate({variable: np.array([1.0, 0.0])})
    assert always_without_observed == [{0}, {1}, {2}, {1}]


def test_small_networks_keep_their_tree(monkeypatch) -> None:
    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(trees, "forest_without", refused)
    network = random_network(np.random.default_rng(1), 8)
    hard = {v: np.eye(network.domain.cards[v])[0] for v in range(4)}
    found = JunctionTree.compile(network).propagate(hard)
    assert math.isfinite(found.log_evidence)


def loops(n: int, card: int) -> tuple[JunctionTree, list[np.ndarray]]:
    """A root whose n children have a child with the next one each, in a circle."""
    rng = np.random.default_rng(2)
    pairs = [[1 + i, 1 + (i + 1) % n] for i in range(n)]
    parents = [[], *([0] for _ in range(n)), *pairs]
    cards = [2] + [card] * n + [2] * n
    tables = []
    for child, above in enumerate(parents):
        table = rng.random([*(cards[p] for p in above), cards[child]])
        tables.append(table / table.sum(axis=-1, keepdims=True))
    tree = JunctionTree.compile(make_network(cards, parents, tables))
    return tree, [np.eye(c) for c in cards]


def test_large_trees_leave_observed_variables_out_where_that_saves_cells(
    monkeypatch,
) -> None:
    tree, units = loops(5, 5)
    cells = sum(tree.forest.table_cells(tree.network.domain.cards))
    evidence = {v: units[v][0] for v in (1, 2, 7)}
    for threshold, is_static in ((cells - 1, True), (cells // 50, False)):
        monkeypatch.setattr(trees, "MANY_CELLS", threshold)
        answer = tree.propagate(evidence)
        known = tree.known(evidence)
        chosen = tree._cheapest(known, Passes.BOTH)
        assert chosen.has_prior is is_static
        joint = joint_table(tree.network, evidence)
        assert answer.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-12)


@pytest.mark.long
def test_munin_is_answered_alike_with_and_without_its_own_tree(
    data_folder, monkeypatch
) -> None:
    network = read_network(data_folder / "networks" / "munin1.bif")
    cards = network.domain.cards
    tree = JunctionTree.compile(network, max_table_cells=200_000_000)
    rng = np.random.default_rng(0)
    marginals = tree.propagate({})
    for _ in range(3):
        nodes = rng.choice(len(cards), 60, replace=False)
        likely = {int(v): int(marginals.marginal(v).argmax()) for v in nodes}
        evidence = {v: np.eye(cards[v])[state] for v, state in likely.items()}
        with monkeypatch.context() as patch:
            patch.setattr(trees, "MANY_CELLS", 10**12)
            static = tree.propagate(evidence)
        answer = tree.propagate(evidence)
        if static.log_evidence == -np.inf:
            assert answer.log_evidence == -np.inf
            continue
        assert answer.log_evidence == pytest.approx(static.log_evidence, abs=1e-12)
        for v in range(len(cards)):
            assert answer.marginal(v) == pytest.approx(static.marginal(v), abs=1e-12)
            assert answer.family(v) == pytest.approx(static.family(v), abs=1e-12)
