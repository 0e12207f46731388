"""Hill climbing over networks whose distributions are tables of grouped states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import fsum, inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import CountSource
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import LocalScore
from bayleaf.search.climb import (
    Climb,
    ProgressCallback,
    Restarts,
    SearchState,
    warn_if_stopped,
)
from bayleaf.search.constraints import Constraints
from bayleaf.search.hierarchy_learning import HierarchySource
from bayleaf.search.structure import (
    LEAST_GAIN,
    GroupedParents,
    Move,
    MoveKind,
    SearchResult,
    descendants,
)
from bayleaf.search.table_families import (
    FamilyScores,
    FamilyTables,
    Grouping,
    Groupings,
    Neighbours,
    Regrouping,
    ScoreCache,
    with_parent,
    without,
)

# What restarts do: walk on from optima, or only climb as desJardins et al. (2008).
TableSearch = Literal["tabu", "greedy"]
# Kind, child and parent of a move.
Step = tuple[MoveKind, int, int]
Families = tuple[dict[int, Grouping], ...]
TableClimb = Climb["TableMoves"]
# Whether a hierarchy that is learned again when parents change is always taken.
Refresh = Literal["always", "if_better"]

# Restarts that begin with the best structure of those before; fewer would leave more
# threads idle, more would learn less from each other.
_WAVE = 4
# How often such a restart strays from the best structure and climbs again, and by how
# many random moves. By these it scores, with one more wandering, no less than greedy
# searches that look further: see docs/results/structure-peers.md.
_STRAYS, _STRAY_MOVES = 4, 12
# Place of the groups' gains in those of `TableMoves.legal_gains`, after those of edges.
_REGROUPING = 3
# Moves for which an edge that was changed stays as it is, and moves without a new best
# structure after which a walk ends. Twice as many of both gained no more in trials on
# rows of alarm, insurance and child.
_TABU_MOVES = 10
_PATIENCE = 20
# Most parents that a variable starts with, beside those that are required.
_MAX_PARENTS = 2
# In the order in which equal gains of one child and parent are taken.
EDGE_MOVES: tuple[MoveKind, ...] = ("add_edge", "delete_edge", "reverse_edge")


def climb_tables(
    counts: CountSource,  # fastest without a class
    domain: Domain,
    score: LocalScore,
    hierarchies: Sequence[ValueHierarchy],  # a parent comes in right below the root
    *,
    refine: bool,  # whether groups may change afterwards
    constraints: Constraints | None = None,
    arc_prior: ArcPrior | None = None,
    n_restarts: int = 1,
    skipped_restarts: int = 0,  # those after number 0
    seed: int = 0,  # restart k draws from (seed, k)
    n_jobs: int = 1,
    progress: ProgressCallback | None = None,  # called by one thread at a time
    hierarchy_source: HierarchySource | None = None,  # replaces `hierarchies`
    refresh: Refresh | None = None,  # ask for hierarchies again when parents change
    cache_size: int = 200_000,  # scores of families
    greedy: bool = False,  # whether restarts only climb, each from a start of its own
) -> SearchResult:
    """Climb from several starts to networks that no single move makes better.

    Steepest ascent over adding, deleting and reversing edges, refining and abstracting
    groups (desJardins, Rathod and Getoor 2008, section 4), until no move gains more
    than `LEAST_GAIN`. Among equal gains the least (child, parent) goes first. A move
    changes the families of one or two children; only their moves are scored again.

    Restart 0 starts from the required edges alone and only climbs. Others go on by tabu
    search, see `wander`; even ones start from random orders with up to two parents
    per variable, odd ones from the best structure of the waves of four before, which
    they also change by random moves and another climb (iterated local search; Lourenço,
    Martin and Stützle 2003). If `greedy`, all start from random orders and only climb.

    With `refresh`, a hierarchy that changed with a child's parents is refined greedily
    from its top: it is taken "always" (section 7.2), or "if_better", if the score
    rises. Always taken, it is part of the move: a climb makes only moves that gain with
    the hierarchies to which they lead, so that its score rises and it ends. ValueError
    if no structure satisfies the constraints or `n_restarts` is below one;
    RuntimeWarning if the time limit stops the search.
    """
    constraints = constraints or Constraints()
    constraints.check(domain)
    required = constraints.required_edges
    restarts = Restarts(
        n_restarts, skipped_restarts, seed, progress, constraints.time_limit
    )
    scores = FamilyScores(
        FamilyTables(counts, len(domain)),
        Groupings(domain),
        score,
        hierarchies,
        hierarchy_source,
        refine,
        constraints.forbidden_edges,
        constraints.max_parents,
        ScoreCache(cache_size),
        arc_prior,
    )

    def restart(number: int, best: SearchState | None) -> SearchState:
        rng = restarts.generator(number)
        source = best if number % 2 == 1 and not greedy else None
        if source is not None:
            families, trace = source.structure, source.trace
        else:
            parents = constraints.required_parents(len(domain))
            if number > 0:
                parents = starting_parents(constraints, parents, rng)
            families, trace = starting_families(scores, required, parents), ()
        moves = TableMoves(scores, required, families, refresh=refresh)
        climb = restarts.climb(moves, number, trace)
        climb.ascend()
        if source is not None:
            perturb_and_climb(climb, rng)
        return climb.state if number == 0 or greedy else wander(climb)

    best = restarts.best(restart, n_jobs, _WAVE)
    result = best.result(
        [
            GroupedParents(
                child,
                tuple(own),
                tuple(grouping.groups for grouping in own.values()),
                tuple(grouping.cut for grouping in own.values()),
            )
            for child, own in enumerate(best.structure)
        ]
    )
    warn_if_stopped(result, constraints)
    return result


def perturb_and_climb(climb: TableClimb, rng: np.random.Generator) -> None:
    """Look for a better structure by chance, and move the climb to the best."""
    best = climb.state
    for _ in range(_STRAYS):
        stray(climb, rng, _STRAY_MOVES)
        climb.ascend()
        if climb.moves.score > best.score + LEAST_GAIN:
            best = climb.state
        climb.moves = climb.moves.at(best.structure)
        climb.trace = list(best.trace)


def stray(climb: TableClimb, rng: np.random.Generator, n_moves: int) -> None:
    """Make random changes of edges, of each kind equally often.

    Only the better half of a kind's moves are drawn from: the others join to a variable
    parents that make its table very large.
    """
    for _ in range(n_moves):
        gains = climb.moves.legal_gains()[:_REGROUPING]
        kinds = [kind for kind in range(len(gains)) if gains[kind].max() > -inf]
        if not kinds:
            return
        kind = int(rng.choice(kinds))
        legal = gains[kind] > -inf
        places = np.argwhere(legal & (gains[kind] >= np.median(gains[kind][legal])))
        child, parent = places[rng.integers(len(places))]
        if not climb.make(climb.moves.step(kind, int(child), int(parent))):
            return


def wander(climb: TableClimb) -> SearchState:
    """Walk on from an optimum by the least harmful moves, back to none just left.

    Tabu search (Glover 1989, "Tabu search, part I"): for some moves an edge that was
    changed, or a parent whose groups were, stays as it is, except where a move leads to
    a better structure than the best. No move improves on the result, unless time was
    up.
    """
    moves = climb.moves
    best, patience = climb.state, _PATIENCE
    # Of edges and of groups, [child, parent].
    shape = 2, len(moves.parents), len(moves.parents)
    barred_until = np.zeros(shape, dtype=np.int64)
    n_moves = 0
    while patience and not climb.stopped:
        gains = moves.legal_gains()
        is_past = moves.score - best.score + gains > LEAST_GAIN
        if is_past.any():
            gains[~is_past] = -inf
        else:
            gains[:_REGROUPING, barred_until[0] > n_moves] = -inf
            gains[_REGROUPING, barred_until[1] > n_moves] = -inf
        step = moves.best_of(gains)
        if step is None or not climb.make(step):
            break
        n_moves += 1
        patience -= 1
        kind, child, parent = step
        until = n_moves + _TABU_MOVES
        if kind in EDGE_MOVES:
            barred_until[0, [child, parent], [parent, child]] = until
        else:
            barred_until[1, child, parent] = until
        if moves.score > best.score + LEAST_GAIN / 2:
            best, patience = climb.state, _PATIENCE
    return replace(best, stopped_early=climb.stopped)


def starting_parents(
    constraints: Constraints,
    required: Sequence[tuple[int, ...]],
    rng: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Choose the parents, increasing, that each variable starts with.

    Variables come in a random order; each gets up to two of those before it, in
    addition to the parents that are `required`.
    """
    # Every variable comes after its required parents.
    after = Constraints(constraints.required_edges)
    order = after.ordered(rng.permutation(len(required))).tolist()
    chosen: list[tuple[int, ...]] = [()] * len(required)
    for place, child in enumerate(order):
        parents = set(required[child])
        before = [
            v
            for v in order[:place]
            if v not in parents and (v, child) not in constraints.forbidden_edges
        ]
        number = min(int(rng.integers(0, _MAX_PARENTS + 1)), len(before))
        if constraints.max_parents is not None:
            number = min(number, constraints.max_parents - len(parents))
        parents.update(before[int(k)] for k in rng.permutation(len(before))[:number])
        chosen[child] = tuple(sorted(parents))
    return chosen


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


