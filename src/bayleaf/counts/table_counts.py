"""Counts of a table that lies in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.keys import build_keys, count_by_key, family_counts_by_key
from bayleaf.counts.pairs import PairCounts, Side, family_table, ranges
from bayleaf.counts.planes import (
    ClassOrder,
    Planes,
    max_plane_states,
    multiply,
    plane_starts,
)
from bayleaf.counts.source import Counts, CountSource, Family
from bayleaf.counts.threads import run_tasks, stretches, thread_count, worthwhile
from bayleaf.data.codes import Codes
from bayleaf.data.memory import check_memory
from bayleaf.native.counts import LANES

Places = NDArray[np.int64]

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
# Packed planes that are held at a time while families are counted.
_PACKED_BYTES = 64_000_000
# Rows times families, about a millisecond's work, for which a thread is started.
_LEAST_COUNTED = 8_000_000


class Layout(NamedTuple):
    """Layout that the counts of all blocks of a table share."""

    has_missing: tuple[bool, ...]  # for each variable
    whole_weights: bool  # integers that bit planes can count


class RowCounts:
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
        self.n_jobs = thread_count(n_jobs)  # threads that a pass may use

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""
        return self.codes.cards

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
        tables: dict[Family, Counts] = {}
        if self.has_class and (self.class_index,) in families:
            tables[self.class_index,] = self.class_counts()
        if len(families) >= _LEAST_PACKED:
            fast = list(filter(self._fits_planes, families))
            tables.update(
                zip(fast, self._pair_counter.family_counts(fast), strict=True)
            )
        if slow := [family for family in families if family not in tables]:
            by_key = family_counts_by_key(self.codes, slow, self.n_jobs)
            tables.update(zip(slow, by_key, strict=True))
        return [tables[family] for family in families]

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
        step = _BLOCK_ROWS * self.n_jobs
        for first in range(0, n_rows, step):
            starts = range(first, min(first + step, n_rows), _BLOCK_ROWS)
            parts = run_tasks([partial(block, start) for start in starts], self.n_jobs)
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
            narrow = codes.narrow
            highest = run_tasks(
                [
                    partial(narrow[first:last].max, axis=1, initial=0)
                    for first, last in stretches(len(narrow), self.n_jobs)
                ],
                worthwhile(self.n_jobs, narrow.size, _LEAST_SEARCHED),
            )
            seen = np.concatenate(highest)
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
            codes, class_index, n_states, order, self._class_counts, self.n_jobs
        )


def rows_by_state(counts: CountSource) -> tuple[Counts, ...] | None:
    """Count the training rows with each state of each variable, the class last.

    Whole weights are numbers of equal rows. Under other weights each row in memory
    counts once; sums of such weights alone contain no numbers of rows: None.
    """
    if isinstance(counts, RowCounts):
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


@dataclass(frozen=True)
class PairCounter:
    """Counter of pairs over one table, with what it needs of the columns."""

    codes: Codes
    class_index: int | None  # None where all rows have one class
    n_states: tuple[int, ...]  # cards, plus one where a cell is missing
    order: ClassOrder | None  # by class; None counts everything by key
    class_counts: Counts  # (n_classes,)
    threads: int

    def without_class(self, family: Sequence[int]) -> tuple[int, ...]:
        """The features of a family."""
        return tuple(variable for variable in family if variable != self.class_index)

    def fits_planes(self, variable: int) -> bool:
        """Whether a variable is counted by planes."""
        return (
            self.order is not None
            and self.codes.slots[variable] >= 0
            and self.n_states[variable] <= max_plane_states(self.codes.n_rows)
        )

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Count every variable on the left with every one on the right."""
        triangle = tuple(left) == tuple(right)
        rows = self._lay_out(left)
        columns = rows if triangle else self._lay_out(right)
        shape = (
            len(self.class_counts),
            rows.margins.shape[1],
            columns.margins.shape[1],
        )
        # Whole counts stay below 2^31, see ClassOrder.of.
        stored = np.zeros(shape, np.float64 if self.order is None else np.int32)
        self._count_planes(rows, columns, stored)
        self._count_keys(rows, columns, stored)
        return PairCounts(rows, columns, self.class_counts, stored, triangle)

    def family_counts(self, families: Sequence[tuple[int, ...]]) -> list[Counts]:
        """Count families of the class and one or two features that fit planes.

        The class may stand anywhere in a family, or be absent.
        """
        pairs = [self.without_class(family) for family in families]
        counts: list[Counts] = []
        while len(counts) < len(families):
            begin = len(counts)
            end = self._end_of_batch(pairs, begin)
            tables = self._pair_tables(pairs[begin:end])
            for family, pair, table in zip(
                families[begin:end], pairs[begin:end], tables, strict=True
            ):
                counts.append(family_table(table, pair, self.class_index, family))
        return counts

    def _end_of_batch(self, pairs: Sequence[tuple[int, ...]], begin: int) -> int:
        """How far families may be counted together within the memory for planes."""
        packed: set[int] = set()
        n_bytes = 0
        for position in range(begin, len(pairs)):
            for variable in set(pairs[position]) - packed:
                packed.add(variable)
                n_bytes += self.n_states[variable] * self.codes.n_rows // 8
            if n_bytes > _PACKED_BYTES and position > begin:
                return position
        return len(pairs)

    def _pair_tables(self, pairs: Sequence[tuple[int, ...]]) -> list[Counts]:
        """Tables (n_classes, card) or (n_classes, card, card) of some features."""
        variables = sorted({variable for pair in pairs for variable in pair})
        position = {variable: k for k, variable in enumerate(variables)}
        starts = plane_starts([self.n_states[v] - 1 for v in variables])
        places = [
            [position[v] for v in pair] + [-1] * (2 - len(pair)) for pair in pairs
        ]
        threads = worthwhile(
            self.threads, self.codes.n_rows * len(pairs), _LEAST_COUNTED
        )
        tables = self._pack(variables, starts).family_counts(
            self.class_counts, np.array(places, np.int64), threads
        )
        cards = self.codes.cards
        return [
            table[:, *(slice(cards[v]) for v in pair)]
            for pair, table in zip(pairs, tables, strict=True)
        ]

    def _lay_out(self, variables: Sequence[int]) -> Side:
        """Give every variable its places: planes first, their last state left over."""
        cards = np.array([self.codes.cards[v] for v in variables], np.int64)
        packed = np.array([self.fits_planes(v) for v in variables], bool)
        n_states = np.array([self.n_states[v] for v in variables], np.int64)
        n_states = np.where(packed, n_states, cards + 1)
        n_stored = n_states - packed
        starts = np.empty_like(n_stored)
        starts[packed] = plane_starts(n_stored[packed])[:-1]
        n_planes = -(-int(n_stored[packed].sum()) // LANES) * LANES
        by_key = plane_starts(n_stored[~packed]) + n_planes
        starts[~packed] = by_key[:-1]
        margins = np.zeros((len(self.class_counts), int(by_key[-1])))
        return Side(tuple(variables), cards, n_states, n_stored, starts, margins)

    def _pack(self, variables: Sequence[int], starts: Places) -> Planes:
        """Planes of some variables."""
        assert self.order is not None
        slots = np.array([self.codes.slots[v] for v in variables], np.int64)
        return Planes.pack(self.codes, slots, starts, self.order, self.threads)

    def _count_planes(self, rows: Side, columns: Side, stored: NDArray[Any]) -> None:
        """Fill in margins and pairs of the variables that fit planes."""
        if self.order is None:
            return
        left = self._pack_side(rows)
        right = left if columns is rows else self._pack_side(columns)
        multiply(left, right, stored, self.threads)
        if columns is rows:
            # What a plane has in common with itself.
            width = len(left.panels) * LANES
            rows.margins[:, :width] = np.einsum("cii->ci", stored[:, :width, :width])
            return
        for side, planes in ((rows, left), (columns, right)):
            side.margins[:, : len(planes.panels) * LANES] = planes.margins()

    def _pack_side(self, side: Side) -> Planes:
        """Planes of those variables of one side that fit them."""
        packed = side.n_stored < side.n_states
        variables = [v for v, here in zip(side.variables, packed, strict=True) if here]
        return self._pack(variables, plane_starts(side.n_stored[packed]))

    def _count_keys(self, rows: Side, columns: Side, stored: NDArray[Any]) -> None:
        """Fill in margins and pairs of the other variables, one key at a time."""
        triangle = rows is columns
        planes = rows.left_over
        tasks = []
        for a in np.flatnonzero(rows.n_stored == rows.n_states):
            others = np.arange(len(columns.variables))
            if triangle:
                others = others[(columns.starts >= rows.starts[a])]
            tasks.append(
                partial(self._count_key, rows, int(a), columns, others, stored)
            )
        for b in np.flatnonzero(columns.n_stored == columns.n_states):
            turned = stored.transpose(0, 2, 1)
            tasks.append(
                partial(self._count_key, columns, int(b), rows, planes, turned)
            )
        run_tasks(tasks, self.threads)

    def _count_key(
        self,
        side: Side,
        position: int,
        other: Side,
        others: Places,
        stored: NDArray[Any],
    ) -> None:
        """Fill in the pairs of one variable with those at some positions opposite."""
        if not len(others):
            return
        variable = side.variables[position]
        n_classes, n_codes = len(self.class_counts), int(side.n_stored[position])
        digits = [(variable, n_codes)]
        if self.class_index is not None:
            digits.insert(0, (self.class_index, n_classes))
        keys = build_keys(self.codes, digits)
        opposite = [other.variables[k] for k in others]
        tables, starts = count_by_key(self.codes, keys, n_classes * n_codes, opposite)
        tables = tables.reshape(n_classes, n_codes, -1)
        first = side.starts[position]
        places = ranges(other.starts[others], other.n_stored[others])
        kept = ranges(starts[:-1], other.n_stored[others])
        stored[:, first : first + n_codes, places] = tables[:, :, kept]
        margin = tables[:, :, : starts[1]].sum(axis=2)
        side.margins[:, first : first + n_codes] = margin


def summed_over_rows(
    source: CountSource, block_function: Callable[[Codes], Counts]
) -> Counts:
    """The sum of what a function gives for blocks of rows.

    Rows that lie in memory are one block, for which a function may use threads.
    """
    if isinstance(source, RowCounts):
        return block_function(source.rows())
    return source.add_up(block_function)


class RowFacts(NamedTuple):
    """Facts about all rows of a table."""

    total_weight: float
    lacks_cells: bool  # whether some cell is missing
    has_whole_weights: bool  # sums do not depend on their order

    @classmethod
    def of(cls, source: CountSource) -> RowFacts:
        """The facts of a table, in one pass."""
        weight, n_lacking, n_fractions = summed_over_rows(source, _facts).tolist()
        return cls(float(weight), n_lacking > 0, n_fractions == 0)


def _facts(codes: Codes) -> Counts:
    """Weight of rows, columns that lack cells, and whether a weight is a fraction."""
    weights = codes.weights
    n_lacking = sum(bool(codes.missing(v).any()) for v in range(codes.n_variables))
    is_whole = codes.unit_weights or _are_whole(weights)
    return np.array([weights.sum(), n_lacking, not is_whole], dtype=np.float64)
