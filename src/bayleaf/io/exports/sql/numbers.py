"""What numbers, curves and trees add to scores beside tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.looking_up import Addend, Look, Rows
from bayleaf.io.exports.sql.pipeline import Columns
from bayleaf.io.exports.sql.words import (
    Expression,
    at_most,
    case,
    chosen,
    col,
    equal,
    is_null,
    logarithm,
    minus,
    null,
    num,
    over,
    plus,
    times,
)

# No piece says more than this, nats.
_MOST_NATS = 50.0
# Families whose columns stand in one stage.
_FAMILIES_IN_STAGE = 40

Slot = Callable[[int], str]


def add_curves(
    curves: Mapping[str, Any], cards: Sequence[int], slot: Slot
) -> list[Addend]:
    """What states of some features add."""
    return [
        (slot(v), Look.dense([f"c{v}"], [cards[v] + 1], np.asarray(curve).T))
        for v, curve in zip(curves["features"], curves["curves"], strict=True)
    ]


def tree_terms(
    trees: Mapping[str, Any], cards: Sequence[int], n_classes: int, slot: Slot
) -> list[Addend]:
    """What every split on a row's way changes, to the slot of its feature."""
    walked = _Trees(trees, cards)
    found: list[Addend] = []
    for root, label in zip(trees["roots"], trees["classes"], strict=True):
        slots: dict[str, set[int]] = {}
        for feature in walked.features_below(root):
            slots.setdefault(slot(feature), set()).add(feature)
        for name, features in slots.items():
            value = walked.changes(root, features)
            values = [value if c == label else num(0.0) for c in range(n_classes)]
            found.append((name, values))
    return found


class _Trees:
    """Nodes of class trees as conditions."""

    def __init__(self, trees: Mapping[str, Any], cards: Sequence[int]) -> None:
        self._features: list[int] = trees["features"]
        self._states: list[int] = trees["states"]
        self._children: list[int] = trees["children"]
        self._ordered = set(trees["ordered"])
        self._values = np.asarray(trees["values"]).tolist()
        self._cards = cards

    def features_below(self, node: int) -> list[int]:
        """Features that a node and those below look at, in order."""
        if self._features[node] < 0:
            return []
        first = self._children[node]
        below = {*self.features_below(first), *self.features_below(first + 1)}
        return sorted(below | {self._features[node]})

    def changes(self, node: int, features: set[int]) -> Expression:
        """What splits on some features change from a node on."""
        feature = self._features[node]
        if feature < 0 or not features & set(self.features_below(node)):
            return num(0.0)
        first = self._children[node]
        sides = []
        for child in (first, first + 1):
            deeper = self.changes(child, features)
            if feature in features:
                change = num(self._values[child] - self._values[node])
                is_last = self._features[child] < 0
                sides.append(change if is_last else plus(change, deeper))
            else:
                sides.append(deeper)
        code, state = col(f"c{feature}"), num(self._states[node])
        test = at_most if feature in self._ordered else equal
        unknown = equal(code.copy(), num(self._cards[feature]))
        return case([(unknown, num(0.0)), (test(code, state), sides[0])], sides[1])


def add_linear(
    rows: Rows, linear: Mapping[str, Any], n_classes: int, slot: Slot
) -> None:
    """What features say as numbers, by linear-Gaussian families, to their slots."""
    families = _Families(linear, n_classes)
    helpers = families.places()
    rows.extend(helpers)
    rows.extend(families.deviations())
    used = families.used
    for start in range(0, len(used), _FAMILIES_IN_STAGE):
        part = used[start : start + _FAMILIES_IN_STAGE]
        rows.extend(families.residuals(part))
        rows.extend(families.densities(part))
        terms: list[Addend] = [
            (slot(families.feature(k)), families.values(k)) for k in part
        ]
        rows.add_up(terms, n_classes)
        rows.extend({}, without=families.names(part))
    rows.extend({}, without=[*helpers, *families.deviations()])


