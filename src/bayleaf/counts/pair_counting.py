"""Class-pair counts of many variables, by whichever primitive suits each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.keys import build_keys, count_by_key
from bayleaf.counts.pairs import Counts, PairCounts, Side, ranges
from bayleaf.counts.planes import (
    ClassOrder,
    Planes,
    max_plane_states,
    multiply,
    plane_starts,
)
from bayleaf.counts.threads import run_tasks, worthwhile
from bayleaf.data.codes import Codes
from bayleaf.native.counts import LANES

Places = NDArray[np.int64]

# Packed planes that are held at a time while families are counted.
_PACKED_BYTES = 64_000_000
# Rows times families, about a millisecond's work, for which a thread is started.
_LEAST_COUNTED = 8_000_000


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
            and self.n_states[variable] <= max_plane_states()
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
                axes = [self.class_index, *pair]
                if self.class_index not in family:
                    table = table.sum(axis=0)
                    axes = axes[1:]
                order = [axes.index(variable) for variable in family]
                counts.append(np.ascontiguousarray(table.transpose(order)))
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
