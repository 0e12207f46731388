"""Scores of families and of all that one move makes of them, remembered."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_score import LocalScore
from bayleaf.search.structure import MoveKind
from bayleaf.search.tables.family_tables import MAX_CELLS, Counts, FamilyTables, Parents
from bayleaf.search.tables.state_groups import Grouping, Groupings

# Cells of tables that wait to be scored together.
_CELLS_AT_ONCE = 1 << 21

FamilyKey = tuple[int, tuple[tuple[int, int], ...]]
# Place among the families to be scored, what it is remembered by, and its parents.
_Candidate = tuple[int, FamilyKey, Parents]
# Gives the hierarchy of a parent for a child that has certain other parents.
HierarchySource = Callable[[int, int, tuple[int, ...]], ValueHierarchy]


@dataclass(frozen=True, eq=False)
class Regrouping:
    """A parent's groups after one of them was divided, or some were joined."""

    kind: MoveKind
    parent: int
    node: Hashable  # of the hierarchy, refined or abstracted to
    grouping: Grouping
    score: float  # of the family with these groups


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Scores of all families that one move makes of a family."""

    added: NDArray[np.float64]  # (n_variables,), -inf where not possible
    groupings: dict[int, Grouping]  # with which each new parent comes in
    deleted: NDArray[np.float64]  # (n_variables,), -inf for all but parents
    regroupings: tuple[Regrouping, ...]  # of one parent each


class ScoreCache:
    """Cache of at most `size` scores; the oldest go first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._scores: OrderedDict[FamilyKey, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._scores)

    def get(self, key: FamilyKey) -> float | None:
        """The score of a family, if it is remembered."""
        return self._scores.get(key)

    def put(self, key: FamilyKey, score: float) -> None:
        """Remember the score of a family."""
        if len(self._scores) >= self.size:
            # Another thread may have taken the last one out.
            with suppress(KeyError):
                self._scores.popitem(last=False)
        if self.size:
            self._scores[key] = score


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """Scorer of the families of one table.

    In a family with missing cells the counts are scaled up to the weight of all rows:
    otherwise a parent would gain by what its missing cells hide of the child (Balov
    2013 compares averages over rows for this reason). A score depends on nothing but
    the family, bit for bit where weights are integers: rows are summed with the parents
    in increasing order, whichever move led there.
    """

    tables: FamilyTables
    groupings: Groupings
    score: LocalScore
    hierarchies: Sequence[ValueHierarchy]
    hierarchy_source: HierarchySource | None  # replaces `hierarchies`
    refine: bool  # whether groups may change
    forbidden: frozenset[tuple[int, int]]  # (parent, child)
    max_parents: int | None
    cache: ScoreCache = field(default_factory=lambda: ScoreCache(200_000))
    arc_prior: ArcPrior | None = None

    def entering(self, child: int, parent: int, parents: Parents) -> Grouping:
        """The groups with which a new parent comes in."""
        if self.hierarchy_source is None:
            hierarchy = self.hierarchies[parent]
        else:
            present = tuple(sorted(parents))
            hierarchy = self.hierarchy_source(child, parent, present)
        return self.groupings.top(parent, hierarchy)

    def fits(self, child: int, parents: Parents) -> bool:
        """Whether the table of a family is small enough to be counted."""
        n_rows = prod(grouping.n_groups for grouping in parents.values())
        return n_rows * self.tables.cards[child] <= MAX_CELLS

    def family(self, child: int, parents: Parents) -> float:
        """Score of one family; parents stand in increasing order."""
        key = family_key(child, parents)
        known = self.cache.get(key)
        if known is None:
            rows = self._rows_score(child, parents)
            known = rows + self._shape_score(child, parents)
            self.cache.put(key, known)
        return known

    def neighbours(self, child: int, parents: Parents) -> Neighbours:
        """Scores of all families that one move makes of this one."""
        n_variables = self.tables.n_variables
        added, deleted = np.full((2, n_variables), -inf)
        for parent in parents:
            deleted[parent] = self.family(child, without(parents, parent))
        entering = self._entering(child, parents)
        steps = self._steps(parents)
        changes = [*entering.items(), *((p, g) for _, p, _, g in steps)]
        scores = self._score_all(child, parents, changes)
        for parent, score in zip(entering, scores):
            added[parent] = score
        regroupings = [
            Regrouping(*step, score)
            for step, score in zip(steps, scores[len(entering) :], strict=True)
        ]
        return Neighbours(added, entering, deleted, tuple(regroupings))

    def _entering(self, child: int, parents: Parents) -> dict[int, Grouping]:
        """Variables that may become parents, with their groups."""
        if self.max_parents is not None and len(parents) >= self.max_parents:
            return {}
        return {
            parent: self.entering(child, parent, parents)
            for parent in range(self.tables.n_variables)
            if parent != child
            and parent not in parents
            and (parent, child) not in self.forbidden
        }

    def _steps(
        self, parents: Parents
    ) -> list[tuple[MoveKind, int, Hashable, Grouping]]:
        """Groups of each parent that are one step away."""
        if not self.refine:
            return []
        return [
            (kind, parent, node, grouping)
            for parent, own in parents.items()
            for kind, node, grouping in self.groupings.steps(parent, own)
        ]

    def _score_all(
        self,
        child: int,
        parents: Parents,
        changes: Sequence[tuple[int, Grouping]],
    ) -> list[float]:
        """Scores of families in which one parent is new or grouped otherwise."""
        scores = [-inf] * len(changes)
        asked: dict[int, list[_Candidate]] = defaultdict(list)
        for place, (parent, grouping) in enumerate(changes):
            changed: Parents = with_parent(parents, parent, grouping)
            key = family_key(child, changed)
            known = self.cache.get(key)
            if known is not None:
                scores[place] = known
            elif self.tables.cards[child] == 1:
                scores[place] = self.family(child, changed)
            elif self.fits(child, changed):
                asked[parent].append((place, key, changed))
        waiting: list[tuple[_Candidate, Counts]] = []
        for parent, joint in self.tables.joint_tables(child, parents, sorted(asked)):
            waiting += [
                (candidate, regrouped(joint, parents, parent, candidate[2]))
                for candidate in asked[parent]
            ]
            if len(waiting) * waiting[-1][1].size > _CELLS_AT_ONCE:
                self._score_tables(child, waiting, scores)
                waiting = []
        self._score_tables(child, waiting, scores)
        return scores

    def _score_tables(
        self,
        child: int,
        counted: Sequence[tuple[_Candidate, Counts]],
        scores: list[float],
    ) -> None:
        """Fill in the scores of counted families, those of one shape together."""
        alike: dict[int, list[tuple[_Candidate, Counts]]] = defaultdict(list)
        for candidate, counts in counted:
            alike[len(counts)].append((candidate, counts))
        for families in alike.values():
            found = self._rows_scores(child, np.stack([c for _, c in families]))
            for ((place, key, changed), _), rows in zip(families, found, strict=True):
                scores[place] = float(rows) + self._shape_score(child, changed)
                self.cache.put(key, scores[place])

    def _rows_score(self, child: int, parents: Parents) -> float:
        """What data and parameters of one family score."""
        weight = self.tables.total_weight
        if self.tables.cards[child] == 1:
            # Every row is certain, whatever the parents: their table is not counted.
            n_rows = prod(grouping.n_groups for grouping in parents.values())
            counts = np.full((1, 1), weight)
            return float(self.score.rows_score(counts, n_rows, weight))
        counts = self.tables.table(child, parents)
        return float(self._rows_scores(child, counts[None])[0])

    def _rows_scores(self, child: int, stack: Counts) -> NDArray[np.float64]:
        """What data and parameters score, for tables (n_tables, n_rows, n_states)."""
        weight = self.tables.total_weight
        if self.tables.lacks_cells:
            stack = self._scaled_up(child, stack)
        return self.score.rows_score(stack, stack.shape[1], weight)

    def _scaled_up(self, child: int, stack: Counts) -> Counts:
        """Tables with the weight of all rows; without rows parents tell nothing."""
        seen = stack.sum(axis=(1, 2))
        if not seen.all():
            stack = stack.copy()
            stack[seen == 0, 0] = self.tables.table(child, {})[0]
            seen = stack.sum(axis=(1, 2))
        weight = self.tables.total_weight
        scale = np.divide(weight, seen, where=seen > 0, out=np.ones_like(seen))
        return np.asarray(stack * scale[:, None, None])

    def _shape_score(self, child: int, parents: Parents) -> float:
        """What parents and cuts score, and what is believed of the arcs."""
        cuts = [grouping.n_cuts for grouping in parents.values()]
        named = self.score.parents_score(len(parents), self.tables.n_variables)
        shape = named + self.score.cuts_score(cuts)
        if self.arc_prior is not None:
            shape += self.arc_prior.of(child, parents)
        return shape


