"""Densities of numbers, and trees, that are added to scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bayleaf.io.exports.sql.looking_up import Addend, Rows
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
from bayleaf.scoring.terms import MAX_LOG_DENSITY, Density, Tree

# Densities whose columns are in one stage.
_DENSITIES_PER_STAGE = 40

Slot = Callable[[int], str]


def tree_terms(tree: Tree, n_classes: int, slot: Slot) -> Iterator[Addend]:
    """What every split on a row's way changes, to the slot of its feature."""
    slots: dict[str, set[int]] = {}
    for feature in sorted(_features_below(tree, 0)):
        slots.setdefault(slot(feature), set()).add(feature)
    for name, features in slots.items():
        value = _changes(tree, 0, features)
        yield name, [value if c == tree.label else num(0.0) for c in range(n_classes)]


def _features_below(tree: Tree, node: int) -> set[int]:
    """Features that a node and those below test."""
    feature, first = int(tree.features[node]), int(tree.children[node])
    if feature < 0:
        return set()
    below = _features_below(tree, first) | _features_below(tree, first + 1)
    return below | {feature}


def _changes(tree: Tree, node: int, features: set[int]) -> Expression:
    """What splits on some features change from a node on."""
    if not features & _features_below(tree, node):
        return num(0.0)
    feature, first = int(tree.features[node]), int(tree.children[node])
    sides = []
    for child in (first, first + 1):
        value = _changes(tree, child, features)
        if feature in features:
            change = num(float(tree.values[child] - tree.values[node]))
            value = change if tree.features[child] < 0 else plus(change, value)
        sides.append(value)
    code, state = col(f"c{feature}"), num(int(tree.states[node]))
    test = at_most if tree.is_ordered[node] else equal
    unknown = equal(code.copy(), num(int(tree.cards[feature])))
    return case([(unknown, num(0.0)), (test(code, state), sides[0])], sides[1])


def add_densities(
    rows: Rows, densities: Sequence[Density], n_classes: int, slot: Slot
) -> None:
    """Add log densities of numbers to the slots of their features."""
    numbers = _Numbers(densities, n_classes)
    rows.extend(numbers.positions)
    rows.extend(numbers.deviations)
    for start in range(0, len(densities), _DENSITIES_PER_STAGE):
        part = range(start, min(start + _DENSITIES_PER_STAGE, len(densities)))
        residuals = numbers.residuals(part)
        rows.extend(residuals)
        logs = numbers.log_densities(part)
        rows.extend(logs)
        terms: list[Addend] = [
            (slot(densities[k].features[0]), numbers.values(k)) for k in part
        ]
        rows.add_up(terms, n_classes)
        rows.extend({}, without=[*residuals, *logs])
    rows.extend({}, without=[*numbers.positions, *numbers.deviations])


class _Numbers:
    """Student t densities as expressions; see `Density`."""

    def __init__(self, densities: Sequence[Density], n_classes: int) -> None:
        self._densities, self._classes = densities, range(n_classes)
        # Numbers on the normal scale, NULL where missing; deviations from the means of
        # the classes, zero where missing.
        self.positions: Columns = {}
        self.deviations: Columns = {}
        known: dict[tuple[int, bytes, bytes], int] = {}
        self._indices = []
        for density in densities:
            members = zip(density.features, density.positions, density.means)
            indices = []
            for feature, positions, means in members:
                key = feature, positions.tobytes(), means.tobytes()
                indices.append(known.setdefault(key, len(known)))
                if f"w{indices[-1]}" not in self.positions:
                    self._add(indices[-1], feature, positions.tolist(), means.tolist())
            self._indices.append(indices)

    def _add(
        self, index: int, feature: int, positions: list[float], means: list[float]
    ) -> None:
        """Columns of a number."""
        by_code = {code: num(value) for code, value in enumerate(positions)}
        name = f"w{index}"
        self.positions[name] = chosen(col(f"c{feature}"), by_code, null())
        for c, mean in enumerate(means):
            deviation = minus(col(name), num(mean))
            absent = is_null(col(name)), num(0.0)
            self.deviations[f"d{index}_{c}"] = case([absent], deviation)

    def residuals(self, numbers: Sequence[int]) -> Columns:
        """What parents leave unexplained, and the squared scale of that."""
        columns: Columns = {}
        for k in numbers:
            child, *parents = self._indices[k]
            for c in self._classes:
                row = [f"d{parent}_{c}" for parent in parents]
                intercept, *slopes = self._densities[k].slopes[:, c].tolist()
                expected = [times(num(s), col(name)) for s, name in zip(slopes, row)]
                mean = plus(num(intercept), *expected)
                columns[f"r{k}_{c}"] = minus(col(f"d{child}_{c}"), mean)
                columns[f"q{k}_{c}x"] = self._spread(k, c, row)
        return columns

    def _spread(self, k: int, c: int, row: list[str]) -> Expression:
        """The squared scale of a density, wider for missing parents."""
        density = self._densities[k]
        scale = float(density.scale[c])
        parts = [num(scale), times(num(scale), _leverage(density, c, row))]
        added = density.slopes[1:, c] ** 2 * density.variances[1:, c]
        for parent, variance in zip(self._indices[k][1:], added.tolist(), strict=True):
            parts.append(case([(is_null(col(f"w{parent}")), num(variance))], num(0.0)))
        return plus(*parts)

    def log_densities(self, numbers: Sequence[int]) -> Columns:
        """Log densities of Student's t."""
        columns: Columns = {}
        for k in numbers:
            for c in self._classes:
                freedom = float(self._densities[k].freedom[c])
                residual, spread = col(f"r{k}_{c}"), col(f"q{k}_{c}x")
                far = over(
                    times(residual, residual.copy()), times(spread, num(freedom))
                )
                tail = times(num((freedom + 1) / 2), logarithm(plus(num(1.0), far)))
                width = times(num(0.5), logarithm(spread.copy()))
                constant = num(float(self._densities[k].constants[c]))
                columns[f"y{k}_{c}x"] = minus(constant, plus(width, tail))
        return columns

    def values(self, k: int) -> list[Expression]:
        """Weighted log densities of each class, zero for a missing number."""
        absent = is_null(col(f"w{self._indices[k][0]}"))
        weight = num(self._densities[k].weight)
        return [
            case(
                [(absent.copy(), num(0.0))],
                times(weight.copy(), _bounded(col(f"y{k}_{c}x"))),
            )
            for c in self._classes
        ]


def _leverage(density: Density, c: int, row: list[str]) -> Expression:
    """The squared length of the triangle's product with the parents."""
    corners = iter(density.triangle[:, c].tolist())
    squares = []
    for k in range(len(row) + 1):
        parts = []
        for index in range(k, len(row) + 1):
            number = num(next(corners))
            parts.append(times(number, col(row[index - 1])) if index else number)
        product = plus(*parts)
        squares.append(times(product, product.copy()))
    return plus(*squares)


def _bounded(value: Expression) -> Expression:
    """A log density within its bounds."""
    most, least = num(MAX_LOG_DENSITY), num(-MAX_LOG_DENSITY)
    return case(
        [
            (at_most(most, value.copy()), most.copy()),
            (at_most(value.copy(), least), least.copy()),
        ],
        value,
    )
