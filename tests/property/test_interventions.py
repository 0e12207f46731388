"""Interventions on random networks, against the mutilated joint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from bayleaf.graph.dag import DAG
from bayleaf.inference.evidence import ImpossibleEvidenceError
from bayleaf.models.bayesian_network import BayesianNetwork
from oracles.joint_table import marginal
from oracles.mutilated import interventional, mutilated_joint
from property.for_all import for_all
from property.networks import random_network, seeded_generators
from property.queried_networks import random_evidence, sparse_networks

EXACT = {"rtol": 0, "atol": 1e-12}


@for_all(sparse_networks(max_variables=6), seeded_generators(), few=40, many=300)
def test_a_network_under_do_answers_as_the_mutilated_joint(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    n_set = int(rng.integers(1, min(3, len(network.domain)) + 1))
    chosen = rng.choice(len(network.domain), n_set, replace=False).tolist()
    wanted, distributions = {}, {}
    for node in chosen:
        variable = network.domain[node]
        distributions[node] = rng.dirichlet(np.ones(variable.n_states))
        wanted[variable.name] = dict(
            zip(variable.states, distributions[node].tolist(), strict=True)
        )
        if rng.random() < 0.5:
            code = int(rng.integers(variable.n_states))
            distributions[node] = np.eye(variable.n_states)[code]
            wanted[variable.name] = variable.states[code]
    joint = mutilated_joint(network, distributions)
    found = network.do(wanted).query()
    for node, name in enumerate(network.domain.names):
        expected = marginal(joint, node)
        np.testing.assert_allclose(found[name].probabilities, expected, **EXACT)


@for_all(sparse_networks(max_variables=6), seeded_generators(), few=40, many=300)
def test_effects_given_evidence_equal_the_mutilated_joint(
    network: BayesianNetwork, rng: np.random.Generator
) -> None:
    cards = network.domain.cards
    treatments = [v for v, card in enumerate(cards) if card > 1]
    assume(treatments and len(cards) > 1)
    treatment = int(rng.choice(treatments))
    outcome = int(rng.choice([v for v in range(len(cards)) if v != treatment]))
    known, likelihoods = random_evidence(rng, network, share=0.3)
    for node in (treatment, outcome):
        known.pop(f"v{node}", None)
        likelihoods.pop(node, None)
    expected = interventional(network, treatment, outcome, likelihoods)
    names = network.domain.names
    ends = names[treatment], names[outcome]
    if np.isnan(expected).any():
        with pytest.raises(ImpossibleEvidenceError):
            network.causal_effect(*ends, given=known)
        return
    found = network.with_experience(5.0).causal_effect(*ends, given=known, n_draws=2)
    np.testing.assert_allclose(found.probabilities, expected, **EXACT)


@for_all(st.integers(3, 7), seeded_generators(), few=40, many=300)
def test_what_observation_identifies_equals_the_mutilated_joint(
    n_variables: int, rng: np.random.Generator
) -> None:
    network = positive_network(rng, n_variables)
    latent = [f"v{v}" for v in range(2, n_variables) if rng.random() < 0.3]
    ways = [
        network.adjustment_sets("v0", "v1", latent=latent, kind=kind, limit=1)
        for kind in ("backdoor", "frontdoor")
    ]
    if not any(ways):
        with pytest.raises(ValueError, match="open path v0"):
            network.causal_effect("v0", "v1", latent=latent)
        return
    found = network.causal_effect("v0", "v1", latent=latent)
    expected = interventional(network, 0, 1)
    np.testing.assert_allclose(found.probabilities, expected, **EXACT)


@for_all(st.integers(3, 6), seeded_generators(), few=40, many=100)
def test_adjusting_for_any_valid_set_gives_the_same_effect(
    n_variables: int, rng: np.random.Generator
) -> None:
    network = positive_network(rng, n_variables)
    expected = interventional(network, 0, 1)
    for nodes in network.adjustment_sets("v0", "v1", minimal=False):
        found = network.causal_effect("v0", "v1", adjust_for=nodes)
        np.testing.assert_allclose(found.probabilities, expected, **EXACT)


@for_all(seeded_generators(), few=40, many=100)
def test_adjustment_holds_among_cases_that_the_treatment_does_not_act_on(
    rng: np.random.Generator,
) -> None:
    network = positive_network(rng, 6)
    known, likelihoods = random_evidence(rng, network, share=0.3)
    ends = {"v0": 0, "v1": 1}
    known = {name: value for name, value in known.items() if name not in ends}
    likelihoods = {v: own for v, own in likelihoods.items() if v > 1}
    try:
        found = network.causal_effect("v0", "v1", given=known, adjust_for=())
    except ValueError:
        return
    expected = interventional(network, 0, 1, likelihoods)
    np.testing.assert_allclose(found.probabilities, expected, **EXACT)


def positive_network(rng: np.random.Generator, n_variables: int) -> BayesianNetwork:
    """A network without zeros whose first two variables are linked in some way."""
    order = rng.permutation(n_variables)
    parents: list[tuple[int, ...]] = [()] * n_variables
    for place, node in enumerate(order):
        chosen = order[:place][rng.random(place) < 0.5]
        parents[node] = tuple(int(parent) for parent in chosen)
    cards = rng.integers(2, 4, n_variables).tolist()
    return random_network(rng, cards, DAG(tuple(parents)))
