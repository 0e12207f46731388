"""What each term of an average counts in a case of which only some features are known.

Weights learned on complete rows divide evidence among features that share it. A feature
that is known alone counts by itself instead, so that the probability of a class is its
share of the training rows with that state. With all features known a feature counts as
learned, and in between a mixture of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.cpds.random_network import RandomNetwork
from bayleaf.data.codes import Codes
from bayleaf.inference.plain_rules import NETWORKS_WITHOUT_CHANGE, bent
from bayleaf.wording import brief_fields

# Least strength of a feature, nats.
MIN_STRENGTH = 1e-3
# Rates and the share of parents where none were learned: typical ones.
_RATES = (np.exp(0.3), np.exp(-0.3), 0.8)
# Networks, features and parents of sets that are looked at together.
_MAX_CELLS = 1 << 19

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PartialCases:
    """How the terms of an average share evidence in partial cases."""

    # Information of each feature alone about the class in left-out rows, (n_features,),
    # nats.
    strengths: Floats
    # How fast features lose what they count alone as others become known, and how fast
    # the base takes its learned place of the prior; above zero.
    rate: float
    base_rate: float
    # What parents change counts for a feature that is as if alone; at least zero.
    parents_share: float
    # Features that count as learned when alone, but at a weight of one in all, so that
    # their sum stays in order.
    monotone: tuple[int, ...] = ()

    __repr__ = brief_fields

    @classmethod
    def of_shares(cls, prior: Floats, logs: Sequence[Floats]) -> PartialCases:
        """A rule for a model of which no left-out rows are known.

        `prior` (n_classes,) is P(class), `logs` are ln P(state | class) of each
        feature, (n_states, n_classes).
        """
        strengths = []
        for feature_logs in logs:
            joint = np.exp(feature_logs) * prior
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = feature_logs - np.log(
                    joint.sum(axis=1, keepdims=True) / joint.sum()
                )
            strengths.append(np.where(joint > 0, joint * gain, 0.0).sum())
        return cls(np.maximum(np.array(strengths), MIN_STRENGTH), *_RATES)

    def check_content(self) -> None:
        """Raise ValueError unless all numbers make sense."""
        positive = (*self.strengths.ravel(), self.rate, self.base_rate)
        if not all(0 < number <= MOST_WEIGHT for number in positive):
            raise ValueError("a strength or rate of partial cases must be above zero")
        if not 0 <= self.parents_share <= MOST_WEIGHT:
            raise ValueError(
                "the share of parents in partial cases is negative or huge"
            )

    def shares(self, known: Flags) -> tuple[Floats, Floats]:
        """How far known features count as if alone, and the base as learned.

        Sets `known` (n_sets, n_features) -> alone (n_sets, n_features), one for a
        feature that is known alone and zero if all are known; base (n_sets,), zero with
        at most one known feature and one if all are known.
        """
        alone, base = known_shares(self.strengths, known)
        alone, base = 1.0 - bent(alone, self.rate), bent(base, self.base_rate)
        return np.asarray(alone * known), base

    def alone_weights(self, weights: Floats) -> Floats:
        """Weight of what each parent changes for features that are as if alone.

        From the weights of whole rows (n_features, n_depths), in the same shape.
        """
        n_depths = weights.shape[1]
        tapered = np.tile(1.0 - np.arange(n_depths) / n_depths, (len(weights), 1))
        tapered[:, 1:] *= self.parents_share
        # Parents that add nothing in whole rows are not needed here either.
        tapered[:, 1:][deeper_weights(weights)[:, 1:] == 0] = 0.0
        for feature in self.monotone:
            total = weights[feature].sum()
            tapered[feature] = deeper_weights(weights[feature]) / (total or 1.0)
        return tapered


class CaseWeights(NamedTuple):
    """What the base and the terms of an average count in sets of known features."""

    base: Floats  # How far it counts as learned, and not the log prior; (n_sets,).
    # Of what each further parent changes in the mean over all networks,
    # (n_sets, n_features, n_depths).
    depths: Floats
    others: Floats  # Of numbers, curves and trees, (n_sets, n_features).

    @property
    def steps(self) -> Floats:
        """Weight of each depth by itself, as what it changes counts for all deeper."""
        return -np.diff(self.depths, axis=2, append=0.0)


@dataclass(frozen=True, eq=False)
class Sharing:
    """The rule of partial cases, and the terms that it is about."""

    rule: PartialCases
    weights: Floats  # Of whole rows, (n_features, n_depths).
    # Of each feature in each network, (n_networks, n_features, n_depths - 1); -1 after
    # the last.
    parents: NDArray[np.int64]
    prior: Floats  # ln P(class), (n_classes,).

    __repr__ = brief_fields

    @cached_property
    def alone_weights(self) -> Floats:
        """Weight of what each parent changes for a feature that is as if alone."""
        return self.rule.alone_weights(self.weights)

    @cached_property
    def deeper_weights(self) -> Floats:
        """The same of whole rows."""
        return deeper_weights(self.weights)

    @cached_property
    def used_depths(self) -> NDArray[np.int64]:
        """How many depths of each feature may count, at least one."""
        depths = np.arange(1, self.deeper_weights.shape[1] + 1)
        return np.asarray(np.where(self.deeper_weights != 0, depths, 1).max(axis=1))

    @cached_property
    def alone_scales(self) -> Floats:
        """Weight of a feature's other terms where it is as if alone, (n_features,)."""
        scales = np.zeros(len(self.weights))
        for feature in self.rule.monotone:
            scales[feature] = 1.0 / (self.weights[feature].sum() or np.inf)
        return scales

    @cached_property
    def _parent_sets(self) -> NDArray[np.uint64]:
        return parent_sets(self.parents)

    def weights_of(self, known: Flags) -> CaseWeights:
        """What terms count in sets (n_sets, n_features) of known features."""
        alone, base = self.rule.shares(known)
        others = 1.0 - alone
        mixed = alone[:, :, None] * self.alone_weights
        mixed = mixed + others[:, :, None] * self.deeper_weights
        for feature in self.rule.monotone:
            if total := self.weights[feature].sum():
                others[:, feature] += alone[:, feature] / total
        return CaseWeights(base, mixed * self.mean_factors(known), others)

    def mean_factors(self, known: Flags) -> Floats:
        """As the function of this name, for the networks that the terms are of."""
        return mean_factors(self._parent_sets, known)

    def bases(self, base: Floats, shares: Floats) -> Floats:
        """The bases (n_sets, n_classes) at shares of the learned one."""
        with np.errstate(invalid="ignore"):
            bases = self.prior + shares[:, None] * (base - self.prior)
        is_learned = (shares == 1.0)[:, None] | np.isinf(self.prior)
        return np.where(is_learned, base, bases)


