"""Native log-probabilities of sampled networks and densities of Gaussian families."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import Floats, Integers
from bayleaf.native.library import Handle
from bayleaf.native.signatures import native

PseudoWeights = tuple[float, float, float]

_networks_new = native(
    """bl_networks_new(int n_classes, real each, real together, real shared,
    real min_rows, address made)"""
)
_networks_add = native(
    """bl_networks_add(handle self, in families i8[n_features, n_places], n_features,
    n_places, in values u2[n_values], n_values, in value_starts i8[n_variables + 1],
    n_variables, in states u2[n_places, n_cells], in classes u2[n_cells],
    in weights f8[n_cells], n_cells, in starts i8[n_features + 1])"""
)
_networks_size = native(
    "bl_networks_size(address networks, address n_bytes, address n_nodes)"
)


class Networks(Handle):
    """Sampled networks over the same features, each family as a tree over its parents.

    Pseudo weights: of each state, of all alike, and of all by shares of training rows.
    Configurations of parents left with less than `min_rows` repeat one parent fewer.
    """

    def __init__(
        self, n_classes: int, pseudo: PseudoWeights, min_rows: float = 1.0
    ) -> None:
        arguments = n_classes, *pseudo, min_rows
        super().__init__(_networks_new, "bl_networks_free", *arguments)
        self.n_classes, self.n_features = n_classes, 0
        # Arrays that are read and not copied.
        self._codings: list[tuple[NDArray[Any], ...]] = []

    @property
    def size(self) -> tuple[int, int]:
        """Bytes that all networks take, and their nodes."""
        found = np.zeros(2, dtype=np.int64)
        address = found.ctypes.data
        _networks_size(self.address, address, address + found.itemsize)
        return int(found[0]), int(found[1])

    def add(
        self,
        families: Integers,
        values: NDArray[np.uint16],
        value_starts: Integers,
        *cells: NDArray[Any],
    ) -> None:
        """Add a network: each feature's parents, and a coding and cells of these."""
        _networks_add(self, families, values, value_starts, *cells)
        self.n_features = len(families)
        self._codings.append((values, value_starts))

    def n_written(
        self, features: range, n_pieces: int, first: int, n_depths: int
    ) -> int:
        """Number of features, if they exist and their depths fit the pieces."""
        is_inside = 0 <= features.start <= features.stop <= self.n_features
        if features.step != 1 or not is_inside:
            raise ValueError(f"there are {self.n_features} features, got {features}")
        if n_depths < 1 or not 0 <= first <= n_pieces - len(features) * n_depths:
            raise ValueError(
                f"{n_depths} depths of {len(features)} features from piece {first} on "
                f"do not fit {n_pieces} pieces"
            )
        return len(features)

    # Writes the mean over networks of ln P(x | class, first j parents) of rows (nats),
    # at depths j = 0, 1, ... of one feature x after the other, from piece `first` on;
    # what is beyond the last configuration of parents, or the depths that a feature
    # uses, repeats the deepest. A row's share is taken from the counts of its own
    # class, or of none for -1.
    write_log_probabilities = native(
        """bl_write_log_probabilities([_, _, n_pieces] = values.shape,
        n_features = self.n_written(features, n_pieces, first, n_depths), handle self,
        features.start, n_features, in used i8[n_features], codes, n_rows,
        in own i8[n_rows], in shares f8[n_rows],
        out values f8|f4[n_rows, self.n_classes, n_pieces], n_pieces, int first,
        int n_depths, flag values.dtype == f4)""",
        "self, features, narrow, wide, slots, own, shares, values, first, n_depths,"
        " used",
    )
    # Adds ``scale * ln(P(x | class, ...) / P(x))`` of all families to rows' scores,
    # relative to a state's prior share P(x), so that states and parents without data
    # add nothing. Each row has one of the sets of scales, of each feature at each
    # depth; what is beyond the last configuration of parents counts for the deepest.
    add_scores = native(
        """bl_networks_add_scores(handle self, codes, n_rows,
        in scales f8[n_sets, self.n_features, n_depths], n_sets, n_depths,
        in sets i8[n_rows], out scores f8[n_rows, self.n_classes])"""
    )


@dataclass(frozen=True, eq=False)
class LinearFamilies:
    """Linear-Gaussian families, of which the native loops compute log densities."""

    #: Column of each family's child, and the piece whose mean the family is part of.
    children: Integers
    pieces: Integers
    #: Where the parents of each family begin, and their columns, family after family.
    starts: Integers
    parents: Integers
    #: What each family counts in the mean of its piece.
    shares: Floats
    #: Weight of the rows, sum of squared residuals, and what the prior adds to it, of
    #: shape (n_families, n_classes, 3).
    facts: Floats
    #: Intercept and slopes of each family, class by class.
    coefficients: Floats
    #: For each family, class by class, the rows of the upper triangle T for which the
    #: leverage of a row a = (1, parents) is the squared length of T a.
    triangles: Floats
    #: Of the columns, class by class.
    means: Floats
    variances: Floats

    @cached_property
    def corners(self) -> Integers:
        """Where the triangle of each family begins."""
        n_terms = np.diff(self.starts) + 1
        sizes: Integers = n_terms * (n_terms + 1) // 2
        return np.cumsum(sizes) - sizes

    # Writes the mean log densities of pieces of rows. Positions are NaN where a cell is
    # missing. Of each row its share is left out of its own class, or of none for -1.
    # `values` take nats, within -50 and 50, in the pieces from `first` on; zero where
    # the child is missing.
    write = native(
        """bl_gaussian_families(n_families, n_classes, n_columns, int n_pieces,
        in self.children i8[n_families], in self.pieces i8[n_families],
        in self.starts i8[n_families + 1], in self.parents i8[n_parents], n_parents,
        in self.shares f8[n_families], in self.facts f8[n_families, n_classes, 3],
        in self.coefficients f8[n_classes, n_parents + n_families],
        in self.triangles f8[n_classes, n_corners], n_corners,
        in self.corners i8[n_families], in self.means f8[n_classes, n_columns],
        in self.variances f8[n_classes, n_columns], in positions f8[n_columns, n_rows],
        n_rows, in own i8[n_rows], in row_shares f8[n_rows],
        out values f8|f4[n_rows, n_classes, n_all], n_all, int first,
        flag values.dtype == f4)""",
        "self, positions, own, row_shares, values, first, n_pieces",
    )
