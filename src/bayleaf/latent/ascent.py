"""Uphill steps on a smooth function, none of which may lead down."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.progress import Work

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]
Progress = Callable[[int, float], object]

# Steps whose change of gradient tells the curvature.
_MEMORY = 10
# Share of the rise that the slope promises, below which a step is halved.
_SUFFICIENT = 1e-4
_MOST_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class Ascent:
    """End of a climb, and its course."""

    point: Vector  # (n_parameters,), the end
    objectives: tuple[float, ...]  # at the start and after each step; never falls
    converged: bool  # whether it ended for want of a rise, not of steps


@dataclass(frozen=True, eq=False)
class _Place:
    """A point with its value and, in units of a slope, its gradient."""

    point: Vector
    value: float
    gradient: Vector
    unit: float


def climb(
    objective: Objective,
    start: Vector,
    *,
    max_iter: int,
    tol: float,
    progress: Progress | None = None,
) -> Ascent:
    """Maximise a smooth function by steps each of which raises it.

    Directions are those of limited-memory BFGS (Nocedal 1980); a step is halved until
    it gains a fair share of what the slope promises (Armijo 1966). No sum is handed to
    a linear algebra library, whose number of threads could change the last bits.

    `objective` returns value and gradient at a point (n_parameters,). The climb ends
    when a step gains less than the share `tol` of the value; `progress` is called with
    the step's number and the value after each step.
    """
    value, gradient = objective(start)
    # A power of two changes no bit, and keeps squares of huge slopes finite.
    unit = 2.0 ** (math.frexp(float(np.abs(gradient).max(initial=0.0)))[1] - 1)
    here = _Place(start, value, gradient / unit, unit)
    objectives = [here.value]
    memory: deque[tuple[Vector, Vector]] = deque(maxlen=_MEMORY)
    converged, work = False, Work()
    while not converged and len(objectives) <= max_iter:
        there = _step(objective, here, memory)
        if there is None and memory:
            memory.clear()
            there = _step(objective, here, memory)
        if there is None:
            return Ascent(here.point, tuple(objectives), True)
        converged = there.value - here.value <= tol * abs(there.value)
        _remember(memory, here, there)
        here = there
        objectives.append(here.value)
        work.say(f"step {len(objectives) - 1} of at most {max_iter}")
        if progress is not None:
            progress(len(objectives) - 1, here.value)
    return Ascent(here.point, tuple(objectives), converged)


def _step(
    objective: Objective, here: _Place, memory: deque[tuple[Vector, Vector]]
) -> _Place | None:
    """The next place uphill; None if no step in the direction leads there."""
    direction = _direction(here.gradient, memory)
    slope = _dot(direction, here.gradient)
    if not slope > 0.0:
        return None
    # Without a known curvature the slope alone could lead anywhere.
    length = 1.0 if memory else min(1.0, 1.0 / float(np.abs(here.gradient).sum()))
    for _ in range(_MOST_HALVINGS):
        point = here.point + length * direction
        value, gradient = objective(point)
        if value >= here.value + _SUFFICIENT * length * slope * here.unit:
            return _Place(point, value, gradient / here.unit, here.unit)
        length /= 2.0
    return None


def _direction(gradient: Vector, memory: deque[tuple[Vector, Vector]]) -> Vector:
    """The gradient times an estimate of the inverse curvature, by two recursions."""
    direction = gradient.copy()
    shares = []
    for moved, bent in reversed(memory):
        share = _dot(moved, direction) / _dot(moved, bent)
        direction -= share * bent
        shares.append(share)
    if memory:
        moved, bent = memory[-1]
        direction *= _dot(moved, bent) / _dot(bent, bent)
    for (moved, bent), share in zip(memory, reversed(shares), strict=True):
        direction += (share - _dot(bent, direction) / _dot(moved, bent)) * moved
    return direction


def _remember(
    memory: deque[tuple[Vector, Vector]], here: _Place, there: _Place
) -> None:
    """Keep a step and the fall of the gradient over it, where the hill bends down."""
    moved, bent = there.point - here.point, here.gradient - there.gradient
    if _dot(moved, bent) > 1e-10 * _dot(bent, bent):
        memory.append((moved, bent))


def _dot(left: Vector, right: Vector) -> float:
    """Sum of products, added in an order that does not depend on threads."""
    return float((left * right).sum())
