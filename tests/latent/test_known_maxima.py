"""Expectation maximisation reaches maxima that are known in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayleaf import BayesianNetwork
from bayleaf.data.codes import Codes
from bayleaf.graph.dag import DAG
from bayleaf.latent import learn_parameters
from offenders import check_each
from property.networks import domain_of, random_network

CARDS = [2, 3, 2]
COMPLETE = DAG(((), (0,), (0, 1)))
CHAIN = DAG(((), (0,), (1,)))
# By pattern: the graph, the variables in the order in which rows lose them from the end
# on, and the probability that a row has the next one, given the one before.
PATTERNS: dict[str, tuple[DAG, tuple[int, ...], tuple[Any, ...]]] = {
    "children, at random": (COMPLETE, (0, 1, 2), (0.7, 0.7)),
    "children, by their parents": (CHAIN, (0, 1, 2), ([0.9, 0.3], [0.2, 0.5, 0.8])),
    "a parent, at random": (COMPLETE, (2, 1, 0), (1.0, 0.5)),
    "a parent, by its children": (COMPLETE, (2, 1, 0), (1.0, [0.1, 0.4, 0.7])),
    "parents of parents": (COMPLETE, (1, 2, 0), ([0.8, 0.5, 0.3], [0.6, 0.2])),
    "most cells": (COMPLETE, (2, 1, 0), (0.4, [0.5, 0.4, 0.6])),
}


def _rows(pattern: str, n_rows: int, seed: int) -> Codes:
    """Rows of a random network that lose cells as the pattern says."""
    graph, order, shares = PATTERNS[pattern]
    rng = np.random.default_rng(seed)
    network = random_network(rng, CARDS, graph)
    codes = network.sample_codes(n_rows, random_state=seed)
    columns = [codes.column(v).copy() for v in range(3)]
    has = np.ones(n_rows, dtype=bool)
    for before, variable, share in zip(order, order[1:], shares):
        chances = np.broadcast_to(share, CARDS[before])[codes.column(before)]
        has &= rng.random(n_rows) < chances
        columns[variable][~has] = CARDS[variable]
    return Codes.from_columns(columns, CARDS)


def _maximum(graph: DAG, order: tuple[int, ...], rows: Codes) -> list[Any]:
    """The tables at the maximum: each factor is that of the rows that have it.

    P(first) P(second | first) P(third | first, second), where a row that has a variable
    has all before it (Little and Rubin 2019, section 7.4).
    """
    joint = np.ones([1, 1, 1])
    shape = [CARDS[v] for v in order]
    for n_known in range(1, 4):
        known = [rows.column(v) for v in order[:n_known]]
        complete = known[-1] < CARDS[order[n_known - 1]]
        counts = np.zeros(shape[:n_known])
        np.add.at(counts, tuple(column[complete] for column in known), 1.0)
        if graph is CHAIN and n_known == 3:
            counts = np.broadcast_to(counts.sum(axis=0), counts.shape)
        totals = counts.sum(axis=-1, keepdims=True)
        factor = np.divide(counts, totals, out=np.ones(counts.shape), where=totals > 0)
        joint = joint * factor.reshape(factor.shape + (1,) * (3 - n_known))
    joint = joint.transpose(np.argsort(order))
    tables = []
    for family in graph.families:
        others = tuple(v for v in range(3) if v not in family)
        own = joint.sum(axis=others)
        tables.append(own / own.sum(axis=-1, keepdims=True))
    return tables


def _check(n_rows: int) -> None:
    def check(pattern: str) -> None:
        graph, order, _ = PATTERNS[pattern]
        rows = _rows(pattern, n_rows, 1)
        start = BayesianNetwork(
            domain_of(CARDS),
            graph,
            random_network(np.random.default_rng(2), CARDS, graph).cpds,
        )
        learned = learn_parameters(start, rows)
        assert learned.converged
        for cpd, table in zip(
            learned.network.cpds, _maximum(graph, order, rows), strict=True
        ):
            np.testing.assert_allclose(cpd.probabilities, table, rtol=0, atol=1e-6)

    check_each(list(PATTERNS), check)


@pytest.mark.parametrize("n_rows", [1_000, 100_000])
def test_the_maximum_is_reached_within_a_millionth(n_rows: int) -> None:
    _check(n_rows)


@pytest.mark.slow
def test_the_maximum_of_a_million_rows_is_reached_within_a_millionth() -> None:
    _check(1_000_000)
