"""Families with grouped states: their counts, their scores and those of neighbours."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import inf, prod
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.keys import count_by_key
from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowCounts, RowFacts, summed_over_rows
from bayleaf.counts.threads import worthwhile
from bayleaf.cpds.distribution import group_of_states
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.value_hierarchy import (
    Cut,
    StateGroup,
    ValueHierarchy,
    abstract,
    abstractable,
    cut_groups,
    n_cuts_below_root,
    refinable,
    refine,
    top_cut,
)
from bayleaf.native.counts import extend_keys
from bayleaf.scores.arc_prior import ArcPrior
from bayleaf.scores.local_scores import LocalScore
from bayleaf.search.hierarchy_learning import HierarchySource
from bayleaf.search.structure import MoveKind

Counts = NDArray[np.float64]
Parents = Mapping[int, "Grouping"]
FamilyKey = tuple[int, tuple[tuple[int, int], ...]]
# Place among the families to be scored, what it is remembered by, and its parents.
_Candidate = tuple[int, FamilyKey, Parents]

# Cells of tables that wait to be scored together.
_CELLS_SCORED = 1 << 21
# Larger tables than this are not counted: no score that charges for parameters likes
# them, and they would not fit in memory.
MAX_CELLS = 1 << 22
# Cells of all tables that are counted together.
_CELLS_COUNTED = 1 << 22
# Places of all variables up to which the counts of all pairs are kept.
_PAIR_PLACES = 3000
# Rows times columns, about a millisecond's work, for which a thread is started.
_LEAST_COUNTED = 2_000_000


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
        entering: dict[int, Grouping] = {}
        if self.max_parents is None or len(parents) < self.max_parents:
            entering = {
                v: self.entering(child, v, parents)
                for v in range(n_variables)
                if v != child and v not in parents and (v, child) not in self.forbidden
            }
        # Groups of each parent that are one step away.
        steps = [
            (kind, parent, node, grouping)
            for parent, own in parents.items()
            if self.refine
            for kind, node, grouping in self.groupings.steps(parent, own)
        ]
        changes = [*entering.items(), *((p, g) for _, p, _, g in steps)]
        scores = self._score_all(child, parents, changes)
        for parent, score in zip(entering, scores):
            added[parent] = score
        regroupings = [
            Regrouping(*step, score)
            for step, score in zip(steps, scores[len(entering) :], strict=True)
        ]
        return Neighbours(added, entering, deleted, tuple(regroupings))

    def _score_all(
        self, child: int, parents: Parents, changes: Sequence[tuple[int, Grouping]]
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
            if len(waiting) * waiting[-1][1].size > _CELLS_SCORED:
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
        weight = self.tables.facts.total_weight
        if self.tables.cards[child] == 1:
            # Every row is certain, whatever the parents: their table is not counted.
            n_rows = prod(grouping.n_groups for grouping in parents.values())
            counts = np.full((1, 1), weight)
            return float(self.score.rows_score(counts, n_rows, weight))
        counts = self.tables.table(child, parents)
        return float(self._rows_scores(child, counts[None])[0])

    def _rows_scores(self, child: int, stack: Counts) -> NDArray[np.float64]:
        """What data and parameters score, for tables (n_tables, n_rows, n_states)."""
        weight = self.tables.facts.total_weight
        if self.tables.facts.lacks_cells:
            stack = self._scaled_up(child, stack)
        return self.score.rows_score(stack, stack.shape[1], weight)

    def _scaled_up(self, child: int, stack: Counts) -> Counts:
        """Tables with the weight of all rows; without rows parents tell nothing."""
        seen = stack.sum(axis=(1, 2))
        if not seen.all():
            stack = stack.copy()
            stack[seen == 0, 0] = self.tables.table(child, {})[0]
            seen = stack.sum(axis=(1, 2))
        weight = self.tables.facts.total_weight
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


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of one variable's states."""

    hierarchy: ValueHierarchy  # whose nodes the groups are
    cut: Cut  # names of the nodes, in preorder
    groups: tuple[StateGroup, ...]  # states of each node
    n_cuts: int  # of the hierarchy, below its root
    number: int  # equal for groupings that score alike
    group_of: NDArray[np.uint16]  # (card + 1,), len(groups) for a missing cell

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @cached_property
    def is_states(self) -> bool:
        """Whether the groups are the states in order."""
        return self.n_groups == len(self.group_of) - 1 and bool(
            (self.group_of[1:] > self.group_of[:-1]).all()
        )


