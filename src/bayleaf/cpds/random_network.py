"""Sampled networks: nested families with a coding of their own, and banks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import (
    MAX_CELLS,
    OccupiedCounts,
    OccupiedFamilies,
    joined,
    mapped_states,
)
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, MEstimate, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.native.cpds import Networks
from bayleaf.wording import brief_fields, quoted

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """One sampled network: a coding of every feature, and its nested families."""

    maps: tuple[NDArray[np.uint16], ...]  # state of each code, by feature
    counts: OccupiedFamilies  # states of feature, parents and class

    __repr__ = brief_fields

    def check_content(self) -> None:
        """Raise ValueError unless the cells lie within the states of the codings."""
        if len(self.maps) != len(self.counts):
            raise ValueError("a network needs one coding and one family a feature")
        self._check_codings()
        radices = self.counts.radices(radices_of(self.maps))
        for feature, own in enumerate(radices.tolist()):
            if prod(own) > MAX_CELLS:
                raise ValueError(f"family {feature} has too many joint states")
        limits = radices.copy()
        # Parents may have the reserved code, where rows were too few.
        limits[:, 0] -= 1
        starts = self.counts.starts
        sizes = np.diff(starts)
        keys = np.zeros(len(self.counts.classes), dtype=np.int64)
        for position, states in enumerate(self.counts.states):
            highest = np.maximum.reduceat(states, starts[:-1])
            is_unknown = highest >= limits[:, position]
            if is_unknown.any():
                raise ValueError(
                    f"family {is_unknown.argmax()} has a cell of an unknown state"
                )
            if position:
                keys *= np.repeat(radices[:, position], sizes)
                keys += states
        falls = np.flatnonzero(keys[1:] < keys[:-1]) + 1
        falls = falls[~np.isin(falls, starts)]
        if len(falls):
            feature = np.searchsorted(starts, falls[0], "right") - 1
            raise ValueError(f"the cells of family {feature} are not in order")

    def _check_codings(self) -> None:
        """Raise ValueError unless the codes of each feature lead to all its states."""
        if not all(map(len, self.maps)):
            raise ValueError("a coding has no states")
        values, starts = joined(self.maps)
        n_states = values[starts[1:] - 1].astype(np.int64)
        feature = np.repeat(np.arange(len(n_states)), np.diff(starts) - 1)
        states = np.delete(values, starts[1:] - 1)
        is_met = np.zeros((len(n_states), int(n_states.max(initial=0)) + 1), dtype=bool)
        is_met[feature, np.minimum(states, n_states[feature])] = True
        wanted = np.arange(is_met.shape[1]) < n_states[:, None]
        lacking = (is_met != wanted).any(axis=1)
        if lacking.any():
            raise ValueError(
                f"the coding of feature {lacking.argmax()} leaves out a state"
            )

    def check_fit(self, cards: Sequence[int]) -> None:
        """Raise ValueError unless it is over features and, last, a class like these."""
        if [len(values) for values in self.maps] != [card + 1 for card in cards[:-1]]:
            raise ValueError("the codings of a network do not fit the features")
        if (self.counts.classes >= cards[-1]).any():
            raise ValueError("a network has a cell of no class")

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def families(self) -> tuple[NestedFamilies, ...]:
        """For each feature, its counts with its parents."""
        return tuple(
            NestedFamilies(family, tuple(self.maps[v] for v in family), self.counts[i])
            for i in range(len(self.counts))
            for family in [self.counts.variables(i)]
        )

    @property
    def n_configurations(self) -> NDArray[np.int64]:
        """How many configurations of the first 0, 1, ... parents exist, by feature.

        Shape (n_features, n_places); past the last parent those of all parents.
        """
        counts, starts = self.counts, self.counts.starts
        limits = counts.radices(radices_of(self.maps)) - 1
        limits[counts.families < 0] = 1
        is_new = np.zeros(len(counts.classes), dtype=bool)
        is_new[starts[:-1]] = exists = True
        numbers = np.ones(counts.families.shape, dtype=np.int64)
        for depth, states in enumerate(counts.states[1:], 1):
            # Cells with the same states of the first parents are neighbours.
            is_new[1:] |= states[1:] != states[:-1]
            exists = exists & (states < np.repeat(limits[:, depth], np.diff(starts)))
            numbers[:, depth] = np.add.reduceat(is_new & exists, starts[:-1], dtype=int)
        return numbers

    def states(self, codes: Codes) -> NDArray[np.uint16]:
        """State of each feature in each row, shape (n_features, n_rows)."""
        columns = [codes.column(i) for i in range(len(self.maps))]
        return mapped_states(columns, self.maps)


@dataclass(frozen=True, eq=False)
class OwnShares:
    """What each of some rows takes from the counts when it is left out."""

    own: NDArray[np.int64]  # (n_rows,), class whose counts are lowered; -1 for none
    shares: Floats  # (n_rows,), by how much

    @classmethod
    def none(cls, n_rows: int) -> OwnShares:
        """Rows that stay in the counts."""
        return cls(np.full(n_rows, -1, dtype=np.int64), np.zeros(n_rows))


@dataclass(frozen=True, eq=False)
class FamilyBank:
    """The nested families of several networks over the same features."""

    networks: Networks

    @classmethod
    def from_networks(
        cls,
        networks: Sequence[RandomNetwork],
        n_classes: int,
        smoothing: Smoothing,
        min_rows: float = 1.0,
    ) -> FamilyBank:
        """Copy networks under a rule: Lidstone, Dirichlet or MEstimate.

        `min_rows` is the weight that a configuration of parents needs once a row is
        left out.
        """
        members = Networks(n_classes, pseudo_weights(smoothing), min_rows)
        for network in networks:
            counts = network.counts
            members.add(
                counts.families,
                *joined(network.maps),
                counts.states.astype(np.uint16),
                counts.classes.astype(np.uint16),
                counts.weights.astype(np.float64),
                counts.starts,
            )
        return cls(members)

    def write_log_probabilities(
        self,
        features: range,
        codes: Codes,
        values: NDArray[np.floating[Any]],
        first: int,
        n_depths: int,
        left_out: OwnShares | None = None,
        used: NDArray[np.int64] | None = None,
    ) -> None:
        """Write log-probabilities of consecutive features, their mean over networks.

        `values` (n_rows, n_classes, n_pieces) takes nats: from `first` on, `n_depths`
        pieces per feature, at 0, 1, ... parents. A piece repeats the one before where
        the parents' states have too few rows, no parent is left, or it is past the
        depths `used` (n_features,) of its feature, by default all. `left_out` lowers
        the counts of each row's class.
        """
        left_out = left_out or OwnShares.none(codes.n_rows)
        if used is None:
            used = np.full(len(features), n_depths, dtype=np.int64)
        self.networks.write_log_probabilities(
            features,
            codes.narrow,
            codes.wide,
            np.array(codes.slots, dtype=np.int64),
            left_out.own,
            left_out.shares,
            values,
            first,
            n_depths,
            used,
        )

    def add_scores(
        self,
        codes: Codes,
        scales: Floats,
        scores: Floats,
        sets: NDArray[np.int64] | None = None,
    ) -> None:
        """Add ``scale * ln(P(x | class, ...) / P(x))``, summed over depths.

        `scales` (n_sets, n_features, n_depths), `scores` (n_rows, n_classes); `sets`
        (n_rows,) chooses each row's scales, by default the first.
        """
        slots = np.array(codes.slots, dtype=np.int64)
        if sets is None:
            sets = np.zeros(codes.n_rows, dtype=np.int64)
        self.networks.add_scores(codes.narrow, codes.wide, slots, scales, sets, scores)


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
    """Counts behind P(x | class), P(x | class, first parent) and so on of a feature."""

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


def radices_of(maps: Sequence[NDArray[np.uint16]]) -> tuple[int, ...]:
    """Number of states that each map leads to, its reserved code counted."""
    return tuple(int(values[-1]) + 1 for values in maps)


def joint_cells(
    states: NDArray[np.uint16], radices: Sequence[int]
) -> NDArray[np.int64]:
    """One integer for each column of states, the first row most significant."""
    keys = np.zeros(states.shape[1], dtype=np.int64)
    for row, radix in zip(states, radices, strict=True):
        keys *= radix
        keys += row
    return keys
