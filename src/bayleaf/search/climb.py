"""The climb of every search over structures: moves, time, trace and restarts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from bayleaf.counts.threads import run_tasks
from bayleaf.progress import Work
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import LEAST_GAIN, Move, SearchResult, sorted_parents


class Moves(Protocol):
    """A structure, and the moves that change it."""

    @property
    def score(self) -> Any:
        """Score of the structure as it is."""

    @property
    def structure(self) -> Any:
        """The structure as it is, which later moves leave alone."""

    def best_move(self) -> Any:
        """The move to make next; None if no move gains."""

    def apply(self, move: Any) -> Iterable[Any]:
        """Make a move; entries of the trace."""


S = TypeVar("S", bound=Moves)


@dataclass(frozen=True)
class Deadline:
    """Time at which all restarts of a search stop."""

    at: float | None  # on the clock of `time.monotonic`; None: never

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """So many seconds from now, or never."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    @property
    def has_passed(self) -> bool:
        """Whether it is time to stop."""
        return self.at is not None and time.monotonic() >= self.at


@dataclass(frozen=True, eq=False)
class SearchState:
    """Structure that a climb has reached, and the way there."""

    structure: Any
    score: float
    trace: tuple[Move, ...]
    stopped_early: bool = False  # whether time was up
    restart: int = 0

    def result(self, shapes: Sequence[Any]) -> SearchResult:
        """The answer of a search that ends here, with the shape of each variable."""
        dag = sorted_parents(shape.parents for shape in shapes)
        found = self.score, self.trace, self.stopped_early, self.restart
        return SearchResult(dag, tuple(shapes), *found)


class Climb(Generic[S]):
    """Walk over structures, move by move, until time is up.

    `report` is called after every move with the number of moves and the last entry of
    `trace`, which begins with what led to the first structure.
    """

    def __init__(
        self,
        moves: S,
        deadline: Deadline,
        report: Callable[[int, Any], object] = lambda *_: None,
        trace: Iterable[Any] = (),
    ) -> None:
        self.moves = moves
        self.trace = list(trace)
        self.stopped = False
        self._deadline = deadline
        self._report = report
        self._n_moves = 0

    @property
    def state(self) -> SearchState:
        """Where the climb is, and whether time was up."""
        moves, trace = self.moves, tuple(self.trace)
        return SearchState(moves.structure, moves.score, trace, self.stopped)

    def make(self, move: Any, *, in_any_case: bool = False) -> bool:
        """Make a move, unless time is up; whether it was made."""
        self.stopped = self.stopped or self._deadline.has_passed
        if self.stopped and not in_any_case:
            return False
        self.trace += self.moves.apply(move)
        self._n_moves += 1
        self._report(self._n_moves, self.trace[-1])
        return True

    def ascend(self, before_each: Callable[[], object] = lambda: None) -> None:
        """Make the best move for as long as one gains.

        `before_each` look for the best move, other moves may be made.
        """
        before_each()
        while (move := self.moves.best_move()) is not None and self.make(move):
            before_each()
        # Moves that are looked for long may have been given up.
        self.stopped = self.stopped or self._deadline.has_passed


@dataclass(frozen=True)
class SearchProgress:
    """Progress of one restart."""

    restart: int
    n_moves: int  # of this restart so far
    moves_per_second: float
    score: float  # of its structure now


ProgressCallback = Callable[[SearchProgress], object]


class Restarts:
    """Climbs of one search: number 0, then those after `n_skipped`.

    `progress` is called by one thread at a time. ValueError if there are none.
    """

    def __init__(
        self,
        n_restarts: int = 1,
        n_skipped: int = 0,
        seed: int = 0,  # restart k draws from (seed, k)
        progress: ProgressCallback | None = None,
        time_limit: float | None = None,  # seconds from now on
    ) -> None:
        if n_restarts < 1:
            raise ValueError(f"n_restarts must be >= 1, got {n_restarts}")
        self.numbers = [0, *range(1 + n_skipped, n_restarts + n_skipped)]
        self.deadline = Deadline.after(time_limit)
        self._seed = seed
        self._progress, self._lock, self._work = progress, Lock(), Work()

    def generator(self, number: int) -> np.random.Generator:
        """The random numbers of a restart."""
        return np.random.default_rng((self._seed, number))

    def climb(self, moves: S, number: int, trace: Iterable[Move] = ()) -> Climb[S]:
        """A climb of one restart, whose progress is reported."""
        begin = time.monotonic()

        def report(n_moves: int, move: Move) -> None:
            rate = n_moves / max(time.monotonic() - begin, 1e-9)
            with self._lock:
                name = f"search {number + 1} of {len(self.numbers)}"
                self._work.say(f"{name}: {n_moves} moves")
                if self._progress is not None:
                    self._progress(SearchProgress(number, n_moves, rate, move.score))

        return Climb(moves, self.deadline, report, trace)

    def best(
        self,
        restart: Callable[[int, SearchState | None], SearchState],
        n_jobs: int,
        wave: int | None = None,
    ) -> SearchState:
        """Run all restarts, and choose the best end.

        `restart` gets a number and the best end of the waves before: after number 0,
        `wave` restarts run side by side; without, all do.
        """
        waves = [self.numbers]
        if wave is not None:
            firsts = range(1, len(self.numbers), wave)
            others = [self.numbers[first : first + wave] for first in firsts]
            waves = [self.numbers[:1], *others]

        def run(number: int, best: SearchState | None) -> SearchState | None:
            if number > 0 and self.deadline.has_passed:
                return None
            return replace(restart(number, best), restart=number)

        ends: list[SearchState | None] = []
        best: SearchState | None = None
        for numbers in waves:
            ends += run_tasks(
                [partial(run, number, best) for number in numbers], n_jobs
            )
            best = best_end(ends)
        assert best is not None
        return best


def best_end(ends: Sequence[SearchState | None]) -> SearchState:
    """Choose the best end of some restarts, the first among equals.

    They are in the order of restarts, None where time was up before one began; restart
    0 always has one.
    """
    reached = [end for end in ends if end is not None]
    best = reached[0]
    for end in reached[1:]:
        # Restarts that reach the same network sum up its score in other orders.
        if end.score > best.score + LEAST_GAIN:
            best = end
    stopped = len(reached) < len(ends) or any(end.stopped_early for end in reached)
    return replace(best, stopped_early=stopped)


def warn_if_stopped(result: SearchResult, constraints: Constraints) -> None:
    """Warn (RuntimeWarning) if the time limit ended or prevented some restart."""
    if result.stopped_early:
        warnings.warn(
            f"the search stopped at time_limit={constraints.time_limit:g} seconds, "
            "before every restart had reached its best; raise time_limit or lower "
            "n_restarts",
            RuntimeWarning,
            stacklevel=3,
        )
