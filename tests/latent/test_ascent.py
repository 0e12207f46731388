"""Climbs never lead down, and end where the hill does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.latent.ascent import climb
from offenders import check_each

Vector = NDArray[np.float64]


def _valley(point: Vector) -> tuple[float, Vector]:
    """Rosenbrock's bent valley, turned upside down; its top is (1, 1)."""
    x, y = point
    value = -((1 - x) ** 2) - 100 * (y - x**2) ** 2
    slope_x = 2 * (1 - x) + 400 * x * (y - x**2)
    return value, np.array([slope_x, -200 * (y - x**2)])


def _dome(point: Vector) -> tuple[float, Vector]:
    scale = np.array([1.0, 10.0, 1000.0])
    return -float((scale * (point - 3) ** 2).sum()), -2 * scale * (point - 3)


def test_the_top_of_a_bent_valley_is_found() -> None:
    found = climb(_valley, np.array([-1.2, 1.0]), max_iter=200, tol=0.0)
    np.testing.assert_allclose(found.point, [1.0, 1.0], atol=1e-6)
    assert found.converged
    assert len(found.objectives) < 100


def test_no_step_leads_down() -> None:
    def check(seed: int) -> None:
        start = np.random.default_rng(seed).normal(scale=3, size=2)
        found = climb(_valley, start, max_iter=100, tol=0.0)
        assert found.objectives[0] == _valley(start)[0]
        assert found.objectives[-1] == _valley(found.point)[0]
        assert (np.diff(found.objectives) > 0).all()

    check_each(range(20), check)


def test_axes_of_unequal_curvature_are_no_hindrance() -> None:
    found = climb(_dome, np.zeros(3), max_iter=100, tol=1e-12)
    np.testing.assert_allclose(found.point, 3.0, atol=1e-5)


def test_a_climb_from_the_top_stays_there() -> None:
    found = climb(_dome, np.full(3, 3.0), max_iter=100, tol=1e-4)
    assert found.objectives == (0.0,)
    assert found.converged


def test_steps_are_limited_and_told() -> None:
    told: list[tuple[int, float]] = []
    found = climb(
        _valley,
        np.array([-1.2, 1.0]),
        max_iter=7,
        tol=0.0,
        progress=lambda step, value: told.append((step, value)),
    )
    assert not found.converged
    assert told == list(enumerate(found.objectives))[1:]
    assert len(told) == 7


def test_a_gain_below_the_tolerance_ends_the_climb() -> None:
    start = np.array([-1.2, 1.0])
    loose = climb(_valley, start, max_iter=200, tol=0.5)
    tight = climb(_valley, start, max_iter=200, tol=1e-9)
    assert loose.converged
    assert loose.objectives == tight.objectives[: len(loose.objectives)]
    gains = np.diff(loose.objectives) / np.abs(loose.objectives[1:])
    assert (gains[:-1] > 0.5).all()
    assert gains[-1] <= 0.5


def test_the_unit_of_the_value_is_of_no_importance() -> None:
    def check(factor: float) -> None:
        def scaled(point: Vector) -> tuple[float, Vector]:
            value, gradient = _valley(point)
            return factor * value, factor * gradient

        start = np.array([-1.2, 1.0])
        expected = climb(_valley, start, max_iter=200, tol=1e-9)
        found = climb(scaled, start, max_iter=200, tol=1e-9)
        assert found.point.tolist() == expected.point.tolist()
        assert [value / factor for value in found.objectives] == list(
            expected.objectives
        )

    check_each([2.0**900, 2.0**10, 2.0**-900], check)
