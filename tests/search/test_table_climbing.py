"""Climbs over tables end where no move gains, and every gain is what it is said."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import read_network
from bayleaf.counts.table_counts import RowCounts
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import flat_hierarchy
from bayleaf.graph.dag import DAG
from bayleaf.scores import LOCAL_SCORES, resolve_score
from bayleaf.search.climb import Climb, Deadline, SearchProgress, SearchState
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import Move, SearchResult
from bayleaf.search.table_climbing import (
    TableMoves,
    climb_tables,
    starting_families,
    starting_parents,
    stray,
    wander,
)
from bayleaf.search.table_families import (
    FamilyScores,
    FamilyTables,
    Groupings,
    ScoreCache,
)
from offenders import check_each
from oracles.equivalence import are_equivalent, structural_hamming_distance
from oracles.table_networks import (
    Structure,
    is_legal,
    naive_score,
    neighbours,
    small_table,
)

FIVE_TABLES = range(5)


def structure_of(result: SearchResult) -> Structure:
    return tuple(
        dict(zip(shape.parents, shape.cuts, strict=True))
        for shape in result.cpd_structures
    )


def climb(seed: int, score: str = "mdl", n_rows: int = 150, **options) -> tuple:
    codes, domain, trees = small_table(seed, n_rows)
    result = climb_tables(
        RowCounts(codes, has_class=False),
        domain,
        resolve_score(score),
        trees,
        **{"refine": True, **options},
    )
    return result, (codes, domain, trees, resolve_score(score))


def replayed(result: SearchResult, start: Structure, trees) -> list[Structure]:
    """The structures that the moves of a trace lead through, made again."""
    path = [start]
    for move in result.trace:
        name = move.kind, move.child, move.parent, move.detail
        path.append(dict(neighbours(path[-1], trees, regroup=True))[name])
    return path


@pytest.mark.parametrize("score", LOCAL_SCORES)
def test_no_move_gains_at_the_end(score: str) -> None:
    def check(seed: int) -> None:
        result, table = climb(seed, score)
        final = structure_of(result)
        assert naive_score(final, *table) == pytest.approx(result.score, abs=1e-6)
        gains = {
            name: naive_score(other, *table) - result.score
            for name, other in neighbours(final, table[2], regroup=True)
            if is_legal(other, set(), set(), None)
        }
        assert gains
        assert max(gains.values()) <= 2e-7, max(gains, key=gains.get)

    check_each(FIVE_TABLES, check)


@given(
    seed=st.integers(0, 10_000),
    score=st.sampled_from(sorted(LOCAL_SCORES)),
    n_rows=st.integers(1, 60),
)
@settings(max_examples=25, deadline=None)
def test_every_gain_equals_full_recomputation(
    seed: int, score: str, n_rows: int
) -> None:
    result, table = climb(seed, score, n_rows)
    path = replayed(result, ({},) * 4, table[2])
    totals = [naive_score(structure, *table) for structure in path]
    assert [m.gain for m in result.trace] == pytest.approx(np.diff(totals), abs=1e-6)
    assert [m.score for m in result.trace] == pytest.approx(totals[1:], abs=1e-6)
    assert all(is_legal(structure, set(), set(), None) for structure in path)
    assert changed_like(path[-1], structure_of(result))


def changed_like(first: Structure, second: Structure) -> bool:
    return [dict(sorted(own.items())) for own in first] == list(second)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", FIVE_TABLES)
def test_every_step_is_the_steepest(seed: int) -> None:
    result, table = climb(seed)
    path = replayed(result, ({},) * 4, table[2])
    for before, move in zip(path, result.trace):
        score = naive_score(before, *table)
        best = max(
            naive_score(other, *table) - score
            for _, other in neighbours(before, table[2], regroup=True)
            if is_legal(other, set(), set(), None)
        )
        assert move.gain == pytest.approx(best, abs=1e-6)


def test_all_kinds_of_moves_are_made() -> None:
    kinds = {"add_edge", "delete_edge", "reverse_edge", "refine", "abstract"}
    started_elsewhere = (climb(seed, "mdl", 60, n_restarts=8)[0] for seed in range(10))
    missed = set(kinds)
    for result in (climb(52, "aic")[0], climb(22, "bdeu")[0]):
        missed -= {move.kind for move in result.trace}
    while missed:
        made = {move.kind for move in next(started_elsewhere).trace}
        assert made <= kinds
        missed -= made


def test_trivial_hierarchies_change_nothing() -> None:
    def check(seed: int) -> None:
        codes, domain, _ = small_table(seed)
        flat = [flat_hierarchy(variable.states) for variable in domain]
        results = [
            climb_tables(
                RowCounts(codes, has_class=False),
                domain,
                resolve_score("mdl"),
                flat,
                refine=refine,
            )
            for refine in (False, True)
        ]
        assert results[0] == results[1]
        assert results[0].trace

    check_each(FIVE_TABLES, check)


def test_constraints_are_kept_and_the_end_is_best_among_them() -> None:
    def check(seed: int) -> None:
        required, forbidden = {(3, 0), (1, 2)}, {(0, 1), (2, 3), (3, 1)}
        for n_restarts in (1, 6):
            limits = Constraints(
                frozenset(required), frozenset(forbidden), max_parents=2
            )
            result, table = climb(
                seed, "aic", constraints=limits, n_restarts=n_restarts, n_rows=60
            )
            final = structure_of(result)
            assert is_legal(final, required, forbidden, 2)
            others = [
                naive_score(other, *table)
                for _, other in neighbours(final, table[2], regroup=True)
                if is_legal(other, required, forbidden, 2)
            ]
            assert max(others) <= result.score + 2e-7

    check_each(FIVE_TABLES, check)


def test_impossible_constraints_are_named() -> None:
    with pytest.raises(ValueError, match="close a cycle among v0, v1"):
        climb(0, constraints=Constraints(frozenset({(0, 1), (1, 0)})))
    with pytest.raises(ValueError, match="n_restarts must be >= 1, got 0"):
        climb(0, n_restarts=0)


def test_the_second_climb_goes_on_from_the_end_of_the_first() -> None:
    def check(seed: int) -> None:
        first, table = climb(seed, "aic", 60)
        second, _ = climb(seed, "aic", 60, n_restarts=2)
        assert second.trace[: len(first.trace)] == first.trace
        path = replayed(second, ({},) * 4, table[2])
        totals = [naive_score(structure, *table) for structure in path]
        assert [m.gain for m in second.trace] == pytest.approx(
            np.diff(totals), abs=1e-6
        )
        assert changed_like(path[-1], structure_of(second))

    check_each(FIVE_TABLES, check)


@pytest.mark.few(2)
@pytest.mark.parametrize("score", LOCAL_SCORES)
def test_no_move_gains_after_several_climbs(score: str) -> None:
    def check(seed: int) -> None:
        result, table = climb(seed, score, 60, n_restarts=4)
        final = structure_of(result)
        gains = [
            naive_score(other, *table) - result.score
            for _, other in neighbours(final, table[2], regroup=True)
            if is_legal(other, set(), set(), None)
        ]
        assert max(gains) <= 2e-7

    check_each(FIVE_TABLES, check)


def test_restarts_never_make_the_score_worse_and_may_better_it() -> None:
    alone = [climb(seed, "aic", 60)[0].score for seed in range(6)]
    several = [climb(seed, "aic", 60, n_restarts=3)[0] for seed in range(6)]
    assert all(r.score >= s - 1e-9 for s, r in zip(alone, several))
    assert any(r.score > s + 1e-3 and r.restart for s, r in zip(alone, several))


def test_greedy_restarts_only_climb_and_the_best_counts() -> None:
    for seed in FIVE_TABLES:
        first, _ = climb(seed)
        best, _ = climb(seed, n_restarts=6, greedy=True)
        assert first.score <= best.score + 1e-9
        assert all(move.gain > 0 for move in best.trace)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_number_of_threads_changes_nothing(weighted: bool) -> None:
    codes, domain, trees = small_table(7, 200)
    if weighted:
        weights = np.random.default_rng(0).random(codes.n_rows)
        columns = [codes.column(v) for v in range(codes.n_variables)]
        codes = Codes.from_columns(columns, codes.cards, weights)
    results = [
        climb_tables(
            RowCounts(codes, n_jobs, has_class=False),
            domain,
            resolve_score("aic"),
            trees,
            refine=True,
            n_restarts=4,
            seed=3,
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 3)
    ]
    assert results[0] == results[1]


@pytest.mark.parametrize("cache_size", [0, 3])
def test_a_small_cache_changes_nothing(cache_size: int) -> None:
    large, _ = climb(2, n_restarts=3)
    small, _ = climb(2, n_restarts=3, cache_size=cache_size)
    assert small == large


def test_a_weight_of_two_is_a_row_twice_and_none_is_no_row() -> None:
    codes, domain, trees = small_table(5)
    times = np.random.default_rng(1).integers(0, 3, codes.n_rows)
    columns = [codes.column(v) for v in range(codes.n_variables)]
    weighted = Codes.from_columns(columns, codes.cards, times.astype(float))
    repeated = codes.rows(np.repeat(np.arange(codes.n_rows), times))
    results = [
        climb_tables(
            RowCounts(table, has_class=False),
            domain,
            resolve_score("mdl"),
            trees,
            refine=True,
        )
        for table in (weighted, repeated)
    ]
    assert results[0] == results[1]


def test_a_class_like_any_other_variable_gives_the_same_network() -> None:
    codes, domain, trees = small_table(1)
    results = [
        climb_tables(counts, domain, resolve_score("mdl"), trees, refine=True)
        for counts in (RowCounts(codes), RowCounts(codes, has_class=False))
    ]
    assert results[0] == results[1]


def test_the_time_limit_stops_at_a_whole_move_with_a_warning() -> None:
    codes, domain, trees = small_table(0)
    limits = Constraints(time_limit=1e-9)
    with pytest.warns(RuntimeWarning, match="stopped at time_limit=1e-09 seconds"):
        result = climb_tables(
            RowCounts(codes, has_class=False),
            domain,
            resolve_score("mdl"),
            trees,
            refine=True,
            constraints=limits,
            n_restarts=3,
        )
    assert result.stopped_early
    assert result.trace == ()
    assert result.score == pytest.approx(
        naive_score(({},) * 4, codes, domain, trees, resolve_score("mdl"))
    )


def test_enough_time_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result, _ = climb(0, constraints=Constraints(time_limit=1000.0))
    assert not result.stopped_early


def test_progress_tells_every_move() -> None:
    seen: list[SearchProgress] = []
    result, _ = climb(0, progress=seen.append)
    assert [state.score for state in seen] == [move.score for move in result.trace]
    assert [state.n_moves for state in seen] == [*range(1, len(seen) + 1)]
    assert all(state.moves_per_second > 0 and state.restart == 0 for state in seen)


def test_one_row_and_one_variable_are_enough() -> None:
    codes, domain, trees = small_table(0, n_rows=1)
    alone = Codes.from_columns([codes.column(0)], codes.cards[:1])
    result = climb_tables(
        RowCounts(alone, has_class=False),
        Domain(domain.variables[:1]),
        resolve_score("mdl"),
        trees[:1],
        refine=True,
    )
    assert (result.dag.parents, result.trace, result.score) == (((),), (), 0.0)


def with_holes(codes: Codes, share: float, seed: int = 0) -> Codes:
    """The same rows with some cells missing, in one column all of them."""
    rng = np.random.default_rng(seed)
    columns = []
    for v, card in enumerate(codes.cards):
        column = codes.column(v).copy()
        column[rng.random(codes.n_rows) < (1.0 if v == 0 else share)] = card
        columns.append(column)
    return Codes.from_columns(columns, codes.cards)


def test_gains_with_missing_cells_equal_full_recomputation() -> None:
    def check(seed: int) -> None:
        codes, domain, trees = small_table(seed)
        rng = np.random.default_rng(seed)
        columns = [
            np.where(rng.random(codes.n_rows) < 0.15, card, codes.column(v))
            for v, card in enumerate(codes.cards)
        ]
        weights = rng.integers(0, 3, codes.n_rows).astype(float)
        holes = Codes.from_columns(columns, codes.cards, weights)
        score = resolve_score("bic")
        result = climb_tables(
            RowCounts(holes, has_class=False), domain, score, trees, refine=True
        )
        path = replayed(result, ({},) * 4, trees)
        totals = [naive_score(s, holes, domain, trees, score) for s in path]
        assert [m.gain for m in result.trace] == pytest.approx(
            np.diff(totals), abs=1e-6
        )
        assert result.score == pytest.approx(totals[-1], abs=1e-6)

    check_each(FIVE_TABLES, check)


def test_a_variable_that_is_never_seen_joins_nothing() -> None:
    codes, domain, trees = small_table(4)
    result = climb_tables(
        RowCounts(with_holes(codes, 0.2), has_class=False),
        domain,
        resolve_score("mdl"),
        trees,
        refine=True,
        n_restarts=4,
    )
    assert np.isfinite(result.score)
    assert all(0 not in (parent, child) for parent, child in result.dag.arcs)
    assert len(list(result.dag.arcs)) > 0


def test_cells_missing_at_random_leave_scores_of_families_near() -> None:
    codes, domain, trees = small_table(4, 20_000)
    holes = with_holes(codes, 0.1)
    holes = Codes.from_columns(
        [codes.column(0), *(holes.column(v) for v in range(1, 4))], codes.cards
    )
    whole, sparse = (
        climb_tables(
            RowCounts(table, has_class=False),
            domain,
            resolve_score("mdl"),
            trees,
            refine=True,
        )
        for table in (codes, holes)
    )
    assert sparse.score == pytest.approx(whole.score, rel=0.01)


def test_local_hierarchies_are_asked_for_with_the_present_parents() -> None:
    asked: set[tuple] = set()
    codes, domain, trees = small_table(3)

    def source(child: int, parent: int, parents: tuple[int, ...]):
        asked.add((child, parent, parents))
        return trees[parent]

    local, given_trees = (
        climb_tables(
            RowCounts(codes, has_class=False),
            domain,
            resolve_score("mdl"),
            trees,
            refine=True,
            hierarchy_source=hierarchy_source,
        )
        for hierarchy_source in (source, None)
    )
    assert local == given_trees
    assert {(c, p, ()) for c in range(4) for p in range(4) if p != c} <= asked
    assert any(parents for _, _, parents in asked)
    assert all(p not in parents and c not in parents for c, p, parents in asked)


def climb_with_refresh(
    seed: int, refresh: str | None, n_restarts: int = 3
) -> tuple[SearchResult, tuple]:
    """A parent's hierarchy is flat if its child has an odd number of others."""
    codes, domain, trees = small_table(seed, 300)
    flat = [flat_hierarchy(variable.states) for variable in domain]

    def source(child: int, parent: int, parents: tuple[int, ...]):
        return (trees, flat)[len(parents) % 2][parent]

    result = climb_tables(
        RowCounts(codes, has_class=False),
        domain,
        resolve_score("mdl"),
        trees,
        refine=True,
        n_restarts=n_restarts,
        hierarchy_source=source,
        refresh=refresh,
    )
    return result, (trees, flat)


