"""Networks with contexts and groups of values come out of their own rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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


# Variables with groups of values in networks drawn by chance, by number of states.
GROUPS_OF = {6: GROUPS, 4: ((0, 1), (2, 3))}


def _drawn(seed: int) -> BayesianNetwork:
    """Six to nine variables; trees of contexts and groups over up to three others."""
    rng = np.random.default_rng((2008, seed))
    cards = rng.choice([2, 3, 3, 4, 6, 6], size=int(rng.integers(6, 10))).tolist()
    order = rng.permutation(len(cards)).tolist()

    def leaf(card: int) -> Leaf:
        peaked = np.full(card, 0.1)
        peaked[rng.integers(card)] = 1.0
        return Leaf(peaked / peaked.sum() * 0.9 + rng.dirichlet(np.ones(card)) * 0.1)

    def tree(card: int, parents: list[int]) -> Leaf | Split:
        """Each parent is asked about below one branch of the one before it."""
        if not parents:
            return leaf(card)
        states = tuple((code,) for code in range(cards[parents[0]]))
        groups = GROUPS_OF.get(len(states), states)
        deeper = int(rng.integers(len(groups)))
        branches = tuple(
            tree(card, parents[1:]) if place == deeper else leaf(card)
            for place in range(len(groups))
        )
        return Split(parents[0], groups, branches)

    cpds: dict[int, CPD] = {}
    for place, child in enumerate(order):
        number = min(place, int(rng.choice([1, 1, 2, 3])))
        parents = rng.permutation(order[:place])[:number].tolist()
        family = (*sorted(parents), child)
        own = tuple(cards[member] for member in family)
        cpds[child] = (
            TreeCPD(family, own, tree(cards[child], parents))
            if parents
            else TableCPD(family, rng.dirichlet(np.full(cards[child], 20.0)))
        )
    ordered = tuple(cpds[v] for v in range(len(cards)))
    domain = Domain(
        tuple(
            Variable(f"v{v}", tuple(str(k) for k in range(card)))
            for v, card in enumerate(cards)
        )
    )
    return BayesianNetwork(domain, DAG(tuple(cpd.parents for cpd in ordered)), ordered)


def _hierarchies(network: BayesianNetwork) -> dict[str, Any]:
    """The groups of values that trees may ask about."""
    if network.domain[0].name == "make":
        return HIERARCHIES
    return {
        own.name: {
            "any": {
                f"group{place}": [str(code) for code in group]
                for place, group in enumerate(GROUPS_OF[own.n_states])
            }
        }
        for own in network.domain
        if own.n_states in GROUPS_OF
    }


def _fitted(
    network: BayesianNetwork, rows: Any, **more: Any
) -> BayesianNetworkEstimator:
    """Trees over the groups."""
    return BayesianNetworkEstimator(
        local_structure="tree",
        abstraction="given",
        hierarchies=_hierarchies(network),
        random_state=0,
        **more,
    ).fit(rows)


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))]


@cache
def _found(
    truth: Callable[[int], BayesianNetwork], seed: int
) -> tuple[BayesianNetwork, Any, BayesianNetworkEstimator]:
    """A network, rows of it, and what ten starts find in them."""
    network = truth(seed)
    rows = network.sample(50_000, random_state=seed)
    return network, rows, _fitted(network, rows, n_restarts=10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "truth", [_truth, pytest.param(_drawn, marks=pytest.mark.long)]
)
def test_trees_over_groups_find_contexts_that_tables_must_spell_out(
    truth: Callable[[int], BayesianNetwork], seed: int
) -> None:
    network, rows, trees = _found(truth, seed)
    others = network.sample(50_000, random_state=seed + 100)
    true_size = sum(cpd.n_parameters for cpd in network.cpds)
    tables = BayesianNetworkEstimator(n_restarts=10, random_state=0).fit(rows)
    assert trees.n_free_parameters_ <= 1.2 * true_size
    assert tables.n_free_parameters_ > 1.5 * true_size
    assert trees.score(others) > tables.score(others)


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("truth", [_truth, _drawn])
def test_the_true_arcs_need_not_be_told(
    truth: Callable[[int], BayesianNetwork], seed: int
) -> None:
    network, rows, free = _found(truth, seed)
    names = network.domain.names
    arcs = {(names[p], names[cpd.child]) for cpd in network.cpds for p in cpd.parents}
    pairs = {(one, other) for one in names for other in names if one != other}
    told = _fitted(network, rows, forbidden_edges=sorted(pairs - arcs))
    true_size = sum(cpd.n_parameters for cpd in network.cpds)
    # Distributions that were drawn alike are one in fewer bits.
    assert told.n_free_parameters_ <= true_size + 2
    assert free.mdl_ <= told.mdl_ * (1 + 1e-9)
