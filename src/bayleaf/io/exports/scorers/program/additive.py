"""Terms that add nats by feature and class: tables, trees and densities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Program

# Bound of a log density, above and below, nats.
_MAX_LOG_DENSITY = 50.0


class Look:
    """A table that adds an entry to the classes; joint states without one add zero."""

    def __init__(
        self,
        program: Program,
        owner: int,
        features: list[int],
        maps: list[int],
        keys: int,
        rows: list[int],
        gate: int = -1,
    ) -> None:
        self.owner, self.features = owner, features
        self.maps = [program.integers[k] for k in maps]
        self.radices = [max(states) + 1 for states in self.maps]
        self.gate = program.integers[gate] if gate >= 0 else None
        states, values = program.integers[keys], program.values(rows)
        self.rows = {key: values[k :: len(states)] for k, key in enumerate(states)}

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add the entry to the nats of its owner, by class."""
        if self.gate and not self.gate[codes[self.owner]]:
            return
        key = 0
        for feature, states, radix in zip(self.features, self.maps, self.radices):
            key = key * radix + states[codes[feature]]
        own, factor = nats[self.owner], given.scales[self.owner] if given else 1.0
        for label, value in enumerate(self.rows.get(key, ())):
            own[label] += factor * value


class Tree:
    """Trees: every split adds to its feature what it changes for the tree's class."""

    def __init__(self, program: Program, lists: list[int], values: list[int]) -> None:
        self.roots, self.labels, *nodes = [program.integers[k] for k in lists]
        self.features, self.states, self.children = nodes
        self.values, self.cards = program.values(values), program.cards

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add each change to the nats of the feature that is tested."""
        for node, label in zip(self.roots, self.labels):
            while self.features[node] >= 0:
                feature = self.features[node]
                code, state = codes[feature], self.states[node]
                if code >= self.cards[feature]:
                    break
                # Where lower states lead left as well, the complement is stored.
                is_left = code == state if state >= 0 else code <= ~state
                child = self.children[node] + (0 if is_left else 1)
                factor = given.scales[feature] if given else 1.0
                change = self.values[child] - self.values[node]
                nats[feature][label] += factor * change
                node = child


class Density:
    """A number's Student t density given others, linear in each class."""

    def __init__(
        self,
        program: Program,
        weight: float,
        features: list[int],
        positions: list[list[int]],
        columns: list[list[list[int]]],
    ) -> None:
        self.weight, self.features = weight, features
        # The position of a missing cell is None.
        self.positions = [[*program.values(span), None] for span in positions]
        # By class: means and variances of the features, slopes, the triangle, and
        # squared scale, freedom and constant.
        self.classes: list[Any] = [
            [[program.values(span)[label] for span in column] for column in columns]
            for label in range(len(program.base))
        ]

    def add_to(self, nats: Any, codes: Sequence[int], given: Any) -> None:
        """Add the weighted log density to the nats of the child, by class."""
        pairs = zip(self.features, self.positions)
        numbers = [positions[codes[feature]] for feature, positions in pairs]
        if numbers[0] is None:
            return
        own, weight = nats[self.features[0]], self.weight
        if given:
            weight *= given.scales[self.features[0]]
        for label, members in enumerate(self.classes):
            own[label] += weight * _log_density(numbers, *members)


def _log_density(
    numbers: Any, means: Any, variances: Any, slopes: Any, triangle: Any, scales: Any
) -> float:
    """Logarithm of the child's density in a class; missing parents are at the mean."""
    scale, freedom, constant = scales
    row = [0.0 if x is None else x - mean for x, mean in zip(numbers, means)]
    residual, row[0] = row[0], 1.0
    missing = 0.0
    for x, value, slope, variance in zip(numbers, row, slopes, variances):
        residual -= slope * value
        missing += slope**2 * variance if x is None else 0.0
    leverage, corner = 0.0, 0
    for k in range(len(row)):
        product = 0.0
        for value in row[k:]:
            product += triangle[corner] * value
            corner += 1
        leverage += product * product
    spread = scale * (1 + leverage) + missing
    # As in the library: the freedom magnifies how this sum is rounded.
    far = math.log(1.0 + residual**2 / (spread * freedom))
    logs: float = constant - math.log(spread) / 2 - (freedom + 1) * far / 2
    return min(max(logs, -_MAX_LOG_DENSITY), _MAX_LOG_DENSITY)