def test_refreshed_hierarchies_are_taken_where_the_score_grows() -> None:
    plain, fresh = (
        climb_with_refresh(6, refresh)[0] for refresh in (None, "if_better")
    )
    assert "refresh" in {move.kind for move in fresh.trace}
    assert "refresh" not in {move.kind for move in plain.trace}
    assert all(move.gain > 0 for move in fresh.trace if move.kind == "refresh")
    assert fresh.score == pytest.approx(
        fresh.trace[0].score - fresh.trace[0].gain + sum(m.gain for m in fresh.trace)
    )


def test_the_hierarchies_learned_for_the_last_parents_are_always_taken() -> None:
    refreshed = set()
    for seed in range(12):
        result, (trees, flat) = climb_with_refresh(seed, "always")
        losses = [m.gain < 0 for m in result.trace if m.kind == "refresh"]
        refreshed.update(losses)
        for shape in result.cpd_structures:
            hierarchies = (trees, flat)[(len(shape.parents) + 1) % 2]
            for parent, cut in zip(shape.parents, shape.cuts, strict=True):
                assert set(cut) <= set(hierarchies[parent].nodes), (seed, shape)
    assert refreshed == {False, True}


def test_moves_gain_with_the_hierarchies_to_which_they_lead() -> None:
    for seed in range(12):
        result, _ = climb_with_refresh(seed, "always", n_restarts=1)
        gains: list[float] = []
        for move in result.trace:
            if move.kind == "refresh":
                gains[-1] += move.gain
            else:
                gains.append(move.gain)
        assert min(gains) > 0, (seed, gains)


