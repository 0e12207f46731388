"""Counts rounded so that none below a base can be found out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]

# Below this base two roundings of one count could leave a single number between them.
LEAST_BASE = 3
# Odd multipliers of a mixing function for 64 bits (Steele, Lea and Flood 2014).
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class CountRounding:
    """Unbiased controlled rounding of the counts of one table to multiples of a base.

    Parameters
    ----------
    base : int
        At least 3.
    key : bytes
        What decides on rounding up or down. It follows from all rows of the table, so
        that the same table is always rounded alike and no average tells more, while a
        table of one row more is rounded anew.

    Notes
    -----
    Cumulative counts are rounded down from an offset that the key draws, and cells are
    their differences: ``base * (floor((C + o) / base))``. Each cell, and each sum of
    consecutive cells, becomes one of the two multiples next to it, on average the count
    itself (systematic controlled rounding; Cox 1987, "A constructive procedure for
    unbiased controlled rounding"). Multiples of the base stay.
    """

    base: int
    key: bytes

    @classmethod
    def of_rows(
        cls, columns: Sequence[NDArray[np.integer[Any]]], base: int
    ) -> CountRounding:
        """The rounding of a table with these columns; the order of rows is no matter.

        Parameters
        ----------
        columns : sequence of ndarray of shape (n_rows,)
            Codes of all variables.
        base : int
            At least 3.
        """
        mixed = np.zeros(len(columns[0]) if columns else 0, dtype=np.uint64)
        for column in columns:
            mixed = _mixed(mixed + column.astype(np.uint64) + np.uint64(1))
        words = (len(mixed), int(mixed.sum(dtype=np.uint64)), base)
        return cls(base, hashlib.blake2b(repr(words).encode(), digest_size=16).digest())

    def rounded(self, counts: Any, table: str) -> Whole:
        """Round the cells of a partition of the rows.

        Parameters
        ----------
        counts : array-like of shape (n_cells,)
            Rows in each cell; cells whose sums should be controlled stand together.
        table : str
            Which partition it is. Partitions that refine one another, with cells in
            the same order, have the same name: then their sums agree.

        Returns
        -------
        ndarray of shape (n_cells,), dtype int64
        """
        offset = self._offset(table)
        ends = np.cumsum(np.concatenate([[offset], np.asarray(counts, dtype=np.int64)]))
        return np.asarray(self.base * np.diff(ends // self.base))

    def _offset(self, table: str) -> int:
        """Where the rounding of a partition begins, in 0..base - 1."""
        drawn = hashlib.blake2b(table.encode(), key=self.key, digest_size=8).digest()
        return int.from_bytes(drawn) % self.base


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words of which every bit depends on all bits before."""
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))
