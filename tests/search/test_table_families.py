"""Counts and scores of families with grouped states."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.scores import LOCAL_SCORES, resolve_score
from bayleaf.search import table_families
from bayleaf.search.table_families import (
    FamilyScores,
    FamilyTables,
    Grouping,
    Groupings,
    ScoreCache,
    regrouped,
    with_parent,
)
from offenders import check_each
from oracles.table_networks import small_table

CONSTANT = 2


@pytest.fixture
def scores_of():
    """Scores of families of three variables, one of which is constant."""
    rng = np.random.default_rng(0)
    cards = (3, 4, 1)
    variables = tuple(Variable(f"v{i}", tuple("abcd"[:c])) for i, c in enumerate(cards))
    columns = [rng.integers(0, card + 1, 200) for card in cards]
    codes = Codes.from_columns(columns, cards, rng.integers(1, 4, 200) * 1.0)
    domain = Domain(variables)
    flat = [flat_hierarchy(variable.states) for variable in variables]

    def build(name: str) -> FamilyScores:
        return FamilyScores(
            FamilyTables(RowCounts(codes, has_class=False), len(domain)),
            Groupings(domain),
            resolve_score(name),
            flat,
            None,
            False,
            frozenset(),
            None,
            ScoreCache(100),
        )

    return build


def test_a_constant_child_scores_what_its_table_does(scores_of) -> None:
    def check(name: str) -> None:
        scores = scores_of(name)
        parents = {}
        for parent in (0, 1):
            parents[parent] = scores.entering(CONSTANT, parent, parents)
            stack = scores.tables.table(CONSTANT, parents)[None]
            counted = scores._rows_scores(CONSTANT, stack)[0]
            expected = counted + scores._shape_score(CONSTANT, parents)
            assert scores.family(CONSTANT, parents) == pytest.approx(expected, abs=1e-9)

    check_each(LOCAL_SCORES, check)


def test_tables_of_a_constant_child_are_not_counted(
    scores_of, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("a table of a constant child was counted")

    scores = scores_of("bic")
    first = scores.entering(CONSTANT, 0, {})
    for name in ("table", "_count"):
        monkeypatch.setattr(FamilyTables, name, refuse)
    found = scores.neighbours(CONSTANT, {0: first})
    assert np.isfinite(found.added[1])
    assert np.isfinite(found.deleted[0])


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
    tables = FamilyTables(RowCounts(codes, has_class=False), N_VARIABLES)
    for own in ({}, {0: parents[0]}, parents):
        assert np.array_equal(tables.table(2, own), naive_table(codes, 2, own))


@pytest.mark.parametrize("has_class", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cells", [1, 200, 10**6])
def test_joint_tables_hold_all_families_one_move_away(
    rows, monkeypatch: pytest.MonkeyPatch, has_class, n_jobs, cells
) -> None:
    codes, groupings, parents = rows
    monkeypatch.setattr(table_families, "_CELLS_COUNTED", cells)
    monkeypatch.setattr(table_families, "_LEAST_COUNTED", 100)
    source = RowCounts(codes, n_jobs, has_class=has_class)
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
    tables = FamilyTables(RowCounts(codes, has_class=False), N_VARIABLES)
    assert list(tables.joint_tables(2, parents, [])) == []


def test_what_the_rows_are_like_is_told(rows) -> None:
    codes, _, _ = rows
    sparse = FamilyTables(RowCounts(codes, has_class=False), N_VARIABLES)
    assert (sparse.facts.lacks_cells, sparse.facts.has_whole_weights) == (True, True)
    assert sparse.facts.total_weight == codes.weights.sum()
    columns = [np.zeros(3, dtype=np.uint8)]
    halves = Codes.from_columns(columns, [1], np.full(3, 0.5))
    whole = FamilyTables(RowCounts(halves, has_class=False), 1)
    assert (whole.facts.lacks_cells, whole.facts.has_whole_weights) == (False, False)
