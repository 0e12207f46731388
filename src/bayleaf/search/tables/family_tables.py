"""Groups of parents' states, and counts of a child with its grouped parents."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.keys import count_by_key
from bayleaf.counts.source import CountSource
from bayleaf.counts.table_counts import RowFacts, TableCounts, summed_over_rows
from bayleaf.counts.threads import worthwhile
from bayleaf.cpds.distribution import group_of_states
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.hierarchies.cuts import (
    Cut,
    StateGroup,
    abstract,
    abstractable,
    cut_groups,
    n_cuts,
    refinable,
    refine,
    top_cut,
)
from bayleaf.data.hierarchy import ValueHierarchy
from bayleaf.native.counts import extend_keys
from bayleaf.search.structure import MoveKind

Counts = NDArray[np.float64]

# Larger tables than this are not counted: no score that charges for parameters likes
# them, and they would not fit in memory.
MAX_CELLS = 1 << 22
# Cells of all tables that are counted together.
_CELLS_AT_ONCE = 1 << 22
# Places of all variables up to which the counts of all pairs are kept.
_PAIR_PLACES = 3000
# Rows times columns, about a millisecond's work, for which a thread is started.
_LEAST_COUNTED = 2_000_000


@dataclass(frozen=True, eq=False)
class Grouping:
    """Groups of one variable's states."""

    hierarchy: ValueHierarchy  # whose nodes the groups are
    cut: Cut  # names of the nodes, in preorder
    groups: tuple[StateGroup, ...]  # states of each node
    n_cuts: int  # of the hierarchy
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
        number_of_cuts = n_cuts(hierarchy)
        kind = variable, groups, number_of_cuts
        number = self._numbers.setdefault(kind, len(self._numbers))
        group_of = group_of_states(groups, len(states) + 1, len(groups))
        return Grouping(
            hierarchy, cut, groups, number_of_cuts, number, group_of.astype(np.uint16)
        )


Parents = Mapping[int, Grouping]


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
        if isinstance(self.source, TableCounts):
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
            if batch and n_cells + width > _CELLS_AT_ONCE:
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
