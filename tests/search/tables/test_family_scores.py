"""Scores of grouped families equal scores of their counted tables."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.counts.table_counts import TableCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.scores import LOCAL_SCORES, resolve_score
from bayleaf.search.tables.family_scores import FamilyScores, ScoreCache
from bayleaf.search.tables.family_tables import FamilyTables
from bayleaf.search.tables.state_groups import Groupings
from offenders import check_each

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
            FamilyTables(TableCounts(codes, has_class=False), len(domain)),
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
