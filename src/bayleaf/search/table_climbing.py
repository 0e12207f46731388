"""Hill climbing over networks whose distributions are tables of grouped states."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import run_tasks
from bayleaf.data.domain import Domain
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.family_scores import (
    FamilyScores,
    HierarchySource,
    Neighbours,
    Regrouping,
    ScoreCache,
    with_parent,
    without,
)
from bayleaf.search.family_tables import FamilyTables
from bayleaf.search.starting_parents import starting_parents
from bayleaf.search.state_groups import Grouping, Groupings
from bayleaf.search.structure import (
    LEAST_GAIN,
    Constraints,
    Deadline,
    GroupedParents,
    Move,
    MoveKind,
    ProgressCallback,
    SearchProgress,
    SearchResult,
    best_result,
    one_at_a_time,
    sorted_parents,
    warn_if_stopped,
)

# In the order in which equal gains of one child and parent are taken.
_EDGE_MOVES: tuple[MoveKind, ...] = ("add_edge", "delete_edge", "reverse_edge")


def climb_tables(
    counts: CountSource,
    domain: Domain,
    score: LocalScore,
    hierarchies: Sequence[ValueHierarchy],
    *,
    refine: bool,
    constraints: Constraints | None = None,
    n_restarts: int = 1,
    seed: int = 0,
    n_jobs: int = 1,
    progress: ProgressCallback | None = None,
    hierarchy_source: HierarchySource | None = None,
    refresh: bool = False,
    cache_size: int = 200_000,
) -> SearchResult:
    """Climb from several starts to networks that no single move makes better.

    Parameters
    ----------
    counts : CountSource
        Counts over all variables that keep their rows; those of `UnclassedCounts` are
        the fastest.
    domain : Domain
        The variables.
    score : LocalScore
        What is made large.
    hierarchies : sequence of ValueHierarchy
        One a variable; a parent comes in with the groups right below the root.
    refine : bool
        Whether groups may be refined and abstracted afterwards. With flat hierarchies
        there is nothing to refine.
    constraints : Constraints, optional
        Edges, numbers of parents and time; no constraints by default.
    n_restarts : int, default=1
        Number of climbs. The first starts from the required edges alone, the others
        from random orders with up to two parents a variable.
    seed : int, default=0
        Restart k draws from a generator seeded with (seed, k).
    n_jobs : int, default=1
        Number of climbs at a time.
    progress : callable, optional
        Called with a `SearchProgress` after every move, by one thread at a time.
    hierarchy_source : callable, optional
        ``hierarchy_source(child, parent, parents)`` gives the hierarchy with which a
        parent comes in, in the place of `hierarchies`.
    refresh : bool, default=False
        Whether to ask for the hierarchies of all parents anew when a child's parents
        change. A changed one is refined greedily from its top, and taken if the score
        does not fall.
    cache_size : int, default=200_000
        Most scores of families that are remembered.

    Returns
    -------
    SearchResult
        CPD structures are of `GroupedParents`.

    Raises
    ------
    ValueError
        If no structure keeps to the constraints, or there is no restart.

    Warns
    -----
    RuntimeWarning
        If the time limit stops the search.

    Notes
    -----
    Steepest ascent over adding, deleting and reversing edges, refining and abstracting
    groups (desJardins, Rathod and Getoor 2008, section 4), until no move gains more
    than `LEAST_GAIN`. Among equal gains the least (child, parent) goes first. A move
    changes the families of one or two children; only their moves are scored again.
    """
    constraints = constraints or Constraints()
    constraints.check(domain)
    if n_restarts < 1:
        raise ValueError(f"n_restarts must be >= 1, got {n_restarts}")
    tables = FamilyTables(counts, len(domain))
    scores = FamilyScores(
        tables,
        Groupings(domain),
        score,
        hierarchies,
        hierarchy_source,
        refine,
        constraints.forbidden_edges,
        constraints.max_parents,
        ScoreCache(cache_size),
    )
    deadline = Deadline.after(constraints.time_limit)
    report = one_at_a_time(progress)

    def restart(number: int) -> SearchResult | None:
        if number > 0 and deadline.has_passed:
            return None
        own = scores
        if not tables.has_whole_weights:
            # Sums of other weights depend on the order of moves, so that climbs which
            # share scores would depend on each other.
            own = replace(scores, cache=ScoreCache(cache_size))
        start = starting_parents(len(domain), constraints, number, seed)
        climb = Climb(own, constraints.required_edges, start, refresh=refresh)
        return climb.run(number, deadline, report)

    tasks = [partial(restart, number) for number in range(n_restarts)]
    result = best_result(run_tasks(tasks, n_jobs))
    warn_if_stopped(result, constraints)
    return result


class Climb:
    """One climb: a structure, and what each of its families can become.

    Parameters
    ----------
    scores : FamilyScores
        What scores families.
    required : frozenset of (int, int)
        Edges that stay.
    start : sequence of sequence of int
        Parents that each variable starts with, in increasing order.
    refresh : bool
        See `climb_tables`.
    """

    def __init__(
        self,
        scores: FamilyScores,
        required: Iterable[tuple[int, int]],
        start: Sequence[Sequence[int]],
        *,
        refresh: bool = False,
    ) -> None:
        n_variables = len(start)
        self.scores = scores
        self.trace: list[Move] = []
        self._refresh = refresh
        self._required = np.zeros((n_variables, n_variables), dtype=np.bool_)
        for parent, child in required:
            self._required[child, parent] = True
        self.parents = [
            self._start(child, chosen) for child, chosen in enumerate(start)
        ]
        self.family_scores = [
            scores.family(child, own) for child, own in enumerate(self.parents)
        ]
        # Gains, [child, parent].
        shape = 4, n_variables, n_variables
        self._gains = np.full(shape, -inf)
        self._regroupings: dict[tuple[int, int], Regrouping] = {}
        self._neighbours: list[Neighbours] = []
        for child in range(n_variables):
            self._neighbours.append(self._look_around(child))
        self._descends = self._reachable()

    @property
    def score(self) -> float:
        """Score of the structure as it is."""
        return fsum(self.family_scores)

    def run(
        self,
        restart: int,
        deadline: Deadline,
        report: ProgressCallback,
    ) -> SearchResult:
        """Take the best move as long as it gains and there is time."""
        start = time.monotonic()
        stopped = False
        while (best := self.best_move()) is not None:
            if deadline.has_passed:
                stopped = True
                break
            self.apply(*best)
            seconds = max(time.monotonic() - start, 1e-9)
            n_moves = len(self.trace)
            report(SearchProgress(restart, n_moves, n_moves / seconds, self.score))
        return SearchResult(
            sorted_parents(self.parents),
            tuple(self._shape(child) for child in range(len(self.parents))),
            self.score,
            tuple(self.trace),
            stopped,
            restart,
        )

    def best_move(self) -> tuple[MoveKind, int, int] | None:
        """Kind, child and parent of the move that gains most, if any gains."""
        gains = self.legal_gains()
        most = gains.max(initial=-inf)
        if not most > LEAST_GAIN:
            return None
        # Gains that differ by rounding are equal, but what gains nothing never ends.
        near = (gains >= most - LEAST_GAIN) & (gains > LEAST_GAIN)
        near = near.transpose(1, 2, 0)
        child, parent, kind = np.unravel_index(int(np.argmax(near)), near.shape)
        if kind < len(_EDGE_MOVES):
            return _EDGE_MOVES[kind], int(child), int(parent)
        return self._regroupings[int(child), int(parent)].kind, int(child), int(parent)

    def legal_gains(self) -> NDArray[np.float64]:
        """Gain of every move that keeps the structure legal.

        Returns
        -------
        ndarray of shape (4, n_variables, n_variables)
            Adding, deleting and turning each edge and the best other groups of each
            parent, at [child, parent]; minus infinity where a move is not possible.
        """
        gains = self._gains.copy()
        added, deleted, turned = gains[:3]
        added[self._descends] = -inf
        deleted[self._required] = -inf
        for child, own in enumerate(self.parents):
            for parent in own:
                # The edge may be turned if no other path leads to the child.
                others = [p for p in own if p != parent]
                if not self._descends[parent, others].any():
                    gain = deleted[child, parent] + self._gains[0, parent, child]
                    turned[child, parent] = gain
        return gains

    def apply(self, kind: MoveKind, child: int, parent: int) -> None:
        """Make a move, and score what the changed families can become."""
        before = self.score
        detail = None
        own = self.parents[child]
        if kind == "add_edge":
            grouping = self._neighbours[child].groupings[parent]
            self._set(child, with_parent(own, parent, grouping))
        elif kind == "delete_edge":
            self._set(child, without(own, parent))
        elif kind == "reverse_edge":
            grouping = self._neighbours[parent].groupings[child]
            self._set(child, without(own, parent))
            self._set(parent, with_parent(self.parents[parent], child, grouping))
        else:
            regrouping = self._regroupings[child, parent]
            detail = regrouping.node
            self._set(child, with_parent(own, parent, regrouping.grouping))
        self.trace.append(
            Move(kind, child, parent, detail, self.score - before, self.score)
        )
        changed = [child, parent] if kind == "reverse_edge" else [child]
        if kind == "add_edge":
            self._descends[self._descends[:, parent]] |= self._descends[child]
        elif kind in _EDGE_MOVES:
            self._descends = self._reachable()
        if kind in _EDGE_MOVES and self._refresh:
            for variable in changed:
                self._refresh_hierarchies(variable)
        for variable in changed:
            self._neighbours[variable] = self._look_around(variable)

    def _shape(self, child: int) -> GroupedParents:
        """Shape of one variable's table."""
        own = self.parents[child]
        return GroupedParents(
            child,
            tuple(own),
            tuple(grouping.groups for grouping in own.values()),
            tuple(grouping.cut for grouping in own.values()),
        )

    def _start(self, child: int, chosen: Iterable[int]) -> dict[int, Grouping]:
        """Parents that a variable starts with, as far as its table can be counted."""
        own: dict[int, Grouping] = {}
        for parent in chosen:
            grouping = self.scores.entering(child, parent, own)
            larger = with_parent(own, parent, grouping)
            if self.scores.fits(child, larger):
                own = larger
            elif self._required[child, parent]:
                raise ValueError(
                    f"the required parents of variable {child} have too many states "
                    "to be counted; require fewer of them or use coarser states"
                )
        return own

    def _set(self, child: int, parents: dict[int, Grouping]) -> None:
        """Give a variable other parents."""
        self.parents[child] = parents
        self.family_scores[child] = self.scores.family(child, parents)

    def _look_around(self, child: int) -> Neighbours:
        """Score what a family can become, and note the gains."""
        own, score = self.parents[child], self.family_scores[child]
        found = self.scores.neighbours(child, own)
        self._gains[0, child] = found.added - score
        self._gains[1, child] = found.deleted - score
        self._gains[3, child] = -inf
        for parent in own:
            self._regroupings.pop((child, parent), None)
        for regrouping in found.regroupings:
            gain = regrouping.score - score
            if gain > self._gains[3, child, regrouping.parent] + LEAST_GAIN:
                self._gains[3, child, regrouping.parent] = gain
                self._regroupings[child, regrouping.parent] = regrouping
        return found

    def _reachable(self) -> NDArray[np.bool_]:
        """Whether a directed path leads from one variable to another, or itself."""
        reachable = np.eye(len(self.parents), dtype=np.bool_)
        for child in sorted_parents(self.parents).order:
            # Columns of the parents are complete: who reaches them reaches the child.
            own = list(self.parents[child])
            reachable[:, child] |= reachable[:, own].any(axis=1)
        return reachable

    def _refresh_hierarchies(self, child: int) -> None:
        """Ask for the hierarchies of all parents anew; take those that do not harm."""
        for parent in list(self.parents[child]):
            own = self.parents[child]
            fresh = self.scores.entering(child, parent, without(own, parent))
            if fresh.hierarchy == own[parent].hierarchy:
                continue
            grouping, score = self._refined(child, own, parent, fresh)
            gain = score - self.family_scores[child]
            if gain > LEAST_GAIN:
                self._set(child, with_parent(own, parent, grouping))
                self.trace.append(
                    Move("refresh", child, parent, None, gain, self.score)
                )

    def _refined(
        self, child: int, parents: Mapping[int, Grouping], parent: int, top: Grouping
    ) -> tuple[Grouping, float]:
        """Refine one parent's groups greedily, and score the family."""
        best = top
        score = self.scores.family(child, with_parent(parents, parent, top))
        improved = self.scores.refine
        while improved:
            improved = False
            for kind, _, finer in self.scores.groupings.steps(parent, best):
                if kind != "refine":
                    continue
                family = with_parent(parents, parent, finer)
                found = self.scores.family(child, family)
                if found > score + LEAST_GAIN:
                    candidate, score, improved = finer, found, True
            if improved:
                best = candidate
        return best, score
