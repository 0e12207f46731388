"""Counts of grouped families equal counts of rows, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes
from bayleaf.search.tables import family_tables
from bayleaf.search.tables.family_scores import regrouped, with_parent
from bayleaf.search.tables.family_tables import FamilyTables, Grouping, Groupings
from oracles.table_networks import small_table

N_VARIABLES = 5


@pytest.fixture
def rows() -> tuple[Codes, Groupings, dict[int, Grouping]]:
    """Weighted rows with holes, and two grouped parents of variable 2."""
    codes, domain, trees = small_table(11, 300, N_VARIABLES)
    rng = np.random.default_rng(0)
    columns = [
        np.where(rng.random(300) < 0.05, card, codes.column(v))
        for v, card in enumerate(codes.cards)
    ]
    codes = Codes.from_columns(columns, codes.cards, rng.integers(0, 4, 300) * 1.0)
    groupings = Groupings(domain)
    parents = {v: groupings.top(v, trees[v]) for v in (0, 3)}
    return codes, groupings, parents


def naive_table(codes: Codes, child: int, parents: dict[int, Grouping]) -> np.ndarray:
    """Counts of one family, row by row."""
    shape = *(own.n_groups for own in parents.values()), codes.cards[child]
    table = np.zeros(shape)
    for row in range(codes.n_rows):
        if not any(codes.missing(v)[row] for v in (child, *parents)):
            place = [own.group_of[codes.column(v)[row]] for v, own in parents.items()]
            table[*place, codes.column(child)[row]] += codes.weights[row]
    return table.reshape(-1, codes.cards[child])


def test_one_family_equals_its_rows(rows) -> None:
    codes, _, parents = rows
    tables = FamilyTables(TableCounts(codes, has_class=False), N_VARIABLES)
    for own in ({}, {0: parents[0]}, parents):
        assert np.array_equal(tables.table(2, own), naive_table(codes, 2, own))


@pytest.mark.parametrize("has_class", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cells", [1, 200, 10**6])
def test_joint_tables_hold_all_families_one_move_away(
    rows, monkeypatch: pytest.MonkeyPatch, has_class, n_jobs, cells
) -> None:
    codes, groupings, parents = rows
    monkeypatch.setattr(family_tables, "_CELLS_AT_ONCE", cells)
    monkeypatch.setattr(family_tables, "_LEAST_COUNTED", 100)
    source = TableCounts(codes, n_jobs, has_class=has_class)
    tables = FamilyTables(source, N_VARIABLES)
    _, _, trees = small_table(11, 300, N_VARIABLES)
    for own in ({}, parents):
        seen = []
        for other, joint in tables.joint_tables(2, own, [0, 1, 3, 4]):
            top = groupings.top(other, trees[other])
            steps = [grouping for _, _, grouping in groupings.steps(other, top)]
            for grouping in [top, *steps]:
                changed = with_parent(own, other, grouping)
                found = regrouped(joint, own, other, changed)
                assert np.array_equal(found, naive_table(codes, 2, changed))
            seen.append(other)
        assert seen == [0, 1, 3, 4]


def test_nothing_is_counted_with_nothing(rows) -> None:
    codes, _, parents = rows
    tables = FamilyTables(TableCounts(codes, has_class=False), N_VARIABLES)
    assert list(tables.joint_tables(2, parents, [])) == []


def test_what_the_rows_are_like_is_told(rows) -> None:
    codes, _, _ = rows
    sparse = FamilyTables(TableCounts(codes, has_class=False), N_VARIABLES)
    assert (sparse.facts.lacks_cells, sparse.facts.has_whole_weights) == (True, True)
    assert sparse.facts.total_weight == codes.weights.sum()
    columns = [np.zeros(3, dtype=np.uint8)]
    halves = Codes.from_columns(columns, [1], np.full(3, 0.5))
    whole = FamilyTables(TableCounts(halves, has_class=False), 1)
    assert (whole.facts.lacks_cells, whole.facts.has_whole_weights) == (False, False)
