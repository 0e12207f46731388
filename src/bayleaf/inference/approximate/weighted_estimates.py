"""Weighted frequencies of states with their standard errors, batch after batch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from bayleaf.inference.approximate.mini_buckets import Floats

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


class Estimates:
    """Estimates of the distributions of some variables from weighted samples."""

    def __init__(self, targets: Sequence[int], cards: Sequence[int]) -> None:
        self._targets = list(targets)
        self._cards = list(cards)
        ends = accumulate(cards, initial=0)
        self._places = [slice(*both) for both in pairwise(ends)]
        n_states = sum(cards)
        # Sums of weights and of squared weights, of each state and of all samples.
        self._weight = np.zeros(n_states)
        self._square = np.zeros(n_states)
        self._all_weight = 0.0
        self._all_square = 0.0
        self._log_scale = -math.inf
        self._log_weights: list[Floats] = []
        self.n_samples = 0

    def add(
        self, columns: Mapping[int, NDArray[np.int64]], log_weights: Floats
    ) -> None:
        """Count one batch of samples."""
        self.n_samples += len(log_weights)
        self._log_weights.append(log_weights)
        largest = float(log_weights.max())
        if largest == -math.inf:
            return
        if largest > self._log_scale:
            shrunk = math.exp(self._log_scale - largest)
            self._weight *= shrunk
            self._square *= shrunk**2
            self._all_weight *= shrunk
            self._all_square *= shrunk**2
            self._log_scale = largest
        weights = np.exp(log_weights - self._log_scale)
        squares = weights**2
        self._all_weight += float(weights.sum())
        self._all_square += float(squares.sum())
        for target, card, place in zip(
            self._targets, self._cards, self._places, strict=True
        ):
            codes = columns[target]
            self._weight[place] += np.bincount(codes, weights, card)
            self._square[place] += np.bincount(codes, squares, card)

    @property
    def effective_sample_size(self) -> float:
        """How many samples of equal weight are worth as much (Kong 1992)."""
        if not self._all_weight:
            return 0.0
        return self._all_weight**2 / self._all_square

    @property
    def log_mean(self) -> float:
        """Logarithm of the mean weight."""
        if not self._all_weight:
            return -math.inf
        return self._log_scale + math.log(self._all_weight / self.n_samples)

    @property
    def log_mean_error(self) -> float:
        """Standard error of `log_mean`."""
        variance = 1.0 / self.effective_sample_size - 1.0 / self.n_samples
        return math.sqrt(max(0.0, variance))

    @property
    def pareto_k(self) -> float:
        """Shape of the weights' tail; see `pareto_k`."""
        return pareto_k(np.concatenate(self._log_weights))

    @property
    def largest_error(self) -> float:
        """The largest standard error of a state."""
        return float(self._errors().max(initial=0.0))

    def of(self, place: int) -> tuple[Floats, Floats, float]:
        """Probabilities, standard errors and effective sample size of one target.

        The last is the number of exact draws whose frequencies would be as close.
        """
        states = self._places[place]
        probabilities = self._weight[states] / self._weight[states].sum()
        variances = self._variances()[states]
        spread = float((probabilities * (1.0 - probabilities)).sum())
        variance = float(variances.sum())
        size = spread / variance if variance > 0 else self.effective_sample_size
        return probabilities, self._errors()[states], size

    def _variances(self) -> Floats:
        """Variance of each state's share of the weights, by the delta method."""
        share = self._weight / self._all_weight
        squares = self._square * (1.0 - 2.0 * share) + share**2 * self._all_square
        return np.maximum(squares, 0.0) / self._all_weight**2

    def _errors(self) -> Floats:
        """Standard errors; a state that was never drawn may have one sample's share."""
        return np.asarray(np.sqrt(self._variances() + self.effective_sample_size**-2.0))
