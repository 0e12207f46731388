"""The compiled loss of weighted evidence, and the descent to its least.

The descent is compiled as a whole so that several, under different penalties, run side
by side: a minimiser that comes back to the interpreter at every step would make their
threads wait for one another.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled_sums

Floats = NDArray[np.float64]
Path = tuple[Floats, Floats, Floats, NDArray[np.int64]]
Aim = tuple[Floats, Floats, int, float]

# Rows of a descent's points: where it is, what it tries, the slopes there, the way.
HERE, THERE, SLOPE, NEW_SLOPE, DIRECTION = range(5)
# Pairs of steps and gradient changes that a descent remembers.
MEMORY = 20
# Length of what the two threads of a descent signal to each other by.
N_SIGNALS = 48
# A step has to gain this share of what the slope promises, else it is shortened.
_SUFFICIENT = 1e-4
_SHORTENINGS = 29
# A slope below this in every direction that is open ends a descent.
_FLAT = 1e-5


@compiled_sums
def add_losses(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    parameters: Floats,
    first: int,
    last: int,
    gradient: Floats,
) -> float:
    """Add the gradient of the log-loss of ``softmax(biases + evidence @ weights)``.

    `contrasts` has shape (n_rows, n_classes - 1, n_weights): the evidence for each
    class less that for the first. `parameters` and `gradient` hold the weights, then
    the bias of each class; rows from `first` up to `last` count. Returns the loss.
    """
    n_weights = contrasts.shape[2]
    n_classes = contrasts.shape[1] + 1
    scores = np.empty(n_classes)
    # A local sum, of which the compiler knows that nothing else is written into it.
    slope = np.zeros(parameters.size)
    loss = 0.0
    for i in range(first, last):
        highest = scores[0] = parameters[n_weights]
        for c in range(1, n_classes):
            score = 0.0
            for f in range(n_weights):
                score += contrasts[i, c - 1, f] * parameters[f]
            scores[c] = score + parameters[n_weights + c]
            highest = max(highest, scores[c])
        true = scores[own[i]]
        total = 0.0
        for c in range(n_classes):
            # One class, and of two the half, needs no exponential.
            below = scores[c] - highest
            scores[c] = math.exp(below) if below < 0.0 else 1.0
            total += scores[c]
        loss += row_weights[i] * (math.log(total) + highest - true)
        for c in range(n_classes):
            error = row_weights[i] * (scores[c] / total - (c == own[i]))
            slope[n_weights + c] += error
            if c > 0:
                for f in range(n_weights):
                    slope[f] += error * contrasts[i, c - 1, f]
    for f in range(slope.size):
        gradient[f] += slope[f]
    return loss


@compiled_sums
def add_range_losses(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    parameters: Floats,
    ranges: NDArray[np.int64],
    gradient: Floats,
) -> float:
    """Do as `add_losses` for the rows of several ranges, shape (n, 2)."""
    loss = 0.0
    for r in range(ranges.shape[0]):
        first, last = ranges[r, 0], ranges[r, 1]
        loss += add_losses(
            contrasts, own, row_weights, parameters, first, last, gradient
        )
    return loss


@compiled_sums
def add_penalty(
    parameters: Floats, centre: Floats, pull: Floats, slope: Floats
) -> float:
    """Write the slope of ``pull / 2 * (parameters - centre)**2``; returns the sum."""
    loss = 0.0
    for f in range(parameters.size):
        off = parameters[f] - centre[f]
        slope[f] = pull[f] * off
        loss += 0.5 * pull[f] * off * off
    return loss


@compiled_sums
def descend(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    ranges: NDArray[np.int64],
    path: Path,
    aim: Aim,
) -> None:
    """Follow `advance` to the least penalised loss of the rows in `ranges` (n, 2).

    `aim` holds the centre and the strength of the pull, the most steps and the relative
    gain of a step that is too little.
    """
    there, slope = path[0][THERE], path[0][NEW_SLOPE]
    centre, pull, max_steps, tolerance = aim
    is_open = True
    while is_open:
        loss = add_penalty(there, centre, pull, slope)
        loss += add_range_losses(contrasts, own, row_weights, there, ranges, slope)
        is_open = advance(loss, path, contrasts.shape[2], max_steps, tolerance)


@compiled_sums
def advance(
    loss: float, path: Path, n_weights: int, max_steps: int, tolerance: float
) -> bool:
    """Take what a point costs, and set the next one, ``points[THERE]``.

    A projected quasi-Newton descent with limited memory, of which the first `n_weights`
    parameters may not be negative: curvature counts among the parameters that are free
    to move, steps are cut off at zero and shortened until they gain enough (Bertsekas
    1982; Nocedal & Wright 2006, section 7.2). Returns False once `max_steps` are done
    or a step gains less than `tolerance` of the loss; ``points[HERE]`` is the end.

    The path holds points, a row for each of the places named above, past steps and
    changes of slope (2, memory, n), three numbers, the loss here, the step's length and
    what it promises, and two counts, of steps taken and of tries at this one.
    """
    points, curvature, numbers, counts = path
    here, there, slope, new_slope = (
        points[HERE],
        points[THERE],
        points[SLOPE],
        points[NEW_SLOPE],
    )
    if counts[1] >= 0:
        if loss > numbers[0] + _SUFFICIENT * numbers[2] and counts[1] < _SHORTENINGS:
            numbers[1] *= 0.5
            counts[1] += 1
            numbers[2] = step_along(points, numbers[1], n_weights)
            return True
        gain = numbers[0] - loss
        if not gain > 0.0:
            return False
        last = counts[0] % MEMORY
        curvature[0, last] = there - here
        curvature[1, last] = new_slope - slope
        counts[0] += 1
        numbers[0] = loss
        here[:] = there
        slope[:] = new_slope
        if gain <= tolerance * max(loss, 1.0) or counts[0] >= max_steps:
            return False
    else:
        numbers[0] = loss
        here[:] = there
        slope[:] = new_slope
    free = np.zeros(here.size)
    steepest = 0.0
    for f in range(here.size):
        is_held = f < n_weights and here[f] <= 0.0 and slope[f] >= 0.0
        free[f] = 0.0 if is_held else 1.0
        steepest = max(steepest, free[f] * abs(slope[f]))
    if steepest <= _FLAT:
        return False
    points[DIRECTION] = quasi_newton(slope, free, curvature[0], curvature[1], counts[0])
    numbers[1] = 1.0 if counts[0] > 0 else min(1.0, 1.0 / np.abs(slope * free).sum())
    counts[1] = 0
    numbers[2] = step_along(points, numbers[1], n_weights)
    return True


@compiled_sums
def step_along(points: Floats, length: float, n_weights: int) -> float:
    """Set the point that far along the direction; what the slope promises there."""
    here, there, slope, direction = (
        points[HERE],
        points[THERE],
        points[SLOPE],
        points[DIRECTION],
    )
    promised = 0.0
    for f in range(here.size):
        there[f] = here[f] + length * direction[f]
        if f < n_weights:
            there[f] = max(there[f], 0.0)
        promised += slope[f] * (there[f] - here[f])
    return promised


@compiled_sums
def quasi_newton(
    slope: Floats, free: Floats, steps: Floats, changes: Floats, n_kept: int
) -> Floats:
    """The direction down, from the curvature that past steps met, of what is free.

    `steps` and `changes` (memory, n) are used as rings, of which `n_kept` were written.
    """
    memory, n_parameters = steps.shape
    direction = -slope * free
    n_used = min(n_kept, memory)
    shares = np.zeros(n_used)
    curvatures = np.zeros(n_used)
    scale = 1.0
    # Loops of which each goes through the arrays once: all that happens between two
    # points keeps the threads that add up losses waiting.
    for back in range(n_used):
        k = (n_kept - 1 - back) % memory
        along = bend = share = 0.0
        for f in range(n_parameters):
            change = changes[k, f] * free[f]
            along += steps[k, f] * change
            bend += changes[k, f] * change
            share += steps[k, f] * direction[f]
        if along <= 1e-12 * bend or bend == 0.0:
            continue
        if scale == 1.0:
            scale = along / bend
        curvatures[back] = along
        shares[back] = share / along
        for f in range(n_parameters):
            direction[f] -= shares[back] * changes[k, f] * free[f]
    direction *= scale
    for back in range(n_used - 1, -1, -1):
        if curvatures[back] == 0.0:
            continue
        k = (n_kept - 1 - back) % memory
        share = 0.0
        for f in range(n_parameters):
            share += changes[k, f] * direction[f]
        share = shares[back] - share / curvatures[back]
        for f in range(n_parameters):
            direction[f] += share * steps[k, f] * free[f]
    return direction
