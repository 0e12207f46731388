"""Sets of changes to a row: enumerated in blocks, and applied to many copies of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.models.predictor import Predictor

Indices = NDArray[np.intp]

# Changed rows that are held at a time.
_BLOCK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class ChangeSets:
    """All sets of single changes, each to another feature.

    Parameters
    ----------
    features, states : ndarray of shape (n_changes,)
        Feature and new state of each single change; the features do not decrease.
    """

    features: Indices
    states: Indices

    @cached_property
    def _next_feature(self) -> Indices:
        """For each change, the position of the first change to a later feature."""
        return np.searchsorted(self.features, self.features, side="right")

    def count(self, size: int) -> int:
        """Number of sets of a size."""
        ways = [1] + [0] * size
        for n_states in np.unique(self.features, return_counts=True)[1].tolist():
            for taken in range(size, 0, -1):
                ways[taken] += ways[taken - 1] * n_states
        return ways[size]

    def of_size(self, size: int) -> Iterator[Indices]:
        """Blocks of sets of a size in lexicographic order, shape (n_sets, size).

        A set is a row of increasing positions of changes.
        """
        if size == 1:
            for first in range(0, len(self.features), _BLOCK_ROWS):
                last = min(first + _BLOCK_ROWS, len(self.features))
                yield np.arange(first, last)[:, None]
            return
        for shorter in self.of_size(size - 1):
            starts = self._next_feature[shorter[:, -1]]
            n_more = len(self.features) - starts
            ends = np.cumsum(n_more)
            first = 0
            while first < len(shorter):
                done = ends[first - 1] if first else 0
                last = int(np.searchsorted(ends, done + _BLOCK_ROWS, side="right"))
                last = max(last, first + 1)
                yield _extended(
                    shorter[first:last], starts[first:last], n_more[first:last]
                )
                first = last


def _extended(sets: Indices, starts: Indices, n_more: Indices) -> Indices:
    """Each set with each single change from a start on, shape (sum of n_more, ...)."""
    ends = np.cumsum(n_more)
    places = np.arange(ends[-1]) - np.repeat(ends - n_more, n_more)
    added = np.repeat(starts, n_more) + places
    return np.column_stack([np.repeat(sets, n_more, axis=0), added])


def with_changes(codes: Codes, sets: ChangeSets, rows: Indices) -> Codes:
    """Copies of a row, each with one set of changes.

    Parameters
    ----------
    codes : Codes
        The row.
    sets : ChangeSets
        The single changes.
    rows : ndarray of shape (n_sets, size)
        Positions of the single changes of each set.
    """
    narrow = np.repeat(codes.narrow, len(rows), axis=1)
    wide = np.repeat(codes.wide, len(rows), axis=1)
    slots = np.array(codes.slots)
    copies = np.arange(len(rows))
    for change in rows.T:
        slot, state = slots[sets.features[change]], sets.states[change]
        in_narrow = slot >= 0
        narrow[slot[in_narrow], copies[in_narrow]] = state[in_narrow]
        wide[-slot[~in_narrow] - 1, copies[~in_narrow]] = state[~in_narrow]
    return Codes.from_blocks(narrow, wide, codes.slots, codes.cards)


def named_changes(
    predictor: Predictor, codes: Codes, sets: ChangeSets, changes: Indices
) -> dict[str | int, tuple[str, str]]:
    """Old and new state of each feature that a set of changes, (size,), changes."""
    found = {}
    for feature, state in zip(sets.features[changes], sets.states[changes]):
        variable = predictor.encoder.domain[int(feature)]
        own = variable.label(int(codes.column(int(feature))[0]))
        found[variable.name] = (own, variable.label(int(state)))
    return found
