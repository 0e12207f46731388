"""Families taken apart give what the whole joint distribution gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.inference.family_decomposition import (
    Form,
    ProductBuilder,
    decomposable,
)
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.row_propagation import (
    expected_counts,
    log_evidence_rows,
    posterior_rows,
)
from oracles.context_networks import random_context_network, random_forms
from oracles.small_networks import (
    joint_table,
    onto,
    random_codes,
    random_likelihoods,
    row_likelihoods,
)
from property.for_all import for_all

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(2, 7)


@for_all(seed=seeds, n_variables=sizes, few=15, many=35)
def test_posteriors_of_families_taken_apart_equal_those_of_the_joint(
    seed, n_variables
) -> None:
    check_posteriors(seed, n_variables)


@pytest.mark.slow
@given(seed=seeds, n_variables=sizes)
@settings(max_examples=200, deadline=None)
def test_posteriors_of_many_networks_taken_apart_equal_those_of_the_joint(
    seed, n_variables
) -> None:
    check_posteriors(seed, n_variables)


def check_posteriors(seed, n_variables) -> None:
    """Compare marginals of variables and families under random evidence."""
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, n_variables)
    tree = JunctionTree.compile(network, forms=random_forms(rng, network))
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    answer = tree.propagate(likelihoods)
    assert tree.log_evidence(likelihoods) == answer.log_evidence
    if joint.sum() == 0:
        assert answer.log_evidence == -np.inf
        return
    assert answer.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
    joint /= joint.sum()
    for node in range(n_variables):
        family = network.cpds[node].family
        assert answer.marginal(node) == pytest.approx(onto(joint, [node]), abs=1e-12)
        assert answer.family(node) == pytest.approx(onto(joint, family), abs=1e-12)


@for_all(seed=seeds, n_variables=sizes, few=20, many=60)
def test_most_probable_states_of_families_taken_apart_are_those_of_the_joint(
    seed, n_variables
) -> None:
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, n_variables)
    tree = JunctionTree.compile(network, forms=random_forms(rng, network))
    likelihoods = random_likelihoods(rng, network.domain.cards)
    joint = joint_table(network, likelihoods)
    states, log_most = tree.most_probable(likelihoods)
    assert states.shape == (n_variables,)
    if joint.max() == 0:
        assert log_most == -np.inf
    else:
        assert joint[tuple(states)] == pytest.approx(joint.max(), rel=1e-12)
        assert log_most == pytest.approx(np.log(joint.max()), abs=1e-11)


@for_all(seed=seeds, n_variables=sizes, few=15, many=40)
def test_rows_of_families_taken_apart_are_answered_like_the_joint(
    seed, n_variables
) -> None:
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, n_variables, zeros=0.1)
    tree = JunctionTree.compile(network, forms=random_forms(rng, network))
    codes = random_codes(rng, network.domain.cards, 7, 0.4)
    target = int(rng.integers(n_variables))
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
def test_expected_counts_of_families_taken_apart_are_those_of_whole_ones(
    seed, n_variables
) -> None:
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, n_variables, zeros=0.1)
    codes = random_codes(rng, network.domain.cards, 9, 0.3, rng.random(9))
    apart = JunctionTree.compile(network, forms=random_forms(rng, network))
    counts, logs = expected_counts(apart, codes)
    expected, expected_logs = expected_counts(
        JunctionTree.compile(network, forms={}), codes
    )
    assert logs == pytest.approx(expected_logs, abs=1e-11)
    for found, right in zip(counts, expected, strict=True):
        assert found == pytest.approx(right, abs=1e-12)


@for_all(seed=seeds, n_variables=st.integers(3, 7), few=15, many=40)
def test_layouts_without_observed_variables_answer_for_families_taken_apart(
    seed, n_variables
) -> None:
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, n_variables)
    tree = JunctionTree.compile(network, forms=random_forms(rng, network))
    cards = network.domain.cards
    observed = rng.permutation(n_variables)[:2].tolist()
    likelihoods = {v: np.eye(cards[v])[rng.integers(cards[v])] for v in observed}
    joint = joint_table(network, likelihoods)
    if joint.sum() == 0:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayleaf.inference.junction_tree.MANY_CELLS", 0)
        patch.setattr("bayleaf.inference.junction_tree.MANY_CELLS", 0)
        answer = tree.propagate(likelihoods)
        log_evidence = tree.log_evidence(likelihoods)
    assert log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)
    for node in range(n_variables):
        expected = onto(joint, [node]) / joint.sum()
        assert answer.marginal(node) == pytest.approx(expected, abs=1e-12)


@for_all(seed=seeds, shared=st.booleans(), few=15, many=40)
def test_summing_auxiliary_variables_out_gives_the_full_tables(seed, shared) -> None:
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, 5, zeros=0.0)
    forms = random_forms(rng, network)
    builder = ProductBuilder(network.domain.cards, network.cpds)
    product = builder.product(forms, shared=shared)
    for axis, form in enumerate(product.forms):
        assert form is forms.get(axis, Form.WHOLE)
    operands: list[object] = []
    for term in product.terms:
        operands += [term.make(), list(term.family)]
    joint = np.einsum(*operands, list(range(product.n_own)), optimize=True)
    assert joint == pytest.approx(joint_table(network, {}), abs=1e-13)


def test_plain_tables_have_no_other_form() -> None:
    rng = np.random.default_rng(3)
    network = random_context_network(rng, 12)
    plain = [cpd for cpd in network.cpds if type(cpd).__name__ == "TableCPD"]
    assert plain
    assert all(decomposable(cpd) == () for cpd in plain)
    child = next(cpd.child for cpd in plain)
    builder = ProductBuilder(network.domain.cards, network.cpds)
    with pytest.raises(ValueError, match="only trees and grouped tables"):
        builder.product({child: Form.GROUPS})
