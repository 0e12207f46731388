"""What every search over network structures is asked, does and answers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from threading import Lock
from typing import Any, Literal

from bayleaf.graph.dag import DAG
from bayleaf.progress import Work
from bayleaf.search.constraints import Constraints
from bayleaf.wording import brief_fields

MoveKind = Literal[
    "add_edge",
    "delete_edge",
    "reverse_edge",
    "refine",
    "abstract",
    "refresh",
    "split",
    "remove_split",
    "abstract_split",
    "grow_tree",
    "merge_leaves",
]

# Gains up to this, in the unit of the score, are no gains: sums are rounded.
LEAST_GAIN = 1e-7


@dataclass(frozen=True)
class Move:
    """One step of a search.

    Parameters
    ----------
    kind : str
        What was done.
    child : int
        Variable whose distribution changed. For "reverse_edge", the child of the edge
        before it was turned.
    parent : int or None
        The other end of the edge, or the parent whose groups of states changed.
    detail : object
        What else tells the move from others: the node of the hierarchy that was
        refined or abstracted to, or the leaf of the tree.
    gain : float
        How much the score grew.
    score : float
        Score of the whole network after the move.
    """

    kind: MoveKind
    child: int
    parent: int | None
    detail: Any
    gain: float
    score: float

    __repr__ = brief_fields


@dataclass(frozen=True)
class GroupedParents:
    """Shape of a table whose rows are groups of parent configurations.

    `cuts` are the nodes of each parent's hierarchy that its groups come from, in
    preorder.
    """

    child: int
    parents: tuple[int, ...]  # increasing
    groups: tuple[tuple[tuple[int, ...], ...], ...]  # of each parent's states
    cuts: tuple[tuple[Any, ...], ...] = field(default=(), compare=False)

    @property
    def n_rows(self) -> int:
        """Number of distributions."""
        return prod(map(len, self.groups))


@dataclass(frozen=True)
class SearchResult:
    """The best structure that a search found.

    `trace` contains the moves from the start of this restart, those that lost included.
    A restart that went on from the end of another begins with that one's moves.
    """

    dag: DAG  # each variable's parents increase
    cpd_structures: tuple[Any, ...]  # `GroupedParents`, or shapes of trees
    score: float  # larger is better
    trace: tuple[Move, ...]
    stopped_early: bool  # whether time ended or prevented some restart
    restart: int = 0  # that found it

    __repr__ = brief_fields


@dataclass(frozen=True)
class SearchProgress:
    """Progress of one restart."""

    restart: int
    n_moves: int  # of this restart so far
    moves_per_second: float
    score: float  # of its structure now


ProgressCallback = Callable[[SearchProgress], object]


class RestartProgress:
    """Reports of the moves of one restart, from now on."""

    def __init__(self, restart: int, callback: ProgressCallback | None) -> None:
        self._restart, self._callback = restart, callback
        self._begin = time.monotonic()

    def report(self, n_moves: int, score: float) -> None:
        """Report the number of moves so far, and the score of the structure now."""
        if self._callback is not None:
            rate = n_moves / max(time.monotonic() - self._begin, 1e-9)
            self._callback(SearchProgress(self._restart, n_moves, rate, score))


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


def restart_numbers(n_restarts: int, skipped: int) -> Sequence[int]:
    """Numbers of the restarts: 0, then those after `skipped`; ValueError if none."""
    if n_restarts < 1:
        raise ValueError(f"n_restarts must be >= 1, got {n_restarts}")
    return [0, *range(1 + skipped, n_restarts + skipped)]


def best_result(results: Sequence[SearchResult | None]) -> SearchResult:
    """Choose the best of some restarts, the first among equals.

    Results are in the order of restarts, None where the time limit prevented one;
    restart 0 always has one.
    """
    found = [result for result in results if result is not None]
    best = found[0]
    for result in found[1:]:
        # Restarts that reach the same network sum up its score in other orders.
        if result.score > best.score + LEAST_GAIN:
            best = result
    stopped = len(found) < len(results) or any(r.stopped_early for r in found)
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


def one_at_a_time(
    progress: ProgressCallback | None, n_restarts: int
) -> ProgressCallback:
    """A callback that threads may call together, and that shows what it is told."""
    lock, work = Lock(), Work()

    def report(state: SearchProgress) -> None:
        with lock:
            work.say(
                f"search {state.restart + 1} of {n_restarts}: {state.n_moves} moves"
            )
            if progress is not None:
                progress(state)

    return report


def sorted_parents(parents: Iterable[Iterable[int]]) -> DAG:
    """The graph of some sets of parents, each in increasing order."""
    return DAG(tuple(tuple(sorted(own)) for own in parents))
