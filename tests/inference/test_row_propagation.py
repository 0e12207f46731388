"""Answers for all rows of a table equal sums over the whole joint distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import (
    expected_counts,
    log_evidence_rows,
    posterior_rows,
)
from oracles.small_networks import (
    joint_table,
    make_network,
    onto,
    random_codes,
    random_network,
    row_likelihoods,
)
from property.for_all import for_all

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)


@for_all(seed=seeds, n_variables=sizes, few=15, many=30)
def test_rows_with_holes_are_answered_like_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables, zeros=0.1)
    codes = random_codes(rng, network.domain.cards, 7, 0.4)
    target = int(rng.integers(n_variables))
    tree = JunctionTree.compile(network)
    posteriors, given_others = posterior_rows(tree, codes, target)
    log_evidence = log_evidence_rows(tree, codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in range(codes.n_rows):
            joint = joint_table(network, row_likelihoods(codes, row))
            assert log_evidence[row] == pytest.approx(np.log(joint.sum()), abs=1e-11)
            joint = joint_table(network, row_likelihoods(codes, row, target))
            assert given_others[row] == pytest.approx(np.log(joint.sum()), abs=1e-11)
            expected = onto(joint, [target]) / joint.sum()
            assert posteriors[row] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@for_all(seed=seeds, n_variables=sizes, few=15, many=30)
def test_expected_counts_equal_those_of_the_whole_joint(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables, zeros=0.1)
    codes = random_codes(rng, network.domain.cards, 9, 0.3, rng.random(9))
    counts, log_evidence = expected_counts(JunctionTree.compile(network), codes)
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
    counts, _ = expected_counts(JunctionTree.compile(network), codes)
    families = [cpd.family for cpd in network.cpds]
    for found, plain in zip(counts, RowCounts(codes).family_counts(families)):
        assert np.array_equal(found, plain)


def test_rows_are_answered_alike_by_any_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    network = random_network(rng, 8, zeros=0.0)
    codes = random_codes(rng, network.domain.cards, 3000, 0.3, rng.random(3000))
    tree = JunctionTree.compile(network)
    for one, two in zip(
        expected_counts(tree, codes, 1)[0], expected_counts(tree, codes, 2)[0]
    ):
        assert np.array_equal(one, two)
    assert np.array_equal(
        posterior_rows(tree, codes, 3, 1)[0], posterior_rows(tree, codes, 3, 2)[0]
    )


def test_a_thousand_features_that_disagree_do_not_underflow() -> None:
    n = 1000
    toward = np.array([[0.999, 0.001], [0.001, 0.999]])
    network = make_network(
        [2] * (n + 1), [*([n] for _ in range(n)), []], [toward] * n + [np.ones(2) / 2]
    )
    codes = Codes.from_columns(
        [np.array([v % 2]) for v in range(n)] + [np.array([2])], [2] * (n + 1)
    )
    posterior, log_evidence = posterior_rows(JunctionTree.compile(network), codes, n)
    assert posterior[0] == pytest.approx([0.5, 0.5], abs=1e-9)
    expected = n // 2 * (np.log(0.999) + np.log(0.001))
    assert log_evidence[0] == pytest.approx(expected, rel=1e-12)


def test_rows_of_another_table_are_refused() -> None:
    tree = JunctionTree.compile(make_network([2], [[]], [np.ones(2) / 2]))
    codes = Codes.from_columns([np.zeros(3, dtype=np.int64)], [3])
    with pytest.raises(ValueError, match="network's domain"):
        log_evidence_rows(tree, codes)
