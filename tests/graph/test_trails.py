"""Open trails equal the open paths among all paths."""

from __future__ import annotations

import itertools

import numpy as np

from bayleaf.graph.dag import DAG
from bayleaf.graph.trails import OpenTrails
from offenders import check_each
from oracles.causal_paths import is_open, paths


def test_open_trails_are_all_open_paths_and_the_shortest_is_among_them() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        order = rng.permutation(8)
        parents: list[tuple[int, ...]] = [()] * 8
        for place, node in enumerate(order):
            chosen = order[:place][rng.random(place) < 0.4]
            parents[node] = tuple(int(parent) for parent in chosen)
        given = set(np.flatnonzero(rng.random(8) < 0.3).tolist()) - {0, 1}
        dag = DAG(tuple(parents))
        expected = [
            p for p in paths(dag.parents, 0, 1) if is_open(dag.parents, p, given)
        ]
        trails = OpenTrails(dag, {0}, {1}, given)
        assert sorted(trails) == sorted(expected)
        shortest = trails.shortest()
        if expected:
            assert shortest in expected
            assert len(shortest or ()) == min(map(len, expected))
        else:
            assert shortest is None

    check_each(range(20), check)


def test_trails_of_several_starts_meet_no_other_start_or_end_inside() -> None:
    chain = DAG(((), (0,), (1,), (2,)))
    assert list(OpenTrails(chain, {0, 1}, {2, 3}, set())) == [(1, 2)]


def test_the_first_trails_of_a_graph_with_very_many_come_at_once() -> None:
    # Forty diamonds in a row have 2^40 trails.
    parents: list[tuple[int, ...]] = [()]
    for _ in range(40):
        top = len(parents) - 1
        parents += [(top,), (top,), (top + 1, top + 2)]
    trails = OpenTrails(DAG(tuple(parents)), {0}, {len(parents) - 1}, set())
    assert len(list(itertools.islice(trails, 3))) == 3
