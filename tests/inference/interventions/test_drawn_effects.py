"""Products of tables of drawn networks equal sums over each one's whole joint."""

from __future__ import annotations

import numpy as np

from bayleaf.inference.interventions.effect_measurement import summed_to
from offenders import check_each
from oracles.joint_table import joint_table, marginal
from oracles.small_networks import random_network


def test_each_version_of_a_product_equals_the_sum_of_its_joint() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        network = random_network(rng, 7, zeros=0.0)
        kept = rng.choice(7, 3, replace=False).tolist()
        others = [v for v in range(7) if v not in kept]
        weights = rng.random((2, network.domain.cards[others[0]]))
        tables = [(cpd.family, cpd.probabilities[None]) for cpd in network.cpds]
        found = summed_to(kept, others, [*tables, ((others[0],), weights)])
        for version, likelihood in zip(found, weights, strict=True):
            joint = joint_table(network, {others[0]: likelihood})
            expected = marginal(joint, *kept)
            np.testing.assert_allclose(
                version / version.sum(), expected / expected.sum(), rtol=0, atol=1e-14
            )

    check_each(range(10), check)
