"""Counts rounded so that none below a base can be found out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

# With a smaller base, two roundings of one count leave too few numbers between them.
LEAST_BASE = 5
# Scale of the noise that moves steps, and how far it reaches, both in bases.
_NOISE, _REACH = 0.25, 20
# Numbers that are looked at together.
_MOST_CELLS = 1 << 22
# Odd multipliers of a mixing function for 64 bits (Steele, Lea and Flood 2014).
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class CountRounding:
    """Unbiased rounding of the counts of one table to multiples of a base.

    Cumulative counts go through a random staircase of mean slope one, and cells are the
    differences (systematic controlled rounding, Cox 1987, "A constructive procedure for
    unbiased controlled rounding"). Steps begin at places moved by noise (Laplace, a
    quarter of the base), so that no published number rules out any number of rows near
    it. Empty cells stay empty; sums of consecutive cells are as near to the truth as
    single cells. `key` follows from all rows: the same table is always rounded alike,
    so that averages reveal nothing, and with one row more independently.
    """

    base: int  # at least `LEAST_BASE`
    key: bytes

    @classmethod
    def of_rows(
        cls, columns: Sequence[NDArray[np.integer[Any]]], base: int
    ) -> CountRounding:
        """Rounding of a table with these columns (n_rows,), in any order of rows."""
        mixed = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
        for column in columns:
            mixed = _mixed(mixed + column.astype(np.uint64) + np.uint64(1))
        words = (len(mixed), int(mixed.sum(dtype=np.uint64)), base)
        return cls(base, hashlib.blake2b(repr(words).encode(), digest_size=16).digest())

    def rounded(self, counts: Any, table: str) -> Whole:
        """Round the cells (n_cells,) of a partition of the rows.

        Cells whose sums should be near the truth are adjacent. Partitions that refine
        one another, with cells in the same order, have the same name `table`: their
        sums agree.
        """
        counts = np.asarray(counts, dtype=np.int64)
        ends, places = np.unique(
            np.concatenate([[0], np.cumsum(counts)]), return_inverse=True
        )
        seed = hashlib.blake2b(table.encode(), key=self.key, digest_size=8).digest()
        block = max(1, _MOST_CELLS // (_REACH * self.base))
        heights = np.concatenate(
            [
                self._heights(ends[first : first + block], int.from_bytes(seed))
                for first in range(0, len(ends), block)
            ]
        )
        return np.asarray(self.base * np.diff(heights[places]))

    def _heights(self, ends: Whole, seed: int) -> Whole:
        """Steps of the staircase below some numbers of rows."""
        # Further below, no noise is as large as the way up.
        below = ends[:, None] - np.arange(_REACH * self.base)
        uniform = _uniform(below, seed)
        noise = np.sign(uniform - 0.5) * np.log1p(-2.0 * np.abs(uniform - 0.5))
        start = self.base * _uniform(np.zeros(1, dtype=np.int64), seed ^ 1)
        moved = below + start - _NOISE * self.base * noise
        return np.asarray(np.floor(moved / self.base).astype(np.int64).max(axis=1))


def _uniform(places: Whole, seed: int) -> NDArray[np.float64]:
    """Numbers between 0 and 1, ends excluded, that places and a seed decide on."""
    words = _mixed(_mixed(places.view(np.uint64)) + np.uint64(seed))
    return (words >> np.uint64(12)).astype(np.float64) * 2.0**-52 + 2.0**-53


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words of which every bit depends on all bits before."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


class CountsForDraws(np.random.Generator):
    """Stands in for a generator: gamma variates are their shapes, in another form.

    A model that can draw its distributions from their Dirichlet posteriors gets, with
    this in the place of a generator, distributions of the counts behind them.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__(np.random.PCG64(seed))


class SeenCounts(CountsForDraws):
    """Returns the shapes, and keeps their sum `total`, which rounding needs."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0.0
        self._digest = hashlib.blake2b(digest_size=16)

    def standard_gamma(self, shape: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """The shapes."""
        shapes = np.array(
            np.broadcast_to(shape, np.shape(shape) if size is None else size)
        )
        self.total += float(shapes.sum())
        self._digest.update(shapes.tobytes())
        return shapes

    def key(self) -> bytes:
        """A key for rounding that follows from all shapes seen."""
        return self._digest.digest()


class RoundedCounts(CountsForDraws):
    """Rounding where others draw: gamma variates are their shapes, rounded to a base.

    The sum along the last axis is rounded by one staircase, as in `CountRounding`:
    tables that count the same rows have the same sum, so that averages over tables
    reveal no more than one of them. The sum is then dealt to the cells by systematic
    sampling with noise. Half a row is added everywhere, so that no distribution is
    empty.
    """

    def __init__(self, base: int, key: bytes) -> None:
        super().__init__(int.from_bytes(key))
        self._rounding = CountRounding(base, key)

    def standard_gamma(self, shape: Any, size: Any = None, *_: Any, **__: Any) -> Any:
        """The shapes, rounded, and half a row."""
        shapes = np.broadcast_to(shape, np.shape(shape) if size is None else size)
        base = self._rounding.base
        totals = shapes.sum(axis=-1, keepdims=True)
        steps = self._rounded_sums(totals) // base
        shares = np.divide(
            shapes, totals, out=np.zeros(shapes.shape), where=totals > 0.0
        )
        offsets = self.random(totals.shape)
        ends = np.cumsum(np.concatenate([offsets, steps * shares], axis=-1), axis=-1)
        noise = self.laplace(scale=_NOISE, size=ends.shape)
        # An empty cell ends where it begins.
        places = np.where(np.diff(ends, prepend=-1.0) > 0, np.arange(ends.shape[-1]), 0)
        own = np.maximum.accumulate(places, axis=-1)
        heights = np.floor(ends + np.take_along_axis(noise, own, axis=-1))
        heights = np.maximum.accumulate(np.clip(heights, 0, steps), axis=-1)
        heights = np.where(own == own[..., -1:], steps, heights)
        heights = np.where(own == 0, 0, heights)
        return base * np.diff(heights, axis=-1) + 0.5

    def _rounded_sums(self, totals: NDArray[np.float64]) -> Whole:
        """Sums through the staircase that all tables share."""
        distinct, places = np.unique(
            np.rint(totals).astype(np.int64), return_inverse=True
        )
        rounded = self._rounding.rounded(np.diff(distinct, prepend=0), "sums of tables")
        return np.asarray(np.cumsum(rounded)[places].reshape(totals.shape))