class TableMoves:
    """A structure, and what each of its families can become.

    `required` edges stay; `start` has each variable's parents, increasing; `refresh` is
    that of `climb_tables`.
    """

    def __init__(
        self,
        scores: FamilyScores,
        required: Iterable[tuple[int, int]],
        start: Sequence[Mapping[int, Grouping]],
        *,
        refresh: Refresh | None = None,
    ) -> None:
        n_variables = len(start)
        if not scores.tables.facts.has_whole_weights:
            # Sums of other weights depend on the order of moves, so that climbs which
            # share scores would depend on each other.
            scores = replace(scores, cache=ScoreCache(scores.cache.size))
        self.scores = scores
        self._refresh = refresh
        self._required_edges = required
        self._required = np.zeros((n_variables, n_variables), dtype=np.bool_)
        for parent, child in required:
            self._required[child, parent] = True
        self.parents = [dict(own) for own in start]
        if refresh == "always":
            self.parents = [self._refreshed(*family) for family in enumerate(start)]
        self.family_scores = [
            scores.family(child, own) for child, own in enumerate(self.parents)
        ]
        # Gains, [child, parent].
        shape = 4, n_variables, n_variables
        self._gains = np.full(shape, -inf)
        self._regroupings: dict[tuple[int, int], Regrouping] = {}
        self._neighbours: list[Neighbours] = []
        for child in range(n_variables):
            self._neighbours.append(self._score_neighbors(child))
        self._descends = descendants(self.parents)

    @property
    def score(self) -> float:
        """Score of the structure as it is."""
        return fsum(self.family_scores)

    @property
    def structure(self) -> Families:
        """Grouped parents of each variable."""
        return tuple(dict(own) for own in self.parents)

    def at(self, structure: Families) -> TableMoves:
        """The same search at another structure."""
        return TableMoves(
            self.scores, self._required_edges, structure, refresh=self._refresh
        )

    def best_move(self) -> Step | None:
        """The move that gains most, if any gains."""
        gains = self.legal_gains()
        # What gains nothing never ends.
        gains[gains <= LEAST_GAIN] = -inf
        while (step := self.best_of(gains)) is not None:
            if self._refresh != "always" or self._gain(step) > LEAST_GAIN:
                break
            kind, child, parent = step
            gains[EDGE_MOVES.index(kind), child, parent] = -inf
        return step

    def _gain(self, step: Step) -> float:
        """Gain of a move with the hierarchies that are learned again after it."""
        gain = 0.0
        for child, family in self._changed(step).items():
            is_edge = step[0] in EDGE_MOVES
            relearned = self._refreshed(child, family) if is_edge else family
            gain += self.scores.family(child, relearned) - self.family_scores[child]
        return gain

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

    def apply(self, move: Step) -> list[Move]:
        """Make a move, and score what the changed families can become."""
        kind, child, parent = move
        before = self.score
        changed = self._changed(move)
        for variable, family in changed.items():
            self._set(variable, family)
        is_regrouping = kind not in EDGE_MOVES
        detail = self._regroupings[child, parent].node if is_regrouping else None
        made = [Move(kind, child, parent, detail, self.score - before, self.score)]
        if kind == "add_edge":
            self._descends[self._descends[:, parent]] |= self._descends[child]
        elif kind in EDGE_MOVES:
            self._descends = descendants(self.parents)
        if kind in EDGE_MOVES and self._refresh:
            for variable in changed:
                made += self._refresh_hierarchies(variable)
        for variable in changed:
            self._neighbours[variable] = self._score_neighbors(variable)
        return made

    def _changed(self, move: Step) -> dict[int, dict[int, Grouping]]:
        """The variables that a move gives other parents or groups, and these."""
        kind, child, parent = move
        parents = self.parents[child]
        if kind == "add_edge":
            entering = self._neighbours[child].groupings[parent]
            return {child: with_parent(parents, parent, entering)}
        if kind == "delete_edge":
            return {child: without(parents, parent)}
        if kind == "reverse_edge":
            entering = self._neighbours[parent].groupings[child]
            turned = with_parent(self.parents[parent], child, entering)
            return {child: without(parents, parent), parent: turned}
        return {
            child: with_parent(
                parents, parent, self._regroupings[child, parent].grouping
            )
        }

    def _set(self, child: int, parents: dict[int, Grouping]) -> None:
        """Give a variable other parents."""
        self.parents[child] = parents
        self.family_scores[child] = self.scores.family(child, parents)

    def _score_neighbors(self, child: int) -> Neighbours:
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

    def _refresh_hierarchies(self, child: int) -> Iterator[Move]:
        """Take the hierarchies of parents that are learned again."""
        for parent, family, score in self._relearned(child, self.parents[child]):
            gain = score - self.family_scores[child]
            self._set(child, family)
            yield Move("refresh", child, parent, None, gain, self.score)

    def _refreshed(
        self, child: int, family: Mapping[int, Grouping]
    ) -> dict[int, Grouping]:
        """A family once all hierarchies were learned again."""
        families = [family for _, family, _ in self._relearned(child, family)]
        return families[-1] if families else dict(family)

    def _relearned(
        self, child: int, family: Mapping[int, Grouping]
    ) -> Iterator[tuple[int, dict[int, Grouping], float]]:
        """Parents that get another hierarchy, the family with it, and its score."""
        score = self.scores.family(child, family)
        for parent in list(family):
            fresh = self.scores.entering(child, parent, without(family, parent))
            if fresh.hierarchy == family[parent].hierarchy:
                continue
            grouping, new_score = self._refined(child, family, parent, fresh)
            if self._refresh == "always" or new_score > score + LEAST_GAIN:
                family, score = with_parent(family, parent, grouping), new_score
                yield parent, family, score

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
