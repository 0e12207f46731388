"""Counts expected part by part equal those that junction trees find row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.inference.junction_tree import JunctionTree
from bayleaf.inference.missing_parts import ExpectedFamilies, MissingParts
from bayleaf.inference.row_propagation import expected_counts
from oracles.small_networks import (
    joint_table,
    onto,
    random_codes,
    random_network,
    row_likelihoods,
)
from property.for_all import for_all

seeds = st.integers(0, 2**32 - 1)


def _compiled(network, codes: Codes) -> ExpectedFamilies:
    families = network.dag.families
    parts = MissingParts.of_rows(codes, families)
    return ExpectedFamilies(parts, codes.cards, families)


@for_all(
    seed=seeds,
    n_variables=st.integers(1, 9),
    holes=st.sampled_from([0.1, 0.4, 0.8, 1.0]),
    few=20,
    many=60,
)
def test_parts_and_counts_of_known_families_add_up_to_whole_rows(
    seed, n_variables, holes
) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables, zeros=0.0)
    codes = random_codes(rng, network.domain.cards, 40, holes, rng.random(40))
    wanted, logs = expected_counts(JunctionTree.compile(network), codes)
    tables = [cpd.probabilities for cpd in network.cpds]
    compiled = _compiled(network, codes)
    flat, part_logs = compiled.under(np.concatenate([t.ravel() for t in tables]))
    found = np.split(flat, np.cumsum([table.size for table in tables])[:-1])
    source = RowCounts(codes, has_class=False)
    known = source.family_counts([cpd.family for cpd in network.cpds])
    total = float(np.dot(compiled.parts.weights, part_logs))
    for part, counted, table, whole in zip(found, known, tables, wanted, strict=True):
        assert part.reshape(table.shape) + counted == pytest.approx(whole, abs=1e-11)
        total += float((counted * np.log(table)).sum())
    assert total == pytest.approx(float(np.dot(codes.weights, logs)), rel=1e-11)


@given(seed=seeds, n_variables=st.integers(1, 6))
@settings(max_examples=20, deadline=None)
def test_variances_are_those_over_all_completions(seed, n_variables) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_variables, zeros=0.0)
    codes = random_codes(rng, network.domain.cards, 5, 0.5, rng.random(5))
    tables = [cpd.probabilities for cpd in network.cpds]
    compiled = _compiled(network, codes)
    flat = compiled.variances_under(np.concatenate([t.ravel() for t in tables]))
    wanted = [np.zeros(table.shape) for table in tables]
    for row in range(codes.n_rows):
        joint = joint_table(network, row_likelihoods(codes, row))
        for node, p in enumerate(tables):
            both = onto(joint / joint.sum(), network.dag.families[node])
            given = both.sum(axis=-1, keepdims=True)
            square = both * (1 - p) ** 2 + (given - both) * p**2
            wanted[node] += codes.weights[row] * (square - (both - p * given) ** 2)
    expected = np.concatenate([table.ravel() for table in wanted])
    assert flat == pytest.approx(expected, abs=1e-11)


def test_impossible_parts_add_nothing() -> None:
    families = [(0,), (0, 1)]
    codes = Codes.from_columns([np.array([2, 2]), np.array([0, 1])], [2, 2])
    parts = MissingParts.of_rows(codes, families)
    tables = np.array([0.25, 0.75, 0.0, 1.0, 0.0, 1.0])
    found, logs = ExpectedFamilies(parts, codes.cards, families).under(tables)
    np.testing.assert_array_equal(logs[np.argsort(parts.rows)], [-np.inf, 0.0])
    np.testing.assert_array_equal(found, [0.25, 0.75, 0.0, 0.25, 0.0, 0.75])


def test_equal_parts_of_different_rows_are_one() -> None:
    network = random_network(np.random.default_rng(1), 6, density=0.0)
    cards = network.domain.cards
    columns = [np.arange(50) % card for card in cards]
    columns[0], columns[3] = np.full(50, cards[0]), np.full(50, cards[3])
    parts = MissingParts.of_rows(
        Codes.from_columns(columns, cards), network.dag.families
    )
    assert parts.weights.tolist() == [50.0, 50.0]


def test_threads_and_blocks_change_nothing(monkeypatch) -> None:
    rng = np.random.default_rng(2)
    network = random_network(rng, 9)
    codes = random_codes(rng, network.domain.cards, 500, 0.3, rng.random(500))
    tables = np.concatenate([cpd.probabilities.ravel() for cpd in network.cpds])
    compiled = _compiled(network, codes)
    one, two = compiled.under(tables, 1), compiled.under(tables, 2)
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)
    monkeypatch.setattr("bayleaf.inference.missing_parts._BLOCK_CELLS", 9 * 64)
    merged = MissingParts.of_rows(codes, network.dag.families)
    assert merged.weights == pytest.approx(compiled.parts.weights, rel=1e-14)
    np.testing.assert_array_equal(merged.codes, compiled.parts.codes)
