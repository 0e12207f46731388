"""Counts of tables that are not in memory, added up from those of blocks of rows."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import methodcaller
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.count_tables import MergeableCounts
from bayleaf.counts.pairs import PairCounts, Side
from bayleaf.counts.planes import MOST_COUNTED, are_small_and_whole
from bayleaf.counts.source import MOST_ROWS, Counts, Family
from bayleaf.counts.table_counts import Layout, RowCounts
from bayleaf.counts.threads import run_tasks, thread_count
from bayleaf.data.code_store import BLOCK_ROWS, CodeStore
from bayleaf.data.codes import Codes

# Blocks whose counts are added before others are read.
_AT_A_TIME = 2
# Most cells of tables that are remembered, 32 MiB of them.
_REMEMBERED_CELLS = 1 << 22

T = TypeVar("T")


class BlockCounts(ABC):
    """Count source over blocks of rows, wherever they lie: every answer is a sum.

    A subclass gives the number of rows and the states, adds up the answers of blocks,
    and fetches rows. As a pass takes long, answers are remembered while they are small,
    and families of the class and two features come from the pairs of all features once
    these are counted.

    Families have at most `max_table_cells` cells; `rows` returns at most `most_rows`,
    all or a sample drawn with `seed`. `n_jobs` has scikit-learn's meaning.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        has_class: bool = True,
        max_table_cells: int = 20_000_000,
        most_rows: int = MOST_ROWS,
        seed: int = 0,
    ) -> None:
        self.has_class = has_class
        self.max_table_cells = max_table_cells
        self.most_rows = most_rows
        self.gave_sample = False
        self._seed = seed
        self.n_jobs = thread_count(n_jobs)  # threads that a pass may use
        self._families: dict[Family, Counts] = {}
        self._every_pair: PairCounts | None = None

    @property
    @abstractmethod
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def _added(self, ask: Callable[[RowCounts], T], add: Callable[[T, T], T]) -> T:
        """The sum of what blocks answer; `add` leaves both summands as they are."""

    @abstractmethod
    def _taken(self, rows: NDArray[np.intp] | None) -> Codes:
        """The rows at increasing places; None means all."""

    @property
    def class_index(self) -> int:
        """Index of the class variable: the last one; raises where there is none."""
        if not self.has_class:
            raise ValueError("these counts are of a table without a class; give it one")
        return len(self.cards) - 1

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        return self._class_counts.copy()

    @cached_property
    def _class_counts(self) -> Counts:
        counts: Counts = self._added(methodcaller("class_counts"), operator.add)
        return counts

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of some families, see `CountSource`."""
        asked = [tuple(int(v) for v in family) for family in families]
        # Sizes are checked, and refused, before anything is read.
        empty = Codes.from_columns(
            [np.zeros(0, np.uint8) for _ in self.cards], self.cards
        )
        RowCounts(empty, 1, max_table_cells=self.max_table_cells).check_sizes(asked)
        told = {family: self._remembered(family) for family in asked}
        new = [family for family, counts in told.items() if counts is None]
        if new:
            counted = self._added(methodcaller("family_counts", new), _each_added)
            told |= dict(zip(new, counted, strict=True))
            self._remember(dict(zip(new, counted, strict=True)))
        return [told[family].copy() for family in asked]

    def _remembered(self, family: Family) -> Any:
        """The counts of a family, if no pass is needed for them."""
        if family in self._families:
            return self._families[family]
        if self._every_pair is None or len({*family, self.class_index}) > 3:
            return None
        return self._pair_tables.family_counts([family])[0]

    @cached_property
    def _pair_tables(self) -> MergeableCounts:
        """The tables of all pairs of features that were counted."""
        pairs = self._every_pair
        assert pairs is not None
        names = range(len(self.cards))
        return MergeableCounts(
            tuple(names), self.cards, pairs.class_counts, pairs.dense()
        )

    def _remember(self, counted: dict[Family, Counts]) -> None:
        """Keep tables, as long as they are small together."""
        n_cells = sum(table.size for table in self._families.values())
        for family, counts in counted.items():
            if n_cells + counts.size <= _REMEMBERED_CELLS:
                n_cells += counts.size
                self._families[family] = counts

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Class-pair counts, see `CountSource`."""
        sides = tuple(map(int, left)), tuple(map(int, right))
        features = tuple(range(len(self.cards) - self.has_class))
        is_every = self.has_class and sides == (features, features)
        if is_every and self._every_pair is not None:
            return self._every_pair
        found: PairCounts = self._added(
            methodcaller("pair_counts", *sides), _pairs_added
        )
        # Fractions are not completed to tables, as differences of them leave rounding.
        is_whole = found.stored.dtype.kind != "f"
        if is_every and is_whole and found.stored.size <= _REMEMBERED_CELLS:
            self._every_pair = found
        return found

    def add_up(self, block_function: Callable[[Codes], Counts]) -> Counts:
        """Sum what `block_function` returns for blocks of rows, in a fixed order."""
        return self._added(partial(_of_codes, block_function), operator.add)

    def rows(self) -> Codes:
        """All rows, or a sample of `most_rows` of them drawn without replacement."""
        if self.n_rows <= self.most_rows:
            return self._taken(None)
        self.gave_sample = True
        return self._sample

    @cached_property
    def _sample(self) -> Codes:
        """Rows drawn at random, in their order."""
        rng = np.random.default_rng(self._seed)
        places, n_left, n_wanted = [], self.n_rows, self.most_rows
        for first in range(0, self.n_rows, BLOCK_ROWS):
            n_block = min(BLOCK_ROWS, self.n_rows - first)
            others = n_left - n_block
            n_here = int(rng.hypergeometric(n_block, others, n_wanted))
            n_left, n_wanted = others, n_wanted - n_here
            chosen = rng.choice(n_block, n_here, replace=False, shuffle=False)
            places.append(first + np.sort(chosen))
        return self._taken(np.concatenate(places))


