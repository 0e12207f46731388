"""Counting by bit planes: columns packed to a bit a row and state, then multiplied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts import kernels
from bayleaf.counts.intrinsics import LANES, NO_STATE, target_has
from bayleaf.counts.threads import run_tasks, stretches, worthwhile
from bayleaf.data.codes import Codes

Places = NDArray[np.int64]

# States above which counting by key is faster. A column of v states costs v - 1 planes;
# with vectors of bit counts a pair of planes takes about a 500th of the time of
# a pair of columns counted by key, otherwise about a 100th.
MAX_PLANE_STATES = 20 if target_has("avx512vpopcntdq") else 10
# Weights beyond this are counted by key: each bit of the weights costs a pass.
_MAX_WEIGHT = 255
# Largest table of counts of which every thread may hold its own.
_OWN_COUNTS_BYTES = 64_000_000
# What a thread must find to do, about a millisecond, so that starting it pays: words to
# pack, and words of pairs of planes to multiply.
_LEAST_PACKED = 400_000
_LEAST_MULTIPLIED = 30_000_000
# Work is cut finer than there are threads, so that one that is held up holds up little.
_PARTS_A_THREAD = 4


@dataclass(frozen=True)
class ClassOrder:
    """How rows are sorted by class, tile by tile; see `kernels.class_runs`."""

    n_classes: int
    run_rows: Places
    run_masks: NDArray[np.uint64]
    run_places: Places
    segments: Places
    tiles: Places

    @classmethod
    def of(cls, class_codes: NDArray[np.uint8], n_classes: int) -> ClassOrder:
        """Sort rows by class; those whose code is no class are left out."""
        n_words = -(-len(class_codes) // 64)
        padded = np.full(n_words * 64, NO_STATE, dtype=np.uint8)
        padded[: len(class_codes)] = class_codes
        most = n_words * min(n_classes, 64)
        rows, places = np.empty(most, np.int64), np.empty(most, np.int64)
        masks = np.empty(most, np.uint64)
        n_tiles = -(-len(class_codes) // kernels.TILE_ROWS)
        segments = np.empty((n_tiles * n_classes, 3), np.int64)
        tiles = np.empty((n_tiles + 1, 3), np.int64)
        n_runs, n_segments = kernels.class_runs(
            padded, n_classes, rows, masks, places, segments, tiles
        )
        return cls(
            n_classes,
            rows[:n_runs].copy(),
            masks[:n_runs].copy(),
            places[:n_runs].copy(),
            segments[:n_segments].copy(),
            tiles,
        )

    @property
    def n_words(self) -> int:
        """Words that a plane takes."""
        return int(self.tiles[-1, 2])


def class_orders(codes: Codes) -> tuple[tuple[int, ClassOrder], ...] | None:
    """Make orders of rows whose counts, each times a factor, add up to weighted ones.

    Returns
    -------
    tuple of (int, ClassOrder) or None
        One order for rows of weight one. Other whole weights are cut into bits: the
        order of each bit has the rows whose weight has this bit. None where weights
        are no small whole numbers, or the class has too many states for a byte.
    """
    n_classes = codes.cards[-1]
    slot = codes.slots[-1]
    total = codes.n_rows if codes.unit_weights else codes.weights.sum()
    if slot < 0 or total >= np.iinfo(np.int32).max:
        return None
    class_codes = codes.narrow[slot]
    if codes.unit_weights:
        return ((1, ClassOrder.of(class_codes, n_classes)),)
    whole = codes.weights.astype(np.uint8)
    if codes.weights.max(initial=0.0) > _MAX_WEIGHT or (whole != codes.weights).any():
        return None
    orders = []
    for bit in range(max(1, int(whole.max(initial=0)).bit_length())):
        chosen = np.where(whole >> bit & 1, class_codes, np.uint8(NO_STATE))
        orders.append((1 << bit, ClassOrder.of(chosen, n_classes)))
    return tuple(orders)


@dataclass(frozen=True)
class Planes:
    """The planes of some columns, in one order of rows.

    Parameters
    ----------
    panels : ndarray of shape (n_panels, n_words, 8), dtype uint64
        The planes, eight side by side.
    starts : ndarray of shape (n_variables + 1,), dtype int64
        First plane of each column.
    order : ClassOrder
        The order of rows.
    """

    panels: NDArray[np.uint64]
    starts: Places
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
                kernels.pack_planes,
                codes.narrow,
                slots,
                starts,
                order.run_rows,
                order.run_masks,
                order.run_places,
                order.tiles[first : last + 1],
                panels,
            )
            for first, last in stretches(n_tiles, _PARTS_A_THREAD * threads)
        ]
        run_tasks(tasks, threads)
        return cls(panels, starts, order)

    def margins(self) -> NDArray[np.float64]:
        """Count class and state, (n_classes, n_planes)."""
        counts = np.zeros((self.order.n_classes, len(self.panels) * LANES), np.int64)
        kernels.plane_margins(self.panels, self.order.segments, counts)
        return counts.astype(np.float64)

    def pair(self, a: int, b: int) -> NDArray[np.int32]:
        """Count class and the packed states of two columns."""
        (first_a, last_a), (first_b, last_b) = self._span(a), self._span(b)
        left, right = self.panels[first_a:last_a], self.panels[first_b:last_b]
        shape = (self.order.n_classes, len(left) * LANES, len(right) * LANES)
        counts = np.zeros(shape, np.int32)
        kernels.plane_counts(left, right, self.order.segments, 0, False, counts)
        rows = slice(*(self.starts[a : a + 2] - first_a * LANES))
        columns = slice(*(self.starts[b : b + 2] - first_b * LANES))
        return counts[:, rows, columns]

    def _span(self, column: int) -> tuple[int, int]:
        """Find the first and end panel that hold a column's planes."""
        first, end = self.starts[column : column + 2]
        return int(first) // LANES, -(-int(end) // LANES)


