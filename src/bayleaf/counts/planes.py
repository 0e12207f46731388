"""Counting by bit planes: columns packed to a bit a row and state, then multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.threads import run_tasks, stretches, worthwhile
from bayleaf.data.codes import Codes
from bayleaf.native.counts import (
    LANES,
    class_order,
    pack_planes,
    plane_counts,
    plane_families,
    plane_margins,
)
from bayleaf.native.library import level

Places = NDArray[np.int64]
Counts = NDArray[np.float64]

# States above which counting by key is faster. A column of v states costs v - 1 planes;
# with vectors of bit counts a pair of planes takes about a 500th of the time of
# a pair of columns counted by key, otherwise about a 100th. With few rows the calls
# that count by key take longer than the counting.
_WIDE_STATES, _NARROW_STATES, _FEW_ROWS = 20, 10, 10_000
# Weights beyond this are counted by key: each bit of the weights costs a pass.
_MAX_WEIGHT = 255
# Weight of all rows that planes can count.
MOST_COUNTED = np.iinfo(np.int32).max
# Largest table of counts of which every thread may hold its own.
_OWN_COUNTS_BYTES = 64_000_000
# What a thread must find to do, about a millisecond, so that starting it pays: words to
# pack, and words of pairs of planes to multiply.
_LEAST_PACKED = 400_000
_LEAST_MULTIPLIED = 30_000_000
# Work is cut finer than there are threads, so that one that is held up holds up little.
_PARTS_A_THREAD = 4


def max_plane_states(n_rows: int) -> int:
    """Most states of a column of so many rows that is counted by planes."""
    is_fast = n_rows <= _FEW_ROWS or level() == "avx512"
    return _WIDE_STATES if is_fast else _NARROW_STATES


def are_small_and_whole(weights: NDArray[np.float64]) -> bool:
    """Whether weights are integers that a byte holds."""
    if weights.max(initial=0.0) > _MAX_WEIGHT:
        return False
    return bool((weights.astype(np.uint8) == weights).all())


@dataclass(frozen=True)
class ClassOrder:
    """How rows are sorted by class, tile by tile; see `bayleaf.native.counts`."""

    n_classes: int
    runs: Places
    segments: Places
    tiles: Places

    @classmethod
    def of(cls, codes: Codes, class_index: int | None) -> ClassOrder | None:
        """Sort rows by their class, so that integer weights may be counted.

        Without a class all rows have the same. None where weights are not small
        integers, or the class has too many states for a byte.
        """
        classes, n_classes = np.zeros(codes.n_rows, np.uint8), 1
        if class_index is not None:
            slot, n_classes = codes.slots[class_index], codes.cards[class_index]
            if slot < 0:
                return None
            classes = codes.narrow[slot]
        total = codes.n_rows if codes.unit_weights else codes.weights.sum()
        if total >= MOST_COUNTED:
            return None
        weights = np.ones(1, np.uint8)
        if not codes.unit_weights:
            if not are_small_and_whole(codes.weights):
                return None
            weights = codes.weights.astype(np.uint8)
        return cls(n_classes, *class_order(classes, weights, n_classes))

    @property
    def n_words(self) -> int:
        """Words that a plane takes."""
        return int(self.tiles[-1, 2])


@dataclass(frozen=True)
class Planes:
    """Planes of some columns, in one order of rows."""

    panels: NDArray[np.uint64]  # (n_panels, n_words, 8), eight planes side by side
    starts: Places  # (n_variables + 1,), first plane of each column
    order: ClassOrder

    @classmethod
    def pack(
        cls,
        codes: Codes,
        slots: Places,
        starts: Places,
        order: ClassOrder,
        threads: int,
    ) -> Planes:
        """Pack rows of the narrow block; column k takes planes from ``starts[k]``."""
        n_panels = -(-int(starts[-1]) // LANES)
        panels = _aligned((n_panels, order.n_words, LANES))
        # Planes that pad the last panel are read like all others.
        panels[n_panels - 1 :, :, int(starts[-1]) % LANES :] = 0
        n_tiles = len(order.tiles) - 1
        n_packed = order.n_words * int(starts[-1])
        threads = worthwhile(threads, n_packed, _LEAST_PACKED)
        tasks = [
            partial(
                pack_planes,
                codes.narrow,
                slots,
                starts,
                order.runs,
                order.tiles[first : last + 1],
                panels,
            )
            for first, last in stretches(n_tiles, _PARTS_A_THREAD * threads)
        ]
        run_tasks(tasks, threads)
        return cls(panels, starts, order)

    def margins(self) -> Counts:
        """Count class and state, (n_classes, n_planes)."""
        counts = np.zeros((self.order.n_classes, len(self.panels) * LANES))
        plane_margins(self.panels, self.order.segments, counts)
        return counts

    def family_counts(
        self, class_counts: Counts, pairs: Places, threads: int
    ) -> list[Counts]:
        """Count families of the class and one or two columns.

        `pairs` (n_families, 2) are numbers of columns, -1 in the second place for a
        single one. Returns tables (n_classes, n_states[, n_states]), where a column has
        one state more than planes.
        """
        # The 1 at the end stands for the column that is not there.
        n_states = np.append(np.diff(self.starts) + 1, 1)
        shapes = n_states[pairs]
        ends = np.cumsum(len(class_counts) * shapes.prod(axis=1))
        cells, margins = np.empty(int(ends[-1])), self.margins()
        first_cells = np.concatenate([[0], ends[:-1]])
        tasks = [
            partial(
                plane_families,
                self.panels,
                self.order.segments,
                self.starts,
                margins,
                class_counts,
                pairs[first:last],
                first_cells[first:last],
                cells,
            )
            for first, last in stretches(len(pairs), _n_strips(threads))
        ]
        run_tasks(tasks, threads)
        tables = np.split(cells, ends[:-1])
        return [
            table.reshape(len(class_counts), *(shape if pair[1] >= 0 else shape[:1]))
            for table, shape, pair in zip(
                tables, shapes.tolist(), pairs.tolist(), strict=True
            )
        ]


def multiply(
    left: Planes, right: Planes, counts: NDArray[np.int32], threads: int
) -> None:
    """Add the counts of all pairs of planes to the upper left corner of `counts`.

    `counts` (n_classes, n_left, n_right), int32, is zero on entry and at least as large
    as the panels. If `left` is `right`, only the pairs of panels on and above the
    diagonal are counted.
    """
    triangle = left is right
    segments = left.order.segments
    n_pairs = len(left.panels) * len(right.panels) * LANES**2
    threads = worthwhile(threads, n_pairs * left.order.n_words, _LEAST_MULTIPLIED)
    n_tiles = len(left.order.tiles) - 1
    own_bytes = counts.nbytes * _PARTS_A_THREAD
    if threads > 1 and n_tiles >= 4 * threads and own_bytes <= _OWN_COUNTS_BYTES:
        _multiply_by_rows(left, right, counts, threads)
        return
    tasks = [
        partial(
            plane_counts,
            left.panels[first:last],
            right.panels,
            segments,
            first,
            triangle,
            counts,
        )
        for first, last in stretches(len(left.panels), _n_strips(threads))
    ]
    run_tasks(tasks, threads)


def _multiply_by_rows(
    left: Planes, right: Planes, counts: NDArray[np.int32], threads: int
) -> None:
    """Let each thread count its own tiles of rows, then add up."""
    # First segment of each tile, and the number of segments.
    first_segments = left.order.tiles[:, 1]
    n_tiles = len(left.order.tiles) - 1
    bounds = stretches(n_tiles, _PARTS_A_THREAD * threads)
    parts = [np.zeros_like(counts) for _ in bounds]
    tasks = [
        partial(
            plane_counts,
            left.panels,
            right.panels,
            left.order.segments[first_segments[first] : first_segments[last]],
            0,
            left is right,
            part,
        )
        for part, (first, last) in zip(parts, bounds, strict=True)
    ]
    run_tasks(tasks, threads)
    for part in parts:
        counts += part


def _n_strips(threads: int) -> int:
    """Choose into how many strips to cut a triangle, so that threads end together."""
    # More strips than threads: in a triangle the first ones have the most to do.
    return 1 if threads == 1 else 8 * threads


def plane_starts(n_stored: Sequence[int] | Places) -> Places:
    """Find the first plane of each column, and the end of the last."""
    return np.concatenate([[0], np.cumsum(n_stored)]).astype(np.int64)


def _aligned(shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Make an array that begins at a cache line, so that no vector lies across two."""
    n_words = int(np.prod(shape))
    words = np.empty(n_words + LANES, dtype=np.uint64)
    skip = -(words.ctypes.data // words.itemsize) % LANES
    return words[skip : skip + n_words].reshape(shape)
