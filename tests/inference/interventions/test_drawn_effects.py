"""Joint tables of few variables equal sums over the whole joint."""

from __future__ import annotations

import numpy as np

from bayleaf.inference.interventions.effect_measurement import joint_table
from offenders import check_each
from oracles.joint_table import joint_table as whole_joint
from oracles.joint_table import marginal
from oracles.small_networks import random_network


def test_a_table_of_some_variables_equals_the_sum_of_the_joint() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        network = random_network(rng, 7, zeros=0.0)
        kept = rng.choice(7, 3, replace=False).tolist()
        known, weighed = [v for v in range(7) if v not in kept][:2]
        state = int(rng.integers(network.domain.cards[known]))
        weights = rng.random(network.domain.cards[weighed])
        likelihoods = {
            known: np.eye(network.domain.cards[known])[state],
            weighed: weights,
        }
        expected = marginal(whole_joint(network, likelihoods), *kept)
        found = joint_table(
            network, range(7), kept, {known: state}, {weighed: weights}, 10**6
        )
        assert found is not None
        np.testing.assert_allclose(
            found / found.sum(), expected / expected.sum(), rtol=0, atol=1e-14
        )

    check_each(range(10), check)


def test_a_table_beyond_the_limit_is_not_made() -> None:
    network = random_network(np.random.default_rng(0), 7)
    assert joint_table(network, range(7), [0, 1], {}, {}, 1) is None
