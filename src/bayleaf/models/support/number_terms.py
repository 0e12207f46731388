"""What numbers add to an average's scores, as numbers and by curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.occupied import MOST_WEIGHT
from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.random_network import OwnShares, RandomNetwork
from bayleaf.cpds.state_tables import StateTables
from bayleaf.data.codes import Codes
from bayleaf.scoring.terms import Density, Look
from bayleaf.wording import brief_fields

# Log densities held at a time.
_BLOCK_VALUES = 1 << 20
# Degrees of freedom from which the series of a density's constant is exact.
_SERIES_FROM = 40.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightedLinearFamilies:
    """Linear-Gaussian families, each piece with its weight.

    Pieces are a numeric feature alone, then given its parents.
    """

    families: LinearGaussianFamilies
    weights: Floats  # (n_columns, n_pieces), at least 0

    __repr__ = brief_fields

    @classmethod
    def of(
        cls, families: LinearGaussianFamilies | None, weights: Floats
    ) -> WeightedLinearFamilies | None:
        """Families with the weights of their pieces; None where none has any."""
        if families is None or not weights.any():
            return None
        return cls(families, weights.reshape(-1, families.n_pieces))

    def __post_init__(self) -> None:
        expected = len(self.families.features), self.families.n_pieces
        if np.shape(self.weights) != expected:
            raise ValueError("every piece of the linear families needs a weight")

    def check_content(self) -> None:
        """Raise ValueError unless the weights are numbers of at least zero."""
        if not ((self.weights >= 0) & (self.weights <= MOST_WEIGHT)).all():
            raise ValueError("a weight of linear families is negative or huge")

    def check_fit(self, cards: tuple[int, ...]) -> None:
        """Raise ValueError unless they are over features and a class like these."""
        self.families.check_fit(cards)

    @property
    def n_parameters(self) -> int:
        """Free numbers of the families that have weight, and their weights."""
        if not self.weights.any():
            return 0
        return self.families.n_parameters + int(np.count_nonzero(self.weights))

    def add(self, codes: Codes, scores: Floats) -> None:
        """Add what all pieces say to scores of shape (n_rows, n_classes)."""
        if not self.weights.any():
            return
        weights = self.weights.ravel()
        step = max(1, _BLOCK_VALUES // (len(weights) * scores.shape[1]))
        for first in range(0, codes.n_rows, step):
            rows = slice(first, first + step)
            scores[rows] += self._values(codes.rows(rows)) @ weights

    def changes(
        self, codes: Codes, n_features: int, left_out: OwnShares | None = None
    ) -> Floats:
        """The contribution of each number alone, and what its parents change together.

        Shape (n_rows, n_classes, n_features, 2), nats; `left_out` is taken from the
        rows of training.
        """
        values = self._values(codes, left_out)
        values = values.reshape(*values.shape[:2], *self.weights.shape)
        deeper = np.cumsum(self.weights[:, ::-1], axis=1)[:, ::-1]
        added = deeper * np.diff(values, axis=3, prepend=0.0)
        found = np.zeros((*values.shape[:2], n_features, 2))
        found[:, :, self.families.features, 0] = added[..., 0]
        found[:, :, self.families.features, 1] = added[..., 1:].sum(axis=3)
        return found

    def alone(self, feature: int, codes: Codes) -> Floats:
        """What a feature says without parents at its whole weight, by row and class.

        Zero for a feature that is no number.
        """
        place = np.flatnonzero(self.families.features == feature)
        if not len(place):
            return np.zeros((codes.n_rows, len(self.families.means)))
        values = self._values(codes)[:, :, int(place[0]) * self.families.n_pieces]
        return np.asarray(values * self.weights[place[0]].sum())

    def parent_weights(self, feature: int) -> dict[int, float]:
        """By parent, the weight of the feature's pieces that look at it."""
        found: dict[int, float] = {}
        place = np.flatnonzero(self.families.features == feature)
        for share, parents in self.families.parents_of(feature):
            for parent in parents:
                weight = share * float(self.weights[place[0], 1:].sum())
                found[parent] = found.get(parent, 0.0) + weight
        return found

    def terms(self, cards: Sequence[int]) -> Iterator[Density]:
        """The families that have weight."""
        families, weights, corner = self.families, self.weights.ravel(), 0
        n_rows, squares, prior = np.moveaxis(families.facts, 2, 0)
        freedom = n_rows + 2.0
        scale, constants = (squares + prior) / freedom, _log_constants(freedom)
        for number, child in enumerate(families.children.tolist()):
            first, last = families.starts[number : number + 2].tolist()
            members = [child, *families.parents[first:last].tolist()]
            corners = slice(corner, corner + len(members) * (len(members) + 1) // 2)
            corner = corners.stop
            weight = families.shares[number] * weights[families.pieces[number]]
            if weight:
                # Before those of its parents each family has an intercept.
                slopes = slice(first + number, last + number + 1)
                yield Density(
                    float(weight),
                    tuple(families.features[members].tolist()),
                    tuple(families.positions[member] for member in members),
                    families.means[:, members].T,
                    families.variances[:, members].T,
                    families.coefficients[:, slopes].T,
                    families.triangles[:, corners].T,
                    scale[number],
                    freedom[number],
                    constants[number],
                )

    def _values(self, codes: Codes, left_out: OwnShares | None = None) -> NDArray[Any]:
        """Log densities of rows, shape (n_rows, n_classes, n_columns * n_pieces)."""
        n_classes, n_pieces = len(self.families.means), self.weights.size
        values = np.empty((codes.n_rows, n_classes, n_pieces))
        self.families.write_log_densities(codes, values, 0, left_out)
        return values


@dataclass(frozen=True, eq=False)
class Curves:
    """What each state of some features adds to the scores."""

    features: NDArray[np.int64]  # (n_curves,), in increasing order
    curves: tuple[Floats, ...]  # (n_states, n_classes), nats

    __repr__ = brief_fields

    def plus(self, more: Mapping[int, Floats]) -> Curves:
        """These curves and others, which add up where a feature has both."""
        total = dict(zip(self.features.tolist(), self.curves, strict=True))
        for feature, curve in more.items():
            total[feature] = total[feature] + curve if feature in total else curve
        features = np.array(sorted(total), dtype=np.int64)
        return Curves(features, tuple(total[own] for own in features.tolist()))

    def check_content(self) -> None:
        """Raise ValueError unless all curves hold numbers of use."""
        if len(self.features) != len(self.curves):
            raise ValueError("every curve needs its feature")
        if (np.diff(self.features) <= 0).any() or (self.features < 0).any():
            raise ValueError("the features of curves are in no order")
        for curve in self.curves:
            if not (np.abs(curve) <= MOST_WEIGHT).all():
                raise ValueError("a curve holds a value that is none or huge")

    def check_fit(self, cards: tuple[int, ...]) -> None:
        """Raise ValueError unless they are over features and a class like these."""
        n_features = len(cards) - 1
        if (self.features >= n_features).any():
            raise ValueError("a curve belongs to no feature")
        for feature, curve in self._pairs:
            if np.shape(curve) != (cards[feature], cards[-1]):
                raise ValueError("a curve does not fit its feature and the classes")

    def add(self, codes: Codes, scores: Floats) -> None:
        """Add all curves to scores of shape (n_rows, n_classes)."""
        for rows, block in self._tables.blocks(codes):
            for entries in block:
                scores[rows] += entries

    def changes(self, codes: Codes, n_features: int) -> Floats:
        """Contributions of curves; see `WeightedLinearFamilies`."""
        found = np.zeros((codes.n_rows, self.curves[0].shape[1], n_features, 2))
        for rows, block in self._tables.blocks(codes):
            found[rows][:, :, self.features, 0] = block.transpose(1, 2, 0)
        return found

    def terms(self, cards: Sequence[int]) -> Iterator[Look]:
        """A table each."""
        for feature, curve in self._pairs:
            yield Look.of_states(feature, cards[feature], curve)

    @property
    def n_parameters(self) -> int:
        """Free numbers."""
        return sum(curve.size for curve in self.curves)

    def alone(self, feature: int, codes: Codes) -> Floats:
        """What one feature adds, (n_rows, n_classes); zero without a curve or state."""
        scores = np.zeros((codes.n_rows, self.curves[0].shape[1]))
        curve = dict(self._pairs).get(feature)
        if curve is not None:
            Curves(np.array([feature]), (curve,)).add(codes, scores)
        return scores

    @cached_property
    def _tables(self) -> StateTables:
        return StateTables.of(self.features, self.curves, 0.0)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def _pairs(self) -> Iterator[tuple[int, Floats]]:
        """Features and their curves."""
        return zip(self.features.tolist(), self.curves, strict=True)


def _log_constants(freedom: Floats) -> Floats:
    """Logarithms of what a Student t density begins with, by degrees of freedom v.

    They are ln Gamma((v + 1) / 2) - ln Gamma(v / 2) - ln(v pi) / 2.

    By the native loops' series: a difference of ln Gamma loses digits where v is large.
    """
    product, v = np.ones_like(freedom), freedom.copy()
    while (low := v < _SERIES_FROM).any():
        # Gamma((v + 3) / 2) / Gamma((v + 2) / 2) is (v + 1) / v times the ratio at v.
        product[low] *= v[low] / (v[low] + 1.0)
        v[low] += 2.0
    inverse = 1.0 / v
    terms = np.polynomial.Polynomial([0.25, -1 / 24, 0.05, -17 / 112])
    series = -inverse * terms(inverse**2)
    halves = np.log(v / 2.0) - np.log(np.pi * freedom)
    return np.asarray(np.log(product) + halves / 2.0 + series)


def parent_weights(
    networks: Sequence[RandomNetwork],
    weights: Floats,
    linear: WeightedLinearFamilies | None,
) -> list[dict[int, float]]:
    """Parents of each feature by falling weight: the total of terms that look at them.

    `weights` (n_features, n_depths).
    """
    n_features, depths = weights.shape
    found = []
    for child in range(n_features):
        # Terms that look at the first j parents, or more.
        known = np.cumsum(weights[child][::-1])[::-1] / len(networks)
        total: dict[int, float] = {} if linear is None else linear.parent_weights(child)
        for network in networks:
            parents = network.families[child].variables[1:depths]
            for depth, parent in enumerate(parents, 1):
                total[parent] = total.get(parent, 0.0) + float(known[depth])
        ranked = sorted(total.items(), key=lambda item: (-item[1], item[0]))
        found.append({parent: weight for parent, weight in ranked if weight > 0})
    return found


def odds_between(
    target: NDArray[np.intp], against: NDArray[np.intp], values: Floats
) -> Floats:
    """One class's values less another's by row, of values (n_rows, n_classes, ...)."""
    places = np.arange(len(values))
    return np.asarray(values[places, target] - values[places, against])
