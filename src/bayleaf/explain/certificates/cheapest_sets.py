"""The cheapest sets of changes that do, none of which holds a smaller one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.explain.certificates.set_search import BudgetSpentError, SetSearch

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# In the place of a change, where a set holds fewer.
_NO_CHANGE = -1


def cheapest_sets(
    row: ChangedRow,
    costs: Floats,
    does: Callable[[Indices], NDArray[np.bool_]],
    *,
    n: int,
    max_changes: int,
    budget: int,
) -> tuple[list[Indices], bool]:
    """Find up to n sets of at most some changes that do, and whether all were covered.

    A set is an array (size,) of positions of changes, of which each costs more than 0.
    Cheapest first; among equally cheap sets those with fewer changes, then those that
    lead to a more probable row; then in column order. `does` returns which sets of
    changes (n_sets, size) do; none that leaves the class as it is.
    """
    if not len(row.features) or len(row.predictor.classes) < 2:
        return [], True
    search = SetSearch(row, budget, costs)
    best = _Best(row, costs, n, min(max_changes, search.n_features))
    try:
        for size in range(1, best.width + 1):
            for block in search.of_size(size):
                best.add(np.sort(block[does(block)], axis=1))
                search.limit = best.limit
            best.close(size)
    except BudgetSpentError:
        return best.found, False
    return best.found, True


@dataclass(eq=False)
class _Best:
    """The best sets so far.

    A set beside them costs as much at least, so nothing that holds it is among the
    best either.
    """

    row: ChangedRow
    costs: Floats
    n: int
    width: int
    _sets: Indices = field(init=False)
    _prices: Floats = field(init=False)
    _logs: Floats = field(init=False)
    _smaller: set[frozenset[int]] = field(init=False)

    def __post_init__(self) -> None:
        self._sets = np.empty((0, self.width), dtype=np.intp)
        self._prices, self._logs = np.empty(0), np.empty(0)
        self._smaller = set()

    @property
    def limit(self) -> float:
        """What a set may cost to be among the best."""
        return float(self._prices[-1]) if len(self._prices) == self.n else np.inf

    @property
    def found(self) -> list[Indices]:
        """The sets without padding, best first."""
        return [own[own != _NO_CHANGE] for own in self._sets]

    def add(self, sets: Indices) -> None:
        """Keep the best of sets of one size, and of those before."""
        if self._smaller and len(sets):
            sets = sets[[not self._holds_smaller(own) for own in sets.tolist()]]
        if not len(sets):
            return
        padded = np.full((len(sets), self.width), _NO_CHANGE)
        padded[:, : sets.shape[1]] = sets
        # Equal costs add up to equal sums whatever changes they belong to.
        prices = np.sort(self.costs[sets], axis=1).sum(axis=1)
        logs = self.row.log_probabilities(sets)
        every = np.concatenate([self._sets, padded])
        prices = np.concatenate([self._prices, prices])
        logs = np.concatenate([self._logs, logs])
        sizes = (every != _NO_CHANGE).sum(axis=1)
        order = np.lexsort((*every.T[::-1], -logs, sizes, prices))[: self.n]
        self._sets, self._prices, self._logs = every[order], prices[order], logs[order]

    def close(self, size: int) -> None:
        """Remember the sets of a size, that no larger one may hold."""
        own = self._sets[(self._sets != _NO_CHANGE).sum(axis=1) == size]
        self._smaller |= {frozenset(changes[:size]) for changes in own.tolist()}

    def _holds_smaller(self, changes: list[int]) -> bool:
        """Whether a smaller set that does is part of a set of changes."""
        own = set(changes)
        return any(smaller <= own for smaller in self._smaller)
