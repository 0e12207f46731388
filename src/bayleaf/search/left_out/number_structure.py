"""Parents of numbers among numbers, in one network, and how many left-out rows want."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies
from bayleaf.cpds.random_network import OwnShares
from bayleaf.data.codes import Codes
from bayleaf.search.constraints import Constraints
from bayleaf.search.left_out.cells import LeftOutRows
from bayleaf.search.left_out.linear_families import (
    Numbers,
    fitted_families,
    normal_information,
)
from bayleaf.search.left_out.temperature import best_temperature
from bayleaf.search.orders.chow_liu import spanning_parents
from bayleaf.search.orders.kdb import TIE_DECIMALS, ranked_parents

# Numbers of parents that "auto" tries: a parent adds one slope, not a factor of cells.
PARENT_GRID = (0, 1, 2, 3, 5, 8, 13, 21, 34)
# Log densities held at a time.
_BLOCK_VALUES = 1 << 21

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NumberRanking:
    """Numbers in KDB's order, and the best parents of each."""

    numbers: Numbers
    ranked: list[Whole]  # earlier columns, the most informative first

    @classmethod
    def from_rows(
        cls,
        numbers: Numbers,
        theta: float | str | None = None,
        constraints: Constraints | None = None,
    ) -> NumberRanking:
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
            order = np.argsort(-own, kind="stable")
            if constraints.has_edges:
                order = constraints.ordered(order)
            least = np.full(pairs.shape, _least_nats(numbers, theta))
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


def number_tree(
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
    ranking: NumberRanking, codes: Codes, log_prior: Floats, least: int = 0
) -> tuple[int, LinearGaussianFamilies]:
    """Choose the number of parents that predicts left-out rows best, and families.

    It is the least of the best in `PARENT_GRID` from `least` on, each at the
    temperature that suits it. `log_prior` (n_classes, n_rows) is in nats, without the
    row.
    """
    own = codes.column(codes.n_variables - 1).astype(np.intp)
    weights, most = np.asarray(codes.weights), max(map(len, ranking.ranked))
    tried = [k for k in PARENT_GRID if least <= k < most] + [most]
    best: tuple[float, int, LinearGaussianFamilies] | None = None
    for k in [k for k in tried if k <= max(PARENT_GRID[-1], least)]:
        families = ranking.families(k)
        said = left_out_numbers(families, codes)
        scores = (log_prior + said).T
        scores = scores / best_temperature(scores, own, weights)
        loss = round(_log_loss(scores, own, weights), TIE_DECIMALS)
        if best is None or loss < best[0]:
            best = loss, k, families
    assert best is not None
    return best[1], best[2]


def _log_loss(scores: Floats, own: NDArray[np.intp], weights: Floats) -> float:
    """Weighted mean of -ln P(own class), nats."""
    highest = scores.max(axis=1, keepdims=True)
    totals = np.log(np.exp(scores - highest).sum(axis=1)) + highest[:, 0]
    losses = totals - scores[np.arange(len(own)), own]
    return float(weights @ losses / weights.sum())


def last_pieces(families: LinearGaussianFamilies) -> Whole:
    """For each number the piece that says what it says in the network, shape (n,).

    That is the one given its parents, where it has any.
    """
    found = np.zeros(len(families.features), dtype=np.int64)
    np.maximum.at(found, families.children, families.pieces)
    return found


def left_out_numbers(families: LinearGaussianFamilies, codes: Codes) -> Floats:
    """Evidence (nats) of all numbers in left-out rows, (n_classes, n_rows)."""
    return _summed(families, codes, LeftOutRows)


def said_numbers(families: LinearGaussianFamilies, codes: Codes) -> Floats:
    """What numbers say of the classes, together; see `left_out_numbers`."""
    return _summed(families, codes, None)


def _summed(
    families: LinearGaussianFamilies,
    codes: Codes,
    left_out: Callable[[Codes], LeftOutRows] | None,
) -> Floats:
    """Sums over numbers in blocks of rows, shape (n_classes, n_rows)."""
    n_classes, n_pieces = len(families.means), families.n_columns_of_pieces
    chosen = last_pieces(families)
    found = np.empty((n_classes, codes.n_rows))
    step = max(1, _BLOCK_VALUES // (n_classes * n_pieces))
    for first in range(0, codes.n_rows, step):
        rows = codes.rows(slice(first, first + step))
        shares = None if left_out is None else own_shares(left_out(rows))
        values: NDArray[Any] = np.empty((rows.n_rows, n_classes, n_pieces))
        families.write_log_densities(rows, values, 0, shares)
        found[:, first : first + step] = values[:, :, chosen].sum(axis=2).T
    return found


def own_shares(rows: LeftOutRows) -> OwnShares:
    """What each row takes from the families of its own class."""
    return OwnShares(rows.own.astype(np.int64), rows.shares)


def _least_nats(numbers: Numbers, theta: float | str | None) -> float:
    """What a parent must tell more than."""
    if theta is None:
        return -np.inf
    if theta != "auto":
        return float(theta)
    weight = float(numbers.rows.totals.sum(axis=1).max())
    n_classes = numbers.rows.n_classes
    return float(np.log(max(weight, 1.0)) * n_classes / (2.0 * weight))


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