N_ROWS, N_RESTARTS, SEEDS = 50_000, 30, range(10)


@pytest.mark.long
@pytest.mark.parametrize(("name", "least"), [("asia", 8), ("cancer", 10)])
def test_the_climb_scores_no_worse_than_the_truth(
    data_folder: Path, name: str, least: int
) -> None:
    network = read_network(data_folder / "networks" / f"{name}.bif")
    bic = resolve_score("bic")
    flat = [flat_hierarchy(variable.states) for variable in network.domain]
    n_reached = 0
    for seed in SEEDS:
        codes = network.sample_codes(N_ROWS, random_state=seed)
        source = RowCounts(codes, has_class=False)
        found = climb_tables(
            source,
            network.domain,
            bic,
            flat,
            refine=False,
            n_restarts=N_RESTARTS,
            seed=seed,
        )
        tables = source.family_counts(network.dag.families)
        rows = [table.reshape(-1, table.shape[-1]) for table in tables]
        truth = sum(float(bic.rows_score(t, len(t), N_ROWS)) for t in rows)
        n_reached += found.score >= truth - 1e-6
        if found.score == pytest.approx(truth, rel=0, abs=1e-6):
            assert are_equivalent(found.dag, network.dag)
            assert structural_hamming_distance(found.dag, network.dag) == 0
    assert n_reached >= least


