"""Densities of numbers given other numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from bayleaf.io.exports.scorers.program.engine import Reader

# Bound of a log density, above and below, nats.
_MAX_LOG_DENSITY = 50.0


class Density:
    """A Student t density, linear in each class."""

    def __init__(
        self,
        reader: Reader,
        weight: float,
        features: list[int],
        positions: list[list[int]],
        columns: list[list[list[int]]],
    ) -> None:
        self.weight, self.features = weight, features
        self.positions = [reader.values(span) for span in positions]
        # By class: means and variances of the features, slopes, the triangle, and
        # squared scale, freedom and constant.
        self.classes = [
            [[reader.values(span)[label] for span in column] for column in columns]
            for label in range(len(reader.base))
        ]

    def add_to(self, nats: Sequence[list[float]], codes: Sequence[int]) -> None:
        """Add the weighted log density to the nats of the child, by class."""
        numbers = [
            positions[codes[feature]] if codes[feature] < len(positions) else None
            for feature, positions in zip(self.features, self.positions)
        ]
        if numbers[0] is None:
            return
        own = nats[self.features[0]]
        for label, members in enumerate(self.classes):
            own[label] += self.weight * _log_density(numbers, *members)


def _log_density(
    numbers: Sequence[Any],
    means: Sequence[float],
    variances: Sequence[float],
    slopes: Sequence[float],
    triangle: Sequence[float],
    scales: Sequence[float],
) -> float:
    """Logarithm of the child's density in a class; missing parents are at the mean."""
    row = [0.0 if x is None else x - mean for x, mean in zip(numbers, means)]
    residual, row[0] = row[0], 1.0
    for value, slope in zip(row, slopes):
        residual -= slope * value
    missing = sum(
        [
            slope**2 * variance
            for x, slope, variance in zip(numbers, slopes, variances)
            if x is None
        ]
    )
    leverage, corner = 0.0, 0
    for k in range(len(row)):
        product = 0.0
        for value in row[k:]:
            product += triangle[corner] * value
            corner += 1
        leverage += product * product
    scale, freedom, constant = scales
    spread = scale * (1 + leverage) + missing
    # As in the library: the freedom magnifies how this sum is rounded.
    far = math.log(1.0 + residual**2 / (spread * freedom))
    logs = constant - math.log(spread) / 2 - (freedom + 1) * far / 2
    return min(max(logs, -_MAX_LOG_DENSITY), _MAX_LOG_DENSITY)
