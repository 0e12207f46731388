"""Linear-Gaussian families of numbers: drawn, ranked or chosen, and fitted by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies, columns_of
from bayleaf.cpds.random_network import OwnShares
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable
from bayleaf.search.constraints import Constraints
from bayleaf.search.feature_orders import (
    TIE_DECIMALS,
    least_information,
    ranked_parents,
    spanning_parents,
)
from bayleaf.search.left_out.left_out_scores import LeftOutRows, log_losses
from bayleaf.search.left_out.temperature import best_temperature

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

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
# Positions are integers of such parts: products of them are summed exactly.
_POSITIONS_A_UNIT = 4096.0
# Rows whose products are summed at a time, whatever the number of threads.
_BLOCK_ROWS = 65_536
# Numbers of parents that "auto" tries: a parent adds one slope, not a factor of cells.
PARENT_GRID = (0, 1, 2, 3, 5, 8, 13, 21, 34)
# Log densities held at a time.
_BLOCK_VALUES = 1 << 21


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


def fitted_families(
    numbers: Numbers, structures: list[list[Whole]]
) -> LinearGaussianFamilies:
    """Fit every family: each column alone, then given its parents.

    A structure contains the parents of each column, as indices of columns.
    """
    rows = numbers.rows
    variances = _class_variances(rows)
    children, pieces, parents, shares = [], [], [], []
    facts, coefficients, triangles = [], [], []
    for child in range(rows.n_columns):
        given = [own[child] for own in structures if len(own[child])]
        drawn = [np.zeros(0, dtype=np.int64), *given]
        places = np.unique(np.concatenate(drawn))
        # Products of (1, parents, child) over the rows in which the child is known.
        if rows.is_whole[child] and rows.shared is not None:
            taken = np.concatenate([[0], 1 + places, [1 + child]])
            moments = np.ascontiguousarray(rows.shared[:, taken][:, :, taken])
        else:
            moments = rows.moments([*places.tolist(), child], among=child)
        for number, own in enumerate(drawn):
            slopes, triangle, squares = _fit(moments, np.searchsorted(places, own))
            children.append(child)
            pieces.append(child * N_PIECES + (number > 0))
            parents.append(own)
            shares.append(1.0 / len(given) if number else 1.0)
            prior = 2.0 * variances[child]
            facts.append(np.stack([moments[:, 0, 0], squares, prior], axis=1))
            coefficients.append(slopes)
            triangles.append(triangle)
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
        coefficients=np.concatenate(coefficients, axis=1),
        triangles=np.concatenate(triangles, axis=1),
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


def _fit(moments: Floats, own: Whole) -> tuple[Floats, Floats, Floats]:
    """Regress the last variable of moments on a constant and some others, by class.

    Returns coefficients, factors of the leverage and sums of squared residuals.
    """
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
    return coefficients, np.ascontiguousarray(upper[:, rows, columns]), squares


@dataclass(frozen=True, eq=False)
class GaussianParentRanking:
    """Numbers in KDB's order, and the best parents of each."""

    numbers: Numbers
    ranked: list[Whole]  # earlier columns, the most informative first

    @classmethod
    def from_rows(
        cls,
        numbers: Numbers,
        theta: float | str | None = None,
        constraints: Constraints | None = None,
    ) -> GaussianParentRanking:
        """Rank the numbers by information, each taken as normal within the classes.

        Parents of at most `theta` nats are left out; with "auto" those whose G² stays
        below ln N for each slope that they add. Constraints are over all features, see
        `rank_parents`, and apply among the numbers.
        """
        constraints = (constraints or Constraints()).among(numbers.features.tolist())
        required = constraints.required_parents(numbers.rows.n_columns)
        ranked = [np.array(parents, dtype=np.int64) for parents in required]
        information = normal_information(numbers.rows)
        if information is not None:
            own, pairs = (nats.round(TIE_DECIMALS) for nats in information)
            order = constraints.ordered(np.argsort(-own, kind="stable"))
            weight = float(numbers.rows.totals.sum(axis=1).max())
            n_parameters = np.full(pairs.shape, float(numbers.rows.n_classes))
            least = least_information(theta, weight, n_parameters)
            for parent, child in constraints.required_edges:
                least[child, parent] = -np.inf
            for place, child in enumerate(order.tolist()):
                best = ranked_parents(child, order[:place], pairs, constraints)
                strong = pairs[child, best] > least[child, best]
                ranked[child] = best[strong].astype(np.int64)
        return cls(numbers, ranked)

    def families(self, k: int) -> LinearGaussianFamilies:
        """The families in which each number has its k best parents."""
        return fitted_families(self.numbers, [[own[:k] for own in self.ranked]])


