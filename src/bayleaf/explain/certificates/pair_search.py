"""Sets of changes that exact pairs, and bounds of triples, do not rule out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from bayleaf.explain.certificates.changed_row import ChangedRow
from bayleaf.explain.certificates.interactions import Interactions, interactions_of
from bayleaf.explain.certificates.margins import margins_of
from bayleaf.explain.certificates.set_search import (
    PRICE_ROUNDING,
    BudgetSpentError,
    Partial,
    SetSearch,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sets of a size from which bounds pay, and numbers held at a time.
_LEAST_SETS = 50_000
_BLOCK_VALUES = 1 << 17


def search_of(row: ChangedRow, budget: int, costs: Floats | None = None) -> SetSearch:
    """The search for sets of changes of a row, by what bounds its model has."""
    changes = row.changes
    margins = margins_of(row.predictor, row.codes, changes.features, changes.states)
    if margins is not None:
        return SetSearch(changes, margins, budget, costs)
    return PairSearch(changes, None, budget, costs, row.worth_alone(), row=row)


@dataclass(eq=False, kw_only=True)
class PairSearch(SetSearch):
    """Looks for sets of changes of a model whose scores may be sums over few features.

    Sets of one and two changes are all given. Of larger ones those count against the
    budget that bounds do not rule out.

    Parameters
    ----------
    row : ChangedRow
        The row.
    """

    row: ChangedRow
    _used: bool = field(default=False, init=False)

    @property
    def bounded(self) -> bool:
        """Whether bounds ruled out sets so far."""
        return self._used

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks of sets of a size that may do, as positions of changes.

        Raises
        ------
        BudgetSpentError
            If the budget ends before all sets are given or ruled out.
        """
        cheapest = self._cheapest(size)
        if cheapest[size, 0] > self.limit * (1.0 + PRICE_ROUNDING):
            return
        few = size < 3 or self.changes.count(size) < _LEAST_SETS
        bounds = None if few else self._bounds
        if bounds is None:
            yield from super().of_size(size)
            return
        self._used = True
        tops = [
            bounds.tops(size - left, left, self._ranks, self.n_features)
            for left in range(size)
        ]
        step = max(1, _BLOCK_VALUES // (bounds.gains.size or 1))
        waiting = [Partial.none(bounds.gains.shape[1])]
        while waiting:
            part = waiting.pop()
            if len(part.sets) > step:
                waiting.append(part.rows(slice(step, None)))
                part = part.rows(slice(step))
            left = size - part.sets.shape[1] - 1
            part = self._grown(part, bounds, left, (tops[left], cheapest[left]))
            if left and len(part.sets):
                waiting.append(part)
            elif len(part.sets):
                yield self._order[part.sets]

    def _grown(
        self, part: Partial, bounds: _Bounds, left: int, best: tuple[Floats, Floats]
    ) -> Partial:
        """Sets with one change more that may still do."""
        (tops, cheapest), sets, ranks = best, part.sets, self._ranks
        last = ranks[sets[:, -1]] if sets.shape[1] else np.full(len(sets), -1)
        # Beyond the last change that a set may get, nothing is left to be worked out.
        first = int(np.searchsorted(ranks, last.min(), side="right"))
        ranks = ranks[first:]
        falls = part.falls[:, None, :] + bounds.added(sets, first)
        promised = falls + tops[ranks + 1]
        may = ranks[None, :] > last[:, None]
        # Features have to be left for the changes that are still to come.
        may &= ranks < self.n_features - left
        may &= (promised >= bounds.least).any(axis=2)
        prices = part.prices[:, None] + self._prices[first:]
        may &= prices + cheapest[ranks + 1] <= self.limit * (1.0 + PRICE_ROUNDING)
        rows, added = np.nonzero(may)
        kept = np.flatnonzero(bounds.reachable(promised[rows, added]))
        rows, added = rows[kept], added[kept]
        self.spent += len(rows)
        if self.spent > self.budget:
            raise BudgetSpentError(sets.shape[1] + 1 + left)
        longer = np.column_stack([sets[rows], first + added])
        return Partial(longer, falls[rows, added], prices[rows, added])

    @cached_property
    def _bounds(self) -> _Bounds | None:
        """Bounds in the order of the search; None for models that have none."""
        row = self.row
        found = interactions_of(row.predictor, row.codes, row.changes)
        if found is None:
            return None
        return _Bounds.of(found, self._order, row.changes.features)


@dataclass(frozen=True, eq=False)
class _Bounds:
    """What changes take of log-odds of the other classes, in the order of a search."""

    whole: Interactions
    others: Indices
    features: Indices
    gains: Floats
    pairs: Floats
    triples: Floats
    least: Floats

    @classmethod
    def of(cls, whole: Interactions, order: Indices, features: Indices) -> _Bounds:
        """Bounds of changes in an order."""
        margins, features = whole.margins, features[order]
        others = np.delete(np.arange(len(margins.start)), margins.chosen)
        pairs = whole.pairs[np.ix_(order, order, others)]
        triples = whole.triples[:, :, features][..., others]
        gains = margins.gains[order][:, others]
        least = margins.least_falls()[others]
        return cls(whole, others, features, gains, pairs, triples, least)

    def added(self, sets: Indices, first: int) -> Floats:
        """What changes from one on take beside sets, (n_sets, n_changes, n_classes)."""
        found = self.gains[None, first:]
        for own in sets.T:
            found = found + self.pairs[own, first:]
        for one, other in combinations(self.features[sets].T, 2):
            found = found + self.triples[one, other, first:]
        return found

    def reachable(self, falls: Floats) -> NDArray[np.bool_]:
        """Whether another class may be chosen after falls."""
        every = np.zeros((len(falls), len(self.others) + 1))
        every[:, self.others] = falls
        return self.whole.margins.reachable(every)

    def tops(self, taken: int, left: int, ranks: Indices, n_ranks: int) -> Floats:
        """Most that so many further changes take of features from a rank on.

        Shape (n_ranks + 1, n_classes), beside as many that are taken.
        """
        tops = np.zeros((n_ranks + 1, len(self.others)))
        if not left:
            return tops
        worth = self.gains + self._together(taken, left, ranks)
        best = np.zeros((0, len(self.others)))
        for rank in range(n_ranks - 1, -1, -1):
            own = worth[ranks == rank].max(axis=0, keepdims=True)
            best = -np.sort(-np.concatenate([best, own]), axis=0)[:left]
            tops[rank] = best.sum(axis=0)
        return tops

    def _together(self, taken: int, left: int, ranks: Indices) -> Floats:
        """Each change's share of what it does with others, at most.

        A pair or triple of changes that are all to come is shared among them.
        """
        starts = np.flatnonzero(np.diff(ranks, prepend=-1))
        pairs = np.maximum.reduceat(self.pairs, starts, axis=1)
        pairs = -np.sort(-np.maximum(pairs, 0.0), axis=1)
        own = _weights((taken, 1.0), (left - 1, 1 / 2))[: pairs.shape[1]]
        found = np.einsum("nfc,f->nc", pairs[:, : len(own)], own)
        upper = np.triu_indices(len(self.triples), 1)
        triples = -np.sort(-self.triples[upper], axis=0)
        counts = comb(taken, 2), taken * (left - 1), comb(left - 1, 2)
        own = _weights(*zip(counts, (1.0, 1 / 2, 1 / 3)))[: len(triples)]
        return np.asarray(found + np.einsum("tnc,t->nc", triples[: len(own)], own))


def _weights(*runs: tuple[int, float]) -> Floats:
    """Weights, each so many times."""
    return np.repeat([own for _, own in runs], [n for n, _ in runs])