class _Families:
    """Linear-Gaussian families as expressions; see `LinearGaussianFamilies`."""

    def __init__(self, linear: Mapping[str, Any], n_classes: int) -> None:
        self._of = linear
        self._classes = range(n_classes)
        self._features: list[int] = linear["features"]
        self._starts: list[int] = linear["starts"]
        self._children: list[int] = linear["children"]
        weights = np.asarray(linear["weights"]).ravel()
        shares = np.asarray(linear["shares"])
        self._weights = shares * weights[linear["pieces"]]
        self.used = [k for k in range(len(shares)) if self._weights[k]]
        sizes = [last - first + 1 for first, last in pairwise(self._starts)]
        corners = np.cumsum([0, *(size * (size + 1) // 2 for size in sizes)])
        self._corners = corners.tolist()

    def feature(self, family: int) -> int:
        """The feature that a family is of."""
        return self._features[self._children[family]]

    def _parents(self, family: int) -> list[int]:
        """Columns of the parents of a family."""
        first, last = self._starts[family : family + 2]
        return list(self._of["parents"][first:last])

    def places(self) -> Columns:
        """Where numbers lie on the normal scale; missing for missing cells."""
        found: Columns = {}
        for k, positions in enumerate(self._of["positions"]):
            at = {code: num(float(x)) for code, x in enumerate(np.asarray(positions))}
            found[f"w{k}"] = chosen(col(f"c{self._features[k]}"), at, null())
        return found

    def deviations(self) -> Columns:
        """How far numbers are from the mean of each class; none where missing."""
        means = np.asarray(self._of["means"])
        return {
            f"d{k}_{c}": case(
                [(is_null(col(f"w{k}")), num(0.0))],
                minus(col(f"w{k}"), num(float(means[c, k]))),
            )
            for k in range(len(self._features))
            for c in self._classes
        }

    def residuals(self, families: Sequence[int]) -> Columns:
        """What parents leave unexplained, and the squared scale of that."""
        found: Columns = {}
        for k in families:
            for c in self._classes:
                row = [f"d{parent}_{c}" for parent in self._parents(k)]
                found[f"r{k}_{c}"] = self._residual(k, c, row)
                found[f"q{k}_{c}x"] = self._spread(k, c, row)
        return found

    def _slopes(self, family: int, c: int) -> NDArray[np.float64]:
        """Intercept and slopes of a family in a class."""
        first = self._starts[family] + family
        size = len(self._parents(family)) + 1
        return np.asarray(self._of["coefficients"])[c, first : first + size]

    def _residual(self, family: int, c: int, row: list[str]) -> Expression:
        """The child's deviation less what its parents lead one to expect."""
        intercept, *slopes = self._slopes(family, c).tolist()
        expected = [times(num(s), col(name)) for s, name in zip(slopes, row)]
        child = col(f"d{self._children[family]}_{c}")
        return minus(child, plus(num(intercept), *expected))

    def _spread(self, family: int, c: int, row: list[str]) -> Expression:
        """The squared scale of the density, wider for missing parents."""
        scale = float(np.asarray(self._of["scale"])[family, c])
        parts = [num(scale), times(num(scale), self._leverage(family, c, row))]
        variances = np.asarray(self._of["variances"])[c]
        slopes = self._slopes(family, c)[1:]
        for parent, slope in zip(self._parents(family), slopes, strict=True):
            added = num(float(slope**2 * variances[parent]))
            parts.append(case([(is_null(col(f"w{parent}")), added)], num(0.0)))
        return plus(*parts)

    def _leverage(self, family: int, c: int, row: list[str]) -> Expression:
        """The squared length of the triangle's product with the parents."""
        corner = self._corners[family]
        triangle = np.asarray(self._of["triangles"])[c]
        squares = []
        for k in range(len(row) + 1):
            parts = []
            for place in range(k, len(row) + 1):
                number = num(float(triangle[corner]))
                corner += 1
                parts.append(times(number, col(row[place - 1])) if place else number)
            product = plus(*parts)
            squares.append(times(product, product.copy()))
        return plus(*squares)

    def densities(self, families: Sequence[int]) -> Columns:
        """Log densities of Student's t."""
        freedoms = np.asarray(self._of["freedom"])
        constants = np.asarray(self._of["constants"])
        found: Columns = {}
        for k in families:
            for c in self._classes:
                freedom = float(freedoms[k, c])
                residual, spread = col(f"r{k}_{c}"), col(f"q{k}_{c}x")
                far = over(
                    times(residual, residual.copy()), times(spread, num(freedom))
                )
                tail = times(num((freedom + 1) / 2), logarithm(plus(num(1.0), far)))
                width = times(num(0.5), logarithm(spread.copy()))
                found[f"y{k}_{c}x"] = minus(
                    num(float(constants[k, c])), plus(width, tail)
                )
        return found

    def values(self, family: int) -> list[Expression]:
        """What a family says of each class, nothing if its number is missing."""
        absent = is_null(col(f"w{self._children[family]}"))
        weight = num(float(self._weights[family]))
        return [
            case(
                [(absent.copy(), num(0.0))],
                times(weight.copy(), _bounded(col(f"y{family}_{c}x"))),
            )
            for c in self._classes
        ]

    def names(self, families: Sequence[int]) -> list[str]:
        """Columns that are not needed any longer."""
        kinds = ("r{}_{}", "q{}_{}x", "y{}_{}x")
        return [
            kind.format(k, c) for kind in kinds for k in families for c in self._classes
        ]


def _bounded(value: Expression) -> Expression:
    """A number within the most that a piece says."""
    most, least = num(_MOST_NATS), num(-_MOST_NATS)
    return case(
        [
            (at_most(most, value.copy()), most.copy()),
            (at_most(value.copy(), least), least.copy()),
        ],
        value,
    )