REQUIRED, FORBIDDEN = frozenset({(3, 0)}), frozenset({(0, 1), (2, 3)})
EDGE_MOVES = ("add_edge", "delete_edge", "reverse_edge")


def prepared(
    seed: int, deadline: Deadline | None = None, report=lambda *_: None
) -> tuple[Climb[TableMoves], tuple]:
    codes, domain, trees = small_table(seed, 60)
    score = resolve_score("aic")
    scores = FamilyScores(
        FamilyTables(RowCounts(codes, has_class=False), len(domain)),
        Groupings(domain),
        score,
        trees,
        None,
        True,
        FORBIDDEN,
        2,
        ScoreCache(1000),
    )
    start = starting_families(scores, REQUIRED, [(3,), (), (), ()])
    moves = TableMoves(scores, REQUIRED, start)
    return Climb(moves, deadline or Deadline(None), report), (
        codes,
        domain,
        trees,
        score,
    )


def structure_of_climb(climbed: SearchState) -> Structure:
    return tuple(
        {parent: grouping.cut for parent, grouping in own.items()}
        for own in climbed.structure
    )


def test_a_walk_ends_where_no_move_gains_and_not_below_its_start() -> None:
    def check(seed: int) -> None:
        walk, table = prepared(seed)
        walk.ascend()
        start = walk.state
        end = wander(walk)
        assert end.score >= start.score
        final = structure_of_climb(end)
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
        gains.append(wander(walk).score - walk.moves.score)
    assert max(gains) > 1e-3


