"""The log of a sum over members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import (
    log_sum_exp,
    logarithmic_mean_weights,
)
from bayleaf.io.exports.scorers.program.engine import Reader

_NOTHING = -math.inf


class LogSum:
    """The log of a sum; the posterior of a gate is the weight of its branches."""

    def __init__(
        self,
        reader: Reader,
        paths: list[list[Any]],
        networks: list[Any],
        is_posterior: bool,
        fallback: Sequence[Any] = (),
    ) -> None:
        self.n_classes, self.is_posterior = len(reader.base), is_posterior
        self.paths = [[reader.term(bank) for bank in path] for path in paths]
        self.networks = [reader.term(network) for network in networks]
        # What scores a row for which no member is possible.
        self.fallback = [reader.term(bank) for bank in fallback]

    def _members(self, codes: Sequence[int]) -> list[tuple[list[float], Any]]:
        """Log scores of members by class, and what splits their odds by owner."""
        members = [
            (own.scores(codes), partial(own.odds, codes)) for own in self.networks
        ]
        for *gates, bank in self.paths:
            weights = {0: 0.0}
            for gate in gates:
                scores = gate.scores(codes, self.is_posterior)[1]
                weights = {
                    node * gate.n_outputs + k: weights.get(node, _NOTHING) + score
                    for node, own in scores
                    for k, score in enumerate(own)
                }
            rows, scores = bank.scores(codes, self.is_posterior)
            parts: dict[int, Any] = {}
            for node, own in scores:
                weight = weights.get(node, _NOTHING) if gates else 0.0
                shared, nodes = parts.setdefault(bank.members[node], ([], []))
                shared.append([weight + score for score in own])
                nodes.append(node)
            members += [
                (_sum_of(shared), partial(bank.odds, codes, rows, nodes))
                for shared, nodes in parts.values()
            ]
        if max([max(own) for own, _ in members], default=_NOTHING) == _NOTHING:
            for bank in self.fallback:
                rows, scores = bank.scores(codes, False)
                members += [
                    (own, partial(bank.odds, codes, rows, [node]))
                    for node, own in scores
                ]
        return members

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Log of the sum, by class."""
        members = [own for own, _ in self._members(codes)]
        return _sum_of(members) if members else [_NOTHING] * self.n_classes

    def odds(self, codes: Sequence[int], target: int, against: int) -> list[float]:
        """The members' log-odds by logarithmic-mean weights, by owner."""
        members = self._members(codes)
        sides = [[own[label] for own, _ in members] for label in (target, against)]
        odds = [0.0] * (len(codes) + 1)
        for weight, (_, split) in zip(logarithmic_mean_weights(*sides), members):
            # Members without weight may have no finite terms.
            if weight:
                for owner, own in enumerate(split(target, against)):
                    odds[owner] += weight * own
        return odds


def _sum_of(members: Sequence[Sequence[float]]) -> list[float]:
    """Log of the sum of members by class."""
    return [log_sum_exp(own) for own in zip(*members)]
