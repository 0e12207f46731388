"""Rows of a table with a column for each latent variable made so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.latent_tree import padded_map
from bayleaf.data.codes import Codes
from bayleaf.native.counts import key_counts
from bayleaf.native.latents import (
    PackedColumns,
    PackedRuns,
    count_cells,
    latent_codes,
)

Counts = NDArray[np.float64]

# A node that is no variable: it has one state in every row and is never missing.
CONSTANT = -1


class NodeRows:
    """States of features and latent variables in every row.

    `columns` (2 n_features + 1, n_rows), uint16, contains the states of each node,
    where the code `cards[node]` is missing; the last row is that of `CONSTANT`, and
    rows of nodes not made yet are undefined. `classes` is (n_rows,), `weights`
    (n_rows,) or (1,).
    """

    def __init__(self, codes: Codes) -> None:
        n_features = codes.n_variables - 1
        # What no latent variable has written to takes no memory.
        self.columns = np.empty((2 * n_features + 1, codes.n_rows), dtype=np.uint16)
        self.columns[CONSTANT] = 0
        for feature in range(n_features):
            self.columns[feature] = codes.column(feature)
        self.cards = list(codes.cards[:-1])
        self.n_classes = codes.cards[-1]
        self.classes = codes.column(n_features).astype(np.uint16)
        weights = np.ones(1) if codes.unit_weights else codes.weights
        self.weights = np.ascontiguousarray(weights)
        n_codes = [*(card + 1 for card in self.cards), *[0] * n_features, 1]
        self.packed = PackedColumns(self.columns, n_codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.classes)

    def runs(self, parts: NDArray[np.int32], n_parts: int) -> PackedRuns:
        """Number part and class of each row as one: part * n_classes + class."""
        numbers: NDArray[np.int32] = parts * np.int32(self.n_classes) + self.classes
        n_runs = n_parts * self.n_classes
        return PackedRuns(self.packed, numbers, n_runs, self.weights)

    def add_latent(self, left: int, right: int, states: NDArray[np.intp]) -> int:
        """Add a latent variable over two nodes; its index."""
        node = len(self.cards)
        card = int(states.max()) + 1
        latent_codes(self.packed, left, right, padded_map(states), node, card + 1)
        self.cards.append(card)
        return node

    def cell_counts(self, left: int, right: int, runs: PackedRuns) -> Counts:
        """Count the joint states of two nodes in each run of rows.

        Returns (n_runs, n_left_codes, n_right_codes); each last code is the missing
        state.
        """
        n_codes = self.packed.n_codes
        counts = np.zeros((runs.n_runs, n_codes[left], n_codes[right]))
        count_cells(runs, left, right, counts)
        return counts

    def pair_counts(
        self,
        node: int,
        others: Sequence[int],
        runs: PackedRuns,
    ) -> Counts:
        """Count one node's joint states with those of others in one pass.

        Returns (n_runs, card + 1, n_other_states), the states of each other node
        followed by its missing state.
        """
        n_states = self.cards[node] + 1
        keys = runs.runs * np.int32(n_states) + self.columns[node]
        widths = np.array([self.cards[other] + 1 for other in others], dtype=np.int64)
        starts = np.cumsum(widths) - widths
        tables = np.zeros((runs.n_runs * n_states + 1, int(widths.sum())))
        slots = np.array(others, dtype=np.int64)
        # Columns of two bytes are counted just as those of one.
        block: NDArray[Any] = self.columns
        key_counts(keys, block, slots, starts, widths, self.weights, tables)
        return tables[1:].reshape(runs.n_runs, n_states, -1)