def family_key(child: int, parents: Parents) -> FamilyKey:
    """What tells families apart whose scores differ."""
    return child, tuple((p, grouping.number) for p, grouping in parents.items())


def without(parents: Parents, parent: int) -> dict[int, Grouping]:
    """The parents less one."""
    return {p: grouping for p, grouping in parents.items() if p != parent}


def with_parent(parents: Parents, parent: int, own: Grouping) -> dict[int, Grouping]:
    """The parents and one more, or one with other groups, in increasing order."""
    return dict(sorted({**parents, parent: own}.items()))


def regrouped(joint: Counts, parents: Parents, parent: int, changed: Parents) -> Counts:
    """Sum the table of a family from counts that have one variable's own states.

    `joint` is (n_parent_rows, child card, card); `parents` and `changed`, which has
    `parent` in addition, increase. Returns (n_rows, child card), C-contiguous, the last
    parent fastest.
    """
    n_states, card = joint.shape[1:]
    grouping = changed[parent]
    own = [1, 1, 1]
    for other, groups in parents.items():
        # Parents before the variable, itself, and those after it.
        own[(other >= parent) + (other > parent)] *= groups.n_groups
    counts = joint.reshape(*own, n_states, card)
    counts = counts.sum(axis=1) if parent in parents else counts[:, 0]
    if not grouping.is_states:
        groups_of_states = np.eye(grouping.n_groups)[grouping.group_of[:-1]]
        counts = counts @ groups_of_states
    return np.ascontiguousarray(counts.transpose(0, 3, 1, 2).reshape(-1, n_states))
