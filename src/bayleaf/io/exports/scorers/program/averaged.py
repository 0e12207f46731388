"""The average of sampled KDB networks, weighted by what left-out rows say of them."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import unpacked, unpacked_codes
from bayleaf.io.exports.scorers.program.number_terms import (
    ClassTrees,
    Curves,
    LinearFamilies,
)

# Sums of cells that a family keeps.
_MOST_KNOWN = 20_000
# The last digit of a number has one of the first 32 characters, others one of the rest.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_DIGITS = {character: place for place, character in enumerate(_ALPHABET)}


class Family:
    """Counts of a feature and its parents by class, at each number of parents.

    Cells are numbers whose digits are the states, the parents' and then the class's, in
    increasing order, so that those of some parents' states stand side by side. They are
    added up when a row asks for them.
    """

    def __init__(self, shipped: Any, coding: Any, pseudo: Any, n_classes: int) -> None:
        self.variables: list[int] = shipped["variables"]
        self.radices: list[int] = shipped["radices"]
        self.maps = [coding[variable] for variable in self.variables]
        self.n_classes = n_classes
        self.cells = list(itertools.accumulate(_numbers(shipped["steps"])))
        self.totals = _numbers(shipped["totals"])
        # By number of parents: how many cells share the states of so many parents.
        self.sizes = [
            math.prod(self.radices[depth + 1 :]) for depth in range(len(self.variables))
        ]
        self.known: dict[tuple[int, int], list[float]] = {}
        self.siblings: dict[tuple[int, int], tuple[list[float], list[int]]] = {}
        n_states = self.maps[0][-1]
        marginal = [sum(self._counts(0, state)) for state in range(n_states + 1)]
        each, together, shared = pseudo
        total = sum(marginal)
        self.pseudo = [
            each + together / n_states + shared * own / total for own in marginal
        ]
        # The code of cells that are missing has no prior weight, and says nothing.
        self.pseudo[n_states] = 0.0
        self.strength = each * n_states + together + shared

    def _counts(self, depth: int, prefix: int) -> list[float]:
        """Counts by class of the cells whose first digits are a number."""
        found = self.known.get((depth, prefix))
        if found is None:
            size = self.sizes[depth]
            first = bisect_left(self.cells, prefix * size)
            last = bisect_left(self.cells, (prefix + 1) * size, first)
            found = [0.0] * self.n_classes
            for place in range(first, last):
                found[self.cells[place] % self.n_classes] += self.totals[place]
            self.known[depth, prefix] = found
        return found

    def _totals(self, depth: int, parents: int) -> tuple[list[float], list[int]]:
        """Counts by class of some states of the parents, whatever the feature's is.

        With them the feature's states that occur, which alone can occur deeper.
        """
        found = self.siblings.get((depth, parents))
        if found is None:
            states: Sequence[int] = range(self.radices[0])
            if depth:
                above = parents // self.radices[depth]
                states = self._totals(depth - 1, above)[1]
            step = self.sizes[0] // self.sizes[depth]
            each = [(self._counts(depth, k * step + parents), k) for k in states]
            each = [own for own in each if any(own[0])]
            totals = [
                sum([counts[label] for counts, _ in each])
                for label in range(self.n_classes)
            ]
            found = totals, [state for _, state in each]
            self.siblings[depth, parents] = found
        return found

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
        if len(self.known) > _MOST_KNOWN:
            self.known.clear()
            self.siblings.clear()
        whole, parents, deepest = states[0], 0, len(self.variables) - 1
        for depth in range(len(self.variables)):
            if depth:
                whole = whole * self.radices[depth] + states[depth]
                parents = parents * self.radices[depth] + states[depth]
            weight = weights[depth]
            # Where a family has fewer parents than others, its deepest one repeats.
            if depth == deepest:
                weight = sum(weights[depth:])
            if not weight:
                continue
            counts, totals = self._counts(depth, whole), self._totals(depth, parents)[0]
            for label in range(self.n_classes):
                share = (counts[label] + pseudo) / (totals[label] + self.strength)
                found[label] += weight * math.log(share)


def _numbers(short: Any) -> list[Any]:
    """Whole numbers whose digits of base 32 are characters, else the list itself."""
    if not isinstance(short, str):
        return list(short)
    found, number, place = [], 0, 0
    for character in short:
        digit = _DIGITS[character]
        number += (digit & 31) << place
        place += 5
        if digit < 32:
            found.append(number)
            number = place = 0
    return found


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
