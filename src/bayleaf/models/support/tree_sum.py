"""Sums of regression trees over codes, each step of a row told by feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.wording import brief_fields

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

# Places in trees that are held at a time.
_BLOCK_PLACES = 1 << 20


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A number and the leaves that a row reaches in many regression trees, added up.

    A row moves to the left child of a node if the position of its state is at most the
    threshold; that child comes right after its parent. At a state that training did not
    contain it stops: the value of a node is the mean of the rows below it. Friedman
    (2001), Greedy function approximation: a gradient boosting machine, Annals of
    Statistics 29, 1189-1232.
    """

    base: float  # added to the roots' values
    positions: tuple[Floats, ...]  # (n_states,) on the scale of the thresholds
    roots: Whole  # (n_trees,), the first node of each tree
    features: Whole  # (n_nodes,), -1 for a leaf
    thresholds: Floats  # (n_nodes,), the greatest position that goes left
    right: Whole  # (n_nodes,), the other child; 0 for a leaf
    values: Floats  # (n_nodes,), what a row adds that stops here

    __repr__ = brief_fields

    def check_content(self) -> None:
        """Raise ValueError unless all nodes lead to later ones."""
        n_nodes = len(self.features)
        others = (self.thresholds, self.right, self.values)
        if any(np.shape(own) != (n_nodes,) for own in others):
            raise ValueError("every node of a tree needs a threshold, child and value")
        numbers = (self.thresholds, self.values, np.array([self.base]))
        if not all(np.isfinite(own).all() for own in numbers):
            raise ValueError("trees hold a number that is not finite")
        if ((self.features < -1) | (self.features >= len(self.positions))).any():
            raise ValueError("a node of a tree asks for a feature that is none")
        inner = np.flatnonzero(self.features >= 0)
        later = self.right[inner]
        if ((later <= inner + 1) | (later >= n_nodes)).any():
            raise ValueError("a node of a tree does not lead to a later one")
        if ((self.roots < 0) | (self.roots >= n_nodes)).any():
            raise ValueError("a tree has no root")

    def check_fit(self, cards: tuple[int, ...]) -> None:
        """Raise ValueError unless the trees are over features with these states."""
        if tuple(map(len, self.positions)) != cards:
            raise ValueError("the positions of trees do not fit the features")

    @property
    def start(self) -> float:
        """The sum before any feature is seen."""
        return self.base + float(self.values[self.roots].sum())

    def sums(self, codes: Codes) -> Floats:
        """The sum for each row, shape (n_rows,)."""
        found = np.empty(codes.n_rows)
        for rows, where in self._blocks(codes):
            places = np.tile(self.roots, (len(where), 1))
            for _, after in self._steps(places, where):
                places = after
            found[rows] = self.base + self.values[places].sum(axis=1)
        return found

    def terms(self, codes: Codes) -> Floats:
        """What each feature adds to `start`, shape (n_rows, n_features).

        A step from a node to its child counts for the feature that the node asks for.
        """
        n_features = len(self.positions)
        found = np.empty((codes.n_rows, n_features))
        for rows, where in self._blocks(codes):
            n_rows = len(where)
            first = np.arange(n_rows)[:, None] * n_features
            added = np.zeros(n_rows * n_features)
            places = np.tile(self.roots, (n_rows, 1))
            for before, after in self._steps(places, where):
                change = self.values[after] - self.values[before]
                cells = first + np.maximum(self.features[before], 0)
                added += np.bincount(cells.ravel(), change.ravel(), len(added))
            found[rows] = added.reshape(n_rows, n_features)
        return found

    def _blocks(self, codes: Codes) -> Iterator[tuple[slice, Floats]]:
        """Some rows at a time, and the positions of their states; NaN without one."""
        step = max(1, _BLOCK_PLACES // max(1, len(self.roots)))
        for first in range(0, codes.n_rows, step):
            rows = slice(first, min(first + step, codes.n_rows))
            yield rows, columns_at(codes.rows(rows), self.positions)

    def _steps(self, places: Whole, where: Floats) -> Iterator[tuple[Whole, Whole]]:
        """Places in all trees before and after each step, until no row moves."""
        rows = np.arange(len(where))[:, None]
        while True:
            asked = self.features[places]
            position = where[rows, asked]
            left = position <= self.thresholds[places]
            moves = (asked >= 0) & ~np.isnan(position)
            if not moves.any():
                return
            child = np.where(left, places + 1, self.right[places])
            after = np.where(moves, child, places)
            yield places, after
            places = after


def columns_at(codes: Codes, positions: tuple[Floats, ...]) -> Floats:
    """Positions of the states of rows, (n_rows, n_features); NaN for an unknown one."""
    found = np.empty((codes.n_rows, len(positions)))
    for feature, own in enumerate(positions):
        found[:, feature] = np.append(own, np.nan)[codes.column(feature)]
    return found
