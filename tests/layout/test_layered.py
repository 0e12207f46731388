"""Layered drawings: nothing overlaps, no arc runs behind a box, few arcs cross."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf.layout.layered import Drawing, layered_drawing, with_tops
from layout.geometry import Arc, n_behind, n_crossings, polyline
from layout.graphs import SIZE, Graph, graphs

DOT = Path(__file__).with_name("dot.csv")


@st.composite
def random_graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[Arc]]:
    """Boxes of several sizes and arcs, some of them against the others."""
    n_nodes = draw(st.integers(1, 14))
    lengths = st.sampled_from([10.0, 30.0, 31.5, 80.0])
    sizes = draw(
        st.lists(st.tuples(lengths, lengths), min_size=n_nodes, max_size=n_nodes)
    )
    nodes = st.integers(0, n_nodes - 1)
    pairs = st.tuples(nodes, nodes).filter(lambda arc: arc[0] != arc[1])
    arcs = draw(st.lists(pairs, max_size=30, unique=True)) if n_nodes > 1 else []
    return sizes, arcs


def overlaps(drawing: Drawing) -> list[tuple[int, int]]:
    """Pairs of boxes that share a point."""
    low, high = drawing.centres - drawing.sizes / 2, drawing.centres + drawing.sizes / 2
    return [
        (i, j)
        for i in range(len(low))
        for j in range(i)
        if (low[i] < high[j] - 1e-6).all() and (low[j] < high[i] - 1e-6).all()
    ]


@settings(deadline=None, max_examples=12)
@given(random_graphs())
def test_boxes_stand_apart_and_arcs_pass_them_by(
    graph: tuple[list[tuple[float, float]], list[Arc]],
) -> None:
    sizes, arcs = graph
    for shape in (None, 0.5):
        drawing = layered_drawing(sizes, arcs, shape=shape)
        assert overlaps(drawing) == []
        lines = [polyline(curve) for curve in drawing.curves]
        assert n_behind(lines, arcs, drawing.centres, drawing.sizes) == 0
        corners = drawing.centres - drawing.sizes / 2
        assert corners.min() >= -1e-6
        for line in lines:
            assert line.min() >= -1e-6
            assert (line <= [drawing.width + 1e-6, drawing.height + 1e-6]).all()


@settings(deadline=None, max_examples=12)
@given(random_graphs())
def test_every_arc_leads_from_its_parents_edge_to_its_childs(
    graph: tuple[list[tuple[float, float]], list[Arc]],
) -> None:
    sizes, arcs = graph
    drawing = layered_drawing(sizes, arcs)
    for (parent, child), curve in zip(arcs, drawing.curves, strict=True):
        for node, end in ((parent, curve[0]), (child, curve[-1])):
            x, y = drawing.centres[node]
            assert end[0] == pytest.approx(x)
            assert abs(end[1] - y) == pytest.approx(drawing.sizes[node, 1] / 2)
        # The last piece has a direction, which an arrow's head needs.
        assert np.abs(curve[-1] - curve[-4]).sum() > 1e-6


@settings(deadline=None, max_examples=12)
@given(random_graphs())
def test_the_same_graph_is_drawn_alike(
    graph: tuple[list[tuple[float, float]], list[Arc]],
) -> None:
    one, other = (layered_drawing(*graph) for _ in range(2))
    assert np.array_equal(one.centres, other.centres)
    for ours, theirs in zip(one.curves, other.curves, strict=True):
        assert np.array_equal(ours, theirs)


@settings(deadline=None, max_examples=12)
@given(random_graphs())
def test_parents_stand_above_their_children_unless_arcs_go_round(
    graph: tuple[list[tuple[float, float]], list[Arc]],
) -> None:
    sizes, arcs = graph
    downwards = [(p, c) for p, c in arcs if p < c]
    drawing = layered_drawing(sizes, downwards)
    for parent, child in downwards:
        assert drawing.centres[parent, 1] < drawing.centres[child, 1]


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(random_graphs())
def test_drawings_of_many_graphs_are_in_order(
    graph: tuple[list[tuple[float, float]], list[Arc]],
) -> None:
    for test in (
        test_boxes_stand_apart_and_arcs_pass_them_by,
        test_every_arc_leads_from_its_parents_edge_to_its_childs,
        test_the_same_graph_is_drawn_alike,
        test_parents_stand_above_their_children_unless_arcs_go_round,
    ):
        test.hypothesis.inner_test(graph)


def test_boxes_without_arcs_that_are_asked_for_stand_above_all() -> None:
    drawing = with_tops([SIZE] * 4, [(0, 1), (1, 2)], [3])
    assert drawing.centres[3, 1] < drawing.centres[:3, 1].min()
    assert drawing.centres[3, 0] == pytest.approx(drawing.width / 2)
    # One with arcs stays where these put it.
    bound = with_tops([SIZE] * 3, [(0, 1), (1, 2)], [2])
    assert bound.centres[2, 1] > bound.centres[0, 1]


def test_parts_without_arcs_between_them_stand_side_by_side() -> None:
    drawing = layered_drawing([SIZE] * 60, [])
    assert overlaps(drawing) == []
    assert 0.5 < drawing.width / drawing.height < 5


@pytest.mark.parametrize("shape", [0.7, 1.35, 3.0])
def test_layers_are_folded_to_the_shape_of_a_window(shape: float) -> None:
    """A parent of forty, whose children would be one row."""
    arcs = [(0, child) for child in range(1, 41)]
    drawing = layered_drawing([SIZE] * 41, arcs, shape=shape)
    assert 0.6 * shape < drawing.width / drawing.height < 1.7 * shape
    assert overlaps(drawing) == []
    assert (drawing.centres[0, 1] < drawing.centres[1:, 1]).all()
    lines = [polyline(curve) for curve in drawing.curves]
    assert n_behind(lines, arcs, drawing.centres, drawing.sizes) == 0


def test_an_empty_graph_is_an_empty_drawing() -> None:
    drawing = layered_drawing(np.empty((0, 2)), [])
    assert drawing.width == drawing.height == 0.0
    assert drawing.curves == ()


@pytest.fixture(scope="module")
def drawn_graphs() -> dict[str, Graph]:
    if "BAYLEAF_DATA" not in os.environ:
        pytest.skip("set BAYLEAF_DATA to the folder with the published networks")
    return graphs()


@pytest.mark.slow
@pytest.mark.parametrize(
    "max_nodes", [100, pytest.param(2000, marks=pytest.mark.long)], ids=["small", "all"]
)
def test_no_arc_runs_behind_a_box_and_few_more_cross_than_in_dot(
    drawn_graphs: dict[str, Graph], max_nodes: int
) -> None:
    with DOT.open(newline="") as stream:
        told = {row["graph"]: row for row in csv.DictReader(stream)}
    assert set(told) == set(drawn_graphs)
    assert len(told) > 20
    for name, (n_nodes, arcs) in drawn_graphs.items():
        assert (n_nodes, len(arcs)) == (
            int(told[name]["nodes"]),
            int(told[name]["arcs"]),
        )
        if n_nodes > max_nodes:
            continue
        drawing = layered_drawing([SIZE] * n_nodes, arcs)
        lines = [polyline(curve) for curve in drawing.curves]
        assert n_behind(lines, arcs, drawing.centres, drawing.sizes) == 0, name
        crossings = n_crossings(lines, arcs) if arcs else 0
        assert crossings <= 1.5 * int(told[name]["crossings"]), name


def test_a_drawing_wider_than_a_page_is_folded() -> None:
    def width(n_children: int, page: float) -> float:
        arcs = [(0, child) for child in range(1, n_children + 1)]
        return with_tops([SIZE] * (n_children + 1), arcs, [], page=page).width

    wide = width(12, np.inf)
    assert width(12, wide) == wide
    assert width(12, wide - 1) < wide / 2
