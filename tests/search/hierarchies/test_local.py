"""Hierarchies of parents as their children see them."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.counts.table_counts import TableCounts
from bayleaf.counts.threads import run_tasks
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.search.hierarchies.clustering import build_hierarchy
from bayleaf.search.hierarchies.local import LocalHierarchies

CARDS = (5, 4, 2, 6)
DOMAIN = Domain(
    tuple(Variable(f"v{i}", tuple(range(card))) for i, card in enumerate(CARDS))
)


@pytest.fixture(scope="module")
def counts() -> TableCounts:
    rng = np.random.default_rng(2)
    columns = [rng.integers(0, card, 300) for card in CARDS]
    return TableCounts(Codes.from_columns(columns, CARDS))


def test_the_context_is_the_child_and_the_other_parents(counts: TableCounts) -> None:
    local = LocalHierarchies(counts, DOMAIN, "hamming", "multiway")
    tables = counts.family_counts([(3, 0), (3, 2)])
    expected = build_hierarchy(DOMAIN[3], tables, "hamming", "multiway")
    assert local(0, 3, (2,)) == expected
    assert local(0, 3, (3, 2)) is local(0, 3, {2})
    assert local(2, 3, (0,)) is local(0, 3, (2,))
    alone = build_hierarchy(
        DOMAIN[3], counts.family_counts([(3, 0)]), "hamming", "multiway"
    )
    assert local(0, 3, ()) == alone


def test_nothing_is_learned_for_two_states(counts: TableCounts) -> None:
    local = LocalHierarchies(counts, DOMAIN)
    assert local(0, 2, (1, 3)) == flat_hierarchy((0, 1))


def test_every_pair_is_counted_once() -> None:
    asked: list[tuple[int, ...]] = []

    class Spy(TableCounts):
        def family_counts(self, families):  # type: ignore[no-untyped-def]
            asked.extend(families)
            return super().family_counts(families)

    rng = np.random.default_rng(2)
    columns = [rng.integers(0, card, 50) for card in CARDS]
    local = LocalHierarchies(Spy(Codes.from_columns(columns, CARDS)), DOMAIN)
    for child, parent, parents in [(0, 1, ()), (1, 0, ()), (0, 1, (3,)), (3, 1, (0,))]:
        local(child, parent, parents)
    assert sorted(asked) == [(0, 1), (1, 3)]


def test_threads_get_the_same_trees(counts: TableCounts) -> None:
    alone = LocalHierarchies(counts, DOMAIN)
    shared = LocalHierarchies(counts, DOMAIN)
    questions = [(c, p, (o,)) for c in range(4) for p in range(4) for o in range(4)]
    questions = [(c, p, o) for c, p, o in questions if c != p and c not in o]
    tasks = [lambda q=question: shared(*q) for question in questions]
    assert run_tasks(tasks, 4) == [alone(*question) for question in questions]


def test_unknown_settings_are_refused(counts: TableCounts) -> None:
    with pytest.raises(ValueError, match="linkage must be"):
        LocalHierarchies(counts, DOMAIN, "ward")  # type: ignore[arg-type]
