"""One climb over networks whose distributions are tables of grouped states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

from bayleaf.search.structure import (
    LEAST_GAIN,
    GroupedParents,
    Move,
    MoveKind,
    SearchResult,
    sorted_parents,
)
from bayleaf.search.tables.family_scores import (
    FamilyScores,
    Neighbours,
    Regrouping,
    with_parent,
    without,
)
from bayleaf.search.tables.family_tables import Grouping

# Kind, child and parent of a move.
Step = tuple[MoveKind, int, int]
Families = tuple[dict[int, Grouping], ...]

# In the order in which equal gains of one child and parent are taken.
EDGE_MOVES: tuple[MoveKind, ...] = ("add_edge", "delete_edge", "reverse_edge")


@dataclass(frozen=True, eq=False)
class Climbed:
    """State of a climb."""

    families: Families  # grouped parents of each variable
    trace: tuple[Move, ...]  # moves that led there
    score: float
    stopped_early: bool = False  # whether time was up

    def result(self, restart: int) -> SearchResult:
        """What a search answers that ends here."""
        return SearchResult(
            sorted_parents(self.families),
            tuple(
                GroupedParents(
                    child,
                    tuple(own),
                    tuple(grouping.groups for grouping in own.values()),
                    tuple(grouping.cut for grouping in own.values()),
                )
                for child, own in enumerate(self.families)
            ),
            self.score,
            self.trace,
            self.stopped_early,
            restart,
        )


def starting_families(
    scores: FamilyScores,
    required: Iterable[tuple[int, int]],
    start: Iterable[Iterable[int]],
) -> Families:
    """Group the parents that variables start with, as far as tables can be counted.

    ValueError if the required parents of a variable have too many states together.
    """
    needed = frozenset(required)
    families: list[dict[int, Grouping]] = []
    for child, chosen in enumerate(start):
        own: dict[int, Grouping] = {}
        for parent in chosen:
            larger = with_parent(own, parent, scores.entering(child, parent, own))
            if scores.fits(child, larger):
                own = larger
            elif (parent, child) in needed:
                raise ValueError(
                    f"the required parents of variable {child} have too many states "
                    "to be counted; require fewer of them or use coarser states"
                )
        families.append(own)
    return tuple(families)


class Climb:
    """One climb: a structure, and what each of its families can become.

    `required` edges stay; `start` has each variable's parents, increasing, to which the
    moves in `trace` led; `refresh` is that of `climb_tables`.
    """

    def __init__(
        self,
        scores: FamilyScores,
        required: Iterable[tuple[int, int]],
        start: Sequence[Mapping[int, Grouping]],
        trace: Iterable[Move] = (),
        *,
        refresh: bool = False,
    ) -> None:
        n_variables = len(start)
        self.scores = scores
        self.trace = list(trace)
        self._refresh = refresh
        self._required = np.zeros((n_variables, n_variables), dtype=np.bool_)
        for parent, child in required:
            self._required[child, parent] = True
        self.parents = [dict(own) for own in start]
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

    @property
    def here(self) -> Climbed:
        """The structure as it is."""
        families = tuple(dict(own) for own in self.parents)
        return Climbed(families, tuple(self.trace), self.score)

    def best_move(self) -> Step | None:
        """The move that gains most, if any gains."""
        gains = self.legal_gains()
        # What gains nothing never ends.
        return self.best_of(np.where(gains > LEAST_GAIN, gains, -inf))

    def best_of(self, gains: NDArray[np.float64]) -> Step | None:
        """Find the move of the largest gain; the least (child, parent) among equals.

        `gains` (4, n_variables, n_variables) are those of `legal_gains`, -inf for moves
        that are excluded.
        """
        most = gains.max(initial=-inf)
        if most == -inf:
            return None
        # Gains that differ by rounding are equal.
        near = (gains >= most - LEAST_GAIN).transpose(1, 2, 0)
        child, parent, kind = np.unravel_index(int(np.argmax(near)), near.shape)
        return self.step(int(kind), int(child), int(parent))

    def step(self, kind: int, child: int, parent: int) -> Step:
        """The move whose gain stands at a place of `legal_gains`."""
        if kind < len(EDGE_MOVES):
            return EDGE_MOVES[kind], child, parent
        return self._regroupings[child, parent].kind, child, parent

    def legal_gains(self) -> NDArray[np.float64]:
        """Gains of all legal moves, (4, n_variables, n_variables).

        Adding, deleting and turning each edge and the best other groups of each parent,
        at [child, parent]; -inf where a move is not possible.
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
        elif kind in EDGE_MOVES:
            self._descends = self._reachable()
        if kind in EDGE_MOVES and self._refresh:
            for variable in changed:
                self._refresh_hierarchies(variable)
        for variable in changed:
            self._neighbours[variable] = self._look_around(variable)

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
