"""What numbers add to an average's scores beside its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.arithmetic import unpacked

# No piece says more than this, nats.
_MOST_NATS = 50.0


class LinearFamilies:
    """Linear-Gaussian families: Student t densities of numbers given other numbers."""

    def __init__(self, shipped: Any, n_classes: int) -> None:
        self.n_classes = n_classes
        self.features: list[int] = shipped["features"]
        self.children: list[int] = shipped["children"]
        self.pieces: list[int] = shipped["pieces"]
        self.starts: list[int] = shipped["starts"]
        self.parents: list[int] = shipped["parents"]
        self.positions = [unpacked(own) for own in shipped["positions"]]
        self.freedom = unpacked(shipped["freedom"])
        self.scale = unpacked(shipped["scale"])
        self.constants = unpacked(shipped["constants"])
        self.coefficients = unpacked(shipped["coefficients"])
        self.triangles = unpacked(shipped["triangles"])
        self.means = unpacked(shipped["means"])
        self.variances = unpacked(shipped["variances"])
        self.shares = unpacked(shipped["shares"])
        self.weights = unpacked(shipped["weights"])
        self.n_coefficients = len(self.parents) + len(self.children)
        self.n_corners = len(self.triangles) // n_classes
        self.corners = [0]
        for family in range(len(self.children)):
            size = self.starts[family + 1] - self.starts[family] + 1
            self.corners.append(self.corners[-1] + size * (size + 1) // 2)

    def add_to(self, terms: list[list[float]], codes: Sequence[int]) -> None:
        """Add what each feature says to its nats by class."""
        places = []
        for column, feature in enumerate(self.features):
            own, code = self.positions[column], codes[feature]
            places.append(own[code] if code < len(own) else None)
        for family, child in enumerate(self.children):
            weight = self.shares[family] * self.weights[self.pieces[family]]
            if places[child] is None or not weight:
                continue
            term = terms[self.features[child]]
            for label in range(self.n_classes):
                term[label] += weight * self._log_density(family, label, places)

    def _deviation(self, column: int, label: int, places: Sequence[Any]) -> float:
        """How far a number is from the mean of a class; zero where it is missing."""
        if places[column] is None:
            return 0.0
        mean = self.means[label * len(self.features) + column]
        return float(places[column] - mean)

    def _log_density(self, family: int, label: int, places: Sequence[Any]) -> float:
        """Logarithm of the density of a family's child in a class."""
        first = self.starts[family]
        parents = self.parents[first : self.starts[family + 1]]
        slopes = label * self.n_coefficients + first + family
        row = [1.0] + [self._deviation(parent, label, places) for parent in parents]
        residual = self._deviation(self.children[family], label, places)
        for k, value in enumerate(row):
            residual -= self.coefficients[slopes + k] * value
        missing = 0.0
        for k, parent in enumerate(parents):
            if places[parent] is None:
                variance = self.variances[label * len(self.features) + parent]
                missing += self.coefficients[slopes + 1 + k] ** 2 * variance
        at = family * self.n_classes + label
        leverage = self._leverage(row, label * self.n_corners + self.corners[family])
        spread = self.scale[at] * (1 + leverage) + missing
        freedom = self.freedom[at]
        # As the library does it: the freedom magnifies how this sum is rounded.
        far = math.log(1.0 + residual**2 / (spread * freedom))
        found = self.constants[at] - math.log(spread) / 2 - (freedom + 1) * far / 2
        return min(max(found, -_MOST_NATS), _MOST_NATS)

    def _leverage(self, row: Sequence[float], corner: int) -> float:
        """The squared length of the triangle's product with a row."""
        total, place = 0.0, corner
        for k in range(len(row)):
            product = 0.0
            for value in row[k:]:
                product += self.triangles[place] * value
                place += 1
            total += product * product
        return total


class Curves:
    """What each state of some features adds."""

    def __init__(self, shipped: Any, n_classes: int) -> None:
        self.features: list[int] = shipped["features"]
        self.curves = [unpacked(own) for own in shipped["curves"]]
        self.n_classes = n_classes

    def add_to(self, terms: list[list[float]], codes: Sequence[int]) -> None:
        """Add what each feature says to its nats by class."""
        for place, feature in enumerate(self.features):
            first = codes[feature] * self.n_classes
            for label, nats in enumerate(
                self.curves[place][first : first + self.n_classes]
            ):
                terms[feature][label] += nats


class ClassTrees:
    """Trees: every split adds to its feature what it changes for the tree's class."""

    def __init__(self, shipped: Any, cards: Sequence[int]) -> None:
        self.roots: list[int] = shipped["roots"]
        self.classes: list[int] = shipped["classes"]
        self.features: list[int] = shipped["features"]
        self.states: list[int] = shipped["states"]
        self.children: list[int] = shipped["children"]
        self.values = unpacked(shipped["values"])
        self.ordered = set(shipped["ordered"])
        self.cards = cards

    def add_to(self, terms: list[list[float]], codes: Sequence[int]) -> None:
        """Add what each feature says to its nats by class."""
        for tree, root in enumerate(self.roots):
            node = root
            while self.features[node] >= 0:
                feature = self.features[node]
                code, state = codes[feature], self.states[node]
                if code >= self.cards[feature]:
                    break
                is_left = code <= state if feature in self.ordered else code == state
                child = self.children[node] + (0 if is_left else 1)
                change = self.values[child] - self.values[node]
                terms[feature][self.classes[tree]] += change
                node = child