def multiply(
    left: Planes, right: Planes, counts: NDArray[np.int32], threads: int
) -> None:
    """Add the counts of all pairs of planes to the upper left corner of `counts`.

    Parameters
    ----------
    left, right : Planes
        In the same order of rows. If they are the same object, only the pairs of
        panels on and above the diagonal are counted.
    counts : ndarray of shape (n_classes, n_left, n_right), dtype int32
        Zero on entry, at least as large as the panels.
    threads : int
        Number of threads.
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
    # More strips than threads: in a triangle the first ones have the most to do.
    n_strips = 1 if threads == 1 else 8 * threads
    tasks = [
        partial(
            kernels.plane_counts,
            left.panels[first:last],
            right.panels,
            segments,
            first,
            triangle,
            counts,
        )
        for first, last in stretches(len(left.panels), n_strips)
    ]
    run_tasks(tasks, threads)


def _multiply_by_rows(
    left: Planes, right: Planes, counts: NDArray[np.int32], threads: int
) -> None:
    """Let each thread count its own tiles of rows, then add up."""
    first_segments = left.order.tiles[:, 1]
    n_tiles = len(left.order.tiles) - 1
    bounds = stretches(n_tiles, _PARTS_A_THREAD * threads)
    parts = [np.zeros_like(counts) for _ in bounds]
    tasks = [
        partial(
            kernels.plane_counts,
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


def plane_starts(n_stored: Sequence[int] | Places) -> Places:
    """Find the first plane of each column, and the end of the last."""
    return np.concatenate([[0], np.cumsum(n_stored)]).astype(np.int64)


def _aligned(shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Make an array that begins at a cache line, so that no vector lies across two."""
    n_words = int(np.prod(shape))
    words = np.empty(n_words + LANES, dtype=np.uint64)
    skip = -(words.ctypes.data // words.itemsize) % LANES
    return words[skip : skip + n_words].reshape(shape)
