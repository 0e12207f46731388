"""Native loops over joint counts of pairs against sums over cells."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.native.latents import collapse, pair_statistics
from native.cases.latents import CASES
from oracles import hnb


def _moments(table: np.ndarray) -> tuple[float, float]:
    """Those of a table from which classes without rows are left out.

    They add a whole (|X| - 1) (|Y| - 1) to the trace that is subtracted from, but
    nothing to it.
    """
    present = table[table.sum(axis=(1, 2)) > 0]
    freedom = (len(table) - len(present)) * (table.shape[1] - 1) * (table.shape[2] - 1)
    if not len(present):
        return freedom, 2 * freedom
    mean, variance = hnb.quadratic_form_moments(present)
    return mean + freedom, variance + 2 * freedom


@pytest.mark.parametrize("kind", [0, 1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_statistics_are_those_of_each_pair_alone(kind: int, seed: int) -> None:
    dense, left, right, triangle, _, found = CASES["pair_statistics"](
        np.random.default_rng(seed)
    )
    pair_statistics(dense, left, right, triangle, kind, found)
    slow = [hnb.g2_statistic, hnb.expected_kl_statistic, hnb.expected_kl_statistic]
    tops = np.cumsum([0, *(left + 1)])
    starts = np.cumsum([0, *(right + 1)])
    for i, n_left in enumerate(left):
        for j, n_right in enumerate(right):
            if triangle and j <= i:
                assert not found[:, i, j].any()
                continue
            rows = slice(tops[i], tops[i] + n_left)
            columns = slice(starts[j], starts[j] + n_right)
            table = dense[:, rows, columns]
            expected = max(slow[kind](table), 0.0)
            assert found[0, i, j] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            # Moments are filled in where they are asked for alone.
            moments = _moments(table) if kind == 2 else (0.0, 0.0)
            assert found[1:, i, j] == pytest.approx(moments, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("card", [-1, 0, 2, 1 << 62])
def test_states_that_make_up_other_counts_are_refused(card: int) -> None:
    dense, found = np.ones((2, 2, 4)), np.zeros((3, 1, 1))
    with pytest.raises(ValueError, match="other states than"):
        pair_statistics(dense, np.array([card]), np.array([3]), False, 0, found)


@pytest.mark.parametrize("seed", range(20))
def test_states_merge_as_in_a_search_that_computes_every_gain_anew(seed: int) -> None:
    counts, _, tolerance, states, deltas = CASES["collapse"](
        np.random.default_rng(seed)
    )
    collapse(
        counts, 0.5 * len(counts) * np.log(counts.sum()), tolerance, states, deltas
    )
    expected, gains = hnb.collapsed(counts)
    np.testing.assert_array_equal(states, expected)
    assert deltas[: len(gains)] == pytest.approx(gains, abs=1e-8)
    assert np.isnan(deltas[len(gains) :]).all()


def test_counts_of_nothing_are_not_collapsed() -> None:
    states, deltas = np.empty((2, 2), dtype=np.int64), np.empty(4)
    with pytest.raises(ValueError, match="no joint state has any weight"):
        collapse(np.zeros((2, 2, 2)), 1.0, 1e-9, states, deltas)
