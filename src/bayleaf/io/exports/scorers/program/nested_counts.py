"""Counts of a feature and its parents, which are smoothed when a row asks for them."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Program

# Sums of cells that are kept.
_MOST_KNOWN = 20_000
# The last digit of a number has one of the first 32 characters, others one of the rest.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_DIGITS = {character: place for place, character in enumerate(_ALPHABET)}


class Counts:
    """Counts of a feature and its parents by class, at each number of parents.

    Cells are numbers whose digits are the states of the parents and of the feature and
    the class, in increasing order, so that those of some parents' states stand side by
    side. They are added up when a row asks for them.
    """

    def __init__(
        self,
        program: Program,
        features: int,
        maps: list[int],
        steps: str,
        totals: Any,
        weights: list[int],
        pseudo: list[int],
    ) -> None:
        self.features = program.integers[features]
        self.maps = [program.integers[k] for k in maps]
        self.n_classes = len(program.base)
        self.radices = [max(states) + 1 for states in self.maps]
        self.cells = list(itertools.accumulate(_numbers(steps)))
        self.totals = _numbers(totals)
        self.weights = program.values(weights)
        # By number of parents: how many cells share the states of so many parents.
        self.n_own = self.radices[0] * self.n_classes
        self.sizes = [
            self.n_own * math.prod(self.radices[depth + 1 :])
            for depth in range(len(self.features))
        ]
        self.known: dict[tuple[int, int], tuple[dict[int, Any], list[float]]] = {}
        each, together, shared = program.values(pseudo)
        counts, totals = self._counts(0, 0)
        # The last state is that of missing cells, which add nothing.
        n_states = self.radices[0] - 1
        least = each + together / n_states
        self.pseudo = {
            state: least + shared * sum(counts.get(state, ())) / sum(totals)
            for state in range(n_states)
        }
        self.strength = each * n_states + together + shared

    def _counts(
        self, depth: int, parents: int
    ) -> tuple[dict[int, list[float]], list[float]]:
        """Counts by class of states that occur with some parents', and sums."""
        found = self.known.get((depth, parents))
        if found is None:
            size = self.sizes[depth]
            first = bisect_left(self.cells, parents * size)
            last = bisect_left(self.cells, (parents + 1) * size, first)
            counts: dict[int, list[float]] = {}
            sums = [0.0] * self.n_classes
            for place in range(first, last):
                state, label = divmod(self.cells[place] % self.n_own, self.n_classes)
                own = counts.setdefault(state, [0.0] * self.n_classes)
                own[label] += self.totals[place]
                sums[label] += self.totals[place]
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            found = self.known[depth, parents] = counts, sums
        return found

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add the log share of the feature's state in each class, by depth.

        Where no cell has the parents' states, the depth before is repeated.
        """
        states = [own[codes[feature]] for own, feature in zip(self.maps, self.features)]
        pseudo = self.pseudo.get(states[0], 0.0)
        if not pseudo > 0:
            return
        weights = given.steps(self.features) if given else self.weights
        if not any(weights):
            return
        own = nats[self.features[0]]
        none, logs = [0.0] * self.n_classes, [0.0] * self.n_classes
        parents, exists = 0, True
        for depth, weight in enumerate(weights):
            if depth and exists:
                parents = parents * self.radices[depth] + states[depth]
                # The last state is that of parents whose rows are too few.
                exists = states[depth] < self.radices[depth] - 1
            if exists:
                counts, totals = self._counts(depth, parents)
                exists = any(totals)
            if exists:
                logs = [
                    math.log((count + pseudo) / (total + self.strength))
                    for count, total in zip(counts.get(states[0], none), totals)
                ]
            for label, log in enumerate(logs):
                own[label] += weight * log


def _numbers(short: Any) -> list[Any]:
    """Integers whose digits of base 32 are characters, else the list itself."""
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
