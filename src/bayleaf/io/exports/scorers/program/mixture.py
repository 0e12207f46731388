"""Naive Bayes classifiers gated by naive Bayes classifiers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import (
    log_sum_exp,
    logarithmic_mean_weights,
    unpacked,
)


class Bank:
    """Naive Bayes classifiers of one level, side by side."""

    def __init__(self, shipped: Any, cards: Sequence[int]) -> None:
        self.n_nodes, self.n_outputs = shipped["prior"]["shape"]
        self.prior = unpacked(shipped["prior"])
        self.table = unpacked(shipped["table"])
        self.offsets: list[int] = shipped["offsets"]
        self.cards = cards

    def entry(self, feature: int, code: int) -> int:
        """Where the numbers of a state begin; -1 if it is unknown."""
        if code >= self.cards[feature]:
            return -1
        return (self.offsets[feature] + code) * len(self.prior)

    def log_posteriors(self, codes: Sequence[int]) -> list[list[float]]:
        """Log posteriors of all nodes, node by node."""
        scores = list(self.prior)
        for feature, code in enumerate(codes):
            entry = self.entry(feature, code)
            if entry >= 0:
                for place in range(len(scores)):
                    scores[place] += self.table[entry + place]
        found = []
        for node in range(self.n_nodes):
            own = scores[node * self.n_outputs : (node + 1) * self.n_outputs]
            total = log_sum_exp(own)
            found.append([score - total for score in own])
        return found


class MixtureEngine:
    """Means of trees of naive Bayes gates over naive Bayes experts."""

    def __init__(self, model: Any) -> None:
        average = model["average"]
        cards = [len(own["states"]) for own in model["variables"][:-1]]
        self.shift = unpacked(average["shift"])
        self.starts = [
            [Bank(own, cards) for own in banks] for banks in average["starts"]
        ]

    def _members(self, codes: Sequence[int]) -> list[list[float]]:
        """Log of gate weight times posterior of every expert, by class."""
        found = []
        for banks in self.starts:
            weights = [0.0]
            for gate in banks[:-1]:
                shares = gate.log_posteriors(codes)
                weights = [
                    weight + share
                    for node, weight in enumerate(weights)
                    for share in shares[node]
                ]
            for node, posterior in enumerate(banks[-1].log_posteriors(codes)):
                found.append([value + weights[node] for value in posterior])
        return found

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Logarithm of the mean posterior of each class, and the prior's shift."""
        members = self._members(codes)
        many = math.log(len(self.starts))
        return [
            log_sum_exp([member[label] for member in members]) - many + shift
            for label, shift in enumerate(self.shift)
        ]

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """The experts' terms by logarithmic-mean weights."""
        members = self._members(codes)
        weights = logarithmic_mean_weights(
            [member[target] for member in members],
            [member[against] for member in members],
        )
        prior = self.shift[target] - self.shift[against]
        terms = [0.0] * len(codes)
        experts = [
            (banks[-1], node * banks[-1].n_outputs)
            for banks in self.starts
            for node in range(banks[-1].n_nodes)
        ]
        for weight, (bank, place) in zip(weights, experts):
            first, second = place + target, place + against
            prior += weight * (bank.prior[first] - bank.prior[second])
            for feature, code in enumerate(codes):
                entry = bank.entry(feature, code)
                if entry >= 0:
                    odds = bank.table[entry + first] - bank.table[entry + second]
                    terms[feature] += weight * odds
        return prior, terms
