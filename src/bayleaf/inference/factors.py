"""Log-probability tables with the class as first axis, and fast look-up in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.data.codes import Codes
from bayleaf.native.inference import add_looked_up
from bayleaf.wording import brief_fields

# A fused table should stay in the second cache: cells times classes.
_FUSED_CELLS = 8192


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over the class and some features, its first axis the class."""

    child: int  # the number of features for the class
    variables: tuple[int, ...]  # the further axes, a feature `child` last
    log_values: NDArray[np.float64]  # (n_classes, *cards), nats

    __repr__ = brief_fields

    def padded(self) -> NDArray[np.float64]:
        """The table with one more code on each axis, "missing", that counts zero."""
        n_classes, *cards = self.log_values.shape
        padded = np.zeros((n_classes, *(card + 1 for card in cards)))
        padded[(slice(None), *map(slice, cards))] = self.log_values
        return padded


@dataclass(frozen=True, eq=False)
class FusedTables:
    """Sums of factors in few tables, for look-up by one index per row.

    Neighbouring factors are added into one table while it stays small; where a variable
    of a factor is missing, the factor counts zero.
    """

    variables: tuple[tuple[int, ...], ...]  # features of each table
    strides: tuple[tuple[int, ...], ...]  # per code, in the index
    values: NDArray[np.float64]  # (n_values,), table after table, nats
    starts: NDArray[np.int64]  # (n_tables + 1,)
    n_classes: int

    __repr__ = brief_fields

    @classmethod
    def from_factors(
        cls, factors: Sequence[Factor], cards: Sequence[int]
    ) -> FusedTables:
        """Add neighbouring factors up while the tables stay small."""
        groups: list[tuple[tuple[int, ...], NDArray[np.float64]]] = []
        for factor in factors:
            table = factor.padded()
            n_classes = table.shape[0]
            if groups:
                variables, fused = groups[-1]
                union = (
                    *variables,
                    *(v for v in factor.variables if v not in variables),
                )
                cells = prod(cards[v] + 1 for v in union)
                if cells * n_classes <= _FUSED_CELLS:
                    left = _spread(fused, variables, union)
                    right = _spread(table, factor.variables, union)
                    groups[-1] = union, left + right
                    continue
            groups.append((factor.variables, table))
        return cls(
            tuple(variables for variables, _ in groups),
            tuple(_strides(variables, cards) for variables, _ in groups),
            np.concatenate([table.ravel() for _, table in groups]),
            np.cumsum([0, *(table.size for _, table in groups)], dtype=np.int64),
            len(groups[0][1]),
        )

    @property
    def tables(self) -> tuple[NDArray[np.float64], ...]:
        """Each table, shape (n_classes, n_cells), a view."""
        return tuple(
            self.values[first:last].reshape(self.n_classes, -1)
            for first, last in pairwise(self.starts)
        )

    @cached_property
    def _places(self) -> tuple[NDArray[np.int64], ...]:
        """Features and strides of all tables, and where each table's begin."""
        sizes = [len(group) for group in self.variables]
        return (
            np.array(list(chain.from_iterable(self.variables)), dtype=np.int64),
            np.array(list(chain.from_iterable(self.strides)), dtype=np.int64),
            np.cumsum([0, *sizes], dtype=np.int64),
        )

    def look_up(self, codes: Codes) -> NDArray[np.float64]:
        """Sum of all tables for every row, shape (n_classes, n_rows)."""
        scores = np.zeros((self.n_classes, codes.n_rows))
        features, strides, bounds = self._places
        add_looked_up(
            codes.narrow,
            codes.wide,
            np.array(codes.slots, dtype=np.int64)[features],
            strides,
            bounds,
            self.values,
            self.starts,
            scores,
        )
        return scores


def _strides(variables: Sequence[int], cards: Sequence[int]) -> tuple[int, ...]:
    """Index steps of the axes of a padded table, the last axis fastest."""
    strides: list[int] = []
    step = 1
    for variable in reversed(variables):
        strides.append(step)
        step *= cards[variable] + 1
    return tuple(reversed(strides))


def _spread(
    table: NDArray[np.float64], variables: tuple[int, ...], union: tuple[int, ...]
) -> NDArray[np.float64]:
    """A padded table with its axes in the order of `union` and ones between."""
    present = [v for v in union if v in variables]
    order = [0, *(1 + variables.index(v) for v in present)]
    moved = np.transpose(table, order)
    sizes = iter(moved.shape[1:])
    shape = [next(sizes) if v in variables else 1 for v in union]
    return moved.reshape(table.shape[0], *shape)
