"""Loops that join the values of a variable one step after another."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Flags = NDArray[np.bool_]

# What rounding may make of a loss that is none, where all shares are at most one.
_ROUNDING = 1e-13


@compiled
def x_log_x(x: float) -> float:
    """``x ln x``, 0 at 0."""
    return x * math.log(x) if x > 0.0 else 0.0


@compiled
def information_of(shares: Floats, starts: Places, first: int, second: int) -> float:
    """Part of the mutual information that one cluster, or two joined, account for."""
    total = 0.0
    for context in range(len(starts) - 1):
        sum_of_cells = 0.0
        for cell in range(starts[context], starts[context + 1]):
            share = shares[first, cell]
            if second >= 0:
                share += shares[second, cell]
            sum_of_cells += share
            total += x_log_x(share)
        total -= x_log_x(sum_of_cells)
    return total


@compiled
def find_modes(shares: Floats, starts: Places, cluster: int, modes: Places) -> None:
    """Set the most frequent cell of each context variable, the first of equal ones."""
    for context in range(len(starts) - 1):
        best = starts[context]
        for cell in range(starts[context], starts[context + 1]):
            if shares[cluster, cell] > shares[cluster, best]:
                best = cell
        modes[cluster, context] = best


@compiled
def loss_of_joining(
    shares: Floats,
    starts: Places,
    by_modes: bool,
    own: Floats,
    modes: Places,
    first: int,
    second: int,
) -> float:
    """Information that two clusters lose as one, or in how many modes they differ."""
    if by_modes:
        return float(np.sum(modes[first] != modes[second]))
    lost: float = own[first] + own[second]
    lost -= information_of(shares, starts, first, second)
    return max(lost, 0.0)


@compiled
def cheapest_pair(
    losses: Floats, alive: Places, n_alive: int, rounding: float
) -> tuple[int, int, float]:
    """Places in the list of the first pair that loses least, and its loss."""
    best, left, right = math.inf, 0, 1
    for i in range(n_alive):
        for j in range(i + 1, n_alive):
            loss = losses[alive[i], alive[j]]
            if loss < best - rounding:
                best, left, right = loss, i, j
    return left, right, best


@compiled
def spread(
    losses: Floats, alive: Places, n_alive: int, limit: float, is_member: Flags
) -> None:
    """Add to the members what chains of losses up to the limit tie to them."""
    grows = True
    while grows:
        grows = False
        for i in range(n_alive):
            for j in range(n_alive):
                near = is_member[i] and not is_member[j]
                if near and losses[alive[i], alive[j]] <= limit:
                    is_member[j] = True
                    grows = True


@compiled
def join_values(
    shares: Floats, starts: Places, n_values: int, by_modes: bool, margin: float
) -> Places:
    """Join values until one cluster is left.

    Parameters
    ----------
    shares : ndarray of shape (2 * n_values - 1, n_cells), dtype float64
        Share of the rows with each value in each state of the context variables,
        which stand side by side; the other rows are room for joined clusters.
    starts : ndarray of shape (n_context + 1,), dtype int64
        First cell of each context variable.
    n_values : int
        Number of values, at least 2.
    by_modes : bool
        Whether clusters differ by their modes, not by information.
    margin : float
        Share of the least loss by which a loss may exceed it to be joined in the same
        step; negative where only pairs are joined.

    Returns
    -------
    parents : ndarray of shape (2 * n_values - 1,), dtype int64
        The cluster that each value and cluster went into, -1 for the last cluster
        and what is beyond.
    """
    n_most = 2 * n_values - 1
    rounding = _ROUNDING * len(starts)
    parents = np.full(n_most, -1, dtype=np.int64)
    own = np.zeros(n_most)
    modes = np.zeros((n_most, len(starts) - 1), dtype=np.int64)
    losses = np.zeros((n_most, n_most))
    alive = np.arange(n_most)
    n_alive = 0
    new = 0
    while True:
        if by_modes:
            find_modes(shares, starts, new, modes)
        else:
            own[new] = information_of(shares, starts, new, -1)
        for i in range(n_alive):
            loss = loss_of_joining(shares, starts, by_modes, own, modes, alive[i], new)
            losses[alive[i], new] = loss
            losses[new, alive[i]] = loss
        alive[n_alive] = new
        n_alive += 1
        new += 1
        if new < n_values:
            continue
        if n_alive == 1:
            return parents
        left, right, least = cheapest_pair(losses, alive, n_alive, rounding)
        is_member = np.zeros(n_alive, dtype=np.bool_)
        is_member[left] = True
        is_member[right] = True
        if margin >= 0.0:
            limit = least * (1.0 + margin) + rounding
            spread(losses, alive, n_alive, limit, is_member)
        n_left = 0
        for i in range(n_alive):
            if is_member[i]:
                parents[alive[i]] = new
                shares[new] += shares[alive[i]]
            else:
                alive[n_left] = alive[i]
                n_left += 1
        n_alive = n_left
