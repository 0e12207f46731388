"""Counts of a feature and its parents, which are smoothed when a row asks for them."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Reader

# Sums of cells that are kept.
_MOST_KNOWN = 20_000
# The last digit of a number has one of the first 32 characters, others one of the rest.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_DIGITS = {character: place for place, character in enumerate(_ALPHABET)}


class Counts:
    """Counts of a feature and its parents by class, at each number of parents.

    Cells are numbers whose digits are the states, the parents' and then the class's, in
    increasing order, so that those of some parents' states stand side by side. They are
    added up when a row asks for them.
    """

    def __init__(
        self,
        reader: Reader,
        features: int,
        maps: list[int],
        steps: str,
        totals: Any,
        weights: list[int],
        pseudo: list[int],
    ) -> None:
        self.features = reader.integers[features]
        self.maps = [reader.integers[k] for k in maps]
        self.n_classes = len(reader.base)
        self.radices = [*(max(states) + 1 for states in self.maps), self.n_classes]
        self.cells = list(itertools.accumulate(_numbers(steps)))
        self.totals = _numbers(totals)
        self.weights = reader.values(weights)
        # By number of parents: how many cells share the states of so many parents.
        self.sizes = [
            math.prod(self.radices[depth + 1 :]) for depth in range(len(self.features))
        ]
        self.known: dict[tuple[int, int], list[float]] = {}
        self.siblings: dict[tuple[int, int], tuple[list[float], list[int]]] = {}
        # The last state is that of missing cells.
        n_states = self.radices[0] - 1
        marginal = [sum(self._counts(0, state)) for state in range(n_states + 1)]
        each, together, shared = reader.values(pseudo)
        total = sum(marginal)
        self.pseudo = [
            each + together / n_states + shared * own / total for own in marginal
        ]
        # They have no prior weight, and add nothing.
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

    def add_to(self, nats: Sequence[list[float]], codes: Sequence[int]) -> None:
        """Add the log share of the feature's state in each class, by depth.

        Where no cell has the parents' states, the depth before is repeated.
        """
        states = [own[codes[feature]] for own, feature in zip(self.maps, self.features)]
        pseudo = self.pseudo[states[0]]
        if not pseudo > 0:
            return
        if len(self.known) > _MOST_KNOWN:
            self.known.clear()
            self.siblings.clear()
        own = nats[self.features[0]]
        whole, parents, exists = states[0], 0, True
        logs: list[float] = []
        for depth, weight in enumerate(self.weights):
            if depth and exists:
                whole = whole * self.radices[depth] + states[depth]
                parents = parents * self.radices[depth] + states[depth]
                # The last state is that of parents whose rows are too few.
                exists = states[depth] < self.radices[depth] - 1
                exists = exists and bool(self._totals(depth, parents)[1])
            if exists:
                counts = self._counts(depth, whole)
                totals = self._totals(depth, parents)[0]
                logs = [
                    math.log((count + pseudo) / (total + self.strength))
                    for count, total in zip(counts, totals)
                ]
            for label, log in enumerate(logs):
                own[label] += weight * log


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
