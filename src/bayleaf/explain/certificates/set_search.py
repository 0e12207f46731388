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


class BudgetSpentError(Exception):
    """More sets would have to be looked at than may be."""


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
    """

    changes: ChangeSets
    margins: Margins | None
    budget: int
    spent: int = 0
    _order: Indices = field(init=False)
    _ranks: Indices = field(init=False)

    def __post_init__(self) -> None:
        features = self.changes.features
        worth = np.zeros(len(features))
        if self.margins is not None:
            gains = np.delete(self.margins.gains, self.margins.chosen, axis=1)
            worth = gains.max(axis=1, initial=-np.inf)
        distinct = np.unique(features)
        best = np.array([worth[features == f].max() for f in distinct.tolist()])
        rank_of = np.empty(len(distinct), dtype=np.intp)
        rank_of[np.argsort(-best, kind="stable")] = np.arange(len(distinct))
        ranks = rank_of[np.searchsorted(distinct, features)]
        self._order = np.lexsort((-worth, ranks))
        self._ranks = ranks[self._order]

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
        tops = self._tops(size)
        n_classes = 0 if self.margins is None else len(self.margins.start)
        empty = np.empty((1, 0), dtype=np.intp)
        if not self._may_do(np.zeros((1, n_classes)), tops, np.array([0]), size)[0]:
            return
        waiting = [(empty, np.zeros((1, n_classes)))]
        while waiting:
            sets, falls = waiting.pop()
            step = max(1, _BLOCK_ROWS // max(1, len(self._order)))
            if len(sets) > step:
                waiting.append((sets[step:], falls[step:]))
                sets, falls = sets[:step], falls[:step]
            sets, falls = self._extended(sets, falls, tops, size)
            if not len(sets):
                continue
            if sets.shape[1] == size:
                yield self._order[sets]
            else:
                waiting.append((sets, falls))

    def _extended(
        self, sets: Indices, falls: Floats, tops: Floats, size: int
    ) -> tuple[Indices, Floats]:
        """Sets with one change more that may still do, and their falls."""
        last = self._ranks[sets[:, -1]] if sets.shape[1] else np.full(len(sets), -1)
        left = size - sets.shape[1] - 1
        allowed = self._ranks[None, :] > last[:, None]
        # Features have to be left for the changes that are still to come.
        allowed &= self._ranks[None, :] < self.n_features - left
        rows, added = np.nonzero(allowed)
        self.spent += len(rows)
        if self.spent > self.budget:
            raise BudgetSpentError
        sets = np.column_stack([sets[rows], added])
        if self.margins is None:
            return sets, falls[rows]
        falls = falls[rows] + self.margins.gains[self._order[added]]
        kept = self._may_do(falls, tops, self._ranks[added] + 1, left)
        return sets[kept], falls[kept]

    def _may_do(
        self, falls: Floats, tops: Floats, ranks: Indices, left: int
    ) -> NDArray[np.bool_]:
        """Whether sets may do after so many more changes of features from ranks on."""
        if self.margins is None:
            return np.ones(len(falls), dtype=bool)
        return self.margins.reachable(falls + tops[left, ranks])

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
