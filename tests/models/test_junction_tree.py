from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes
from bayleaf.models.junction_tree import JunctionTree
from oracles.small_networks import (
    joint_table,
    make_network,
    onto,
    random_codes,
    random_likelihoods,
    random_network,
    row_likelihoods,
)

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)


@given(seed=seeds, n_variables=sizes)
@settings(max_examples=60, deadline=None)
def test_posteriors_equal_those_of_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    tree = JunctionTree.compile(network)
    answer = tree.propagate(likelihoods)
    assert tree.log_evidence(likelihoods) == answer.log_evidence
    if joint.sum() == 0:
        assert answer.log_evidence == -np.inf
        with pytest.raises(ValueError, match="impossible"):
            answer.marginal(0)
        return
    assert answer.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
    joint /= joint.sum()
    for node in range(n_variables):
        family = network.cpds[node].family
        assert answer.marginal(node) == pytest.approx(onto(joint, [node]), abs=1e-12)
        assert answer.family(node) == pytest.approx(onto(joint, family), abs=1e-12)


@given(seed=seeds, n_variables=sizes)
@settings(max_examples=60, deadline=None)
def test_most_probable_states_equal_those_of_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables)
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    states, log_most = JunctionTree.compile(network).most_probable(likelihoods)
    if joint.max() == 0:
        assert log_most == -np.inf
    else:
        assert joint[tuple(states)] == pytest.approx(joint.max(), rel=1e-12)
        assert log_most == pytest.approx(np.log(joint.max()), abs=1e-11)


def test_equally_probable_states_go_to_the_lowest() -> None:
    uniform = np.full((3, 3), 1 / 3)
    network = make_network([3, 3, 3], [[2], [], [1]], [uniform, uniform[0], uniform])
    states, _ = JunctionTree.compile(network).most_probable({1: np.array([0, 2.0, 2])})
    assert states.tolist() == [0, 1, 0]


@given(seed=seeds, n_variables=sizes)
@settings(max_examples=30, deadline=None)
def test_rows_with_holes_are_answered_like_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables, zeros=0.1)
    codes = random_codes(rng, network.domain.cards, 7, 0.4)
    target = int(rng.integers(n_variables))
    tree = JunctionTree.compile(network)
    posteriors, given_others = tree.posterior_rows(codes, target)
    log_evidence = tree.log_evidence_rows(codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in range(codes.n_rows):
            joint = joint_table(network, row_likelihoods(codes, row))
            assert log_evidence[row] == pytest.approx(np.log(joint.sum()), abs=1e-11)
            joint = joint_table(network, row_likelihoods(codes, row, target))
            assert given_others[row] == pytest.approx(np.log(joint.sum()), abs=1e-11)
            expected = onto(joint, [target]) / joint.sum()
            assert posteriors[row] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(seed=seeds, n_variables=sizes)
@settings(max_examples=30, deadline=None)
def test_expected_counts_equal_those_of_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables, zeros=0.1)
    codes = random_codes(rng, network.domain.cards, 9, 0.3, rng.random(9))
    counts, log_evidence = JunctionTree.compile(network).expected_counts(codes)
    expected = [np.zeros(cpd.probabilities.shape) for cpd in network.cpds]
    for row in range(codes.n_rows):
        joint = joint_table(network, row_likelihoods(codes, row))
        if joint.sum() == 0:
            assert log_evidence[row] == -np.inf
            continue
        joint *= codes.weights[row] / joint.sum()
        for node, cpd in enumerate(network.cpds):
            expected[node] += onto(joint, cpd.family)
    for found, wanted in zip(counts, expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_expected_counts_of_complete_rows_are_plain_counts_bit_for_bit(
    weighted,
) -> None:
    rng = np.random.default_rng(3)
    network = random_network(rng, 6, zeros=0.0)
    weights = rng.random(5000) if weighted else None
    codes = random_codes(rng, network.domain.cards, 5000, 0.0, weights)
    counts, _ = JunctionTree.compile(network).expected_counts(codes)
    families = [cpd.family for cpd in network.cpds]
    for found, plain in zip(counts, TableCounts(codes).family_counts(families)):
        assert np.array_equal(found, plain)


def test_rows_are_answered_alike_by_any_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    network = random_network(rng, 8, zeros=0.0)
    codes = random_codes(rng, network.domain.cards, 3000, 0.3, rng.random(3000))
    tree = JunctionTree.compile(network)
    for one, two in zip(
        tree.expected_counts(codes, 1)[0], tree.expected_counts(codes, 2)[0]
    ):
        assert np.array_equal(one, two)
    assert np.array_equal(
        tree.posterior_rows(codes, 3, 1)[0], tree.posterior_rows(codes, 3, 2)[0]
    )


def test_a_chain_of_two_thousand_nodes_does_not_underflow() -> None:
    n = 2000
    step = np.array([[0.9, 0.1], [0.2, 0.8]])
    tables = [np.array([0.5, 0.5])] + [step] * (n - 1)
    network = make_network([2] * n, [[], *([i] for i in range(n - 1))], tables)
    hard = {v: np.array([0.0, 1.0]) if v % 2 else np.array([1.0, 0]) for v in range(n)}
    tree = JunctionTree.compile(network)
    expected = np.log(0.5) + n // 2 * np.log(0.1) + (n // 2 - 1) * np.log(0.2)
    assert tree.log_evidence(hard) == pytest.approx(expected, rel=1e-12)
    soft = {v: vector + 0.1 for v, vector in hard.items()}
    forward = np.log(0.5) + np.log(soft[0])
    for v in range(1, n):
        forward = np.logaddexp.reduce(forward[:, None] + np.log(step), axis=0)
        forward += np.log(soft[v])
    answer = tree.propagate(soft)
    assert answer.log_evidence == pytest.approx(np.logaddexp(*forward), rel=1e-12)
    last = np.exp(forward - np.logaddexp(*forward))
    assert answer.marginal(n - 1) == pytest.approx(last, abs=1e-12)


def test_a_thousand_features_that_disagree_do_not_underflow() -> None:
    n = 1000
    toward = np.array([[0.999, 0.001], [0.001, 0.999]])
    network = make_network(
        [2] * (n + 1), [*([n] for _ in range(n)), []], [toward] * n + [np.ones(2) / 2]
    )
    codes = Codes.from_columns(
        [np.array([v % 2]) for v in range(n)] + [np.array([2])], [2] * (n + 1)
    )
    posterior, log_evidence = JunctionTree.compile(network).posterior_rows(codes, n)
    assert posterior[0] == pytest.approx([0.5, 0.5], abs=1e-9)
    expected = n // 2 * (np.log(0.999) + np.log(0.001))
    assert log_evidence[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [100, 102, 103])
def test_evidence_that_nearly_excludes_what_remains_gives_posteriors(n) -> None:
    # With each feature state 1 of the parent grows a thousand times less likely.
    # The last feature but one rules state 0 out; the last is not observed.
    tables = [np.array([[0.0, 1.0], [0.999, 0.001]])] * n
    tables += [np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.3, 0.7], [0.6, 0.4]])]
    parents = [*([n + 2] for _ in range(n + 2)), []]
    network = make_network([2] * (n + 3), parents, [*tables, np.ones(2) / 2])
    evidence = dict.fromkeys(range(n + 1), np.array([0.0, 1.0]))
    answer = JunctionTree.compile(network).propagate(evidence)
    expected = n * np.log(0.001) + 2 * np.log(0.5)
    assert answer.log_evidence == pytest.approx(expected, rel=1e-9)
    assert answer.marginal(n + 2) == pytest.approx([0.0, 1.0], abs=1e-9)
    assert answer.marginal(n + 1) == pytest.approx([0.6, 0.4], abs=1e-9)


