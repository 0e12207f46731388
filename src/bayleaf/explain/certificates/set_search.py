"""Search for sets of changes that bounds do not rule out, size by size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.explain.certificates.margins import Margins, margins_of

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sets that are held at a time.
_BLOCK_ROWS = 1 << 13
# What rounding may add to a sum of costs, relative.
_PRICE_ROUNDING = 1e-12


class BudgetSpentError(Exception):
    """More sets would have to be looked at than the budget allows.

    Parameters
    ----------
    size : int
        Size of the sets that were looked at; all smaller ones have been returned.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"the budget is spent on sets of {size} changes")
        self.size = size


@dataclass(eq=False)
class SetSearch:
    """Search for sets of changes, the most promising features first.

    Parameters
    ----------
    row : ChangedRow
        The row and its changes.
    budget : int
        Sets that may be looked at before `BudgetSpentError` is raised.
    costs : ndarray of shape (n_changes,), optional
        What each change costs; by default nothing.
    limit : float, default=inf
        Largest cost of a set; it may fall during the search.
    """

    row: ChangedRow
    budget: int
    costs: Floats | None = None
    limit: float = np.inf
    _margins: Margins | None = field(init=False)
    _order: Indices = field(init=False)
    _ranks: Indices = field(init=False)
    _prices: Floats = field(init=False)
    _gains: Floats = field(init=False)

    def __post_init__(self) -> None:
        row, features = self.row, self.row.changes.features
        self._margins = margins_of(row.predictor, row.codes, row.changes)
        if self._margins is None:
            gains, worth = np.zeros((len(features), 0)), row.worth_alone()
        else:
            gains = self._margins.gains
            others = np.delete(gains, self._margins.chosen, axis=1)
            worth = others.max(axis=1, initial=-np.inf)
        prices = np.zeros(len(features)) if self.costs is None else self.costs
        if self.costs is not None:
            # Changes without worth are ordered by their price as well.
            worth = (worth - worth.min(initial=0.0) + 1.0) / prices
        distinct, places = np.unique(features, return_inverse=True)
        best = np.full(len(distinct), -np.inf)
        np.maximum.at(best, places, worth)
        ranks = np.argsort(np.argsort(-best, kind="stable"))[places]
        self._order = np.lexsort((-worth, ranks))
        self._ranks, self._prices = ranks[self._order], prices[self._order]
        self._gains = gains[self._order]
        self._spent = 0

    @property
    def bounded(self) -> bool:
        """Whether bounds rule out sets."""
        return self._margins is not None

    @property
    def n_features(self) -> int:
        """Features that may change."""
        return int(self._ranks[-1]) + 1 if len(self._ranks) else 0

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks of sets of a size that bounds do not rule out, as change indices.

        Raises
        ------
        BudgetSpentError
            If the budget ends before all sets are returned or ruled out.
        """
        tops = self._tops(self._gains, size)
        if self.costs is None:
            cheapest = np.zeros(tops.shape[:2])
        else:
            cheapest = -self._tops(-self._prices[:, None], size)[:, :, 0]
        none = np.empty((1, 0), dtype=np.intp)
        waiting = [none[self._may_do(none, tops[size], cheapest[size])]]
        step = max(1, _BLOCK_ROWS // max(1, len(self._order)))
        while waiting:
            sets = waiting.pop()
            if len(sets) > step:
                waiting.append(sets[step:])
            left = size - sets.shape[1] - 1
            sets = self._extended(sets[:step], left, size)
            sets = sets[self._may_do(sets, tops[left], cheapest[left])]
            if len(sets) and left:
                waiting.append(sets)
            elif len(sets):
                yield self._order[sets]

    def _extended(self, sets: Indices, left: int, size: int) -> Indices:
        """Sets with one change more; features remain for the changes left."""
        after = self._ranks_after(sets)
        allowed = self._ranks >= after[:, None]
        allowed &= self._ranks < self.n_features - left
        rows, added = np.nonzero(allowed)
        self._spent += len(rows)
        if self._spent > self.budget:
            raise BudgetSpentError(size)
        return np.column_stack([sets[rows], added])

    def _may_do(
        self, sets: Indices, tops: Floats, cheapest: Floats
    ) -> NDArray[np.bool_]:
        """Whether sets may do with the best, and the cheapest, changes left."""
        after = self._ranks_after(sets)
        prices = self._prices[sets].sum(axis=1) + cheapest[after]
        within = np.asarray(prices <= self.limit * (1.0 + _PRICE_ROUNDING))
        if self._margins is None:
            return within
        falls = self._gains[sets].sum(axis=1) + tops[after]
        return within & self._margins.reachable(falls)

    def _ranks_after(self, sets: Indices) -> Indices:
        """Rank of the first feature that may be added to each set."""
        if not sets.shape[1]:
            return np.zeros(len(sets), dtype=np.intp)
        return self._ranks[sets[:, -1]] + 1

    def _tops(self, values: Floats, size: int) -> Floats:
        """Sums of the largest values of distinct features from a rank on.

        Shape (size + 1, n_features + 1, n_columns), each column by itself.
        """
        tops = np.zeros((size + 1, self.n_features + 1, values.shape[1]))
        best = np.zeros((0, values.shape[1]))
        for rank in range(self.n_features - 1, -1, -1):
            own = values[self._ranks == rank].max(axis=0, keepdims=True)
            best = -np.sort(-np.concatenate([best, own]), axis=0)[:size]
            tops[1 : 1 + len(best), rank] = np.cumsum(best, axis=0)
        return tops
