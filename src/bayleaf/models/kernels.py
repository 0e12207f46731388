"""Compiled look-up loops of prediction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayleaf.compiled import compiled

# Rows whose index and sums stay in the first cache.
_TILE = 1024


@compiled
def add_looked_up(
    narrow: NDArray[np.uint8],
    wide: NDArray[np.uint16],
    slots: NDArray[np.int64],
    strides: NDArray[np.int64],
    bounds: NDArray[np.int64],
    tables: NDArray[np.float64],
    starts: NDArray[np.int64],
    scores: NDArray[np.float64],
) -> None:
    """Add each group's table entry to the scores, group after group.

    Group ``g`` reads the features ``slots[bounds[g]:bounds[g+1]]`` with their
    `strides`; its table of shape (n_classes, n_cells) starts at ``starts[g]`` of the
    flat `tables`. `scores` has shape (n_classes, n_rows).
    """
    n_classes, n_rows = scores.shape
    index = np.empty(_TILE, dtype=np.int32)
    for start in range(0, n_rows, _TILE):
        size = min(_TILE, n_rows - start)
        for g in range(bounds.size - 1):
            index[:size] = 0
            for k in range(bounds[g], bounds[g + 1]):
                stride = np.int32(strides[k])
                if slots[k] >= 0:
                    narrow_tile = narrow[slots[k], start : start + size]
                    for i in range(size):
                        index[i] += np.int32(narrow_tile[i]) * stride
                else:
                    wide_tile = wide[-slots[k] - 1, start : start + size]
                    for i in range(size):
                        index[i] += np.int32(wide_tile[i]) * stride
            n_cells = (starts[g + 1] - starts[g]) // n_classes
            for c in range(n_classes):
                first = starts[g] + c * n_cells
                table = tables[first : first + n_cells]
                sums = scores[c, start : start + size]
                for i in range(size):
                    sums[i] += table[index[i]]


@compiled
def add_children(
    tables: NDArray[np.float64],
    parent_positions: NDArray[np.int64],
    positions: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> None:
    """Add log P(child | class, super-parent) of all children to the scores.

    `tables` (n_classes, n_positions, n_positions) holds the log probability of the
    state at the second position given the one at the first; `parent_positions`
    (n_rows,), `positions` (n_features, n_rows), `scores` (n_classes, n_rows).
    """
    n_features, n_rows = positions.shape
    for start in range(0, n_rows, _TILE):
        stop = min(start + _TILE, n_rows)
        for c in range(scores.shape[0]):
            table = tables[c]
            for j in range(n_features):
                for i in range(start, stop):
                    scores[c, i] += table[parent_positions[i], positions[j, i]]
