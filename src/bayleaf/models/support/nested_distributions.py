"""Nested families as terms, and the Dirichlet distributions behind them by depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.random_network import (
    NestedFamilies,
    PseudoCounts,
    RandomNetwork,
    joint_cells,
    pseudo_weights,
)
from bayleaf.cpds.smoothing import Smoothing
from bayleaf.data.codes import Codes
from bayleaf.scoring.terms import Counts

Floats = NDArray[np.float64]
States = NDArray[np.uint16]


def nested_terms(
    networks: Sequence[RandomNetwork],
    weights: Floats,
    smoothing: Smoothing,
    n_classes: int,
) -> Iterator[Counts]:
    """The mean over networks of their families at all depths, by weight.

    `weights` (n_features, n_depths) are those of each feature at each depth; a family
    of fewer parents repeats its deepest evidence.
    """
    rule = pseudo_weights(smoothing)
    for network in networks:
        maps = [states.astype(np.int64) for states in network.maps]
        for feature, by_depth in enumerate(weights / len(networks)):
            family = network.counts.variables(feature)
            depths = by_depth[: len(family)].copy()
            depths[-1] += by_depth[len(family) :].sum()
            # Parents without weight are summed out. A feature without any counts in
            # partial cases.
            used = np.flatnonzero(depths)
            family = family[: 1 + int(used.max(initial=0))]
            counts = network.counts[feature]
            yield Counts(
                tuple(family),
                tuple(maps[member] for member in family),
                counts.states[: len(family)].T.astype(np.int64),
                counts.classes.astype(np.int64),
                counts.weights.astype(np.float64),
                depths[: len(family)],
                rule,
                n_classes,
            )


class FamilyLevel(NamedTuple):
    """The Dirichlet distributions that rows use at one depth of a family."""

    cells: Floats  # (n_rows, n_classes), parameter of the row's state
    parents: Floats  # (n_rows, n_classes), sum of the parameters
    known: NDArray[np.bool_]  # (n_rows,), whether the feature's state is known
    strength: float  # what smoothing adds to `parents`


def family_levels(
    family: NestedFamilies, states: States, smoothing: Smoothing, shape: tuple[int, int]
) -> Iterator[FamilyLevel]:
    """Smoothed weights of a feature's state and of its parents', depth by depth.

    `states` (n_features, n_rows) are in the network's coding, `shape` is (n_classes,
    n_depths). Starts without parents; a level repeats the one before where the parents'
    states do not exist, or no parent is left.
    """
    n_classes, n_depths = shape
    prior = PseudoCounts.from_rule(smoothing, family.marginal)
    rows = states[list(family.variables)]
    known = rows[0] < family.radices[0] - 1
    prior_rows = prior.states[rows[0]][:, None]
    exists = np.ones(len(known), dtype=np.bool_)
    cells = parents = np.ones((len(known), n_classes))
    for depth in range(n_depths):
        if depth < len(family.variables):
            of_parents = _weights(family, slice(1, depth + 1), rows, n_classes)
            if depth:
                exists &= rows[depth] < family.radices[depth] - 1
                exists &= of_parents.any(axis=1)
            of_cells = (
                _weights(family, slice(0, depth + 1), rows, n_classes) + prior_rows
            )
            cells = np.where((exists & known)[:, None], of_cells, cells)
            sums = np.maximum(of_parents + prior.strength, cells)
            parents = np.where(exists[:, None], sums, parents)
        yield FamilyLevel(cells, parents, known, prior.strength)


def _weights(
    family: NestedFamilies, members: slice, rows: States, n_classes: int
) -> Floats:
    """Training weight of each row's states of some members, (n_rows, n_classes)."""
    counts, radices = family.counts, family.radices[members]
    cells = joint_cells(counts.states[members], radices)
    keys, numbers = np.unique(cells, return_inverse=True)
    table = np.bincount(
        numbers * n_classes + counts.classes,
        counts.weights,
        (len(keys) + 1) * n_classes,
    ).reshape(len(keys) + 1, n_classes)
    wanted = joint_cells(rows[members], radices)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    places = np.where(keys[places] == wanted, places, len(keys))
    return np.asarray(table[places], dtype=np.float64)


class AverageLevels:
    """The distributions that rows use in all networks of an average.

    `weights` (n_rows, n_features, n_depths).
    """

    def __init__(
        self,
        networks: Sequence[RandomNetwork],
        weights: Floats,
        smoothing: Smoothing,
        codes: Codes,
        n_classes: int,
    ) -> None:
        self._networks, self._weights, self._codes = networks, weights, codes
        self._smoothing, self._shape = smoothing, (n_classes, weights.shape[2])
        self._used = np.flatnonzero(weights.any(axis=(0, 2))).tolist()

    def variance(self) -> Floats:
        """Variance of the rows' log scores under draws, (n_rows, n_classes).

        The logarithm of a Dirichlet's probability with parameter a of A has, to first
        order, the variance (A - a) / (a (A + 1)). The networks count the same rows, so
        their terms of one feature move together, that on different features
        independently.
        """
        variance = np.zeros((self._codes.n_rows, self._shape[0]))
        for feature in self._used:
            deviation = np.zeros_like(variance)
            for network in self._networks:
                levels = self._levels(network, feature)
                weights = self._weights[:, feature].T[:, :, None]
                for weight, level in zip(weights, levels, strict=True):
                    others = level.parents - level.cells
                    spread = others / (level.cells * (level.parents + 1.0))
                    deviation += weight * level.known[:, None] * np.sqrt(spread)
            variance += (deviation / len(self._networks)) ** 2
        return variance

    def fewest_rows(self, n_variables: int) -> Floats:
        """Rows behind the deepest distributions that have weight, where fewest.

        Shape (n_variables, n_rows, n_classes); infinite where there is none.
        """
        shape = n_variables, self._codes.n_rows, self._shape[0]
        found = np.full(shape, np.inf)
        for network in self._networks:
            for feature in self._used:
                levels = self._levels(network, feature)
                for weight, level in zip(self._weights[:, feature].T, levels):
                    rows = level.parents - level.strength
                    counts = (weight != 0.0) & level.known
                    rows = np.where(counts[:, None], rows, np.inf)
                    found[feature] = np.minimum(found[feature], rows)
        return found

    def _levels(self, network: RandomNetwork, feature: int) -> Iterator[FamilyLevel]:
        """Distributions that rows use of a feature in one network, by depth."""
        states = network.states(self._codes)
        family = network.families[feature]
        return family_levels(family, states, self._smoothing, self._shape)
