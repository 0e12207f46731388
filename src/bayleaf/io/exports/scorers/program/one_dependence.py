"""Averages of networks in each of which one feature is a parent of all others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import (
    log_sum_exp,
    logarithm,
    logarithmic_mean_weights,
    unpacked,
)


class OneDependenceEngine:
    """The average of one-dependence networks."""

    def __init__(self, model: Any) -> None:
        average = model["average"]
        self.cards = [len(own["states"]) for own in model["variables"][:-1]]
        self.log_prior = [logarithm(p) for p in unpacked(average["prior"])]
        self.log_parent = [logarithm(p) for p in unpacked(average["parent"])]
        self.log_child = [logarithm(p) for p in unpacked(average["child"])]
        self.usable: list[bool] = average["usable"]
        self.n_positions = len(self.usable)
        self.starts = [sum(self.cards[:place]) for place in range(len(self.cards))]

    def _positions(self, codes: Sequence[int]) -> list[int]:
        """Positions of the known states; -1 for a feature that is unknown."""
        return [
            self.starts[feature] + code if code < self.cards[feature] else -1
            for feature, code in enumerate(codes)
        ]

    def _range(self, feature: int) -> range:
        """Positions of all states of a feature."""
        start = self.starts[feature]
        return range(start, start + self.cards[feature])

    def _joint(self, label: int, parent: int, at: int, positions: list[int]) -> float:
        """Log joint of one class in the network whose super-parent has a position."""
        row = label * self.n_positions + at
        score = self.log_prior[label] + self.log_parent[row]
        first = row * self.n_positions
        for feature, position in enumerate(positions):
            if position >= 0 and feature != parent:
                score += self.log_child[first + position]
        return score

    def _members(self, positions: list[int]) -> tuple[list[int], list[list[float]]]:
        """Super-parents that may be used, and by class the log joint of each."""
        parents = [
            parent
            for parent, position in enumerate(positions)
            if position < 0 or self.usable[position]
        ]
        members = []
        for label in range(len(self.log_prior)):
            own = []
            for parent in parents:
                known = positions[parent] >= 0
                places = [positions[parent]] if known else self._range(parent)
                joints = [self._joint(label, parent, at, positions) for at in places]
                own.append(joints[0] if known else log_sum_exp(joints))
            members.append(own)
        return parents, members

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Logarithm of the mean joint probability with each class, nats."""
        positions = self._positions(codes)
        parents, members = self._members(positions)
        if parents:
            least = math.log(len(parents))
            return [log_sum_exp(own) - least for own in members]
        found = list(self.log_prior)
        for label in range(len(found)):
            for position in positions:
                if position >= 0:
                    found[label] += self.log_parent[label * self.n_positions + position]
        return found

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """Terms of the log-odds: the prior, and one for each feature."""
        positions = self._positions(codes)
        parents, members = self._members(positions)
        prior = self.log_prior[target] - self.log_prior[against]
        terms = [0.0] * len(codes)
        if not parents:
            for feature, at in enumerate(positions):
                if at >= 0:
                    terms[feature] = (
                        self.log_parent[target * self.n_positions + at]
                        - self.log_parent[against * self.n_positions + at]
                    )
            return prior, terms
        weights = logarithmic_mean_weights(members[target], members[against])
        for place, parent in enumerate(parents):
            own = self._member_terms(parent, target, against, positions)
            for feature, term in enumerate(own):
                terms[feature] += weights[place] * term
        return prior * sum(weights), terms

    def _member_terms(
        self, parent: int, target: int, against: int, positions: list[int]
    ) -> list[float]:
        """Terms of one network's log-odds; an unknown super-parent is summed out."""
        known = positions[parent] >= 0
        places = [positions[parent]] if known else list(self._range(parent))
        rows = [
            [label * self.n_positions + at for at in places]
            for label in (target, against)
        ]
        chain = [[self.log_parent[row] for row in own] for own in rows]
        terms = [0.0] * len(positions)
        before = log_sum_exp(chain[0]) - log_sum_exp(chain[1])
        if known:
            terms[parent] = before
        for feature, position in enumerate(positions):
            if position < 0 or feature == parent:
                continue
            for side, own in enumerate(rows):
                for place, row in enumerate(own):
                    cell = row * self.n_positions + position
                    chain[side][place] += self.log_child[cell]
            after = log_sum_exp(chain[0]) - log_sum_exp(chain[1])
            terms[feature] = after - before
            before = after
        return terms
