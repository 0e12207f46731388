"""Questions to networks of trees and grouped tables, all families taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given as given_cases
from hypothesis import settings
from hypothesis import strategies as st

from bayleaf.cpds.distribution import TableCPD
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.inference.family_decomposition import ProductBuilder
from bayleaf.inference.queries import Inference
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.context_networks import random_context_network, random_forms
from oracles.joint_table import joint_table, marginal
from property.queried_networks import random_evidence

seeds = st.integers(0, 2**32 - 1)
# Few enough that networks are answered in parts, too.
LIMITS = st.sampled_from([20_000_000, 60])


@pytest.fixture(autouse=True)
def everything_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms drawn at random, however small the network."""

    def product(cards: Any, cpds: Any, max_table_cells: int) -> Any:
        rng = np.random.default_rng(len(cpds))
        forms = random_forms(rng, type("Network", (), {"cpds": cpds}))
        builder = ProductBuilder(cards, cpds)
        return builder.product(forms, shared=bool(rng.integers(2)))

    monkeypatch.setattr("bayleaf.inference.junction_tree.small_product", product)


def case_of(seed: int, share: float = 0.5) -> tuple[BayesianNetwork, Any, Any, Any]:
    """A network, evidence as given, as likelihoods, and the joint under it."""
    rng = np.random.default_rng(seed)
    network = random_context_network(rng, 6, zeros=0.1)
    evidence, likelihoods = random_evidence(rng, network, share)
    return network, evidence, likelihoods, joint_table(network, likelihoods)


def as_tables(network: BayesianNetwork) -> BayesianNetwork:
    """The same distribution, every family a full table."""
    cpds = tuple(TableCPD(cpd.family, cpd.probabilities) for cpd in network.cpds)
    return BayesianNetwork(network.domain, network.dag, cpds)


def answer(ask: Any, limit: int) -> Any:
    """An answer, or None where a table would be too large or nothing is possible."""
    try:
        return ask()
    except ImpossibleEvidenceError:
        return None
    except ValueError as error:
        if f"max_table_cells={limit}" not in str(error):
            raise
        return None


@given_cases(seeds, LIMITS)
@settings(deadline=None, max_examples=60)
def test_posteriors_equal_enumeration(seed: int, limit: int) -> None:
    network, evidence, _, joint = case_of(seed)
    inference = Inference(network, max_table_cells=limit)
    found = answer(lambda: inference.query(evidence), limit)
    if found is None:
        return
    for position, variable in enumerate(network.domain):
        expected = marginal(joint, position) / joint.sum()
        given = found[variable.name].probabilities
        np.testing.assert_allclose(given, expected, rtol=0, atol=1e-12)
    assert found.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-11)


@given_cases(seeds)
@settings(deadline=None, max_examples=40)
def test_the_most_probable_explanation_equals_enumeration(seed: int) -> None:
    network, evidence, _, joint = case_of(seed)
    if joint.sum() == 0:
        return
    states, log_most, log_known = Inference(network).most_probable_explanation(evidence)
    assert log_most + log_known == pytest.approx(np.log(joint.max()), abs=1e-11)
    codes = tuple(v.state_index[states[v.name]] for v in network.domain)
    assert joint[codes] == pytest.approx(joint.max(), rel=1e-12)


@given_cases(seeds, LIMITS)
@settings(deadline=None, max_examples=40)
def test_sensitivity_equals_that_of_full_tables(seed: int, limit: int) -> None:
    network, evidence, _, joint = case_of(seed, 0.3)
    rng = np.random.default_rng(seed)
    nodes = [v for v, var in enumerate(network.domain) if var.n_states > 1]
    if joint.sum() == 0 or not nodes:
        return
    node, target = (int(rng.choice(nodes)) for _ in range(2))
    domain = network.domain
    pick = {v: domain[v].states[int(rng.integers(domain[v].n_states))] for v in nodes}
    given = {
        domain[p].name: domain[p].states[int(rng.integers(domain[p].n_states))]
        for p in network.dag.parents[node]
    }
    question = (
        {domain[target].name: pick[target]},
        domain[node].name,
        domain[node].states[0],
        given,
        evidence,
    )
    inference = Inference(network, max_table_cells=limit)
    found = answer(lambda: inference.sensitivity(*question), limit)
    if found is None:
        return
    expected = Inference(as_tables(network)).sensitivity(*question)
    for x in (0.1, 0.5, 0.9):
        assert found(x) == pytest.approx(expected(x), abs=1e-11)


@given_cases(seeds)
@settings(deadline=None, max_examples=20)
def test_conflict_and_information_equal_those_of_full_tables(seed: int) -> None:
    network, evidence, _, joint = case_of(seed, 0.4)
    if joint.sum() == 0:
        return
    found, expected = Inference(network), Inference(as_tables(network))
    if evidence:
        assert found.conflict(evidence) == pytest.approx(
            expected.conflict(evidence), abs=1e-11
        )
    information = found.value_of_information("v0", evidence)
    by_tables = expected.value_of_information("v0", evidence)
    assert information == pytest.approx(by_tables, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_drawn_rows_follow_the_posterior(seed: int) -> None:
    network, evidence, _, joint = case_of(seed)
    if joint.sum() == 0:
        pytest.skip("impossible evidence")
    n_rows = 20_000
    codes = Inference(network).sample_codes(n_rows, evidence, random_state=seed)
    assert codes.cards == network.domain.cards
    for v in range(codes.n_variables):
        shares = np.bincount(codes.column(v), minlength=codes.cards[v]) / n_rows
        expected = marginal(joint, v) / joint.sum()
        assert np.abs(shares - expected).max() < 5 * 0.5 / np.sqrt(n_rows)
    pairs = np.zeros(joint.shape)
    np.add.at(pairs, tuple(codes.column(v) for v in range(codes.n_variables)), 1.0)
    assert (pairs[joint == 0] == 0).all()
    spread = np.sqrt(joint / joint.sum() / n_rows)
    assert (np.abs(pairs / n_rows - joint / joint.sum()) <= 6 * spread + 1e-3).all()
