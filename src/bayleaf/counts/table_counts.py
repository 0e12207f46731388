"""Counts of a table that lies in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import is_little
from bayleaf.counts import numpy_kernels
from bayleaf.counts.keys import KeyEngine, compiled_engine, family_counts_by_key
from bayleaf.counts.pairs import PairCounts
from bayleaf.counts.source import Counts, Family
from bayleaf.counts.threads import run_tasks, stretches, thread_count, worthwhile
from bayleaf.data.codes import Codes

if TYPE_CHECKING:
    from bayleaf.counts.pair_counting import PairCounter

# Work below which NumPy is done before numba is imported: rows times children counted
# by key, and the size of indicator matrices and multiplications for pairs. The
# choice depends on nothing but the question, so that answers never vary.
_SMALL_KEY_WORK = 300_000
_SMALL_INDICATORS = 2_000_000
_SMALL_PRODUCTS = 200_000_000
# Rows that a block function gets at a time.
_BLOCK_ROWS = 131_072
# Cells, about a millisecond's work, for which a thread is started.
_LEAST_SEARCHED = 20_000_000
# Classes that are counted by comparing the class of every row with each.
_COMPARED_CLASSES = 8


class TableCounts:
    """Count source over codes in memory.

    Parameters
    ----------
    codes : Codes
        The table; its last variable is the class, which is never missing.
    n_jobs : int, optional
        Number of threads, in scikit-learn's meaning.
    max_table_cells : int, default=20_000_000
        Largest family that is counted.
    work : float, default=0
        Estimate of the steps that kernels take beside these counts, see `kernel_for`:
        where those are compiled, counting little is compiled too.

    Notes
    -----
    Whole weights give the same counts, bit for bit, whatever `n_jobs`; so do others,
    since each cell is summed in the order of rows.
    """

    def __init__(
        self,
        codes: Codes,
        n_jobs: int | None = None,
        *,
        max_table_cells: int = 20_000_000,
        work: float = 0.0,
    ) -> None:
        self.codes = codes
        self._may_interpret = is_little(work)
        self.max_table_cells = max_table_cells
        self._threads = thread_count(n_jobs)

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of states of each variable, class last."""
        return self.codes.cards

    @property
    def n_jobs(self) -> int:
        """Number of threads that a pass may use."""
        return self._threads

    @property
    def class_index(self) -> int:
        """Index of the class variable: the last one."""
        return self.codes.n_variables - 1

    def class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        return self._class_counts.copy()

    def family_counts(self, families: Sequence[Family]) -> list[Counts]:
        """Weight of each joint state of some families.

        Parameters
        ----------
        families : sequence of tuple of int
            Variables of each family, parents first and child last. Families with the
            same parents are counted together.

        Returns
        -------
        list of ndarray
            One array a family, of shape ``(*parent cards, child card)``; rows in
            which a member is missing are left out.

        Raises
        ------
        ValueError
            If a family has more than `max_table_cells` joint states.
        """
        families = [tuple(int(v) for v in family) for family in families]
        for family in families:
            self._check_size(family)
        if self._is_little_by_key(len(families)):
            return family_counts_by_key(self.codes, families, numpy_kernels, 1)
        by_planes = [self._fits_planes(family) for family in families]
        fast = self._pair_counter.family_counts(
            [f for f, here in zip(families, by_planes, strict=True) if here]
        )
        slow = family_counts_by_key(
            self.codes,
            [f for f, here in zip(families, by_planes, strict=True) if not here],
            compiled_engine(),
            self._threads,
        )
        sources = iter(fast), iter(slow)
        return [next(sources[0] if here else sources[1]) for here in by_planes]

    def pair_counts(self, left: Sequence[int], right: Sequence[int]) -> PairCounts:
        """Class-pair counts of every variable in `left` with every one in `right`.

        Parameters
        ----------
        left, right : sequence of int
            Indices of variables; they may overlap or be the same. If they are the
            same, each pair is counted once.
        """
        left, right = tuple(map(int, left)), tuple(map(int, right))
        cards, n_rows = self.cards, self.codes.n_rows
        widths = [sum(cards[v] + 1 for v in side) for side in (left, right)]
        is_small = self._may_interpret and n_rows * max(widths) <= _SMALL_INDICATORS
        if is_small and n_rows * prod(widths) <= _SMALL_PRODUCTS:
            dense = numpy_kernels.dense_pair_counts(self.codes, left, right)
            return PairCounts.from_dense(left, right, cards, dense)
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
        """The table itself, class last."""
        return self.codes

    def _check_size(self, family: Family) -> None:
        """Raise if the table of a family is too large."""
        n_cells = prod(self.cards[variable] for variable in family)
        if n_cells > self.max_table_cells:
            raise ValueError(
                f"a family of {len(family)} variables has {n_cells:.3g} joint states, "
                f"more than max_table_cells={self.max_table_cells:.3g}; use fewer "
                "parents or coarser states, or raise max_table_cells"
            )

    def _fits_planes(self, family: Family) -> bool:
        """Tell whether a family is one or two packed features, maybe with the class."""
        class_index, counter = self.class_index, self._pair_counter
        features = [v for v in family if v != class_index]
        return (
            1 <= len(features) <= 2
            and len(set(family)) == len(family)
            and all(map(counter.fits_planes, features))
        )

    @cached_property
    def _class_counts(self) -> Counts:
        """Total weight of each class, shape (n_classes,)."""
        column = self.codes.column(self.class_index)
        n_classes = self.cards[self.class_index]
        if self.codes.unit_weights and n_classes <= _COMPARED_CLASSES:
            # Comparing bytes and counting runs in vectors, adding up by key does not.
            rows = [np.count_nonzero(column == code) for code in range(n_classes)]
            return np.array(rows, dtype=np.float64)
        (counts,) = family_counts_by_key(
            self.codes, [(self.class_index,)], self._engine(1), 1
        )
        return counts

    @cached_property
    def _pair_counter(self) -> PairCounter:
        """What counts by planes; costs the import of numba."""
        from bayleaf.counts import pair_counting, planes

        codes = self.codes
        seen = np.concatenate(self._highest_codes())
        n_states = tuple(
            card + int(slot < 0 or seen[slot] == card)
            for card, slot in zip(codes.cards, codes.slots, strict=True)
        )
        orders = planes.class_orders(codes)
        return pair_counting.PairCounter(
            codes, n_states, orders, self._class_counts, self._threads
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

    def _is_little_by_key(self, n_children: int) -> bool:
        """Whether counting by key is done before numba is loaded."""
        cells = self.codes.n_rows * n_children
        return self._may_interpret and cells <= _SMALL_KEY_WORK

    def _engine(self, n_children: int) -> KeyEngine:
        """Choose NumPy for little work, compiled loops for more."""
        if self._is_little_by_key(n_children):
            return numpy_kernels
        return compiled_engine()