class Groupings:
    """Factory of groupings that makes each once."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._lock = Lock()
        self._made: dict[tuple[int, int, Cut], Grouping] = {}
        self._numbers: dict[tuple[int, tuple[StateGroup, ...], int], int] = {}

    def top(self, variable: int, hierarchy: ValueHierarchy) -> Grouping:
        """The groups right below the root."""
        return self.cut(variable, hierarchy, top_cut(hierarchy))

    def cut(self, variable: int, hierarchy: ValueHierarchy, cut: Cut) -> Grouping:
        """The groups that a cut makes."""
        # A grouping keeps its hierarchy, so that none other gets the same identity.
        place = variable, id(hierarchy), cut
        made = self._made.get(place)
        if made is None:
            with self._lock:
                made = self._made.setdefault(
                    place, self._make(variable, hierarchy, cut)
                )
        return made

    def steps(
        self, variable: int, grouping: Grouping
    ) -> list[tuple[MoveKind, Hashable, Grouping]]:
        """All groupings one step away: kind of the step, node and grouping.

        "refine" replaces the node by its children, "abstract" its children by the node;
        never the root.
        """
        tree, cut = grouping.hierarchy, grouping.cut
        finer = [(name, refine(tree, cut, name)) for name in refinable(tree, cut)]
        coarser = [
            (name, abstract(tree, cut, name)) for name in abstractable(tree, cut)
        ]
        steps: list[tuple[MoveKind, Hashable, Grouping]] = []
        for name, other in finer:
            steps.append(("refine", name, self.cut(variable, tree, other)))
        for name, other in coarser:
            steps.append(("abstract", name, self.cut(variable, tree, other)))
        return steps

    def _make(self, variable: int, hierarchy: ValueHierarchy, cut: Cut) -> Grouping:
        """A new grouping, its states looked up."""
        states = self._domain[variable].states
        groups = cut_groups(hierarchy, cut, states)
        number_of_cuts = n_cuts_below_root(hierarchy)
        kind = variable, groups, number_of_cuts
        number = self._numbers.setdefault(kind, len(self._numbers))
        group_of = group_of_states(groups, len(states) + 1, len(groups))
        return Grouping(
            hierarchy, cut, groups, number_of_cuts, number, group_of.astype(np.uint16)
        )


@dataclass(frozen=True, eq=False)
class FamilyTables:
    """Counts of families of a table whose parents' states are grouped.

    One pass over the rows counts the joint states of a child and its parents with every
    other variable, the parents' own ungrouped states included. All families that one
    move leads to are sums of these tables.
    """

    source: CountSource  # without a class, all pairs are counted at once
    n_variables: int

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return self.source.cards

    @cached_property
    def facts(self) -> RowFacts:
        """Total weight, whether cells are missing, and whether weights are integers."""
        return RowFacts.of(self.source)

    def joint_tables(
        self, child: int, parents: Parents, others: Sequence[int]
    ) -> Iterator[tuple[int, Counts]]:
        """Count a family with each of some other variables, possibly its parents.

        Yields each variable, in order, with counts (n_parent_rows, child card, card),
        the last parent fastest. Rows of the data that miss one of the variables are
        left out.
        """
        if not others:
            return
        n_rows = prod(grouping.n_groups for grouping in parents.values())
        card = self.cards[child]
        if not parents and self._pairs is not None:
            starts = self._pair_starts
            own = self._pairs[starts[child] : starts[child] + card]
            for variable in others:
                first = starts[variable]
                table = own[:, first : first + self.cards[variable]]
                yield variable, table[None]
            return
        digits = {**parents, child: None}
        for batch in self._batches(n_rows * card, others):
            tables = self._count(digits, n_rows * card, batch)
            widths = [self.cards[variable] + 1 for variable in batch]
            for variable, first in zip(batch, [0, *accumulate(widths)]):
                table = tables[:, first : first + self.cards[variable]]
                yield variable, table.reshape(n_rows, card, -1)

    def table(self, child: int, parents: Parents) -> Counts:
        """Count one family, shape (n_parent_rows, child card)."""
        n_rows = prod(grouping.n_groups for grouping in parents.values())
        tables = self._count(parents, n_rows, [child])
        return np.ascontiguousarray(tables[:, :-1])

    def _count(
        self,
        digits: Mapping[int, Grouping | None],
        n_keys: int,
        variables: Sequence[int],
    ) -> Counts:
        """Count joint states with some variables, shape (n_keys, n_states)."""
        threads = 1
        if isinstance(self.source, RowCounts):
            # Variables are shared out; of rows elsewhere, blocks are.
            work = self.source.codes.n_rows * len(variables)
            threads = worthwhile(self.source.n_jobs, work, _LEAST_COUNTED)

        def count(codes: Codes) -> Counts:
            return count_by_key(
                codes, _keys(codes, digits), n_keys, variables, threads
            )[0]

        return summed_over_rows(self.source, count)

    def _batches(self, n_keys: int, variables: Sequence[int]) -> Iterator[list[int]]:
        """Variables whose tables are held at the same time."""
        batch: list[int] = []
        n_cells = 0
        for variable in variables:
            width = n_keys * (self.cards[variable] + 1)
            if batch and n_cells + width > _CELLS_COUNTED:
                yield batch
                batch, n_cells = [], 0
            batch.append(variable)
            n_cells += width
        yield batch

    @cached_property
    def _pair_starts(self) -> NDArray[np.int64]:
        """First place of each variable in the counts of pairs."""
        return np.cumsum([0, *(card + 1 for card in self.cards)])

    @cached_property
    def _pairs(self) -> Counts | None:
        """Counts of all pairs of states, or None where they are not kept."""
        if self.source.has_class or self._pair_starts[-1] > _PAIR_PLACES:
            return None
        variables = range(self.n_variables)
        pairs: Counts = self.source.pair_counts(variables, variables).dense()[0]
        return pairs


def _keys(codes: Codes, digits: Mapping[int, Grouping | None]) -> NDArray[np.int32]:
    """Number of each row's joint state, -1 where one is missing."""
    keys = np.zeros(codes.n_rows, dtype=np.int32)
    for variable, grouping in digits.items():
        column, n_states = codes.column(variable), codes.cards[variable]
        if grouping is not None and not grouping.is_states:
            n_states = grouping.n_groups
            group_of = grouping.group_of.astype(column.dtype)
            column = np.take(group_of, column, mode="clip")
        extend_keys(keys, column, n_states)
    return keys
