"""Counts of one child and its grouped parents with every other variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.keys import count_by_key
from bayleaf.counts.source import CountSource
from bayleaf.counts.threads import worthwhile
from bayleaf.data.codes import Codes
from bayleaf.native.counts import extend_keys
from bayleaf.search.tables.state_groups import Grouping

Counts = NDArray[np.float64]
Parents = Mapping[int, Grouping]

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
class FamilyTables:
    """Counts families of a table whose parents' states are grouped.

    Parameters
    ----------
    source : CountSource
        Counts that keep their rows; without a class, all pairs are counted at once.
    n_variables : int
        Number of variables.

    Notes
    -----
    One pass over the rows counts the joint states of a child and its parents with
    every other variable, the parents' own ungrouped states included. All families
    that one move leads to are sums of these tables.
    """

    source: CountSource
    n_variables: int

    @cached_property
    def codes(self) -> Codes:
        """The rows."""
        return self.source.rows()

    @cached_property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.codes.weights.sum())

    @cached_property
    def lacks_cells(self) -> bool:
        """Whether some cell is missing."""
        return any(self.codes.missing(v).any() for v in range(self.n_variables))

    @cached_property
    def has_whole_weights(self) -> bool:
        """Whether sums of weights do not depend on their order."""
        weights = self.codes.weights
        return self.codes.unit_weights or bool((weights == np.rint(weights)).all())

    def joint_tables(
        self, child: int, parents: Parents, others: Sequence[int]
    ) -> Iterator[tuple[int, Counts]]:
        """Count a family with each of some other variables.

        Parameters
        ----------
        child : int
        parents : mapping of int to Grouping
        others : sequence of int
            Variables, the parents possibly among them.

        Yields
        ------
        variable : int
            One of the others, in order.
        counts : ndarray of shape (n_parent_rows, child card, card)
            Rows of the table in the order of `parents`, the last parent fastest.
            Rows of the data in which one of the variables is missing are left out.
        """
        if not others:
            return
        n_rows = prod(grouping.n_groups for grouping in parents.values())
        card = self.codes.cards[child]
        if not parents and self._pairs is not None:
            starts = self._pair_starts
            own = self._pairs[starts[child] : starts[child] + card]
            for variable in others:
                first = starts[variable]
                table = own[:, first : first + self.codes.cards[variable]]
                yield variable, table[None]
            return
        keys = self._keys({**parents, child: None})
        for batch in self._batches(n_rows * card, others):
            tables, starts = self._count(keys, n_rows * card, batch)
            for variable, first in zip(batch, starts[:-1]):
                table = tables[:, first : first + self.codes.cards[variable]]
                yield variable, table.reshape(n_rows, card, -1)

    def table(self, child: int, parents: Parents) -> Counts:
        """Count one family, shape (n_parent_rows, child card)."""
        n_rows = prod(grouping.n_groups for grouping in parents.values())
        tables, _ = count_by_key(self.codes, self._keys(parents), n_rows, [child])
        return np.ascontiguousarray(tables[:, :-1])

    def _keys(self, digits: Mapping[int, Grouping | None]) -> NDArray[np.int32]:
        """Number of each row's joint state, -1 where one is missing."""
        keys = np.zeros(self.codes.n_rows, dtype=np.int32)
        for variable, grouping in digits.items():
            column, n_states = self.codes.column(variable), self.codes.cards[variable]
            if grouping is not None and not grouping.is_states:
                n_states = grouping.n_groups
                group_of = grouping.group_of.astype(column.dtype)
                column = np.take(group_of, column, mode="clip")
            extend_keys(keys, column, n_states)
        return keys

    def _count(
        self, keys: NDArray[np.int32], n_keys: int, variables: Sequence[int]
    ) -> tuple[Counts, NDArray[np.int64]]:
        """Count keys with some variables, by several threads where there is much."""
        work = self.codes.n_rows * len(variables)
        threads = worthwhile(self.source.n_jobs, work, _LEAST_COUNTED)
        return count_by_key(self.codes, keys, n_keys, variables, threads)

    def _batches(self, n_keys: int, variables: Sequence[int]) -> Iterator[list[int]]:
        """Variables whose tables are held at the same time."""
        batch: list[int] = []
        n_cells = 0
        for variable in variables:
            width = n_keys * (self.codes.cards[variable] + 1)
            if batch and n_cells + width > _CELLS_AT_ONCE:
                yield batch
                batch, n_cells = [], 0
            batch.append(variable)
            n_cells += width
        yield batch

    @cached_property
    def _pair_starts(self) -> NDArray[np.int64]:
        """First place of each variable in the counts of pairs."""
        return np.cumsum([0, *(card + 1 for card in self.codes.cards)])

    @cached_property
    def _pairs(self) -> Counts | None:
        """Counts of all pairs of states, or None where they are not kept."""
        if self.source.has_class or self._pair_starts[-1] > _PAIR_PLACES:
            return None
        variables = range(self.n_variables)
        pairs: Counts = self.source.pair_counts(variables, variables).dense()[0]
        return pairs
