"""Entries for the states of several features, looked up together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes

# Entries that are looked up at a time.
_BLOCK_VALUES = 1 << 18

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateTables:
    """An entry for each state of some features, and one for all other codes."""

    features: NDArray[np.int64]
    starts: NDArray[np.int64]  # (n_features,), first entry of each
    others: NDArray[np.int64]  # (n_features,), code from which on all share the last
    entries: Floats  # (n_entries, ...)

    @classmethod
    def of(
        cls, features: NDArray[np.int64], tables: Sequence[Floats], other: float
    ) -> StateTables:
        """Join tables (n_states, ...); codes past one have the entry `other`."""
        sizes = np.array([len(table) for table in tables], dtype=np.int64)
        ends = np.cumsum(sizes + 1)
        shape = tables[0].shape[1:] if len(tables) else ()
        entries = np.full((sum(sizes + 1), *shape), other)
        for end, table in zip(ends.tolist(), tables, strict=True):
            entries[end - 1 - len(table) : end - 1] = table
        return cls(features, ends - sizes - 1, sizes, entries)

    def blocks(self, codes: Codes) -> Iterator[tuple[slice, Floats]]:
        """Entries (n_features, n_rows, ...) of some rows at a time, with the rows."""
        size = len(self.features) * self.entries[:1].size
        step = max(1, _BLOCK_VALUES // max(1, size))
        for first in range(0, codes.n_rows, step):
            rows = slice(first, first + step)
            states = codes.columns(self.features, rows)
            offsets = np.minimum(states, self.others[:, None])
            offsets += self.starts[:, None]
            yield rows, self.entries[offsets]
