"""P(x | class), P(x | class, first parent) and so on: the nested families of a feature.

All of them are read off one list of occupied cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import OccupiedCounts
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.wording import brief_fields, quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """The prior weights that a smoothing rule adds to a feature's states."""

    strength: float  # sum over the states
    states: Floats  # (n_states + 1,), zero for the reserved code at the end

    @classmethod
    def from_rule(cls, rule: Smoothing, marginal: Floats) -> PseudoCounts:
        """Prior weights under a rule, from the weight of each state in training.

        ValueError as in `pseudo_weights`.
        """
        n_states = len(marginal)
        each, together, shared = pseudo_weights(rule)
        states = np.zeros(n_states + 1)
        states[:-1] = each + together / n_states + shared * marginal / marginal.sum()
        strength = each * n_states + together + shared
        return cls(strength, states)


def pseudo_weights(rule: Smoothing) -> tuple[float, float, float]:
    """Prior weight that a rule gives each state, all alike, and all by their shares.

    One of the three is above zero; ValueError unless the rule pulls towards fixed
    shares of the states.
    """
    if isinstance(rule, Lidstone):
        return float(rule.alpha), 0.0, 0.0
    if isinstance(rule, Dirichlet):
        return 0.0, float(rule.equivalent_sample_size), 0.0
    if isinstance(rule, MEstimate):
        return 0.0, 0.0, float(rule.m)
    raise ValueError(
        "averaged KDB knows the smoothing rules Lidstone, Dirichlet and MEstimate, "
        f"got {quoted(rule)}; choose one of these"
    )


@dataclass(frozen=True, eq=False)
class NestedFamilies:
    """A feature, its parents in order, and the counts of their states and the class."""

    variables: tuple[int, ...]  # the child, then its parents, strongest first
    maps: tuple[NDArray[np.uint16], ...]  # state of each code, by variable
    counts: OccupiedCounts  # over `variables` and the class

    __repr__ = brief_fields

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def radices(self) -> tuple[int, ...]:
        """Number of states of each variable, the reserved code counted."""
        return radices_of(self.maps)

    @cached_property
    def marginal(self) -> Floats:
        """Weight of each state of the child, shape (n_states,)."""
        n_states = self.radices[0] - 1
        child = self.counts.states[0]
        counts = np.bincount(child, self.counts.weights, minlength=n_states)
        return np.asarray(counts, dtype=np.float64)

    def n_configurations(self, depth: int) -> int:
        """How many configurations of the first `depth` parents exist."""
        n = min(depth, len(self.variables) - 1) + 1
        states, radices = self.counts.states[1:n], self.radices[1:n]
        limits = np.array(radices, dtype=np.int64)[:, None] - 1
        exists = (states < limits).all(axis=0)
        return len(np.unique(joint_cells(states[:, exists], radices)))


def radices_of(maps: Sequence[NDArray[np.uint16]]) -> tuple[int, ...]:
    """Number of states that each map leads to, its reserved code counted."""
    return tuple(int(values[-1]) + 1 for values in maps)


def joint_cells(
    states: NDArray[np.uint16], radices: Sequence[int]
) -> NDArray[np.int64]:
    """One whole number for each column of states, the first row most significant."""
    keys = np.zeros(states.shape[1], dtype=np.int64)
    for row, radix in zip(states, radices, strict=True):
        keys *= radix
        keys += row
    return keys
