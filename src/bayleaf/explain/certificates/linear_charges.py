"""What three numbers or more of linear families do beyond all pairs of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.table_charges import Axes, add_charges
from bayleaf.models.support.number_terms import WeightedLinearFamilies

Floats = NDArray[np.float64]

# Members of a family that may change, beyond which no bound is sought.
_MAX_MEMBERS = 6
# No family says more than this, in nats.
_MOST = 50.0


def add_linear_charges(
    charges: Floats, linear: WeightedLinearFamilies, chosen: int, axes: Axes
) -> bool:
    """Add charges of all families to those of triples; see `add_table_charges`.

    The log density of a t distribution falls with the squared residual, and is largest
    in the squared scale where that equals the squared residual; both lie between
    bounds while each cell lies between its states.
    """
    numbers: Mapping[str, Any] = dict(linear.shipped())["linear"]
    features = numbers["features"]
    boxes = [
        _Box.of(own, axes[v])
        for v, own in zip(features, numbers["positions"], strict=True)
    ]
    corner = 0
    for family, child in enumerate(numbers["children"]):
        first, last = numbers["starts"][family : family + 2]
        members = [child, *numbers["parents"][first:last]]
        n = len(members)
        place, corner = corner, corner + n * (n + 1) // 2
        piece = numbers["pieces"][family]
        weight = np.ravel(numbers["weights"])[piece] * numbers["shares"][family]
        moved = [k for k, column in enumerate(members) if boxes[column].moves]
        if not weight or len(moved) < 3:
            continue
        if len(moved) > _MAX_MEMBERS:
            return False
        facts = _Facts.of(numbers, family, members, place)
        own_boxes = [boxes[column] for column in members]
        beyond = _beyond_pairs(facts, own_boxes, moved, chosen)
        variables = [features[column] for column in members]
        weighted = {places: weight * most for places, most in beyond.items()}
        add_charges(charges, variables, weighted)
    return True


@dataclass(frozen=True)
class _Box:
    """Where a cell lies now and after changes: positions, and whether it is missing."""

    now: float
    low: float
    high: float
    may_miss: bool
    moves: bool

    @classmethod
    def of(cls, positions: Floats, codes: NDArray[np.intp]) -> _Box:
        """The box of a column; NaN for what is missing in all states."""
        padded = np.full(max(len(positions), int(codes.max()) + 1), np.nan)
        padded[: len(positions)] = positions
        found = padded[codes]
        known = found[~np.isnan(found)]
        low, high = (known.min(), known.max()) if len(known) else (np.nan, np.nan)
        may_miss = bool(np.isnan(found).any())
        return cls(found[0], low, high, may_miss, len(codes) > 1)

    @property
    def still(self) -> _Box:
        """The cell as it is."""
        return _Box(self.now, self.now, self.now, bool(np.isnan(self.now)), False)

    def deviations(self, means: Floats) -> tuple[Floats, Floats]:
        """Bounds by class; a missing cell lies at the mean."""
        if np.isnan(self.low):
            return np.zeros(len(means)), np.zeros(len(means))
        low, high = self.low - means, self.high - means
        if self.may_miss:
            low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        return low, high


@dataclass(frozen=True, eq=False)
class _Facts:
    """The numbers of a family by class."""

    freedom: Floats
    scale: Floats
    constants: Floats
    coefficients: Floats
    triangle: Floats
    means: Floats
    variances: Floats

    @classmethod
    def of(
        cls, numbers: Mapping[str, Any], family: int, members: list[int], corner: int
    ) -> _Facts:
        """The numbers of one family; the triangle as (n_classes, n, n)."""
        first, n = numbers["starts"][family], len(members)
        triangle = np.zeros((len(numbers["means"]), n, n))
        upper = np.triu_indices(n)
        triangle[:, *upper] = numbers["triangles"][:, corner : corner + len(upper[0])]
        return cls(
            numbers["freedom"][family],
            numbers["scale"][family],
            numbers["constants"][family],
            numbers["coefficients"][:, first + family : first + family + n],
            triangle,
            numbers["means"][:, members],
            numbers["variances"][:, members],
        )

    def bounds(self, boxes: Sequence[_Box]) -> tuple[Floats, Floats]:
        """Least and largest log density of cells in boxes, by class."""
        sides = [box.deviations(own) for box, own in zip(boxes, self.means.T)]
        low, high = (np.stack(side, axis=1) for side in zip(*sides))
        # The child counts once, each parent by its slope.
        slopes = self.coefficients.copy()
        slopes[:, 0] = -1.0
        least, most = _products(-slopes, low, high)
        square = _squares(
            least - self.coefficients[:, 0], most - self.coefficients[:, 0]
        )
        low[:, 0], high[:, 0] = 1.0, 1.0
        rows = [
            _squares(*_products(self.triangle[:, k], low, high))
            for k in range(len(boxes))
        ]
        spreads = []
        for side in (0, 1):
            leverage = sum(row[side] for row in rows)
            more = np.zeros(len(self.scale))
            for k, box in enumerate(boxes[1:], start=1):
                if box.may_miss and (side or np.isnan(box.low)):
                    more = more + self.coefficients[:, k] ** 2 * self.variances[:, k]
            spreads.append(self.scale * (1.0 + leverage) + more)
        peak = np.clip(square[0], spreads[0], spreads[1])
        ends = [self._density(square[1], spread) for spread in spreads]
        return np.minimum(*ends), self._density(square[0], peak)

    def _density(self, square: Floats, spread: Floats) -> Floats:
        """Log density of squared residuals under squared scales."""
        far = np.log1p(square / (spread * self.freedom))
        found = self.constants - np.log(spread) / 2 - (self.freedom + 1.0) / 2 * far
        return np.clip(found, -_MOST, _MOST)


def _products(factors: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds of sums of products, by class."""
    ends = factors * low, factors * high
    return np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)


def _squares(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Bounds of squares."""
    spans_zero = (low <= 0.0) & (high >= 0.0)
    ends = low**2, high**2
    return np.where(spans_zero, 0.0, np.minimum(*ends)), np.maximum(*ends)


def _beyond_pairs(
    facts: _Facts, boxes: list[_Box], moved: Sequence[int], chosen: int
) -> dict[tuple[int, ...], Floats]:
    """Most that members do together beyond their pairs, by the set that moves."""
    bounds = {
        places: _odds(facts, boxes, places, chosen)
        for size in range(len(moved) + 1)
        for places in combinations(moved, size)
    }
    found = {}
    for places, (_, high) in bounds.items():
        n = len(places)
        if n < 3:
            continue
        pairs = sum(bounds[pair][0] for pair in combinations(places, 2))
        singles = sum(bounds[place,][1] for place in places)
        found[places] = (
            high - pairs + (n - 2) * singles - comb(n - 1, 2) * bounds[()][0]
        )
    return found


def _odds(
    facts: _Facts, boxes: list[_Box], places: tuple[int, ...], chosen: int
) -> tuple[Floats, Floats]:
    """Bounds of what a family says of each class against the chosen one."""
    own = [box if k in places else box.still for k, box in enumerate(boxes)]
    if np.isnan(own[0].low):
        return np.zeros(len(facts.scale)), np.zeros(len(facts.scale))
    low, high = facts.bounds(own)
    least, most = low - high[chosen], high - low[chosen]
    least[chosen] = most[chosen] = 0.0
    if own[0].may_miss:
        # Nothing is said of a missing child.
        least, most = np.minimum(least, 0.0), np.maximum(most, 0.0)
    return least, most
