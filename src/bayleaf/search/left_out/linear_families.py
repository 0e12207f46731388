"""Draws structures of linear-Gaussian families and fits them by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies, columns_of
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.search.constraints import Constraints

# Structures that are drawn, and parents of a feature in each.
N_STRUCTURES, MOST_PARENTS = 4, 6
# A feature says what it says alone, and given its parents.
N_PIECES = 2
# Numbers with fewer states than this are no more than nominal.
_LEAST_STATES = 3
# The prior: precision of the intercept and of slopes, least variance of a class, and
# rows that variances of classes are pulled together by.
_INTERCEPT, _SLOPE, _LEAST_VARIANCE, _PULL = 0.01, 1.0, 0.01, 4.0
# Numbers of all moment matrices that are held; beyond it features are taken alone.
_MOST_MOMENTS = 20_000_000
# Positions are whole numbers of such parts: products of them are summed exactly.
_POSITIONS_A_UNIT = 4096.0
# Rows whose products are summed at a time, whatever the number of threads.
_BLOCK_ROWS = 65_536

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def normal_positions(variable: Variable, counts: Floats) -> Floats | None:
    """Positions of a numeric variable's intervals on a normal scale, (n_intervals,).

    Each is the normal quantile of the middle rank, of few binary digits, from the
    training weights `counts` (n_states,). None for a variable that is not numeric or
    takes fewer than three values.
    """
    if variable.kind != "numeric":
        return None
    inside = counts[: len(variable.cut_points) + 1]
    if _n_values(variable, counts) < _LEAST_STATES:
        return None
    below = np.cumsum(inside) - inside / 2
    # An empty interval at an end would lie at infinity.
    least = inside[inside > 0].min() / 4
    shares = np.clip(below, least, inside.sum() - least) / inside.sum()
    return np.asarray(np.round(ndtri(shares) * _POSITIONS_A_UNIT) / _POSITIONS_A_UNIT)


def _n_values(variable: Variable, counts: Floats) -> int:
    """Intervals that some row lies in."""
    return int(np.count_nonzero(counts[: len(variable.cut_points) + 1]))


def linear_families(
    codes: Codes,
    variables: Sequence[Variable],
    state_counts: Sequence[Floats],
    generator: np.random.Generator,
    constraints: Constraints | None = None,
) -> LinearGaussianFamilies | None:
    """Draw structures over the numeric features and fit their families.

    In each structure features are ordered by the logarithm of their information about
    the class, taken as normal, plus Gumbel noise; parents are drawn among the earlier
    ones by the logarithm of the information that their pooled correlation within
    classes gives, plus noise, as the sampled networks do with counts. `state_counts`
    are training weights (n_states,) of each feature. None if no feature is a number.
    """
    numbers = number_rows(codes, variables, state_counts, _LEAST_STATES)
    if numbers is None:
        return None
    among = (constraints or Constraints()).among(numbers.features.tolist())
    return fitted_families(numbers, _drawn_structures(numbers.rows, generator, among))


class Numbers(NamedTuple):
    """Features that are numbers, positions of their states, and the rows' positions."""

    features: Whole  # (n_columns,), increasing
    positions: tuple[Floats, ...]  # each (n_intervals,), on a normal scale
    rows: NumberRows  # with their moments


def number_rows(
    codes: Codes,
    variables: Sequence[Variable],
    state_counts: Sequence[Floats],
    least_states: int,
) -> Numbers | None:
    """The numeric features that take at least so many values, and their rows.

    See `linear_families`; None if there is no such feature.
    """
    found = [
        (feature, positions)
        for feature, variable in enumerate(variables)
        if _n_values(variable, state_counts[feature]) >= least_states
        for positions in [normal_positions(variable, state_counts[feature])]
        if positions is not None
    ]
    if not found:
        return None
    features = np.array([feature for feature, _ in found], dtype=np.int64)
    positions = tuple(own for _, own in found)
    columns = columns_of(codes, features, positions)
    return Numbers(features, positions, NumberRows(columns, codes))


