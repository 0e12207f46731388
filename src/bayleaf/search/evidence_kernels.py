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

# Pairs of steps and gradient changes that a descent remembers.
_MEMORY = 20
# A step has to gain this share of what the slope promises, else it is shortened.
_SUFFICIENT = 1e-4
_SHORTENINGS = 30
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
def penalised_loss(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    ranges: NDArray[np.int64],
    parameters: Floats,
    centre: Floats,
    pull: Floats,
    gradient: Floats,
) -> float:
    """Log-loss of the rows in `ranges` (n, 2) plus ``pull / 2 * (p - centre)**2``.

    Writes the gradient.
    """
    loss = 0.0
    for f in range(parameters.size):
        off = parameters[f] - centre[f]
        gradient[f] = pull[f] * off
        loss += 0.5 * pull[f] * off * off
    for r in range(ranges.shape[0]):
        loss += add_losses(
            contrasts,
            own,
            row_weights,
            parameters,
            ranges[r, 0],
            ranges[r, 1],
            gradient,
        )
    return loss


@compiled_sums
def descend(
    contrasts: NDArray[np.float32],
    own: NDArray[np.int64],
    row_weights: Floats,
    ranges: NDArray[np.int64],
    start: Floats,
    centre: Floats,
    pull: Floats,
    max_steps: int,
    tolerance: float,
) -> Floats:
    """Parameters of least penalised loss whose weights are not negative.

    A projected quasi-Newton descent with limited memory: curvature counts among the
    parameters that are free to move, steps are cut off at zero and shortened until they
    gain enough (Bertsekas 1982; Nocedal & Wright 2006, section 7.2). It ends when a
    step gains less than `tolerance` of the loss.
    """
    n, n_weights = start.size, contrasts.shape[2]
    steps = np.zeros((_MEMORY, n))
    changes = np.zeros((_MEMORY, n))
    here = start.copy()
    slope = np.zeros(n)
    loss = penalised_loss(
        contrasts, own, row_weights, ranges, here, centre, pull, slope
    )
    new_slope = np.zeros(n)
    free = np.zeros(n)
    for n_kept in range(max_steps):
        steepest = 0.0
        for f in range(n):
            is_held = f < n_weights and here[f] <= 0.0 and slope[f] >= 0.0
            free[f] = 0.0 if is_held else 1.0
            steepest = max(steepest, free[f] * abs(slope[f]))
        if steepest <= _FLAT:
            break
        direction = quasi_newton(slope, free, steps, changes, n_kept)
        length = 1.0 if n_kept > 0 else min(1.0, 1.0 / np.abs(slope * free).sum())
        there = here.copy()
        new_loss = loss
        for _ in range(_SHORTENINGS):
            promised = 0.0
            for f in range(n):
                there[f] = here[f] + length * direction[f]
                if f < n_weights:
                    there[f] = max(there[f], 0.0)
                promised += slope[f] * (there[f] - here[f])
            new_loss = penalised_loss(
                contrasts, own, row_weights, ranges, there, centre, pull, new_slope
            )
            if new_loss <= loss + _SUFFICIENT * promised:
                break
            length *= 0.5
        if not new_loss < loss:
            break
        gain = loss - new_loss
        last = n_kept % _MEMORY
        steps[last] = there - here
        changes[last] = new_slope - slope
        here, there = there, here
        slope, new_slope = new_slope, slope
        loss = new_loss
        if gain <= tolerance * max(loss, 1.0):
            break
    return here


@compiled_sums
def quasi_newton(
    slope: Floats, free: Floats, steps: Floats, changes: Floats, n_kept: int
) -> Floats:
    """The direction down, from the curvature that past steps met, of what is free.

    `steps` and `changes` (memory, n) are used as rings, of which `n_kept` were written.
    """
    memory = steps.shape[0]
    direction = -slope * free
    n_used = min(n_kept, memory)
    shares = np.zeros(n_used)
    curvatures = np.zeros(n_used)
    scale = 1.0
    for back in range(n_used):
        k = (n_kept - 1 - back) % memory
        curvatures[back] = (steps[k] * changes[k] * free).sum()
        bend = (changes[k] * changes[k] * free).sum()
        if curvatures[back] <= 1e-12 * bend or bend == 0.0:
            curvatures[back] = 0.0
            continue
        if scale == 1.0:
            scale = curvatures[back] / bend
        shares[back] = (steps[k] * direction).sum() / curvatures[back]
        direction -= shares[back] * changes[k] * free
    direction *= scale
    for back in range(n_used - 1, -1, -1):
        if curvatures[back] == 0.0:
            continue
        k = (n_kept - 1 - back) % memory
        share = (changes[k] * direction).sum() / curvatures[back]
        direction += (shares[back] - share) * steps[k] * free
    return direction
