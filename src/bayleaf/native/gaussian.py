"""Native log densities of linear-Gaussian families."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.native.arrays import F4, F8, I8, readable, writable
from bayleaf.native.library import FLAG, INTEGER, POINTER, Function

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_gaussian_families = Function(
    "bl_gaussian_families",
    *[INTEGER] * 4,
    *[POINTER] * 4,
    INTEGER,
    *[POINTER] * 4,
    INTEGER,
    *[POINTER] * 4,
    INTEGER,
    *[POINTER] * 3,
    *[INTEGER, INTEGER, FLAG],
)


@dataclass(frozen=True, eq=False)
class LinearFamilies:
    """Families as the native loops read them.

    Parameters
    ----------
    children : ndarray of shape (n_families,), dtype int64
        Column of each family's child.
    pieces : ndarray of shape (n_families,), dtype int64
        Piece whose mean the family is part of.
    starts : ndarray of shape (n_families + 1,), dtype int64
        Where the parents of each family begin.
    parents : ndarray of shape (n_parents,), dtype int64
        Columns of the parents, family after family.
    shares : ndarray of shape (n_families,), dtype float64
        What each family counts in the mean of its piece.
    facts : ndarray of shape (n_families, n_classes, 3), dtype float64
        Weight of the rows, sum of squared residuals, and what the prior adds to it.
    coefficients : ndarray of shape (n_classes, n_parents + n_families), dtype float64
        Intercept and slopes of each family.
    triangles : ndarray of shape (n_classes, n_corners), dtype float64
        For each family the rows of the upper triangle T for which the leverage of a row
        a = (1, parents) is the squared length of T a.
    means, variances : ndarray of shape (n_classes, n_columns), dtype float64
        Of the columns.
    """

    children: Whole
    pieces: Whole
    starts: Whole
    parents: Whole
    shares: Floats
    facts: Floats
    coefficients: Floats
    triangles: Floats
    means: Floats
    variances: Floats

    def write(
        self,
        positions: Floats,
        own: Whole,
        row_shares: Floats,
        values: NDArray[Any],
        first: int,
        n_pieces: int,
    ) -> None:
        """Write the mean log densities of each piece.

        Parameters
        ----------
        positions : ndarray of shape (n_columns, n_rows), dtype float64
            The columns; NaN where a cell is missing.
        own : ndarray of shape (n_rows,), dtype int64
            Class that each row is left out of; -1 for none.
        row_shares : ndarray of shape (n_rows,), dtype float64
            How much of it is left out.
        values : ndarray of shape (n_rows, n_classes, n_all), float32 or float64
            Takes nats, within -50 and 50, in the pieces from `first` on; zero where the
            child is missing.
        first : int
            First piece.
        n_pieces : int
            Number of pieces.

        Raises
        ------
        TypeError, ValueError
            If an array is not what it should be, or holds a place that does not exist.
        """
        n_families = len(self.children)
        n_classes, n_columns = self.means.shape
        n_rows, _, n_all = values.shape
        sizes = np.diff(self.starts) + 1
        corners = np.zeros(n_families, dtype=np.int64)
        np.cumsum((sizes * (sizes + 1) // 2)[:-1], out=corners[1:])
        n_parents, n_corners = len(self.parents), self.triangles.shape[1]
        dtype = F4 if values.dtype == F4 else F8
        _gaussian_families(
            *(n_families, n_classes, n_columns, n_pieces),
            readable(self.children, I8, (n_families,)),
            readable(self.pieces, I8, (n_families,)),
            readable(self.starts, I8, (n_families + 1,)),
            readable(self.parents, I8, (n_parents,)),
            n_parents,
            readable(self.shares, F8, (n_families,)),
            readable(self.facts, F8, (n_families, n_classes, 3)),
            readable(self.coefficients, F8, (n_classes, n_parents + n_families)),
            readable(self.triangles, F8, (n_classes, n_corners)),
            n_corners,
            readable(corners, I8, (n_families,)),
            readable(self.means, F8, (n_classes, n_columns)),
            readable(self.variances, F8, (n_classes, n_columns)),
            readable(positions, F8, (n_columns, n_rows)),
            n_rows,
            readable(own, I8, (n_rows,)),
            readable(row_shares, F8, (n_rows,)),
            writable(values, dtype, (n_rows, n_classes, n_all)),
            n_all,
            first,
            dtype == F4,
        )
