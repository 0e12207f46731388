"""Hill climbing over networks whose distributions are tables of grouped states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import run_tasks
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.constraints import Constraints
from bayleaf.search.structure import (
    LEAST_GAIN,
    Deadline,
    ProgressCallback,
    SearchResult,
    best_result,
    one_at_a_time,
    restart_numbers,
    warn_if_stopped,
)
from bayleaf.search.tables.family_scores import (
    FamilyScores,
    HierarchySource,
    ScoreCache,
)
from bayleaf.search.tables.family_tables import FamilyTables
from bayleaf.search.tables.single_climb import Climb, Climbed, starting_families
from bayleaf.search.tables.starting_parents import starting_parents
from bayleaf.search.tables.state_groups import Groupings
from bayleaf.search.tables.walk import Walk

# Restarts that begin with the best structure of those before; fewer would leave more
# threads idle, more would learn less from each other.
_WAVE = 4
# How often such a restart strays from the best structure and climbs again, and by how
# many random moves. By these it scores, with one more wandering, no less than greedy
# searches that look further: see docs/results/structure-peers.md.
_STRAYS, _STRAY_MOVES = 4, 12


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
    refresh: bool = False,  # ask for hierarchies again when parents change
    cache_size: int = 200_000,  # scores of families
) -> SearchResult:
    """Climb from several starts to networks that no single move makes better.

    Steepest ascent over adding, deleting and reversing edges, refining and abstracting
    groups (desJardins, Rathod and Getoor 2008, section 4), until no move gains more
    than `LEAST_GAIN`. Among equal gains the least (child, parent) goes first. A move
    changes the families of one or two children; only their moves are scored again.

    Restart 0 starts from the required edges alone and only climbs. Others go on by tabu
    search, see `Walk.wander`; even ones start from random orders with up to two parents
    per variable, odd ones from the best structure known, which they also change by
    random moves and another climb (iterated local search; Lourenço, Martin and Stützle
    2003). They run in waves of at most four; the best structure known is that of the
    waves before.

    With `refresh`, a hierarchy that changed with a child's parents is refined greedily
    from its top, and taken if the score does not fall. ValueError if no structure
    satisfies the constraints or `n_restarts` is below one; RuntimeWarning if the time
    limit stops the search.
    """
    constraints = constraints or Constraints()
    constraints.check(domain)
    numbers = restart_numbers(n_restarts, skipped_restarts)
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
        arc_prior,
    )
    search = _Restarts(
        scores,
        constraints,
        seed,
        Deadline.after(constraints.time_limit),
        one_at_a_time(progress, n_restarts),
        refresh,
    )
    result = search.run(numbers, n_jobs)
    warn_if_stopped(result, constraints)
    return result


@dataclass(frozen=True, eq=False)
class _Restarts:
    """What all restarts of one search share."""

    scores: FamilyScores
    constraints: Constraints
    seed: int
    deadline: Deadline
    report: ProgressCallback
    refresh: bool

    def run(self, numbers: Sequence[int], n_jobs: int) -> SearchResult:
        """Run restarts in waves; each wave goes on from the best of those before."""
        ends = {0: self._restart(0, None)}
        while True:
            best = best_result(
                [
                    None if end is None else end.result(number)
                    for number, end in ends.items()
                ]
            )
            if len(ends) == len(numbers):
                return best
            wave = numbers[len(ends) : len(ends) + _WAVE]
            source = ends[best.restart]
            found = run_tasks(
                [partial(self._restart, number, source) for number in wave], n_jobs
            )
            ends.update(zip(wave, found, strict=True))

    def _restart(self, number: int, best: Climbed | None) -> Climbed | None:
        """One restart; None if time was up before it began."""
        if number > 0 and self.deadline.has_passed:
            return None
        goes_on = best is not None and number % 2 == 1
        climb = self._climb(best if goes_on else None, number)
        walk = Walk(climb, number, self.deadline, self.report)
        walk.ascend()
        if goes_on:
            self._stray_and_climb(walk, number)
        return walk.wander() if number > 0 else walk.end

    def _stray_and_climb(self, walk: Walk, number: int) -> None:
        """Look for a better structure by chance, and move the walk to the best."""
        rng = np.random.default_rng((self.seed, number))
        best = walk.end
        for _ in range(_STRAYS):
            walk.stray(rng, _STRAY_MOVES)
            walk.ascend()
            if walk.end.score > best.score + LEAST_GAIN:
                best = walk.end
            walk.climb = self._climb(best, number)

    def _climb(self, start: Climbed | None, number: int) -> Climb:
        """A climb from some structure, or else from the one that a restart draws."""
        scores, required = self.scores, self.constraints.required_edges
        if not scores.tables.has_whole_weights:
            # Sums of other weights depend on the order of moves, so that climbs which
            # share scores would depend on each other.
            scores = replace(scores, cache=ScoreCache(scores.cache.size))
        if start is not None:
            return Climb(
                scores, required, start.families, start.trace, refresh=self.refresh
            )
        n_variables = scores.tables.n_variables
        parents = starting_parents(n_variables, self.constraints, number, self.seed)
        families = starting_families(scores, required, parents)
        return Climb(scores, required, families, refresh=self.refresh)
