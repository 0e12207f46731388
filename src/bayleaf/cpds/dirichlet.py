"""Draws of distributions from Dirichlet posteriors, in logarithms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.rounding import CountsForDraws

Floats = NDArray[np.float64]

# Gamma variates of smaller shape are drawn by their logarithm, lest they vanish.
_SMALL_SHAPE = 0.5


def log_dirichlet(
    probabilities: Floats, strengths: Floats, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Draw distributions around the means `probabilities`, shape (..., n_states).

    `strengths` (...,) are sums of Dirichlet parameters, in rows. Returns natural
    logarithms (n_draws, ..., n_states), minus infinity where the mean is zero.
    """
    logs = log_gamma(probabilities * strengths[..., None], n_draws, rng)
    highest = logs.max(axis=-1, keepdims=True)
    logs -= highest
    logs -= np.log(np.exp(logs).sum(axis=-1, keepdims=True))
    return logs


def drawn_distributions(
    probabilities: Floats, strengths: Floats, rng: np.random.Generator
) -> Floats:
    """Draw distributions around given ones once, shape (..., n_states)."""
    return np.asarray(np.exp(log_dirichlet(probabilities, strengths, 1, rng)[0]))


def log_gamma(shapes: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Logarithms of gamma variates, (n_draws, ...); minus infinity for shape zero."""
    # What stands in for draws wants the counts as they are.
    small = (shapes < _SMALL_SHAPE) & (not isinstance(rng, CountsForDraws))
    draws = rng.standard_gamma(shapes + small, (n_draws, *shapes.shape))
    with np.errstate(divide="ignore"):
        logs = np.log(draws, out=draws)
        if small.any():
            # Marsaglia and Tsang (2000): G(a) = G(a + 1) U^(1/a).
            powers = rng.standard_exponential((n_draws, int(small.sum())))
            logs[:, small] -= powers / shapes[small]
    return logs
