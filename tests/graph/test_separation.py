"""Separation in the graph equals independence in distributions that factorise so."""

from __future__ import annotations

import itertools

import numpy as np

from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import OpenTrails, ancestors, d_separated, markov_blanket
from offenders import check_each
from oracles.causal_paths import is_open, paths

# 0 -> 1 -> 3 <- 2, 3 -> 4, and 5 alone.
COLLIDER = DAG(((), (0,), (), (1, 2), (3,), ()))


def _random_dag(n_nodes: int, rng: np.random.Generator) -> DAG:
    order = rng.permutation(n_nodes)
    parents: list[tuple[int, ...]] = [()] * n_nodes
    for position, node in enumerate(order):
        chosen = order[:position][rng.random(position) < 0.4]
        parents[node] = tuple(int(parent) for parent in chosen)
    return DAG(tuple(parents))


def _moral_separation(dag: DAG, x: int, y: int, given: set[int]) -> bool:
    """Lauritzen's criterion: separation in the moral graph of the ancestors."""
    kept = ancestors(dag, {x, y} | given)
    linked: dict[int, set[int]] = {node: set() for node in kept}
    for node in kept:
        family = [*dag.parents[node], node]
        for a, b in itertools.permutations(family, 2):
            linked[a].add(b)
    seen, stack = {x}, [x]
    while stack:
        for neighbour in linked[stack.pop()] - seen - given:
            seen.add(neighbour)
            stack.append(neighbour)
    return y not in seen


def test_separation_equals_that_in_the_moral_graph_of_ancestors() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        dag = _random_dag(7, rng)
        found = set()
        for x, y in itertools.permutations(range(7), 2):
            others = [node for node in range(7) if node not in (x, y)]
            for size in range(4):
                for given in itertools.combinations(others, size):
                    expected = _moral_separation(dag, x, y, set(given))
                    assert d_separated(dag, [x], [y], given) == expected
                    found.add(expected)
        assert found == {True, False}

    check_each(range(5), check)


def test_a_collider_is_opened_by_what_lies_below_it() -> None:
    assert d_separated(COLLIDER, [0], [2], [])
    assert not d_separated(COLLIDER, [0], [2], [4])
    assert d_separated(COLLIDER, [0], [2], [4, 1])


def test_what_is_given_is_separated_from_all() -> None:
    assert d_separated(COLLIDER, [0], [1], [1])


def test_a_blanket_separates_a_node_from_the_rest() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        dag = _random_dag(8, rng)
        blanket = markov_blanket(dag, 3)
        rest = set(range(8)) - blanket - {3}
        assert d_separated(dag, [3], rest, blanket)
        for needed in blanket:
            assert not d_separated(dag, [3], [needed], blanket - {needed})


def test_ancestors_hold_the_nodes_themselves() -> None:
    assert ancestors(COLLIDER, [3]) == {0, 1, 2, 3}


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
