"""What terms of an average count where only some features are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Program, known_shares
from bayleaf.io.exports.scorers.program.nested_counts import Counts

# Networks' worth of no change in the mean of what a parent changes.
_WITHOUT_CHANGE = 0.5
# Sets of known features whose weights are kept.
_MAX_SETS = 200


class Given:
    """The base and the weights of rows that know the same features."""

    def __init__(self, base: Any, depths: Any, scales: Any) -> None:
        # By feature: weights of what each further parent changes, and of other terms.
        self.base, self.depths, self.scales = base, depths, scales

    def steps(self, family: Sequence[int]) -> list[float]:
        """Weight of each depth of a family."""
        depths = self.depths[family[0]][: len(family)]
        return [weight - deeper for weight, deeper in zip(depths, [*depths[1:], 0.0])]


class Sharing:
    """A feature known alone counts as the only one, and as learned if all are known."""

    def __init__(
        self,
        program: Program,
        strengths: list[int],
        rates: list[float],
        alone: list[list[int]],
        learned: list[list[int]],
        prior: list[int],
        factors: list[int],
    ) -> None:
        self.base, self.prior = program.base, program.values(prior)
        self.strengths, self.rates = program.values(strengths), rates
        self.factors = program.values(factors)
        pairs = zip(map(program.values, alone), map(program.values, learned))
        self.weights = [list(zip(*pair)) for pair in pairs]
        # By feature, its parents in each network.
        self.parents: list[list[list[int]]] = [[] for _ in alone]
        for term in program.additive:
            if isinstance(term, Counts):
                self.parents[term.features[0]].append(term.features[1:])
        self.given = lru_cache(_MAX_SETS)(self._given)

    def _given(self, known: tuple[bool, ...]) -> Given:
        others, beyond = known_shares(self.strengths, known)
        rate, base_rate = self.rates
        share = _bent(beyond, base_rate)
        alone = [1 - _bent(u, rate) if k else 0.0 for u, k in zip(others, known)]
        base = [
            learned if share == 1 or math.isinf(log) else log + share * (learned - log)
            for learned, log in zip(self.base, self.prior)
        ]
        depths = [
            [
                (m * single + (1 - m) * learned) / n
                for (single, learned), n in zip(weights, self._networks(parents, known))
            ]
            for m, weights, parents in zip(alone, self.weights, self.parents)
        ]
        scales = [1 - m + m * factor for m, factor in zip(alone, self.factors)]
        return Given(base, depths, scales)

    def _networks(
        self, networks: list[list[int]], known: Sequence[bool]
    ) -> list[float]:
        """What sums over networks are divided by, by the number of parents."""
        counted = [0.0] * len(self.weights[0])
        for parents in networks:
            missing = (k + 1 for k, parent in enumerate(parents) if not known[parent])
            for depth in range(next(missing, len(counted))):
                counted[depth] += 1
        whole = len(networks)
        return [n if n == whole else n + _WITHOUT_CHANGE for n in counted]


def _bent(share: float, rate: float) -> float:
    """Zero at zero and one at one; above the share for rates above one."""
    return rate * share / (1 - share + rate * share)
