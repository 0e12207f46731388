from __future__ import annotations

import itertools
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

from bayleaf.graph.dag import DAG
from bayleaf.graph.triangulation import (
    bits,
    eliminate,
    eliminate_all_but,
    married,
    small_forest,
)
from property.for_all import for_all


def moral_graph(dag: DAG) -> list[int]:
    return married(dag.families, len(dag))


def random_dag(rng, n_nodes, density) -> DAG:
    place = rng.permutation(n_nodes)
    return DAG(
        tuple(
            tuple(
                u
                for u in range(n_nodes)
                if place[u] < place[v] and rng.random() < density
            )
            for v in range(n_nodes)
        )
    )


def naive_elimination(neighbours, cards) -> list[int]:
    """Min-fill as it is defined, everything counted again at each step."""
    graph = {v: set(bits(around)) for v, around in enumerate(neighbours)}
    order = []
    while graph:

        def key(v):
            pairs = itertools.combinations(graph[v], 2)
            fill = sum(b not in graph[a] for a, b in pairs)
            return fill, np.prod([cards[u] for u in (v, *graph[v])]), v

        node = min(graph, key=key)
        around = graph.pop(node)
        for other in around:
            graph[other] |= around - {other}
            graph[other].discard(node)
        order.append(node)
    return order


def path_between(forest, start, end) -> list[int]:
    around = {}
    for one, other in forest.edges:
        around.setdefault(one, []).append(other)
        around.setdefault(other, []).append(one)
    paths = [[start]]
    while paths:
        path = paths.pop()
        if path[-1] == end:
            return path
        ahead = [other for other in around.get(path[-1], []) if other not in path]
        paths += [[*path, other] for other in ahead]
    return []


def test_moral_graph_marries_the_parents() -> None:
    graph = moral_graph(DAG(((), (), (0, 1), (2,))))
    assert [list(bits(around)) for around in graph] == [[1, 2], [0, 2], [0, 1, 3], [2]]


@for_all(st.integers(0, 2**32 - 1), st.integers(1, 12), few=20, many=60)
def test_fill_counts_are_kept_up_to_date(seed, n_nodes) -> None:
    rng = np.random.default_rng(seed)
    graph = moral_graph(random_dag(rng, n_nodes, 0.3))
    cards = rng.integers(1, 5, n_nodes).tolist()
    assert eliminate(graph, cards)[0] == naive_elimination(graph, cards)


@for_all(st.integers(0, 2**32 - 1), st.integers(1, 14), few=20, many=60)
def test_cliques_hold_all_families_and_none_holds_another(seed, n_nodes) -> None:
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n_nodes, 0.25)
    cliques = [set(q) for q in small_forest(moral_graph(dag), [2] * n_nodes).cliques]
    assert all(any(q.issuperset(f) for q in cliques) for f in dag.families)
    assert not any(a <= b for a, b in itertools.permutations(cliques, 2))


@for_all(st.integers(0, 2**32 - 1), st.integers(1, 12), few=15, many=40)
def test_what_two_cliques_share_lies_on_the_path_between_them(seed, n_nodes) -> None:
    rng = np.random.default_rng(seed)
    forest = small_forest(moral_graph(random_dag(rng, n_nodes, 0.25)), [2] * n_nodes)
    cliques = [set(q) for q in forest.cliques]
    for one, other in itertools.combinations(range(len(cliques)), 2):
        path = path_between(forest, one, other)
        shared = cliques[one] & cliques[other]
        assert path or not shared
        assert all(shared <= cliques[place] for place in path)


@for_all(st.integers(0, 2**32 - 1), st.integers(1, 14), few=15, many=40)
def test_edges_make_one_tree_of_each_connected_part(seed, n_nodes) -> None:
    rng = np.random.default_rng(seed)
    dag = random_dag(rng, n_nodes, 0.1)
    forest = small_forest(moral_graph(dag), [2] * n_nodes)
    part = list(range(n_nodes))
    for u, v in dag.arcs:
        old, new = part[u], part[v]
        part = [new if p == old else p for p in part]
    assert len(forest.edges) == len(forest.cliques) - len(set(part))
    cliques = [set(clique) for clique in forest.cliques]
    assert all(cliques[one] & cliques[other] for one, other in forest.edges)


def test_cliques_with_one_separator_form_a_path() -> None:
    forest = small_forest(moral_graph(DAG(((), *(((0,),) * 20)))), [2] * 21)
    degree = np.bincount(np.ravel(forest.edges))
    assert degree.max() == 2


def test_the_order_with_fewer_cells_is_kept() -> None:
    # A cycle of four: its one fill edge should join the two with few states.
    dag = DAG(((), (0,), (0,), (1,), (2,), (3, 4)))
    cards = [9, 2, 9, 2, 9, 2]
    forest = small_forest(moral_graph(dag), cards)
    cells = sum(forest.table_cells(cards))
    best = min(cells_of_order(dag, cards, p) for p in itertools.permutations(range(6)))
    assert cells == best


def test_large_trees_are_searched_for_and_always_alike() -> None:
    # A grid of eight by twelve nodes with eight states each.
    parents = tuple(
        tuple(p for p in ((v - 8,) if v >= 8 else ()) + ((v - 1,) if v % 8 else ()))
        for v in range(96)
    )
    dag, cards = DAG(parents), [8] * 96
    forest = small_forest(moral_graph(dag), cards)
    plain = cells_of_order(dag, cards, eliminate(moral_graph(dag), cards)[0])
    assert sum(forest.table_cells(cards)) < plain
    assert small_forest(moral_graph(dag), cards) == forest


def cells_of_order(dag, cards, order) -> int:
    graph = {v: set(bits(around)) for v, around in enumerate(moral_graph(dag))}
    cliques = []
    for node in order:
        around = graph.pop(node)
        for other in around:
            graph[other] = (graph[other] | around) - {node, other}
        cliques.append({node, *around})
    largest = [q for q in cliques if not any(q < other for other in cliques)]
    return int(sum(np.prod([cards[v] for v in q]) for q in largest))


@pytest.mark.parametrize("n_nodes", [0, 1])
def test_tiny_graphs_have_one_clique_a_node(n_nodes) -> None:
    forest = small_forest(moral_graph(DAG(((),) * n_nodes)), [3] * n_nodes)
    assert forest.cliques == ((0,),) * n_nodes
    assert forest.edges == ()


def grid(width: int) -> list[int]:
    """Neighbours in a square grid."""
    nodes = [[row * width + column for column in range(width)] for row in range(width)]
    lines = nodes + [list(column) for column in zip(*nodes, strict=True)]
    return married([pair for line in lines for pair in pairwise(line)], width**2)


def test_kept_nodes_are_left_and_all_others_eliminated_once() -> None:
    found = eliminate_all_but(grid(4), [2] * 16, {0, 15}, 10_000)
    assert sorted(found.order) == list(range(1, 15))


def test_the_largest_clique_counts_kept_nodes() -> None:
    # Only the middle of a star goes, and joins all its ends.
    star = married([(0, end) for end in range(1, 5)], 5)
    found = eliminate_all_but(star, [2, 3, 3, 3, 3], {1, 2, 3, 4}, 10_000)
    assert found.order == (0,)
    assert found.largest == (0, 1, 2, 3, 4)
    assert found.cells == 2 * 3**4


@pytest.mark.parametrize("width", [12, 40])
def test_what_is_too_large_is_told_before_the_last_node(width: int) -> None:
    found = eliminate_all_but(grid(width), [4] * width**2, (), 1000)
    assert found.cells > 1000
    assert len(found.order) < width**2