def deeper_weights(weights: Floats) -> Floats:
    """Weight of each depth and all that follow, of (..., n_depths)."""
    return np.asarray(np.cumsum(weights[..., ::-1], axis=-1)[..., ::-1])


def known_shares(strengths: Floats, known: Flags) -> tuple[Floats, Floats]:
    """Share of all features' strength that is known, without each and without one.

    Of strengths (n_features,) and sets `known` (n_sets, n_features): the share of the
    other features' strength (n_sets, n_features), and that without the strongest known
    one (n_sets,); one where all features are known.
    """
    n_features = len(strengths)
    summed, total = known @ strengths, strengths.sum()
    highest = (known * strengths).max(axis=1, initial=0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = (summed[:, None] - strengths) / (total - strengths)
        beyond = (summed - highest) / (total - strengths.max(initial=0.0))
    if n_features < 2:
        others, beyond = np.ones_like(others), known.all(axis=1).astype(float)
    whole = known.all(axis=1)
    others[whole], beyond[whole] = 1.0, 1.0
    return np.clip(others, 0.0, 1.0), np.clip(beyond, 0.0, 1.0)


def known_cells(codes: Codes, n_features: int) -> Flags:
    """Whether the state of each feature is known, (n_rows, n_features)."""
    cards = np.array(codes.cards[:n_features], dtype=np.uint16)
    return (codes.columns(range(n_features)) < cards[:, None]).T


def distinct_sets(known: Flags) -> tuple[Flags, NDArray[np.int64]]:
    """The sets of known features that occur, and which one each row has."""
    if len(known) == 1:
        return known, np.zeros(1, dtype=np.int64)
    packed = np.packbits(known, axis=1)
    _, first, of_row = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    return known[first], of_row.reshape(-1).astype(np.int64)


def parents_of(networks: Sequence[RandomNetwork], n_depths: int) -> NDArray[np.int64]:
    """Parents of each feature in each network, -1 after the last.

    Shape (n_networks, n_features, n_depths - 1).
    """
    parents = np.full((len(networks), len(networks[0].maps), n_depths - 1), -1)
    for index, network in enumerate(networks):
        families = network.counts.families[:, 1:n_depths]
        parents[index, :, : families.shape[1]] = families
    return parents


def parent_sets(parents: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Sets of each feature's first parents, as bits, 64 features a word.

    `parents` as in `Sharing`; shape (n_networks, n_features, n_depths - 1, n_words).
    """
    n_bytes = 8 * max(1, -(-parents.shape[1] // 64))
    bits = np.zeros((*parents.shape, n_bytes), dtype=np.uint8)
    indices = np.nonzero(parents >= 0)
    parent = parents[indices]
    bits[(*indices, parent // 8)] = 1 << (parent % 8)
    return np.asarray(np.bitwise_or.accumulate(bits, axis=2).view(np.uint64))


def mean_factors(needed: NDArray[np.uint64], known: Flags) -> Floats:
    """Factors by which changes in networks with known parents count for all networks.

    Networks per network in which the first parents of a feature are all known
    (n_sets, n_features, n_depths); one where they are in all. Beyond the last parent,
    all parents. `needed` are the `parent_sets`, sets `known` (n_sets, n_features).
    """
    n_sets, n_features = known.shape
    n_networks, _, n_parents, n_words = needed.shape
    if known.all():
        return np.ones((n_sets, n_features, n_parents + 1))
    packed = np.zeros((n_sets, 8 * n_words), dtype=np.uint8)
    packed[:, : -(-n_features // 8)] = np.packbits(known, axis=1, bitorder="little")
    unknown = ~packed.view(np.uint64)
    counted = np.full((n_sets, n_features, n_parents + 1), float(n_networks))
    step = max(1, _MAX_CELLS * n_words // max(1, needed.size))
    for first in range(0, n_sets, step):
        some = unknown[first : first + step, None, None, None, :]
        lacks = np.zeros((len(some), *needed.shape[:3]), bool)
        for word in range(n_words):
            lacks |= (some[..., word] & needed[..., word]) != 0
        counted[first : first + step, :, 1:] -= lacks.sum(axis=1)
    counted += NETWORKS_WITHOUT_CHANGE * (counted < n_networks)
    return np.asarray(n_networks / counted)
