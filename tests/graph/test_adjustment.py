"""Sets to adjust for equal those that the definitions find path by path."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from bayleaf.graph.adjustment import Adjustment, FrontDoor
from bayleaf.graph.dag import DAG
from bayleaf.graph.separation import (
    ancestral_separator,
    minimal_separators,
    separators_by_size,
    smallest_separator,
)
from offenders import check_each
from oracles.causal_paths import (
    Nodes,
    Parents,
    all_dags,
    all_dags_around,
    is_adjustment_set,
    is_back_door_set,
    is_front_door_set,
    minimal,
    subsets,
)

X, Y = frozenset({0}), frozenset({1})
OTHERS = subsets({2, 3, 4})


def by_size(sets: Iterable[Nodes]) -> list[Nodes]:
    return sorted(sets, key=lambda nodes: (len(nodes), sorted(nodes)))


def check_back_doors(parents: Parents) -> None:
    """Both criteria: every question about sets against all sets."""
    for is_complete in (False, True):
        is_valid = is_adjustment_set if is_complete else is_back_door_set
        expected = [nodes for nodes in OTHERS if is_valid(parents, 0, 1, nodes)]
        found = Adjustment(DAG(parents), X, Y, is_complete=is_complete).separation
        assert found is not None
        assert list(separators_by_size(found)) == expected
        assert by_size(minimal_separators(found)) == minimal(expected)
        smallest, largest = smallest_separator(found), ancestral_separator(found)
        assert (smallest is None) == (largest is None) == (not expected)
        assert smallest is None or len(smallest) == len(expected[0])
        assert largest is None or largest in expected


def check_front_doors(parents: Parents) -> None:
    """Every question about front-door sets against all sets."""
    expected = [nodes for nodes in OTHERS if is_front_door_set(parents, 0, 1, nodes)]
    found = FrontDoor(DAG(parents), X, Y)
    assert by_size(found.sets()) == expected
    assert by_size(found.minimal_sets()) == minimal(expected)
    assert [s for s in OTHERS if found.is_solved_by(s)] == expected
    assert found.largest == (expected[-1] if expected else None)


def test_graphs_of_five_nodes_are_counted_as_they_are_known_to_be() -> None:
    # Robinson (1973): 1, 3, 25, 543 and 29 281 labelled graphs.
    assert [sum(1 for _ in all_dags(n)) for n in range(1, 5)] == [1, 3, 25, 543]


@pytest.mark.parametrize("check", [check_back_doors, check_front_doors])
def test_sets_of_all_graphs_of_four_nodes_equal_exhaustive_search(check) -> None:
    for parents in itertools.islice(all_dags_around(4), 0, None, 4):
        # A fifth node that is joined to nothing may be in every set.
        check((*parents, ()))


@pytest.mark.slow
@pytest.mark.long
def test_sets_of_all_graphs_of_five_nodes_equal_exhaustive_search() -> None:
    # Graphs that differ in the numbers of covariates alone have the same sets, so that
    # one of each such group stands for all 29 281.
    graphs = list(all_dags_around(5))
    assert len(graphs) == 5160
    for parents in graphs:
        check_back_doors(parents)
        check_front_doors(parents)


def random_task(rng: np.random.Generator, n_nodes: int) -> Adjustment:
    """A graph with latent and required nodes, several treatments and outcomes."""
    order = rng.permutation(n_nodes)
    parents: list[tuple[int, ...]] = [()] * n_nodes
    for place, node in enumerate(order):
        chosen = order[:place][rng.random(place) < 0.35]
        parents[node] = tuple(int(parent) for parent in chosen)
    marks = rng.choice(["", "", "latent", "required"], n_nodes, p=[0.4, 0.3, 0.2, 0.1])
    marks[:4] = "ends"
    return Adjustment(
        DAG(tuple(parents)),
        frozenset({0, 1}),
        frozenset({2, 3}) if rng.random() < 0.5 else frozenset({2}),
        frozenset(np.flatnonzero(marks == "latent").tolist()),
        frozenset(np.flatnonzero(marks == "required").tolist()),
        bool(rng.integers(2)),
    )


def test_several_treatments_have_the_sets_that_single_checks_find() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_found = 0
        while n_found < 5:
            found = random_task(rng, 9).separation
            if found is None:
                continue
            expected = [s for s in subsets(found.allowed) if found.is_solved_by(s)]
            assert list(separators_by_size(found)) == expected
            assert by_size(minimal_separators(found)) == minimal(expected)
            n_found += bool(expected)

    check_each(range(8), check)


def test_minimal_front_doors_are_those_that_hold_no_other() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        n_found = 0
        while n_found < 5:
            task = random_task(rng, 9)
            found = FrontDoor(
                task.dag, task.treatments, task.outcomes, task.excluded, task.required
            )
            every = by_size(found.sets())
            assert by_size(found.minimal_sets()) == minimal(every)
            assert all(found.is_solved_by(nodes) for nodes in every)
            n_found += bool(every)

    check_each(range(8), check)


def test_minimal_sets_of_a_grid_come_one_by_one() -> None:
    # Fifteen confounding chains of five nodes each: 5^15 minimal sets.
    n_chains, length = 15, 5
    arcs = []
    for chain in range(n_chains):
        nodes = [2 + chain * length + place for place in range(length)]
        middle = nodes[length // 2]
        line = [0, *nodes, 1]
        for a, b in itertools.pairwise(line):
            arcs.append((b, a) if line.index(b) <= line.index(middle) else (a, b))
    dag = DAG.from_arcs(2 + n_chains * length, arcs)
    task = Adjustment(dag, X, Y).separation
    assert task is not None
    first = list(itertools.islice(minimal_separators(task), 40))
    assert len(set(first)) == 40
    assert {len(nodes) for nodes in first} == {n_chains}
    smallest = smallest_separator(task)
    assert smallest is not None
    assert len(smallest) == n_chains


def test_a_required_descendant_leaves_no_back_door_set() -> None:
    dag = DAG(((), (0,), (0,)))
    assert Adjustment(dag, X, Y, required=frozenset({2})).separation is None
    complete = Adjustment(dag, X, Y, required=frozenset({2}), is_complete=True)
    assert complete.separation is not None
    assert smallest_separator(complete.separation) == {2}
