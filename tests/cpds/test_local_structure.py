"""Contexts, groups and fixed parents say what the full tables say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.cpds.distribution import GroupedTableCPD, TableCPD
from bayleaf.cpds.local_structure import (
    contexts,
    distribution_at,
    grouped_probabilities,
    n_contexts,
    state_groups,
    with_known_parents,
)
from bayleaf.cpds.tree_cpd import TreeCPD
from oracles.context_networks import random_cpd

CARDS = [3, 4, 2, 1, 3]
seeds = st.integers(0, 2**32 - 1)


def drawn(seed: int) -> TableCPD | TreeCPD | GroupedTableCPD:
    """A distribution of variable 4 given the others, in any order and form."""
    rng = np.random.default_rng(seed)
    family = (*(int(v) for v in rng.permutation(4)), 4)
    cpd = random_cpd(rng, family, CARDS, 0.2)
    assert isinstance(cpd, TableCPD | TreeCPD | GroupedTableCPD)
    return cpd


@settings(max_examples=30)
@given(seeds)
def test_every_configuration_has_one_context_and_its_distribution(seed: int) -> None:
    cpd = drawn(seed)
    if isinstance(cpd, TableCPD):
        return
    known = contexts(cpd)
    assert len(known.rows) == n_contexts(cpd)
    for states in np.ndindex(cpd.cards[:-1]):
        agree = [a[:, s] for a, s in zip(known.allowed, states, strict=True)]
        (row,) = known.rows[np.logical_and.reduce(agree)]
        assert row.tolist() == cpd.probabilities[states].tolist()


@settings(max_examples=30)
@given(seeds)
def test_states_of_one_group_have_the_same_rows(seed: int) -> None:
    cpd = drawn(seed)
    if isinstance(cpd, TableCPD):
        return
    groups = state_groups(cpd)
    table = grouped_probabilities(cpd, groups)
    for places in np.ndindex(table.shape[:-1]):
        members = [own[place] for own, place in zip(groups, places, strict=True)]
        block = cpd.probabilities[np.ix_(*members)]
        assert (block == table[places]).all()


@settings(max_examples=30)
@given(seeds)
def test_fixed_parents_leave_the_slice_of_the_table(seed: int) -> None:
    cpd = drawn(seed)
    rng = np.random.default_rng(seed)
    known = {v: int(rng.integers(CARDS[v])) for v in range(4) if rng.random() < 0.5}
    places = {v: 9 - v for v in range(5)}
    found = with_known_parents(cpd, known, places)
    index = tuple(known.get(parent, slice(None)) for parent in cpd.parents)
    assert type(found) is type(cpd)
    assert found.family == tuple(9 - v for v in cpd.family if v not in known)
    assert found.probabilities.tolist() == cpd.probabilities[index].tolist()


@settings(max_examples=30)
@given(seeds)
def test_one_configuration_gives_one_row(seed: int) -> None:
    cpd = drawn(seed)
    for states in np.ndindex(cpd.cards[:-1]):
        row = distribution_at(cpd, states)
        assert row.tolist() == cpd.probabilities[states].tolist()


@pytest.mark.slow
@given(seeds)
def test_contexts_of_many_forms_agree_with_their_tables(seed: int) -> None:
    for test in (
        test_every_configuration_has_one_context_and_its_distribution,
        test_states_of_one_group_have_the_same_rows,
        test_fixed_parents_leave_the_slice_of_the_table,
        test_one_configuration_gives_one_row,
    ):
        test.hypothesis.inner_test(seed)


def test_a_tree_of_shared_leaves_keeps_them_shared() -> None:
    cpd = next(
        cpd
        for cpd in map(drawn, range(1000))
        if isinstance(cpd, TreeCPD) and cpd.n_distributions < cpd.n_leaves
    )
    found = with_known_parents(cpd, {}, {v: v for v in range(5)})
    assert isinstance(found, TreeCPD)
    assert found.n_distributions == cpd.n_distributions
    with pytest.raises(ValueError, match="zip"):
        distribution_at(cpd, (0,))
