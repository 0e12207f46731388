"""Linear-Gaussian families: what numbers say of the classes, alone and given others.

A family is a linear regression of its child on its parents within each class; what it
says of a row is the Student t density that the rows of the class predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.random_network import OwnShares
from bayleaf.cpds.state_tables import StateTables
from bayleaf.data.codes import Codes
from bayleaf.native.cpds import LinearFamilies
from bayleaf.wording import brief_fields

# Nothing that is finite and of use lies beyond.
_MOST = 1e15

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def columns_of(codes: Codes, features: Whole, positions: Sequence[Floats]) -> Floats:
    """Positions of rows by feature, shape (n_columns, n_rows); NaN where there is none.

    Codes past the intervals are of missing cells or of unknown values.
    """
    return _positions_in(StateTables.of(features, positions, np.nan), codes)


def _positions_in(tables: StateTables, codes: Codes) -> Floats:
    """The same by tables that are joined already."""
    positions = np.empty((len(tables.features), codes.n_rows))
    for rows, block in tables.blocks(codes):
        positions[:, rows] = block
    return positions


@dataclass(frozen=True, eq=False)
class LinearGaussianFamilies:
    """Families over some features, by piece: a piece is the mean of its families.

    Every feature has as many pieces; those of the first feature come first. `positions`
    has (n_intervals,) per feature: where its states lie on a normal scale, without
    missing. From `children` on, fields are as in
    `bayleaf.native.cpds.LinearFamilies`.

    Lauritzen and Wermuth (1989) for networks of such families. The density is that of
    Bayesian linear regression: with leverage h = a'Ga of the parents a = (1, z), and
    s^2 the residual sum of squares and the prior's over n + 2, a t density with n + 2
    degrees of freedom, centre a'b and squared scale s^2 (1 + h).
    """

    features: Whole  # (n_columns,), increasing: the numeric ones
    positions: tuple[Floats, ...]
    n_pieces: int  # per feature
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

    __repr__ = brief_fields

    def check_content(self) -> None:
        """Raise ValueError unless all numbers fit together and are finite."""
        n_columns = len(self.features)
        numbers = [self.shares, self.facts, self.coefficients, self.triangles]
        for array in (*numbers, *self.positions, self.means, self.variances):
            if not (np.abs(array) <= _MOST).all():
                raise ValueError("a linear family holds a number that is none or huge")
        if len(self.positions) != n_columns or self.means.shape[1] != n_columns:
            raise ValueError("linear families need positions of all their features")
        if (np.diff(self.features) <= 0).any() or (self.features < 0).any():
            raise ValueError("the features of linear families are in no order")
        if (self.facts[:, :, :2] < 0).any() or (self.facts[:, :, 2] <= 0).any():
            raise ValueError("a linear family has a negative sum of squares")
        # The native loops look at all places before they use them.
        empty = np.empty((0, len(self.means), self.n_columns_of_pieces))
        self._write(np.empty((n_columns, 0)), OwnShares.none(0), empty, 0)

    def check_fit(self, cards: Sequence[int]) -> None:
        """Raise ValueError unless it is over features and, last, a class like these."""
        n_features = len(cards) - 1
        if (self.features >= n_features).any() or len(self.means) != cards[-1]:
            raise ValueError("linear families do not fit the features and classes")
        limits = [cards[feature] for feature in self.features]
        if any(len(own) > card for own, card in zip(self.positions, limits)):
            raise ValueError("the positions of linear families do not fit the states")

    @property
    def n_columns_of_pieces(self) -> int:
        """Number of pieces of all features together."""
        return len(self.features) * self.n_pieces

    @property
    def n_parameters(self) -> int:
        """Free numbers: coefficients and a variance of each family and class."""
        return int(self.coefficients.size + self.facts[:, :, 0].size)

    @cached_property
    def _tables(self) -> StateTables:
        return StateTables.of(self.features, self.positions, np.nan)

    @cached_property
    def _native(self) -> LinearFamilies:
        return LinearFamilies(
            self.children,
            self.pieces,
            self.starts,
            self.parents,
            self.shares,
            self.facts,
            self.coefficients,
            self.triangles,
            self.means,
            self.variances,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def write_log_densities(
        self,
        codes: Codes,
        values: NDArray[np.floating[Any]],
        first: int,
        left_out: OwnShares | None = None,
    ) -> None:
        """Write nats of classes by piece into `values` (n_rows, n_classes, n_all).

        Pieces begin at `first`; a missing feature writes zeros, a missing parent counts
        as the class's mean with the variance that this adds. `left_out` leaves each
        training row out, exactly but for the scale of the prior and the positions.
        """
        columns = _positions_in(self._tables, codes)
        left_out = left_out or OwnShares.none(codes.n_rows)
        self._write(columns, left_out, values, first)

    def _write(
        self,
        columns: Floats,
        left_out: OwnShares,
        values: NDArray[np.floating[Any]],
        first: int,
    ) -> None:
        self._native.write(
            columns,
            left_out.own,
            left_out.shares,
            values,
            first,
            self.n_columns_of_pieces,
        )

    def parents_of(self, feature: int) -> list[tuple[float, tuple[int, ...]]]:
        """Share and parents, as features, of each family of a feature with parents."""
        found = []
        for family, column in enumerate(self.children.tolist()):
            own = self.parents[self.starts[family] : self.starts[family + 1]]
            if int(self.features[column]) == feature and len(own):
                parents = tuple(self.features[own].tolist())
                found.append((float(self.shares[family]), parents))
        return found
