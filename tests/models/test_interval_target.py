"""Predictive distributions by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bayleaf.models.interval_target import TargetDistributions
from offenders import check_each

# Half of the probability between 0 and 2, a quarter at 3, a quarter between 3 and 4.
SAID = TargetDistributions(
    np.array([0.0, 3.0, 3.0]), np.array([2.0, 3.0, 4.0]), np.array([[0.5, 0.25, 0.25]])
)


def test_mean_and_variance_are_those_of_the_pieces() -> None:
    mean = 0.5 * 1.0 + 0.25 * 3.0 + 0.25 * 3.5
    square = 0.5 * (1 + 4 / 12) + 0.25 * 9 + 0.25 * (3.5**2 + 1 / 12)
    assert SAID.mean == pytest.approx([mean])
    assert SAID.variance == pytest.approx([square - mean**2])


def test_quantiles_are_linear_inside_a_cell() -> None:
    def check(case: tuple[float, float]) -> None:
        level, value = case
        assert SAID.quantiles([level])[0, 0] == pytest.approx(value)

    check_each(
        [(0, 0.0), (0.25, 1.0), (0.5, 2.0), (0.6, 3.0), (0.875, 3.5), (1, 4.0)], check
    )


def test_the_cdf_is_linear_and_jumps_at_values() -> None:
    def check(case: tuple[float, float]) -> None:
        value, probability = case
        assert SAID.cdf(value) == pytest.approx([probability])

    check_each(
        [(-1.0, 0.0), (1.0, 0.25), (2.5, 0.5), (3.0, 0.75), (3.5, 0.875), (9.0, 1.0)],
        check,
    )


def test_the_score_is_the_integral_of_the_squared_difference() -> None:
    rng = np.random.default_rng(0)
    edges = np.sort(rng.normal(size=9))
    shares = rng.dirichlet(np.ones(8), size=3)
    said = TargetDistributions(edges[:-1], edges[1:], shares)
    middle, values = (edges[1:] + edges[:-1]) / 2, np.array([-3.0, 0.1, 2.5])
    grid = np.linspace(-4, 4, 400_001)
    for row, value in enumerate(values):
        steps = np.append(0.0, np.cumsum(shares[row]))
        totals = steps[np.searchsorted(middle, grid, side="right")]
        expected = ((totals - (grid >= value)) ** 2).sum() * (grid[1] - grid[0])
        assert said.crps(values)[row] == pytest.approx(expected, abs=1e-4)
