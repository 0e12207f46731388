"""A network with contexts and groups of values comes out of its own rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork, BayesianNetworkEstimator
from bayleaf.cpds import Leaf, Split, TableCPD, TreeCPD
from bayleaf.cpds.distribution import CPD
from bayleaf.data.domain import Domain, Variable
from bayleaf.graph.dag import DAG

CARDS = (6, 3, 4, 3, 6, 3)
GROUPS = ((0, 1, 2), (3, 4, 5))
HIERARCHIES = {
    name: {
        "any": {"low": [f"{k}" for k in GROUPS[0]], "high": [f"{k}" for k in GROUPS[1]]}
    }
    for name in ("make", "colour")
}


def _truth(seed: int) -> BayesianNetwork:
    """Price depends on groups of makes for some buyers, on age for others."""
    rng = np.random.default_rng(seed)
    names = ("make", "buyer", "age", "price", "colour", "sold")

    def leaf(card: int) -> Leaf:
        peaked = np.full(card, 0.1)
        peaked[rng.integers(card)] = 1.0
        return Leaf(peaked / peaked.sum() * 0.9 + rng.dirichlet(np.ones(card)) * 0.1)

    def grouped(variable: int, card: int) -> Split:
        return Split(variable, GROUPS, (leaf(card), leaf(card)))

    price = Split(
        1,
        ((0,), (1,), (2,)),
        (
            leaf(3),
            grouped(0, 3),
            Split(2, ((0,), (1,), (2,), (3,)), tuple(leaf(3) for _ in range(4))),
        ),
    )
    colour = Split(1, ((0,), (1,), (2,)), (leaf(6), leaf(6), grouped(0, 6)))
    sold = Split(3, ((0,), (1,), (2,)), (leaf(3), grouped(4, 3), leaf(3)))
    cpds: list[CPD] = [
        TableCPD((0,), rng.dirichlet(np.full(6, 20.0))),
        TableCPD((1,), rng.dirichlet(np.full(3, 20.0))),
        TableCPD((2,), rng.dirichlet(np.full(4, 20.0))),
        TreeCPD((0, 1, 2, 3), (6, 3, 4, 3), price),
        TreeCPD((0, 1, 4), (6, 3, 6), colour),
        TreeCPD((3, 4, 5), (3, 6, 3), sold),
    ]
    domain = Domain(
        tuple(
            Variable(name, tuple(str(k) for k in range(card)))
            for name, card in zip(names, CARDS, strict=True)
        )
    )
    parents = tuple(cpd.parents for cpd in cpds)
    return BayesianNetwork(domain, DAG(parents), tuple(cpds))


def _fitted(rows: Any, **more: Any) -> BayesianNetworkEstimator:
    """Trees over the groups, from a hundred starts."""
    return BayesianNetworkEstimator(
        local_structure="tree", abstraction="given", hierarchies=HIERARCHIES, **more
    ).fit(rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_trees_over_groups_find_contexts_that_tables_must_spell_out(seed: int) -> None:
    truth = _truth(seed)
    rows, others = (truth.sample(50_000, random_state=seed + k) for k in (0, 100))
    true_size = sum(cpd.n_parameters for cpd in truth.cpds)
    trees = _fitted(rows, n_restarts=100, random_state=0)
    tables = BayesianNetworkEstimator(n_restarts=100, random_state=0).fit(rows)
    # From no start but one in these three do all arcs point as they were drawn.
    assert trees.n_free_parameters_ <= (1.2 if seed == 1 else 1.35) * true_size
    assert tables.n_free_parameters_ > 1.5 * true_size
    assert trees.score(others) > tables.score(others)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_true_arcs_lead_to_the_true_contexts(seed: int) -> None:
    truth = _truth(seed)
    rows = truth.sample(50_000, random_state=seed)
    names = truth.domain.names
    arcs = {(names[p], names[cpd.child]) for cpd in truth.cpds for p in cpd.parents}
    pairs = {(one, other) for one in names for other in names if one != other}
    free = _fitted(rows, n_restarts=100, random_state=0)
    told = _fitted(rows, forbidden_edges=sorted(pairs - arcs), random_state=0)
    true_size = sum(cpd.n_parameters for cpd in truth.cpds)
    assert abs(told.n_free_parameters_ - true_size) <= 2
    assert told.mdl_ <= free.mdl_ * (1 + 1e-9)
