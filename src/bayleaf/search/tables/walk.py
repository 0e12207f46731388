"""Steps of one restart: up to an optimum, past it, and away from it by chance."""

from __future__ import annotations

import time
from dataclasses import replace
from math import inf

import numpy as np

from bayleaf.search.structure import (
    LEAST_GAIN,
    Deadline,
    ProgressCallback,
    SearchProgress,
)
from bayleaf.search.tables.single_climb import EDGE_MOVES, Climb, Climbed, Step

# Place of the groups' gains in those of `Climb.legal_gains`, after those of edges.
_REGROUPING = 3
# Moves for which an edge that was changed stays as it is, and moves without a new best
# structure after which a walk ends. Twice as many of both gained no more in trials on
# rows of alarm, insurance and child.
_TABU_MOVES = 10
_PATIENCE = 20


class Walk:
    """Walk that moves a climb until it is done or time is up.

    `report` is called after every move.
    """

    def __init__(
        self, climb: Climb, number: int, deadline: Deadline, report: ProgressCallback
    ) -> None:
        self.climb = climb
        self.stopped = False
        self._number = number
        self._deadline = deadline
        self._report = report
        self._n_moves = 0
        self._begin = time.monotonic()

    @property
    def end(self) -> Climbed:
        """Where the walk is, and whether time was up."""
        return replace(self.climb.here, stopped_early=self.stopped)

    def ascend(self) -> None:
        """Take the best move as long as it gains."""
        while (best := self.climb.best_move()) is not None and self._make(best):
            pass

    def stray(self, rng: np.random.Generator, n_moves: int) -> None:
        """Make random changes of edges, of each kind equally often.

        Only the better half of a kind's moves are drawn from: the others join to a
        variable parents that make its table very large.
        """
        for _ in range(n_moves):
            gains = self.climb.legal_gains()[:_REGROUPING]
            kinds = [kind for kind in range(len(gains)) if gains[kind].max() > -inf]
            if not kinds:
                return
            kind = int(rng.choice(kinds))
            legal = gains[kind] > -inf
            places = np.argwhere(legal & (gains[kind] >= np.median(gains[kind][legal])))
            child, parent = places[rng.integers(len(places))]
            if not self._make(self.climb.step(kind, int(child), int(parent))):
                return

    def wander(self) -> Climbed:
        """Walk on from an optimum by the least harmful moves, back to none just left.

        Tabu search (Glover 1989, "Tabu search, part I"): for some moves an edge that
        was changed, or a parent whose groups were, stays as it is, except where a move
        leads to a better structure than the best. No move improves on the result,
        unless time was up.
        """
        climb = self.climb
        best, patience = climb.here, _PATIENCE
        # Of edges and of groups, [child, parent].
        shape = 2, len(climb.parents), len(climb.parents)
        barred_until = np.zeros(shape, dtype=np.int64)
        n_moves = 0
        while patience and not self.stopped:
            gains = climb.legal_gains()
            is_past = climb.score - best.score + gains > LEAST_GAIN
            if is_past.any():
                gains[~is_past] = -inf
            else:
                gains[:_REGROUPING, barred_until[0] > n_moves] = -inf
                gains[_REGROUPING, barred_until[1] > n_moves] = -inf
            step = climb.best_of(gains)
            if step is None or not self._make(step):
                break
            n_moves += 1
            patience -= 1
            kind, child, parent = step
            until = n_moves + _TABU_MOVES
            if kind in EDGE_MOVES:
                barred_until[0, [child, parent], [parent, child]] = until
            else:
                barred_until[1, child, parent] = until
            if climb.score > best.score + LEAST_GAIN / 2:
                best, patience = climb.here, _PATIENCE
        return replace(best, stopped_early=self.stopped)

    def _make(self, step: Step) -> bool:
        """Make a move and tell of it, unless time is up."""
        self.stopped = self.stopped or self._deadline.has_passed
        if self.stopped:
            return False
        climb = self.climb
        climb.apply(*step)
        seconds = max(time.monotonic() - self._begin, 1e-9)
        self._n_moves += 1
        rate = self._n_moves / seconds
        self._report(SearchProgress(self._number, self._n_moves, rate, climb.score))
        return True
