"""Sets of changes of a size that bounds do not rule out, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.margins import Margins
from bayleaf.explain.change_sets import ChangeSets

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sets that are held at a time.
_BLOCK_ROWS = 1 << 13
# What rounding may add to a sum of costs, relative.
PRICE_ROUNDING = 1e-12


class BudgetSpentError(Exception):
    """More sets would have to be looked at than may be.

    Parameters
    ----------
    size : int
        Size of the sets that were looked at; all smaller ones have been given.
    """

    def __init__(self, size: int) -> None:
        super().__init__(f"the budget is spent on sets of {size} changes")
        self.size = size


@dataclass(frozen=True, eq=False)
class Partial:
    """Sets of changes that are to grow: positions, falls of log-odds, and prices."""

    sets: Indices
    falls: Floats
    prices: Floats

    @classmethod
    def none(cls, n_classes: int) -> Partial:
        """The set without any change."""
        empty = np.empty((1, 0), dtype=np.intp)
        return cls(empty, np.zeros((1, n_classes)), np.zeros(1))

    def rows(self, rows: slice | Indices) -> Partial:
        """Some of the sets."""
        return Partial(self.sets[rows], self.falls[rows], self.prices[rows])


@dataclass(eq=False)
class SetSearch:
    """Looks for sets of changes that may do, the most promising changes first.

    Parameters
    ----------
    changes : ChangeSets
        The single changes.
    margins : Margins or None
        Their bounds; without them every set may do.
    budget : int
        Sets that may be looked at before `BudgetSpentError` is raised.
    costs : ndarray of shape (n_changes,), optional
        What each change costs; by default nothing.
    worth : ndarray of shape (n_changes,), optional
        What each change promises, by default what margins allow. Sets of changes that
        promise much for their cost come first; which sets come does not depend on it.
    limit : float, default=inf
        What sets may cost altogether; it may fall while sets are looked for.
    """

    changes: ChangeSets
    margins: Margins | None
    budget: int
    costs: Floats | None = None
    worth: Floats | None = None
    limit: float = np.inf
    spent: int = 0
    _order: Indices = field(init=False)
    _ranks: Indices = field(init=False)
    _prices: Floats = field(init=False)

    def __post_init__(self) -> None:
        features = self.changes.features
        prices = np.zeros(len(features)) if self.costs is None else self.costs
        promise = self._promise(prices)
        distinct = np.unique(features)
        best = np.array([promise[features == f].max() for f in distinct.tolist()])
        rank_of = np.empty(len(distinct), dtype=np.intp)
        rank_of[np.argsort(-best, kind="stable")] = np.arange(len(distinct))
        ranks = rank_of[np.searchsorted(distinct, features)]
        self._order = np.lexsort((-promise, ranks))
        self._ranks, self._prices = ranks[self._order], prices[self._order]

    def _promise(self, prices: Floats) -> Floats:
        """What each change promises for its price."""
        worth = self.worth
        if self.margins is not None:
            gains = np.delete(self.margins.gains, self.margins.chosen, axis=1)
            worth = gains.max(axis=1, initial=-np.inf)
        if worth is None or self.costs is None:
            return np.zeros(len(prices)) if worth is None else worth
        # Also what promises nothing is tried in the order of its price.
        return np.asarray((worth - worth.min(initial=0.0) + 1.0) / prices)

    @property
    def bounded(self) -> bool:
        """Whether bounds rule out sets."""
        return self.margins is not None

    @property
    def n_features(self) -> int:
        """Features that may change."""
        return int(self._ranks[-1]) + 1 if len(self._ranks) else 0

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks of sets of a size that may do, as positions of changes.

        Raises
        ------
        BudgetSpentError
            If the budget ends before all sets are given or ruled out.
        """
        tops, cheapest = self._tops(size), self._cheapest(size)
        start = Partial.none(0 if self.margins is None else len(self.margins.start))
        if not self._may_do(start, np.array([0]), (tops, cheapest), size)[0]:
            return
        step = max(1, _BLOCK_ROWS // max(1, len(self._order)))
        waiting = [start]
        while waiting:
            part = waiting.pop()
            if len(part.sets) > step:
                waiting.append(part.rows(slice(step, None)))
                part = part.rows(slice(step))
            part = self._extended(part, (tops, cheapest), size)
            if part.sets.shape[1] < size and len(part.sets):
                waiting.append(part)
            elif len(part.sets):
                yield self._order[part.sets]

    def _extended(
        self, part: Partial, best: tuple[Floats, Floats], size: int
    ) -> Partial:
        """Sets with one change more that may still do."""
        sets, left = part.sets, size - part.sets.shape[1] - 1
        last = self._ranks[sets[:, -1]] if sets.shape[1] else np.full(len(sets), -1)
        allowed = self._ranks[None, :] > last[:, None]
        # Features have to be left for the changes that are still to come.
        allowed &= self._ranks[None, :] < self.n_features - left
        rows, added = np.nonzero(allowed)
        self.spent += len(rows)
        if self.spent > self.budget:
            raise BudgetSpentError(size)
        falls = part.falls[rows]
        if self.margins is not None:
            falls = falls + self.margins.gains[self._order[added]]
        longer = Partial(
            np.column_stack([sets[rows], added]),
            falls,
            part.prices[rows] + self._prices[added],
        )
        kept = self._may_do(longer, self._ranks[added] + 1, best, left)
        return longer.rows(np.flatnonzero(kept))

    def _may_do(
        self,
        part: Partial,
        ranks: Indices,
        best: tuple[Floats, Floats],
        left: int,
    ) -> NDArray[np.bool_]:
        """Whether sets may do after so many more changes of features from ranks on."""
        tops, cheapest = best
        prices = part.prices + cheapest[left, ranks]
        within = prices <= self.limit * (1.0 + PRICE_ROUNDING)
        if self.margins is None:
            return np.asarray(within)
        reachable = self.margins.reachable(part.falls + tops[left, ranks])
        return np.asarray(within & reachable)

    def _cheapest(self, size: int) -> Floats:
        """Least prices of changes of features from a rank on, (size + 1, ranks + 1)."""
        found = np.zeros((size + 1, self.n_features + 1))
        best = np.zeros(0)
        for rank in range(self.n_features - 1, -1, -1):
            own = self._prices[self._ranks == rank].min()
            best = np.sort(np.append(best, own))[:size]
            found[1 : 1 + len(best), rank] = np.cumsum(best)
        return found

    def _tops(self, size: int) -> Floats:
        """Largest sums of changes of features from a rank on, (size + 1, ranks + 1, .).

        Each class for itself.
        """
        if self.margins is None:
            return np.zeros((size + 1, self.n_features + 1, 0))
        gains = self.margins.gains[self._order]
        tops = np.zeros((size + 1, self.n_features + 1, gains.shape[1]))
        best = np.zeros((size, gains.shape[1]))
        for rank in range(self.n_features - 1, -1, -1):
            own = gains[self._ranks == rank].max(axis=0, keepdims=True)
            best = -np.sort(-np.concatenate([best, own]), axis=0)[:size]
            tops[1:, rank] = np.cumsum(best, axis=0)
        return tops