def test_gains_and_losses_of_a_walk_equal_full_recomputation() -> None:
    def check(seed: int) -> None:
        walk, table = prepared(seed)
        path = [structure_of_climb(walk.state)]
        stray(walk, np.random.default_rng(seed), 5)
        assert {move.kind for move in walk.trace} <= set(EDGE_MOVES)
        assert len(walk.trace) == 5
        walk.ascend()
        wander(walk)
        for move in walk.trace:
            name = move.kind, move.child, move.parent, move.detail
            path.append(dict(neighbours(path[-1], table[2], regroup=True))[name])
        assert all(is_legal(s, set(REQUIRED), set(FORBIDDEN), 2) for s in path)
        totals = [naive_score(structure, *table) for structure in path]
        gains = [move.gain for move in walk.trace]
        assert gains == pytest.approx(np.diff(totals), abs=1e-6)
        assert min(gains) < 0

    check_each(range(6), check)


def test_what_was_changed_stays_for_ten_moves_unless_the_walk_is_at_its_best() -> None:
    def check(seed: int) -> None:
        walk, _ = prepared(seed)
        walk.ascend()
        best, first = walk.moves.score, len(walk.trace)
        wander(walk)
        changed: list[tuple[bool, frozenset | tuple]] = []
        for move in walk.trace[first:]:
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
        stray(walk, np.random.default_rng(seed), 6)
        traces.append(walk.trace)
    assert traces[0] == traces[1] != traces[2]


