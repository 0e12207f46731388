"""Networks in which some features are numbers, with a regression in each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import unpacked
from bayleaf.io.exports.scorers.program.network import NetworkEngine
from bayleaf.io.exports.scorers.program.number_terms import LinearFamilies


class HybridEngine:
    """Tables under a uniform class prior, and densities of numbers."""

    def __init__(self, model: Any) -> None:
        average = model["average"]
        self.base = unpacked(average["base"])
        self.weight: float = average["table_weight"]
        tables = dict(model)
        tables.update(order=average["order"], network=average["network"])
        self.tables = NetworkEngine(tables)
        self.linear = LinearFamilies(average["linear"], len(self.base))

    def _number_terms(self, codes: Sequence[int]) -> list[list[float]]:
        """What each number adds to the score of each class, nats."""
        terms = [[0.0] * len(self.base) for _ in codes]
        self.linear.add_to(terms, codes)
        return terms

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Score of each class, nats."""
        found = [
            self.base[label] + self.weight * (score - self.tables.prior[label])
            for label, score in enumerate(self.tables.scores(codes))
        ]
        for term in self._number_terms(codes):
            for label, nats in enumerate(term):
                found[label] += nats
        return found

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """Terms of the log-odds: the prior, and one for each feature."""
        _, terms = self.tables.contributions(codes, target, against)
        numbers = self._number_terms(codes)
        return self.base[target] - self.base[against], [
            self.weight * term + numbers[feature][target] - numbers[feature][against]
            for feature, term in enumerate(terms)
        ]
