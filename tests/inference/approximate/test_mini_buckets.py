"""Mini-buckets keep to their bound, hold every factor, and are exact where whole."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from bayleaf.graph.separation import ancestors
from bayleaf.inference.approximate.importance_sampling import ImportanceFunction
from bayleaf.inference.approximate.mini_buckets import (
    JoinGraph,
    MiniBucketElimination,
    potentials,
)
from bayleaf.inference.evidence import read_evidence
from oracles.grid_networks import cell, grid_network


def grid_factors():
    network = grid_network(6, 0)
    evidence = read_evidence(network.domain, {cell(5, 5): 1, cell(3, 4): 0})
    above = ancestors(network.dag, [item.variable for item in evidence.items])
    return network, evidence, above, potentials(network, evidence, above, 1000)


def split_into(most_cells):
    network, evidence, above, factors = grid_factors()
    variables = factors.open_variables
    scopes, cards = factors.scopes, factors.cards
    split = MiniBucketElimination(scopes, variables, cards, most_cells).run()
    return network, evidence, above, factors, split


@pytest.mark.parametrize("most_cells", [8, 32, 10_000])
def test_tables_keep_to_the_bound(most_cells) -> None:
    *_, factors, split = split_into(most_cells)
    for bucket in split.buckets:
        assert prod(factors.cards[v] for v in bucket.scope) <= most_cells


@pytest.mark.parametrize("most_cells", [8, 10_000])
def test_every_factor_and_message_has_one_place(most_cells) -> None:
    *_, factors, split = split_into(most_cells)
    held = [i for bucket in split.buckets for i in bucket.factors]
    assert sorted(held) == list(range(len(factors.scopes)))
    sent = [i for bucket in split.buckets for i in bucket.children]
    sending = [i for i, bucket in enumerate(split.buckets) if len(bucket.scope) > 1]
    assert sorted(sent) == sending


def test_weights_of_whole_buckets_are_the_probability_of_evidence() -> None:
    network, evidence, above, factors, split = split_into(10_000)
    assert split.is_exact
    graph = JoinGraph(factors, split)
    graph.up()
    function = ImportanceFunction(
        network, evidence.hard, (), above, graph, factors.cards
    )
    _, log_weights = function.draw(20, np.random.default_rng(0))
    known = {cell(5, 5): 1, cell(3, 4): 0}
    exact = network.log_probability_of_evidence(known)
    assert log_weights + factors.log_constant == pytest.approx(exact)


@pytest.mark.parametrize("n_rounds", [0, 1, 3])
def test_weights_of_split_buckets_are_right_whatever_the_messages(n_rounds) -> None:
    network, evidence, above, factors, split = split_into(8)
    assert not split.is_exact
    graph = JoinGraph(factors, split)
    graph.up()
    for _ in range(n_rounds):
        graph.down()
        graph.up()
    function = ImportanceFunction(
        network, evidence.hard, (), above, graph, factors.cards
    )
    _, log_weights = function.draw(4000, np.random.default_rng(1))
    known = {cell(5, 5): 1, cell(3, 4): 0}
    exact = np.exp(network.log_probability_of_evidence(known) - factors.log_constant)
    weights = np.exp(log_weights)
    error = weights.std() / np.sqrt(len(weights))
    assert abs(weights.mean() - exact) < 4 * error
