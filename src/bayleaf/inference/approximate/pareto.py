"""How heavy the tail of importance weights is."""

from __future__ import annotations

import numpy as np

from bayleaf.inference.approximate.potentials import Floats

_FEWEST = 5


def pareto_k(log_weights: Floats) -> float:
    """Shape k of a generalised Pareto distribution fitted to the largest weights.

    `log_weights` (n_samples,), minus infinity for weight 0. Moments of order 1/k and
    beyond do not exist; up to 0.7, estimates and standard errors can be trusted; 0 if
    the weights are about equal, or too few.

    Vehtari, Simpson, Gelman, Yao & Gabry 2024, "Pareto smoothed importance sampling".
    Zhang & Stephens 2009, "A new and efficient estimation method for the generalized
    Pareto distribution".
    """
    n = len(log_weights)
    n_tail = int(min(0.2 * n, 3.0 * np.sqrt(n)))
    if n_tail < _FEWEST:
        return 0.0
    ranked = np.sort(log_weights)[-n_tail - 1 :]
    scaled = np.exp(ranked - ranked[-1])
    excess = scaled[1:] - scaled[0]
    excess = excess[excess > 0]
    # Tails that rise by less than a mean weight do no harm, whatever their shape.
    mean = np.exp(log_weights - ranked[-1]).mean()
    if len(excess) < _FEWEST or excess[-1] <= mean:
        return 0.0
    return max(0.0, _shape(excess))


def _shape(excess: Floats) -> float:
    """Zhang and Stephens' estimate from increasing positive numbers."""
    n = len(excess)
    n_points = 30 + int(np.sqrt(n))
    steps = np.arange(1, n_points + 1)
    quarter = excess[int(n / 4 + 0.5) - 1]
    theta = 1 / excess[-1] + (1 - np.sqrt(n_points / (steps - 0.5))) / (3 * quarter)
    # Theta of 0 is the exponential distribution, the limit of shapes around it.
    theta = np.where(theta == 0, 1e-12, theta)
    shapes = np.log1p(-theta[:, None] * excess).mean(axis=1)
    log_profile = n * (np.log(-theta / shapes) - shapes - 1)
    share = np.exp(log_profile - log_profile.max())
    best = (theta * share).sum() / share.sum()
    shape = np.log1p(-best * excess).mean()
    # Shrunk a little towards a half, as for smoothing.
    return float((n * shape + 5.0) / (n + 10.0))
