"""Directed acyclic graphs: their order, and what is no such graph."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.graph.dag import DAG
from offenders import check_each


@st.composite
def dags(draw: st.DrawFn) -> DAG:
    """Graphs over up to seven nodes in any order."""
    n_nodes = draw(st.integers(0, 7))
    order = draw(st.permutations(range(n_nodes)))
    parents: list[tuple[int, ...]] = [()] * n_nodes
    for position, node in enumerate(order):
        chosen = draw(st.sets(st.sampled_from(order[:position]))) if position else ()
        parents[node] = tuple(draw(st.permutations(sorted(chosen))))
    return DAG(tuple(parents))


@settings(max_examples=25)
@given(dags())
def test_every_node_stands_after_its_parents(dag: DAG) -> None:
    assert sorted(dag.order) == list(range(len(dag)))
    place = {node: position for position, node in enumerate(dag.order)}
    assert all(place[parent] < place[child] for parent, child in dag.arcs)


@settings(max_examples=25)
@given(dags())
def test_of_the_nodes_that_are_ready_the_lowest_comes_first(dag: DAG) -> None:
    done: set[int] = set()
    for node in dag.order:
        ready = [n for n in range(len(dag)) if set(dag.parents[n]) <= done]
        assert node == min(set(ready) - done)
        done.add(node)


@settings(max_examples=25)
@given(dags())
def test_arcs_give_the_graph_back(dag: DAG) -> None:
    assert DAG.from_arcs(len(dag), dag.arcs) == dag


@settings(max_examples=25)
@given(dags())
def test_children_are_the_parents_turned_round(dag: DAG) -> None:
    arcs = {
        (parent, child) for parent, some in enumerate(dag.children()) for child in some
    }
    assert arcs == set(dag.arcs)


@pytest.mark.slow
@given(dags())
def test_many_graphs_have_ordered_nodes_and_all_their_arcs(dag: DAG) -> None:
    for test in (
        test_every_node_stands_after_its_parents,
        test_of_the_nodes_that_are_ready_the_lowest_comes_first,
        test_arcs_give_the_graph_back,
        test_children_are_the_parents_turned_round,
    ):
        test.hypothesis.inner_test(dag)


def test_families_have_the_child_last_and_parents_in_the_given_order() -> None:
    dag = DAG(((), (2, 0), ()))
    assert dag.families == ((0,), (2, 0, 1), (2,))
    assert list(dag.arcs) == [(2, 1), (0, 1)]
    assert dag.children() == ((1,), (), (1,))


def test_a_graph_survives_pickling() -> None:
    dag = DAG(((), (2, 0), ()))
    assert pickle.loads(pickle.dumps(dag)) == dag


def test_a_graph_without_nodes_is_allowed() -> None:
    assert DAG(()).order == ()


def test_a_cycle_is_refused_by_its_nodes() -> None:
    def check(case: tuple[tuple[tuple[int, ...], ...], str]) -> None:
        parents, on_cycle = case
        with pytest.raises(ValueError, match=f"close a cycle among nodes {on_cycle}$"):
            DAG(parents)

    check_each(
        [
            (((0,),), "0"),
            (((1,), (0,)), "0, 1"),
            (((), (3,), (1,), (2, 0)), "1, 2, 3"),
        ],
        check,
    )


def test_a_parent_listed_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="node 1 lists a parent twice"):
        DAG(((), (0, 0)))


def test_a_parent_that_is_no_node_is_refused() -> None:
    def check(parent: int) -> None:
        with pytest.raises(ValueError, match=r"node 1 has a parent outside 0\.\.1"):
            DAG(((), (parent,)))

    check_each([-1, 2, 10**30], check)


def test_a_long_chain_is_ordered() -> None:
    n_nodes = 5000
    dag = DAG((*tuple((i + 1,) for i in range(n_nodes - 1)), ()))
    assert dag.order == tuple(reversed(range(n_nodes)))