class NumberRows:
    """The rows' positions, class by class, and their moments.

    Sums of whole weights are exact, since positions have few binary digits: they depend
    neither on the order of the rows nor on how the linear algebra adds them up.
    """

    def __init__(self, columns: Floats, codes: Codes) -> None:
        self.n_columns, self.n_classes = len(columns), codes.cards[-1]
        classes = codes.column(codes.n_variables - 1)
        by_class = np.argsort(classes, kind="stable")
        ends = np.cumsum(np.bincount(classes, minlength=self.n_classes))
        self._stretches = [
            slice(first, last)
            for first, last in zip([0, *ends[:-1]], ends, strict=True)
        ]
        self._weights = np.asarray(codes.weights, dtype=np.float64)[by_class]
        self._values = np.ascontiguousarray(columns[:, by_class])
        self._present = (~np.isnan(self._values)).astype(np.float64)
        self._values[self._present == 0] = 0.0
        self.is_whole = [bool(own.all()) for own in self._present]
        self.totals, self.means, self.squares = self._summed()
        too_many = self.n_classes * (self.n_columns + 1) ** 2 > _MOST_MOMENTS
        self.shared = None if too_many else self.moments(range(self.n_columns))

    def _summed(self) -> tuple[Floats, Floats, Floats]:
        """Weight, mean, and squares about it, by column and class."""
        totals, sums, squares = np.zeros((3, self.n_columns, self.n_classes))
        for c, rows in enumerate(self._stretches):
            weights, values = self._weights[rows], self._values[:, rows]
            totals[:, c] = self._present[:, rows] @ weights
            sums[:, c] = values @ weights
            squares[:, c] = values**2 @ weights
        means = np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)
        return totals, means, np.maximum(squares - totals * means**2, 0.0)

    def moments(self, columns: Sequence[int], among: int | None = None) -> Floats:
        """Weighted products of (1, deviations) by class, (n_classes, size, size).

        Deviations are from the class's mean, zero where a cell is missing. Only rows in
        which the column `among` is present count; all by default.
        """
        places = np.array(columns, dtype=np.int64)
        size = len(places) + 1
        found = np.zeros((self.n_classes, size, size))
        for c, rows in enumerate(self._stretches):
            # Sums of products of values, of values with presences, and of presences.
            sums = np.zeros((3, size, size))
            for first in range(rows.start, rows.stop, _BLOCK_ROWS):
                block = slice(first, min(first + _BLOCK_ROWS, rows.stop))
                self._add_products(sums, places, block, among)
            products, mixed, both = sums
            means = np.append(0.0, self.means[places, c])
            shifted = mixed * means[:, None]
            found[c] = products - shifted - shifted.T
            found[c] += both * means * means[:, None]
        return found

    def _add_products(
        self, sums: Floats, places: NDArray[np.int64], block: slice, among: int | None
    ) -> None:
        """Add the products of a block of rows; a constant comes first."""
        values = np.ones((len(places) + 1, block.stop - block.start))
        values[1:] = self._values[places, block]
        weights = self._weights[block]
        if among is not None:
            weights = weights * self._present[among, block]
        weighted = values * weights
        sums[0] += weighted @ values.T
        if all(self.is_whole[place] for place in places.tolist()):
            sums[1] += np.broadcast_to(weighted.sum(axis=1), sums[1].shape)
            sums[2] += weights.sum()
            return
        present = np.ones_like(values)
        present[1:] = self._present[places, block]
        sums[1] += present @ weighted.T
        sums[2] += (present * weights) @ present.T


def _drawn_structures(
    rows: NumberRows, generator: np.random.Generator, constraints: Constraints
) -> list[list[Whole]]:
    """For each structure, the parents of each column, the strongest first."""
    nobody = np.zeros(0, dtype=np.int64)
    n_columns = rows.n_columns
    information = normal_information(rows)
    if information is None:
        return [[nobody] * n_columns]
    own, pairs = (np.log(np.maximum(nats, 1e-12)) for nats in information)
    found = []
    for _ in range(N_STRUCTURES):
        order = np.argsort(-(own + generator.gumbel(size=n_columns)), kind="stable")
        if constraints.has_edges:
            order = constraints.ordered(order)
        parents = [nobody] * n_columns
        for place, child in enumerate(order.tolist()):
            earlier = order[:place]
            strength = pairs[child, earlier] + generator.gumbel(size=place)
            best = earlier[np.argsort(-strength, kind="stable")]
            best = constraints.sorted_parents(child, best)
            parents[child] = best[:MOST_PARENTS].astype(np.int64)
        found.append(parents)
    return found


def normal_information(rows: NumberRows) -> tuple[Floats, Floats] | None:
    """Information (nats) of columns on the class, and on each other given the class.

    The first is (n_columns,), were each column normal in every class, with one
    variance; the second (n_columns, n_columns), by the pooled correlation within
    classes. None for one column, or for too many to keep their moments.
    """
    if rows.shared is None or rows.n_columns < 2:
        return None
    squares = rows.squares.sum(axis=1)
    totals = rows.totals.sum(axis=1)
    middle = (rows.totals * rows.means).sum(axis=1) / totals
    between = (rows.totals * (rows.means - middle[:, None]) ** 2).sum(axis=1)
    products = rows.shared[:, 1:, 1:].sum(axis=0)
    scale = np.sqrt(np.maximum(squares, np.finfo(float).tiny))
    return (
        _shared_nats(between / (squares + between)),
        _shared_nats((products / scale / scale[:, None]) ** 2),
    )


