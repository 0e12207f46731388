"""Collapsing: the closed form, the greedy order, and homes for empty cells."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.search.latents.proposals import collapse_states
from offenders import check_each
from oracles import hnb


def _random_table(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 5)), int(rng.integers(2, 6)), int(rng.integers(2, 6)))
    return rng.poisson(rng.choice([0.3, 2.0, 20.0]) * rng.random(shape)).astype(float)


def test_it_merges_as_a_search_that_computes_everything_anew() -> None:
    def check(seed: int) -> None:
        table = _random_table(seed)
        if not table.sum():
            table[0, 0, 0] = 1.0
        states, gains = hnb.collapsed(table)
        found = collapse_states(table)
        assert np.array_equal(found.states, states)
        assert found.deltas == pytest.approx(gains, abs=1e-8)

    check_each(range(40), check)


def test_the_gains_add_up_to_the_difference_of_the_two_models_scores() -> None:
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        table = rng.integers(1, 9, size=(3, 4, 3)).astype(float)
        found = collapse_states(table)
        apart = [[(x, y)] for x in range(4) for y in range(3)]
        merged = [
            [(int(x), int(y)) for x, y in np.argwhere(found.states == state)]
            for state in range(found.n_states)
        ]
        gain = hnb.model_score(table, merged) - hnb.model_score(table, apart)
        assert len(found.deltas) > 0
        assert sum(found.deltas) == pytest.approx(gain, abs=1e-8)

    check_each(range(10), check)


def test_states_of_equal_class_distribution_merge_for_the_penalty_alone() -> None:
    table = np.array([[[10.0, 5.0]], [[30.0, 15.0]]])
    found = collapse_states(table)
    assert found.n_states == 1
    assert found.deltas == pytest.approx([np.log(60.0)])


def test_ties_in_a_million_rows_go_to_the_first_cells() -> None:
    table = np.array([[[900_000.0, 300_000.0, 100.0]], [[600_000.0, 200_000.0, 0.0]]])
    states, _ = hnb.collapsed(table)
    assert np.array_equal(collapse_states(table).states, states)


def test_an_empty_cell_joins_the_group_that_naive_bayes_predicts_for_it() -> None:
    table = np.array([[[60.0, 20.0], [20.0, 0.0]], [[0.0, 20.0], [20.0, 0.0]]])
    found = collapse_states(table)
    # Both left and right value of the empty cell speak for the second class.
    assert found.states.tolist() == [[0, 1], [1, 1]]


def test_no_counts_leave_one_group() -> None:
    found = collapse_states(np.zeros((2, 3, 2)))
    assert found.n_states == 1
    assert found.deltas == ()


def test_order_of_classes_means_nothing() -> None:
    def check(seed: int) -> None:
        table = np.random.default_rng(seed).integers(0, 6, size=(3, 4, 4)).astype(float)
        turned = collapse_states(table[::-1])
        assert np.array_equal(collapse_states(table).states, turned.states)

    check_each(range(5), check)


@pytest.mark.slow
def test_five_thousand_cells_take_about_a_second() -> None:
    import time

    table = np.random.default_rng(0).integers(1, 30, size=(2, 50, 100)).astype(float)
    collapse_states(table[:, :2, :2])
    begin = time.perf_counter()
    found = collapse_states(table)
    assert time.perf_counter() - begin < 5.0
    assert 1 < found.n_states < 5000