def test_a_walk_stops_at_a_whole_move_when_time_is_up() -> None:
    seen: list[tuple[int, Move]] = []
    deadline = Deadline(time.monotonic() - 1.0)
    walk, table = prepared(0, deadline, lambda *made: seen.append(made))
    stray(walk, np.random.default_rng(0), 3)
    walk.ascend()
    end = wander(walk)
    assert end.stopped_early
    assert (seen, end.trace) == ([], ())
    assert end.score == pytest.approx(naive_score(structure_of_climb(end), *table))


def test_every_move_of_a_walk_is_told() -> None:
    seen: list[tuple[int, Move]] = []
    walk, _ = prepared(1, report=lambda *made: seen.append(made))
    stray(walk, np.random.default_rng(0), 3)
    walk.ascend()
    wander(walk)
    assert seen == list(enumerate(walk.trace, 1))


START_EDGES = frozenset({(5, 0), (0, 3), (3, 1)})
BARRED_EDGES = frozenset((a, 4) for a in range(8) if a != 4) | {(1, 2)}
LIMITS = Constraints(START_EDGES, BARRED_EDGES, max_parents=2)


def started(number: int, seed: int, limits: Constraints = LIMITS) -> list:
    required = limits.required_parents(8)
    return starting_parents(limits, required, np.random.default_rng((seed, number)))


def test_the_first_restart_has_the_required_edges_alone() -> None:
    parents = LIMITS.required_parents(8)
    assert {(p, c) for c, own in enumerate(parents) for p in own} == START_EDGES


def test_every_other_restart_keeps_to_the_constraints() -> None:
    def check(restart: int) -> None:
        parents = started(restart, 1)
        edges = set(DAG(tuple(parents)).arcs)
        assert edges >= START_EDGES
        assert not edges & BARRED_EDGES
        assert max(map(len, parents)) <= 2

    check_each(range(1, 30), check)


def test_without_constraints_up_to_two_parents_are_drawn() -> None:
    numbers = {
        len(own)
        for restart in range(1, 30)
        for own in started(restart, 0, Constraints())
    }
    assert numbers == {0, 1, 2}


def test_a_start_depends_on_the_seed_and_the_number_alone() -> None:
    starts = [
        started(restart, seed) for restart, seed in [(1, 0), (1, 0), (2, 0), (1, 1)]
    ]
    assert starts[0] == starts[1]
    assert starts[0] != starts[2]
    assert starts[0] != starts[3]