def _shared_nats(explained: Floats) -> Floats:
    """Nats that two normal variables share, by the explained variance."""
    return np.asarray(-0.5 * np.log1p(-np.clip(explained, 0.0, 1.0 - 1e-9)))


class _Fit(NamedTuple):
    """One family in all classes."""

    coefficients: Floats
    triangles: Floats
    squares: Floats


def fitted_families(
    numbers: Numbers, structures: list[list[Whole]]
) -> LinearGaussianFamilies:
    """Fit every family: each column alone, then given its parents.

    A structure contains the parents of each column, as indices of columns.
    """
    rows = numbers.rows
    variances = _class_variances(rows)
    children, pieces, parents, shares = [], [], [], []
    facts, fits = [], []
    for child in range(rows.n_columns):
        given = [own[child] for own in structures if len(own[child])]
        drawn = [np.zeros(0, dtype=np.int64), *given]
        places = np.unique(np.concatenate(drawn))
        moments = _moments_of(rows, child, places)
        for number, own in enumerate(drawn):
            fit = _fit(moments, np.searchsorted(places, own))
            children.append(child)
            pieces.append(child * N_PIECES + (number > 0))
            parents.append(own)
            shares.append(1.0 / len(given) if number else 1.0)
            prior = 2.0 * variances[child]
            facts.append(np.stack([moments[:, 0, 0], fit.squares, prior], axis=1))
            fits.append(fit)
    return LinearGaussianFamilies(
        features=numbers.features,
        positions=numbers.positions,
        n_pieces=N_PIECES,
        children=np.array(children, dtype=np.int64),
        pieces=np.array(pieces, dtype=np.int64),
        starts=np.cumsum([0, *map(len, parents)]).astype(np.int64),
        parents=np.concatenate(parents).astype(np.int64),
        shares=np.array(shares),
        facts=np.stack(facts),
        coefficients=np.concatenate([fit.coefficients for fit in fits], axis=1),
        triangles=np.concatenate([fit.triangles for fit in fits], axis=1),
        means=np.ascontiguousarray(rows.means.T),
        variances=np.ascontiguousarray(variances.T),
    )


def _class_variances(rows: NumberRows) -> Floats:
    """Variance of each column in each class, (n_columns, n_classes).

    Pulled towards that of all classes, so that a class of two rows is not thought to be
    as narrow as these.
    """
    squares, totals = rows.squares, rows.totals
    pooled = squares.sum(axis=1, keepdims=True) / totals.sum(axis=1, keepdims=True)
    found = (squares + _PULL * pooled) / (totals + _PULL)
    return np.asarray(np.maximum(found, _LEAST_VARIANCE))


def _moments_of(rows: NumberRows, child: int, places: Whole) -> Floats:
    """Products of (1, parents, child) over the rows in which the child is known."""
    if rows.is_whole[child] and rows.shared is not None:
        taken = np.concatenate([[0], 1 + places, [1 + child]])
        return np.ascontiguousarray(rows.shared[:, taken][:, :, taken])
    return rows.moments([*places.tolist(), child], among=child)


def _fit(moments: Floats, own: Whole) -> _Fit:
    """The regression of the last variable of moments on a constant and some others."""
    taken = np.concatenate([[0], 1 + own])
    size = len(taken)
    prior = np.diag([_INTERCEPT, *[_SLOPE] * (size - 1)])
    inner = moments[:, taken[:, None], taken]
    with_child = moments[:, taken, -1]
    inverse = np.linalg.inv(inner + prior)
    inverse = (inverse + inverse.transpose(0, 2, 1)) / 2
    coefficients = (inverse @ with_child[:, :, None])[:, :, 0]
    explained = (coefficients * with_child).sum(axis=1)
    squares = np.maximum(moments[:, -1, -1] - explained, 0.0)
    # The leverage a'Ga is the squared length of L'a where G = L L'.
    upper = np.linalg.cholesky(inverse).transpose(0, 2, 1)
    rows, columns = np.triu_indices(size)
    return _Fit(coefficients, np.ascontiguousarray(upper[:, rows, columns]), squares)
