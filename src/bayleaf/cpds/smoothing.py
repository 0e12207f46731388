"""Estimates of a conditional probability table from counts: the smoothing rules."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]


class Smoothing(Protocol):
    """A rule that turns the counts of a family into probabilities."""

    def estimate(self, counts: Table) -> Table:
        """Probabilities of the child given its parents.

        Parameters
        ----------
        counts : ndarray of shape (*parents, child)
            Non-negative weights of the joint states.

        Returns
        -------
        ndarray of the same shape
            Distributions along the last axis.
        """
        ...


def _positive(name: str, value: float) -> None:
    """Raise unless a strength is a positive finite number."""
    if not (isinstance(value, numbers.Real) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a number > 0, got {value!r}")


@dataclass(frozen=True)
class Lidstone:
    """Add `alpha` to every cell (Laplace's rule of succession at ``alpha=1``).

    Parameters
    ----------
    alpha : float, default=1.0
        Added to each count; scikit-learn's `alpha`.

    Examples
    --------
    >>> import numpy as np
    >>> Lidstone(1.0).estimate(np.array([3.0, 0.0])).tolist()
    [0.8, 0.2]
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        _positive("alpha", self.alpha)

    def estimate(self, counts: Table) -> Table:
        """Return ``(N + alpha) / (N_parents + alpha * n_states)``."""
        n_states = counts.shape[-1]
        totals = counts.sum(axis=-1, keepdims=True)
        return np.asarray((counts + self.alpha) / (totals + self.alpha * n_states))


@dataclass(frozen=True)
class Dirichlet:
    """Spread a fixed prior weight evenly over the child's states.

    Parameters
    ----------
    equivalent_sample_size : float, default=1.0
        Weight of the prior for each parent configuration.
    """

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        _positive("equivalent_sample_size", self.equivalent_sample_size)

    def estimate(self, counts: Table) -> Table:
        """Return ``(N + s / n_states) / (N_parents + s)``."""
        weight = self.equivalent_sample_size
        totals = counts.sum(axis=-1, keepdims=True)
        prior = _uniform(counts.shape[-1])
        return np.asarray((counts + weight * prior) / (totals + weight))


@dataclass(frozen=True)
class MEstimate:
    """Pull each distribution towards the child's marginal distribution.

    Parameters
    ----------
    m : float, default=5.0
        Weight of the marginal (Friedman, Geiger & Goldszmidt 1997, section 5, use 5).
    """

    m: float = 5.0

    def __post_init__(self) -> None:
        _positive("m", self.m)

    def estimate(self, counts: Table) -> Table:
        """Return ``(N + m P(x)) / (N_parents + m)``; P is uniform without counts."""
        marginal = counts.sum(axis=tuple(range(counts.ndim - 1)))
        prior = _proportions(marginal)
        totals = counts.sum(axis=-1, keepdims=True)
        return np.asarray((counts + self.m * prior) / (totals + self.m))


@dataclass(frozen=True)
class Backoff:
    """Pull each distribution towards the one with the last parent left out.

    Parents stand strongest first, so the weakest is dropped first; below the first
    parent (the class) stands the uniform distribution.

    Parameters
    ----------
    m : float, default=1.0
        Weight of the shorter table's distribution.
    """

    m: float = 1.0

    def __post_init__(self) -> None:
        _positive("m", self.m)

    def estimate(self, counts: Table) -> Table:
        """Return ``(N + m P_shorter) / (N_parents + m)``, recursively."""
        if counts.ndim <= 2:
            prior = np.full(counts.shape, _uniform(counts.shape[-1]))
        else:
            prior = np.expand_dims(self.estimate(counts.sum(axis=-2)), -2)
        totals = counts.sum(axis=-1, keepdims=True)
        return np.asarray((counts + self.m * prior) / (totals + self.m))


@dataclass(frozen=True)
class MaximumLikelihood:
    """Plain relative frequencies with a floor for unseen states.

    Meant for reproducing published figures; its log-loss is far worse than that of
    the other rules.

    Parameters
    ----------
    floor : float, default=1e-6
        A state with count zero gets ``floor / N``, N the family's total weight; the
        row is not renormalised. A parent configuration without counts is uniform.
    """

    floor: float = 1e-6

    def __post_init__(self) -> None:
        _positive("floor", self.floor)

    def estimate(self, counts: Table) -> Table:
        """Return ``N / N_parents``, ``floor / N`` where the count is zero."""
        total = counts.sum()
        proportions = _proportions(counts)
        seen_parents = counts.sum(axis=-1, keepdims=True) > 0
        floor = self.floor / total if total > 0 else 0.0
        return np.where((counts == 0) & seen_parents, floor, proportions)


def _uniform(n_states: int) -> float:
    """Probability of each of so many states; a first batch may show none."""
    return 1.0 / n_states if n_states else 0.0


def _proportions(counts: Table) -> Table:
    """Counts divided by their sum along the last axis; uniform where that is zero."""
    totals = counts.sum(axis=-1, keepdims=True)
    shares = counts / np.where(totals > 0, totals, 1.0)
    return np.where(totals > 0, shares, _uniform(counts.shape[-1]))


_BY_NAME: dict[str, Smoothing] = {
    "laplace": Lidstone(1.0),
    "dirichlet": Dirichlet(),
    "m_estimate": MEstimate(),
    "backoff": Backoff(),
    "maximum_likelihood": MaximumLikelihood(),
}


def resolve_smoothing(smoothing: str | Smoothing) -> Smoothing:
    """Return the rule with this name, or the rule itself.

    Raises
    ------
    ValueError
        If there is no rule of that name.
    TypeError
        If the value is neither a name nor an object with an `estimate` method.
    """
    if isinstance(smoothing, str):
        if smoothing not in _BY_NAME:
            raise ValueError(
                f"smoothing must be one of {', '.join(_BY_NAME)} or a rule such as "
                f"Lidstone(0.5), got {smoothing!r}"
            )
        return _BY_NAME[smoothing]
    if not hasattr(smoothing, "estimate") or isinstance(smoothing, type):
        raise TypeError(
            f"smoothing must be a name ({', '.join(_BY_NAME)}) or a rule such as "
            f"Lidstone(0.5), got {smoothing!r}"
        )
    return smoothing