class DiskCounts(BlockCounts):
    """Count source over a code store; only a few blocks are in memory.

    Integer weights give the same counts, bit for bit, as `RowCounts` over all rows;
    others to 1e-12 of them, and the same whatever `n_jobs`.
    """

    def __init__(
        self, store: CodeStore, n_jobs: int | None = None, **options: Any
    ) -> None:
        super().__init__(n_jobs, **options)
        self.store = store

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, a class last."""
        return self.store.cards

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.store.n_rows

    def _taken(self, rows: NDArray[np.intp] | None) -> Codes:
        """The rows at increasing places; None means all."""
        if rows is None:
            return self.store.read(range(self.n_rows))
        parts = []
        for block in self.store.blocks():
            own = rows[slice(*np.searchsorted(rows, [block.start, block.stop]))]
            if len(own):
                parts.append(self.store.read(block).rows(own - block.start))
        return joined_rows(parts)

    def _added(self, ask: Callable[[RowCounts], T], add: Callable[[T, T], T]) -> T:
        """The sum of what blocks answer."""
        parts = self._parts(ask)
        total = next(parts)
        for part in parts:
            total = add(total, part)
        return total

    def _parts(self, ask: Callable[[RowCounts], T]) -> Iterator[T]:
        """What each block answers, in order."""

        def answer(rows: range) -> T:
            counts = RowCounts(
                self.store.read(rows),
                1,
                has_class=self.has_class,
                max_table_cells=self.max_table_cells,
                layout=self._layout,
            )
            return ask(counts)

        blocks = self.store.blocks(BLOCK_ROWS) or [range(0)]
        step = _AT_A_TIME * self.n_jobs
        for first in range(0, len(blocks), step):
            tasks = [partial(answer, rows) for rows in blocks[first : first + step]]
            yield from run_tasks(tasks, self.n_jobs)

    @cached_property
    def _layout(self) -> Layout:
        """How the counts of all blocks are laid out."""
        if self.store.unit_weights:
            return Layout(self.store.has_missing, self.store.n_rows < MOST_COUNTED)
        total, whole = 0.0, True
        for rows in self.store.blocks():
            weights = self.store.read(rows).weights
            whole = whole and are_small_and_whole(weights)
            total += float(weights.sum())
        return Layout(self.store.has_missing, whole and total < MOST_COUNTED)


def joined_rows(parts: Sequence[Codes]) -> Codes:
    """Rows of the same variables one after the other; at least one part."""
    weights = None
    if not all(part.unit_weights for part in parts):
        weights = np.concatenate([part.weights for part in parts])
    return Codes.from_blocks(
        np.concatenate([part.narrow for part in parts], axis=1),
        np.concatenate([part.wide for part in parts], axis=1),
        parts[0].slots,
        parts[0].cards,
        weights,
    )


def _of_codes(block_function: Callable[[Codes], Counts], block: RowCounts) -> Counts:
    """What a function returns for a block."""
    return block_function(block.codes)


def _each_added(total: list[Counts], part: list[Counts]) -> list[Counts]:
    """The sums of several tables."""
    return [one + other for one, other in zip(total, part, strict=True)]


def _pairs_added(total: PairCounts, part: PairCounts) -> PairCounts:
    """The sum of the pair counts of two blocks."""
    kind = np.float64 if total.stored.dtype.kind == "f" else np.int64
    stored = np.add(total.stored, part.stored, dtype=kind)
    left = _side_sum(total.left_side, part.left_side)
    right = left
    if total.right_side is not total.left_side:
        right = _side_sum(total.right_side, part.right_side)
    return PairCounts(
        left, right, total.class_counts + part.class_counts, stored, total.triangle
    )


def _side_sum(total: Side, part: Side) -> Side:
    """A side with the margins of both."""
    return replace(total, margins=total.margins + part.margins)