def test_rows_off_by_rounding_are_normalised() -> None:
    tables = [np.array([0.3, 0.700003]), np.array([[0.2, 0.8], [0.49999, 0.5]])]
    tree = JunctionTree.compile(make_network([2, 2], [[], [0]], tables))
    answer = tree.propagate({})
    assert answer.log_evidence == pytest.approx(0.0, abs=1e-15)
    assert answer.marginal(0) == pytest.approx(tables[0] / tables[0].sum(), abs=1e-15)
    assert answer.marginal(1).sum() == pytest.approx(1.0, abs=1e-15)


def test_a_table_over_the_limit_is_refused_by_name() -> None:
    parents = [[], [], [0, 1]]
    tables = [np.ones(4) / 4, np.ones(4) / 4, np.ones((4, 4, 4)) / 4]
    network = make_network([4, 4, 4], parents, tables)
    with pytest.raises(ValueError, match=r"64 cells over v0, v1, v2.*=63"):
        JunctionTree.compile(network, max_table_cells=63)
    assert JunctionTree.compile(network, max_table_cells=64).cliques == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (np.ones(3), "v0.*shape .3,.*2 states"),
        (np.array([1.0, -1.0]), "not negative"),
        (np.array([1.0, np.nan]), "finite"),
    ],
)
def test_likelihoods_that_do_not_fit_are_refused(vector, message) -> None:
    tree = JunctionTree.compile(make_network([2], [[]], [np.ones(2) / 2]))
    with pytest.raises(ValueError, match=message):
        tree.propagate({0: vector})


def test_rows_of_another_table_are_refused() -> None:
    tree = JunctionTree.compile(make_network([2], [[]], [np.ones(2) / 2]))
    codes = Codes.from_columns([np.zeros(3, dtype=np.int64)], [3])
    with pytest.raises(ValueError, match="network's domain"):
        tree.log_evidence_rows(codes)


def wide_network(rng):
    """Rows of tables and messages that are longer than a sum's running parts."""
    cards, parents = [7, 9, 2, 5, 6], [[], [0], [0, 1], [1], [1, 3]]
    tables = []
    for child, above in enumerate(parents):
        table = rng.random([*(cards[p] for p in above), cards[child]])
        tables.append(table / table.sum(axis=-1, keepdims=True))
    return make_network(cards, parents, tables)


def all_answers(network, likelihoods, codes) -> list[np.ndarray]:
    tree = JunctionTree.compile(network)
    answer = tree.propagate(likelihoods)
    found = [answer.log_evidence, tree.log_evidence(likelihoods)]
    if answer.log_evidence > -np.inf:
        for node in range(len(network.domain)):
            found += [answer.marginal(node), answer.family(node)]
    counts, log_evidence = tree.expected_counts(codes)
    found += [*counts, log_evidence, tree.log_evidence_rows(codes)]
    return [*found, *tree.most_probable(likelihoods), *tree.posterior_rows(codes, 0)]
