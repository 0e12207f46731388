"""Places of nodes and names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from bayleaf.plot.layout import BOWS, acyclic, clear_bow, layered, spaced


def random_arcs(n_nodes: int, n_arcs: int, seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_nodes)
    pairs = (sorted(rng.choice(n_nodes, 2, replace=False)) for _ in range(n_arcs))
    return list({(int(order[a]), int(order[b])) for a, b in pairs})


@pytest.mark.parametrize("seed", range(5))
def test_parents_stand_above_their_children(seed: int) -> None:
    arcs = random_arcs(30, 45, seed)
    places = layered(30, arcs)
    assert all(places[parent, 1] < places[child, 1] for parent, child in arcs)


@pytest.mark.parametrize("seed", range(5))
def test_no_two_nodes_of_a_row_are_less_than_a_column_apart(seed: int) -> None:
    places = layered(60, random_arcs(60, 40, seed))
    for row in range(int(places[:, 1].max()) + 1):
        columns = np.sort(places[places[:, 1] == row, 0])
        assert len(columns)
        assert (np.diff(columns) >= 1 - 1e-9).all()


def test_a_top_stands_alone_above_its_children_and_those_of_others() -> None:
    places = layered(5, [(4, 0), (4, 1), (0, 1), (4, 2), (1, 2)], tops=[4])
    assert (places[:, 1] == 0).tolist() == [False] * 4 + [True]
    assert places[3, 1] == places[:, 1].max()


def test_a_wide_layer_is_broken_into_rows() -> None:
    places = layered(60, [])
    assert 4 <= len(set(places[:, 1])) <= 10
    assert np.ptp(places[:, 0]) < 12


def test_an_arc_that_closes_a_cycle_has_no_say() -> None:
    assert acyclic(3, [(0, 1), (1, 2), (2, 0), (0, 2)]) == [(0, 1), (1, 2), (0, 2)]
    places = layered(3, [(0, 1), (1, 2), (2, 0)])
    assert places[:, 1].tolist() == [0, 1, 2]


def test_neighbours_are_drawn_beside_each_other() -> None:
    # Two parents with two children each: no crossing is needed.
    places = layered(6, [(0, 3), (0, 5), (1, 2), (1, 4)])
    sides = {0: {3, 5}, 1: {2, 4}}
    left, right = sorted(sides, key=lambda node: places[node, 0])
    assert max(places[n, 0] for n in sides[left]) < min(
        places[n, 0] for n in sides[right]
    )


@pytest.mark.parametrize("seed", range(4))
def test_spaced_places_move_least(seed: int) -> None:
    wanted = np.sort(np.random.default_rng(seed).random(6))
    found = spaced(wanted, 0.2, -0.2, 1.2)
    best = minimize(
        lambda x: ((x - wanted) ** 2).sum(),
        np.linspace(-0.2, 1.2, 6),
        constraints=[{"type": "ineq", "fun": lambda x: np.diff(x) - 0.2}],
        bounds=[(-0.2, 1.2)] * 6,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert (np.diff(found) >= 0.2 - 1e-12).all()
    assert found == pytest.approx(best.x, abs=1e-4)


def test_places_without_room_stay_a_gap_apart_around_the_middle() -> None:
    assert spaced([0, 0, 0], 1.0, 0.0, 1.0).tolist() == [-0.5, 0.5, 1.5]
    assert spaced([], 1.0, 0.0, 1.0).tolist() == []


def test_an_arc_with_nothing_in_its_way_is_straight() -> None:
    assert clear_bow((0, 0), (0, -3), [], (-1, 1)) == 0.0
    assert clear_bow((0, 0), (0, -3), [[0.5, 1.0, -2, -1]], (-1, 1)) == 0.0


def test_an_arc_bows_around_a_box_to_the_side_with_room() -> None:
    box = [-0.4, 0.3, -1.7, -1.3]
    assert clear_bow((0, 0), (0, -3), [box], (-5, 5)) == -0.25
    assert clear_bow((0, 0), (0, -3), [box], (-0.5, 5)) == -0.25
    assert clear_bow((0, 0), (0, -3), [box], (-5, 0.2)) == 0.4


def test_bows_are_those_of_the_renderer() -> None:
    from matplotlib.patches import ConnectionStyle

    for bow in BOWS:
        path = ConnectionStyle.Arc3(rad=bow).connect((0.0, 0.0), (1.0, -3.0))
        aside = np.array([-3.0, -1.0])
        assert path.vertices[1] == pytest.approx(np.array([0.5, -1.5]) + bow * aside)


def test_an_arc_from_a_latent_does_not_seem_to_begin_at_a_feature() -> None:
    # Left of the box and right of it there is room, and the flatter bow wins.
    box = [-0.45, 0.45, -1.3, -1.0]
    bow = clear_bow((0, 0), (0, -2.3), [box], (-2, 2))
    assert abs(bow) == pytest.approx(0.4)
