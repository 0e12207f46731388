"""The average of sampled KDB networks, weighted by what left-out rows say of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import unpacked, unpacked_codes
from bayleaf.io.exports.scorers.program.number_terms import (
    ClassTrees,
    Curves,
    LinearFamilies,
)


class Family:
    """Counts of a feature and its parents by class, at each number of parents."""

    def __init__(self, shipped: Any, coding: Any, pseudo: Any, n_classes: int) -> None:
        self.variables: list[int] = shipped["variables"]
        self.radices: list[int] = shipped["radices"]
        self.maps = [coding[variable] for variable in self.variables]
        self.n_classes = n_classes
        # By depth: counts of a state with its parents, and of the parents alone.
        self.levels: list[Any] = [({}, {}) for _ in self.variables]
        n_states = self.maps[0][-1]
        marginal = self._count(shipped["steps"], shipped["totals"], n_states)
        each, together, shared = pseudo
        total = sum(marginal)
        self.pseudo = [
            each + together / n_states + shared * own / total for own in marginal
        ]
        # The code of cells that are missing has no prior weight, and says nothing.
        self.pseudo[n_states] = 0.0
        self.strength = each * n_states + together + shared

    def _count(
        self, steps: Sequence[int], totals: Sequence[float], n_states: int
    ) -> list[float]:
        """Take all cells in, whose numbers come as steps; the feature's own totals."""
        marginal = [0.0] * (n_states + 1)
        states, key = [0] * len(self.radices), 0
        for cell, step in enumerate(steps):
            key += step
            rest = key
            for k in range(len(self.radices) - 1, -1, -1):
                rest, states[k] = divmod(rest, self.radices[k])
            total = totals[cell]
            marginal[states[0]] += total
            self._add(states, total)
        return marginal

    def _add(self, states: Sequence[int], total: float) -> None:
        """Add a cell to the counts of all depths."""
        label, parents = states[-1], 0
        for depth, (upper, lower) in enumerate(self.levels):
            if depth:
                parents = parents * self.radices[depth] + states[depth]
            for table, key in (
                (lower, parents),
                (upper, parents * self.radices[0] + states[0]),
            ):
                if key not in table:
                    table[key] = [0.0] * self.n_classes
                table[key][label] += total

    def add_evidence(
        self, found: list[float], codes: Sequence[int], weights: Sequence[float]
    ) -> None:
        """Add what the feature's state says for each class, weighted depth by depth."""
        states = [
            self.maps[k][codes[variable]] for k, variable in enumerate(self.variables)
        ]
        pseudo = self.pseudo[states[0]]
        if not pseudo > 0:
            return
        nothing = [0.0] * self.n_classes
        parents, deepest = 0, len(self.variables) - 1
        for depth, (upper, lower) in enumerate(self.levels):
            if depth:
                parents = parents * self.radices[depth] + states[depth]
            weight = weights[depth]
            # Where a family has fewer parents than others, its deepest one repeats.
            if depth == deepest:
                weight = sum(weights[depth:])
            if not weight:
                continue
            counts = upper.get(parents * self.radices[0] + states[0], nothing)
            totals = lower.get(parents, nothing)
            for label in range(self.n_classes):
                share = (counts[label] + pseudo) / (totals[label] + self.strength)
                found[label] += weight * math.log(share)


class AveragedEngine:
    """The weighted average of sampled KDB networks."""

    def __init__(self, model: Any) -> None:
        average = model["average"]
        cards = [len(own["states"]) for own in model["variables"][:-1]]
        self.base = unpacked(average["base"])
        n_classes = len(self.base)
        weights, n_depths = unpacked(average["weights"]), average["weights"]["shape"][1]
        self.weights = [
            weights[feature * n_depths : (feature + 1) * n_depths]
            for feature in range(len(cards))
        ]
        codings = [[unpacked_codes(own) for own in maps] for maps in average["codings"]]
        networks = average["networks"]
        self.n_networks = len(networks)
        self.families = [
            [
                Family(
                    network["families"][feature],
                    codings[network["coding"]],
                    average["pseudo"],
                    n_classes,
                )
                for network in networks
                if network["families"][feature]
            ]
            for feature in range(len(cards))
        ]
        self.beside: list[Any] = []
        if "linear" in average:
            self.beside.append(LinearFamilies(average["linear"], n_classes))
        if "curves" in average:
            self.beside.append(Curves(average["curves"], n_classes))
        if "trees" in average:
            self.beside.append(ClassTrees(average["trees"], cards))

    def _terms(self, codes: Sequence[int]) -> list[list[float]]:
        """What each feature adds to the score of each class, nats."""
        terms = []
        for feature, families in enumerate(self.families):
            found = [0.0] * len(self.base)
            for family in families:
                family.add_evidence(found, codes, self.weights[feature])
            terms.append([nats / self.n_networks for nats in found])
        for more in self.beside:
            more.add_to(terms, codes)
        return terms

    def scores(self, codes: Sequence[int]) -> list[float]:
        """Score of each class, nats."""
        found = list(self.base)
        for term in self._terms(codes):
            for label, nats in enumerate(term):
                found[label] += nats
        return found

    def contributions(
        self, codes: Sequence[int], target: int, against: int
    ) -> tuple[float, list[float]]:
        """Terms of the log-odds: the prior, and one for each feature."""
        terms = [own[target] - own[against] for own in self._terms(codes)]
        return self.base[target] - self.base[against], terms
