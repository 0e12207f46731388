"""P(x | class), P(x | class, first parent) and so on: the nested families of a feature.

All of them are read off one list of occupied cells. What a row's state says of the
classes is told relative to the prior share of the state, so that a cell without data
says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import kernel_for
from bayleaf.counts.occupied import OccupiedCounts
from bayleaf.cpds.nested_kernels import (
    add_dense,
    add_hashed,
    build_dense,
    build_level,
)
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing

# Values of the largest table with a place for every cell.
_DENSE_VALUES = 1 << 15

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """The prior weights that a smoothing rule adds to a feature's states.

    Parameters
    ----------
    strength : float
        Sum over the states.
    states : ndarray of shape (n_states + 1,)
        Of each state; zero for the reserved code past the last state.
    """

    strength: float
    states: Floats

    @classmethod
    def from_rule(cls, rule: Smoothing, marginal: Floats) -> PseudoCounts:
        """Prior weights under a rule, from the weight of each state in training.

        Raises
        ------
        ValueError
            If the rule does not pull towards fixed shares of the states.
        """
        n_states = len(marginal)
        each, together, shared = pseudo_weights(rule)
        states = np.zeros(n_states + 1)
        states[:-1] = each + together / n_states + shared * marginal / marginal.sum()
        strength = each * n_states + together + shared
        return cls(strength, states)


def pseudo_weights(rule: Smoothing) -> tuple[float, float, float]:
    """Prior weight that a rule gives each state, all alike, and all by their shares.

    One of the three is above zero.

    Raises
    ------
    ValueError
        If the rule does not pull towards fixed shares of the states.
    """
    if isinstance(rule, Lidstone):
        return float(rule.alpha), 0.0, 0.0
    if isinstance(rule, Dirichlet):
        return 0.0, float(rule.equivalent_sample_size), 0.0
    if isinstance(rule, MEstimate):
        return 0.0, 0.0, float(rule.m)
    raise ValueError(
        "averaged KDB knows the smoothing rules Lidstone, Dirichlet and MEstimate, "
        f"got {rule!r}; choose one of these"
    )


@dataclass(frozen=True, eq=False)
class HashedLevel:
    """The weighted evidence of a family whose table is too large for all its cells.

    Parameters
    ----------
    n_variables : int
        Child and parents.
    arrays : tuple of ndarray
        What the kernel `build_level` returns.
    """

    n_variables: int
    arrays: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class NestedTables:
    """Look-up tables of the weighted sum of a feature's nested log evidence.

    Parameters
    ----------
    variables : ndarray of int64
        The child and its parents, as rows of the matrix of states.
    radices : ndarray of int64
        Number of states of each, the reserved code counted.
    n_dense : int
        How many variables the dense table covers.
    dense : ndarray of shape (n_cells, n_classes)
        Sum over the depths that it covers.
    levels : tuple of HashedLevel
        The deeper families, in order.
    """

    variables: NDArray[np.int64]
    radices: NDArray[np.int64]
    n_dense: int
    dense: Floats
    levels: tuple[HashedLevel, ...]

    def add(
        self, row_states: NDArray[np.uint16], scores: Floats, work: float = math.inf
    ) -> None:
        """Add each row's evidence to its scores of shape (n_rows, n_classes).

        `work` estimates the steps for all tables, see `kernel_for`; much by default.
        """
        n = self.n_dense
        kernel_for(add_dense, work)(
            row_states, self.variables[:n], self.radices[:n], self.dense, scores
        )
        alive = np.ones(len(scores), dtype=bool)
        for level in self.levels:
            family = self.variables[: level.n_variables]
            radices = self.radices[: level.n_variables]
            kernel_for(add_hashed, work)(
                row_states, family, radices, alive, scores, *level.arrays
            )


@dataclass(frozen=True, eq=False)
class NestedFamilies:
    """A feature, its parents in order, and the counts of their states and the class.

    Parameters
    ----------
    variables : tuple of int
        The child, then its parents, strongest first.
    maps : tuple of ndarray of dtype uint16
        For each variable, the state that each of its codes stands for.
    counts : OccupiedCounts
        Over `variables` and the class.
    """

    variables: tuple[int, ...]
    maps: tuple[NDArray[np.uint16], ...]
    counts: OccupiedCounts

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
        """How many configurations of the first `depth` parents training contains."""
        n = min(depth, len(self.variables) - 1) + 1
        keys = joint_cells(self.counts.states[1:n], self.radices[1:n])
        return len(np.unique(keys))

    def tables(
        self,
        rule: Smoothing,
        scales: Sequence[float],
        n_classes: int,
        work: float = math.inf,
    ) -> NestedTables:
        """Tables of the sum over depths of ``scale * ln(P(x | class, ...) / P(x))``.

        Parameters
        ----------
        rule : Smoothing
            Lidstone, Dirichlet or MEstimate.
        scales : sequence of float
            Weight of each depth; those beyond the last parent count for the deepest.
        n_classes : int
            Number of classes.
        work : float, optional
            Estimate of the steps that all features' tables take, see `kernel_for`;
            much by default.
        """
        used = _used_scales(scales, len(self.variables))
        n_dense = self._dense_variables(len(used), n_classes)
        prior = PseudoCounts.from_rule(rule, self.marginal)
        levels = tuple(
            self._level(depth, prior, used[depth], n_classes, work)
            for depth in range(n_dense, len(used))
            if used[depth] > 0
        )
        return NestedTables(
            np.array(self.variables[: len(used)], dtype=np.int64),
            np.array(self.radices[: len(used)], dtype=np.int64),
            n_dense,
            self._dense(prior, used[:n_dense], n_classes, work),
            levels,
        )

    def _dense_variables(self, n_variables: int, n_classes: int) -> int:
        """How many variables, the child among them, a dense table can hold."""
        for n in range(n_variables, 1, -1):
            if prod(self.radices[:n]) * n_classes <= _DENSE_VALUES:
                return n
        return 1

    def _dense(
        self,
        prior: PseudoCounts,
        scales: Sequence[float],
        n_classes: int,
        work: float,
    ) -> Floats:
        """The dense table, shape (n_cells, n_classes)."""
        n = len(scales)
        table: Floats = kernel_for(build_dense, work)(
            joint_cells(self.counts.states[:n], self.radices[:n]),
            self.counts.classes,
            self.counts.weights,
            np.array(self.radices[:n], dtype=np.int64),
            prior.states,
            prior.strength,
            np.array(scales, dtype=np.float64),
            n_classes,
        )
        return table

    def _level(
        self,
        depth: int,
        prior: PseudoCounts,
        scale: float,
        n_classes: int,
        work: float,
    ) -> HashedLevel:
        """The family with the first `depth` parents, by hashing."""
        n = depth + 1
        states = self.counts.states[:n]
        arrays = kernel_for(build_level, work)(
            joint_cells(states, self.radices[:n]),
            joint_cells(states[1:], self.radices[1:n]),
            self.counts.classes,
            self.counts.weights,
            prior.states[states[0]],
            prior.strength,
            scale,
            n_classes,
        )
        return HashedLevel(n, arrays)


def radices_of(maps: Sequence[NDArray[np.uint16]]) -> tuple[int, ...]:
    """Number of states that each map leads to, its reserved code counted."""
    return tuple(int(values[-1]) + 1 for values in maps)


def _used_scales(scales: Sequence[float], n_variables: int) -> list[float]:
    """Weights of the depths there are, without zeros at the end."""
    used = [float(scale) for scale in scales[:n_variables]]
    used[-1] += sum(float(scale) for scale in scales[n_variables:])
    while len(used) > 1 and used[-1] == 0:
        used.pop()
    return used


def joint_cells(
    states: NDArray[np.uint16], radices: Sequence[int]
) -> NDArray[np.int64]:
    """One whole number for each column of states, the first row most significant."""
    keys = np.zeros(states.shape[1], dtype=np.int64)
    for row, radix in zip(states, radices, strict=True):
        keys *= radix
        keys += row
    return keys
