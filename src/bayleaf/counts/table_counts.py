"""Counts of a table that lies in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.keys import family_counts_by_key
from bayleaf.counts.pair_counting import PairCounter
from bayleaf.counts.pairs import PairCounts
from bayleaf.counts.planes import ClassOrder
from bayleaf.counts.source import Counts, CountSource, Family
from bayleaf.counts.threads import run_tasks, stretches, thread_count, worthwhile
from bayleaf.data.codes import Codes
from bayleaf.data.memory import check_memory

# Families below which columns are not packed into planes: that would take longer than
# counting them by key.
_LEAST_PACKED = 8
# Rows that a block function gets at a time.
_BLOCK_ROWS = 131_072
# Cells, about a millisecond's work, for which a thread is started.
_LEAST_SEARCHED = 20_000_000
# What a cell takes as a count, a probability and a logarithm.
_BYTES_A_CELL = 24
# Classes that are counted by comparing the class of every row with each.
_COMPARED_CLASSES = 8


class Layout(NamedTuple):
    """Layout that the counts of all blocks of a table share."""

    has_missing: tuple[bool, ...]  # for each variable
    whole_weights: bool  # integers that bit planes can count


class TableCounts:
    """Count source over codes in memory.

    Counts are the same, bit for bit, whatever `n_jobs` (scikit-learn's meaning): those
    of integer weights are exact, and for others each cell is summed in the order of
    rows. Families have at most `max_table_cells` cells. Blocks of one table share a
    `layout`, which the codes give by default.
    """

    def __init__(
        self,
        codes: Codes,
        n_jobs: int | None = None,
        *,
        has_class: bool = True,
        max_table_cells: int = 20_000_000,
        layout: Layout | None = None,
    ) -> None:
        self.codes = codes
        self._layout = layout
        self.has_class = has_class
        self.max_table_cells = max_table_cells
        self._threads = thread_count(n_jobs)

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""
        return self.codes.cards

    @property
    def n_jobs(self) -> int:
        """Number of threads that a pass may use."""
        return self._threads

    @property
    def class_index(self) -> int:
        """Index of the class variable: the last one; raises where there is none."""
        if not self.has_class:
            raise ValueError("these counts are of a table without a class; give it one")
        return self.codes.n_variables - 1

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        return self._class_counts.copy()

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of families, each (*parent cards, child card).

        Rows in which a member is missing are left out; families with the same parents
        are counted together. ValueError if one has more than `max_table_cells` joint
        states.
        """
        families = [tuple(int(v) for v in family) for family in families]
        self.check_sizes(families)
        by_planes = [False] * len(families)
        if len(families) >= _LEAST_PACKED:
            by_planes = [self._fits_planes(family) for family in families]
        fast: list[Counts] = []
        if any(by_planes):
            fast = self._pair_counter.family_counts(
                [f for f, here in zip(families, by_planes, strict=True) if here]
            )
        slow = family_counts_by_key(
            self.codes,
            [f for f, here in zip(families, by_planes, strict=True) if not here],
            self._threads,
        )
        sources = iter(fast), iter(slow)
        return [next(sources[0] if here else sources[1]) for here in by_planes]

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Class-pair counts of every variable in `left` with every one in `right`.

        They may overlap; if they are the same, each pair is counted once.
        """
        left, right = tuple(map(int, left)), tuple(map(int, right))
        return self._pair_counter.pair_counts(left, right)

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Sum what `block_function` returns for blocks of rows, in row order.

        Blocks do not depend on `n_jobs`, and neither does the sum.
        """
        n_rows = self.codes.n_rows
        if n_rows <= _BLOCK_ROWS:
            return block_function(self.codes)

        def block(first: int) -> Counts:
            return block_function(self.codes.rows(slice(first, first + _BLOCK_ROWS)))

        total: Counts | None = None
        step = _BLOCK_ROWS * self._threads
        for first in range(0, n_rows, step):
            starts = range(first, min(first + step, n_rows), _BLOCK_ROWS)
            parts = run_tasks(
                [partial(block, start) for start in starts], self._threads
            )
            for part in parts:
                total = part if total is None else total + part
        assert total is not None
        return total

    def rows(self) -> Codes:
        """The table itself, a class last."""
        return self.codes

    def check_sizes(self, families: Sequence[Family]) -> None:
        """Raise if the table of a family is too large, or all are for the memory."""
        in_all = 0
        for family in families:
            n_cells = prod(self.cards[variable] for variable in family)
            in_all += n_cells
            if n_cells > self.max_table_cells:
                raise ValueError(
                    f"a family of {len(family)} variables has {n_cells:.3g} joint "
                    f"states, more than max_table_cells={self.max_table_cells:.3g}; "
                    "use fewer parents or coarser states, or raise max_table_cells"
                )
        check_memory(
            in_all * _BYTES_A_CELL,
            f"the tables of {len(families)} families, {in_all:.3g} cells in all,",
            "use fewer parents, fewer columns or coarser states",
        )

    def _fits_planes(self, family: Family) -> bool:
        """Tell whether a family is one or two packed features, maybe with the class."""
        features = self._pair_counter.without_class(family)
        return (
            1 <= len(features) <= 2
            and len(set(family)) == len(family)
            and all(map(self._pair_counter.fits_planes, features))
        )

    @cached_property
    def _class_counts(self) -> Counts:
        """Total weight of each class, (n_classes,), or that of all rows, (1,)."""
        if not self.has_class:
            return np.array([self.codes.weights.sum()])
        column = self.codes.column(self.class_index)
        n_classes = self.cards[self.class_index]
        if self.codes.unit_weights and n_classes <= _COMPARED_CLASSES:
            # Comparing bytes and counting runs in vectors, adding up by key does not.
            rows = [np.count_nonzero(column == code) for code in range(n_classes)]
            return np.array(rows, dtype=np.float64)
        (counts,) = family_counts_by_key(self.codes, [(self.class_index,)], 1)
        return counts

    @cached_property
    def _pair_counter(self) -> PairCounter:
        """What counts by planes."""
        codes = self.codes
        if self._layout is not None:
            has_missing: Sequence[bool] = self._layout.has_missing
        else:
            seen = np.concatenate(self._highest_codes())
            has_missing = [
                slot < 0 or seen[slot] == card
                for card, slot in zip(codes.cards, codes.slots, strict=True)
            ]
        n_states = tuple(
            card + int(slot < 0 or missing)
            for card, slot, missing in zip(
                codes.cards, codes.slots, has_missing, strict=True
            )
        )
        class_index = self.class_index if self.has_class else None
        by_key = self._layout is not None and not self._layout.whole_weights
        order = None if by_key else ClassOrder.of(codes, class_index)
        return PairCounter(
            codes, class_index, n_states, order, self._class_counts, self._threads
        )

    def _highest_codes(self) -> list[NDArray[np.uint8]]:
        """Highest code of each narrow column, in stretches of columns."""
        narrow = self.codes.narrow
        return run_tasks(
            [
                partial(narrow[first:last].max, axis=1, initial=0)
                for first, last in stretches(len(narrow), self._threads)
            ],
            worthwhile(self._threads, narrow.size, _LEAST_SEARCHED),
        )


def rows_by_state(counts: CountSource) -> tuple[Counts, ...] | None:
    """Count the training rows with each state of each variable, the class last.

    Whole weights are numbers of equal rows. Under other weights each row in memory
    counts once; sums of such weights alone contain no numbers of rows: None.
    """
    if isinstance(counts, TableCounts):
        codes = counts.rows()
        weights = codes.weights
        if not _are_whole(weights):
            weights = (weights > 0.0).astype(np.float64)
        return tuple(
            np.bincount(codes.column(v), weights, card + 1)[:card].astype(np.float64)
            for v, card in enumerate(codes.cards)
        )
    last = counts.class_index
    tables = counts.family_counts([(last, feature) for feature in range(last)])
    by_class = counts.class_counts()
    if not all(map(_are_whole, (*tables, by_class))):
        return None
    return (*(table.sum(axis=0) for table in tables), by_class)


def _are_whole(weights: Counts) -> bool:
    """Whether all weights are integers."""
    return not (weights % 1.0).any()