def gaussian_tree(
    numbers: Numbers, theta: float | None, constraints: Constraints | None = None
) -> LinearGaussianFamilies:
    """Families of the tree of largest information, as in TAN.

    Edges of at most `theta` nats are left out; constraints are over all features.
    """
    n_columns = numbers.rows.n_columns
    constraints = (constraints or Constraints()).among(numbers.features.tolist())
    parents = constraints.required_parents(n_columns)
    information = normal_information(numbers.rows)
    if information is not None:
        own, pairs = (nats.round(TIE_DECIMALS) for nats in information)
        order = np.argsort(-own, kind="stable")
        parents = spanning_parents(pairs, order, theta, constraints)
    structure = [np.array(own, dtype=np.int64) for own in parents]
    return fitted_families(numbers, [structure])


def choose_families(
    ranking: GaussianParentRanking, codes: Codes, log_prior: Floats, least: int = 0
) -> tuple[int, LinearGaussianFamilies]:
    """Choose the number of parents that predicts left-out rows best, and families.

    It is the least of the best in `PARENT_GRID` from `least` on, each at the
    temperature that suits it. `log_prior` (n_classes, n_rows) is in nats, without the
    row.
    """
    class_codes = codes.column(codes.n_variables - 1).astype(np.intp)
    weights, most = np.asarray(codes.weights), max(map(len, ranking.ranked))
    tried = [k for k in PARENT_GRID if least <= k < most] + [most]
    best: tuple[float, int, LinearGaussianFamilies] | None = None
    for k in [k for k in tried if k <= max(PARENT_GRID[-1], least)]:
        families = ranking.families(k)
        said = numeric_log_likelihoods(families, codes, is_left_out=True)
        scores = (log_prior + said).T
        scores = scores / best_temperature(scores, class_codes, weights)
        mean = weights @ log_losses(scores, class_codes) / weights.sum()
        loss = round(float(mean), TIE_DECIMALS)
        if best is None or loss < best[0]:
            best = loss, k, families
    assert best is not None
    return best[1], best[2]


def last_pieces(families: LinearGaussianFamilies) -> Whole:
    """For each number the piece that says what it says in the network, shape (n,).

    That is the one given its parents, where it has any.
    """
    found = np.zeros(len(families.features), dtype=np.int64)
    np.maximum.at(found, families.children, families.pieces)
    return found


def numeric_log_likelihoods(
    families: LinearGaussianFamilies, codes: Codes, *, is_left_out: bool = False
) -> Floats:
    """Evidence (nats) of all numbers, summed in blocks of rows, (n_classes, n_rows)."""
    n_classes, n_pieces = len(families.means), families.n_columns_of_pieces
    chosen = last_pieces(families)
    found = np.empty((n_classes, codes.n_rows))
    step = max(1, _BLOCK_VALUES // (n_classes * n_pieces))
    for first in range(0, codes.n_rows, step):
        rows = codes.rows(slice(first, first + step))
        shares = own_shares(LeftOutRows(rows)) if is_left_out else None
        values: NDArray[Any] = np.empty((rows.n_rows, n_classes, n_pieces))
        families.write_log_densities(rows, values, 0, shares)
        found[:, first : first + step] = values[:, :, chosen].sum(axis=2).T
    return found


def own_shares(rows: LeftOutRows) -> OwnShares:
    """What each row takes from the families of its own class."""
    return OwnShares(rows.own.astype(np.int64), rows.shares)


def weighed_pieces(
    families: LinearGaussianFamilies,
    codes: Codes,
    log_prior: Floats,
    log_tables: Floats,
) -> NDArray[np.float32]:
    """Left-out log-probabilities (nats) of prior, tables and each number.

    `log_prior` and `log_tables` (n_classes, n_rows or more) are without the row;
    further rows are ignored. Returns (n_rows, n_classes, 2 + n_numbers), float32.
    """
    n_rows, n_classes = codes.n_rows, len(families.means)
    every = np.empty((n_rows, n_classes, families.n_columns_of_pieces), np.float32)
    families.write_log_densities(codes, every, 0, own_shares(LeftOutRows(codes)))
    values = np.empty((n_rows, n_classes, 2 + len(families.features)), np.float32)
    values[:, :, 0] = log_prior[:, :n_rows].T
    values[:, :, 1] = log_tables[:, :n_rows].T
    values[:, :, 2:] = every[:, :, last_pieces(families)]
    return values
