"""Stored counts of several tables equal the counts of one table with all rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable

FAMILIES = [(2,), (2, 0), (2, 1), (2, 0, 1)]
LEFT, RIGHT = (0, 1), (1, 0)
STATES = (("a", "b", "c"), ("p", "q", None), ("no", "yes"))
# The domains that successive batches know of, each with more states.
DOMAINS = [
    Domain(tuple(Variable(f"v{i}", states) for i, states in enumerate(known)))
    for known in (
        (("b",), (), ("no", "yes")),
        (("b", "c"), ("q",), ("no", "yes")),
        STATES,
    )
]


def _codes(rows: Any, weights: Any, domain: Domain) -> Codes:
    """Codes of rows of states over a domain; a question mark is missing."""
    columns = [
        np.array([variable.state_index.get(row[i], variable.n_states) for row in rows])
        for i, variable in enumerate(domain)
    ]
    return Codes.from_columns(columns, domain.cards, np.array(weights, dtype=float))


def _answers(source: Any) -> list[Any]:
    """All counts that are asked for, in turn."""
    return [
        source.class_counts(),
        *source.family_counts(FAMILIES),
        source.pair_counts(LEFT, RIGHT).dense(),
    ]


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[list[tuple[Any, ...]], list[float]]]:
    """Three tables of weighted rows, each with the states known by then."""
    found = []
    for domain in DOMAINS:
        cells = [st.sampled_from([*v.states, "?"]) for v in domain.variables[:-1]]
        row = st.tuples(*cells, st.sampled_from(["no", "yes"]))
        rows = draw(st.lists(row, min_size=1, max_size=6))
        weight = st.sampled_from([0.25, 1.0, 2.0])
        weights = draw(st.lists(weight, min_size=len(rows), max_size=len(rows)))
        found.append((rows, weights))
    return found


ANY_BATCHES = given(batches())


def counts_add_up(
    n_batches: int, tables: list[tuple[list[tuple[Any, ...]], list[float]]]
) -> None:
    tables = tables[:n_batches]
    stored: IncrementalCounts | None = None
    for i, (rows, weights) in enumerate(tables):
        batch = RowCounts(_codes(rows, weights, DOMAINS[i]))
        if stored is None:
            stored = IncrementalCounts(batch)
        else:
            stored = stored.grown(DOMAINS[i - 1], DOMAINS[i], batch)
        _answers(stored)
        stored.seal()
    assert stored is not None
    whole = RowCounts(
        _codes(
            list(itertools.chain.from_iterable(rows for rows, _ in tables)),
            list(itertools.chain.from_iterable(weights for _, weights in tables)),
            DOMAINS[n_batches - 1],
        )
    )
    for found, expected in zip(_answers(stored), _answers(whole), strict=True):
        np.testing.assert_array_equal(found, expected)


@settings(deadline=None, max_examples=15)
@ANY_BATCHES
@pytest.mark.parametrize("n_batches", [1, 2, 3])
def test_counts_of_growing_domains_add_up(
    n_batches: int, tables: list[tuple[list[tuple[Any, ...]], list[float]]]
) -> None:
    counts_add_up(n_batches, tables)


@pytest.mark.few(1)
@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@ANY_BATCHES
@pytest.mark.parametrize("n_batches", [1, 2, 3])
def test_counts_of_many_growing_domains_add_up(
    n_batches: int, tables: list[tuple[list[tuple[Any, ...]], list[float]]]
) -> None:
    counts_add_up(n_batches, tables)


def _small() -> RowCounts:
    return RowCounts(_codes([("a", "p", "no")], [1.0], DOMAINS[2]))


def test_a_sealed_source_still_answers_what_it_was_asked() -> None:
    stored = IncrementalCounts(_small())
    before = _answers(stored)
    stored.seal()
    for found, expected in zip(_answers(stored), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert (stored.cards, stored.class_index, stored.n_jobs) == ((3, 3, 2), 2, 1)


def test_rows_can_no_longer_be_asked_for() -> None:
    with pytest.raises(TypeError, match="hold no rows; ask for family or pair counts"):
        IncrementalCounts(_small()).add_up(lambda codes: codes.weights)
