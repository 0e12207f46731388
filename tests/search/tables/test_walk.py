"""Walks past an optimum come back with one, and random moves keep structures legal."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bayleaf.counts.table_counts import TableCounts
from bayleaf.scores import resolve_score
from bayleaf.search.structure import Deadline, SearchProgress
from bayleaf.search.tables.family_scores import FamilyScores, ScoreCache
from bayleaf.search.tables.family_tables import FamilyTables
from bayleaf.search.tables.single_climb import Climb, Climbed, starting_families
from bayleaf.search.tables.state_groups import Groupings
from bayleaf.search.tables.walk import Walk
from offenders import check_each
from oracles.table_networks import (
    Structure,
    is_legal,
    naive_score,
    neighbours,
    small_table,
)

REQUIRED, FORBIDDEN = frozenset({(3, 0)}), frozenset({(0, 1), (2, 3)})
EDGE_MOVES = ("add_edge", "delete_edge", "reverse_edge")


def prepared(
    seed: int, deadline: Deadline | None = None, report=lambda _: None
) -> tuple[Walk, tuple]:
    codes, domain, trees = small_table(seed, 60)
    score = resolve_score("aic")
    scores = FamilyScores(
        FamilyTables(TableCounts(codes, has_class=False), len(domain)),
        Groupings(domain),
        score,
        trees,
        None,
        True,
        FORBIDDEN,
        2,
        ScoreCache(1000),
    )
    climb = Climb(
        scores, REQUIRED, starting_families(scores, REQUIRED, [(3,), (), (), ()])
    )
    walk = Walk(climb, 1, deadline or Deadline(None), report)
    return walk, (codes, domain, trees, score)


def structure_of(climbed: Climbed) -> Structure:
    return tuple(
        {parent: grouping.cut for parent, grouping in own.items()}
        for own in climbed.families
    )


def test_a_walk_ends_where_no_move_gains_and_not_below_its_start() -> None:
    def check(seed: int) -> None:
        walk, table = prepared(seed)
        walk.ascend()
        start = walk.end
        end = walk.wander()
        assert end.score >= start.score
        final = structure_of(end)
        assert naive_score(final, *table) == pytest.approx(end.score, abs=1e-6)
        others = [
            naive_score(other, *table)
            for _, other in neighbours(final, table[2], regroup=True)
            if is_legal(other, set(REQUIRED), set(FORBIDDEN), 2)
        ]
        assert max(others) <= end.score + 2e-7

    check_each(range(6), check)


def test_a_walk_may_end_higher_than_it_began() -> None:
    gains = []
    for seed in range(12):
        walk, _ = prepared(seed)
        walk.ascend()
        gains.append(walk.wander().score - walk.climb.score)
    assert max(gains) > 1e-3


def test_gains_and_losses_of_a_walk_equal_full_recomputation() -> None:
    def check(seed: int) -> None:
        walk, table = prepared(seed)
        path = [structure_of(walk.end)]
        walk.stray(np.random.default_rng(seed), 5)
        assert {move.kind for move in walk.climb.trace} <= set(EDGE_MOVES)
        assert len(walk.climb.trace) == 5
        walk.ascend()
        walk.wander()
        for move in walk.climb.trace:
            name = move.kind, move.child, move.parent, move.detail
            path.append(dict(neighbours(path[-1], table[2], regroup=True))[name])
        assert all(is_legal(s, set(REQUIRED), set(FORBIDDEN), 2) for s in path)
        totals = [naive_score(structure, *table) for structure in path]
        gains = [move.gain for move in walk.climb.trace]
        assert gains == pytest.approx(np.diff(totals), abs=1e-6)
        assert min(gains) < 0

    check_each(range(6), check)


def test_what_was_changed_stays_for_ten_moves_unless_the_walk_is_at_its_best() -> None:
    def check(seed: int) -> None:
        walk, _ = prepared(seed)
        walk.ascend()
        best, first = walk.climb.score, len(walk.climb.trace)
        walk.wander()
        changed: list[tuple[bool, frozenset | tuple]] = []
        for move in walk.climb.trace[first:]:
            is_edge = move.kind in EDGE_MOVES
            ends = move.child, move.parent
            place = is_edge, frozenset(ends) if is_edge else ends
            assert place not in changed[-10:] or move.score > best
            changed.append(place)
            best = max(best, move.score)
        assert changed

    check_each(range(6), check)


def test_random_moves_depend_on_their_generator_alone() -> None:
    traces = []
    for seed in (0, 0, 1):
        walk, _ = prepared(3)
        walk.stray(np.random.default_rng(seed), 6)
        traces.append(walk.climb.trace)
    assert traces[0] == traces[1] != traces[2]


def test_a_walk_stops_at_a_whole_move_when_time_is_up() -> None:
    seen: list[SearchProgress] = []
    walk, table = prepared(0, Deadline(time.monotonic() - 1.0), seen.append)
    walk.stray(np.random.default_rng(0), 3)
    walk.ascend()
    end = walk.wander()
    assert end.stopped_early
    assert (seen, end.trace) == ([], ())
    assert end.score == pytest.approx(naive_score(structure_of(end), *table))


def test_every_move_of_a_walk_is_told() -> None:
    seen: list[SearchProgress] = []
    walk, _ = prepared(1, report=seen.append)
    walk.stray(np.random.default_rng(0), 3)
    walk.ascend()
    walk.wander()
    assert [state.score for state in seen] == [move.score for move in walk.climb.trace]
    assert [state.n_moves for state in seen] == [*range(1, len(seen) + 1)]
