"""Log-probability tables with the class as first axis: look-up and elimination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import CPD
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.inference.log_sums import log_sum_exp
from bayleaf.inference.table_algebra import (
    Table,
    aligned,
    eliminated,
    elimination_order,
)
from bayleaf.native.inference import add_looked_up
from bayleaf.wording import brief_fields, name_list

Floats = NDArray[np.float64]

# A fused table should stay in the second cache: cells times classes.
_FUSED_CELLS = 8192
# Rows are worked off in blocks whose largest table stays about this many cells.
_BLOCK_CELLS = 1 << 21


@dataclass(frozen=True, eq=False)
class Factor:
    """A table over the class and some features, its first axis the class."""

    child: int  # the number of features for the class
    variables: tuple[int, ...]  # the further axes, a feature `child` last
    log_values: Floats  # (n_classes, *cards), nats

    __repr__ = brief_fields

    @classmethod
    def of(cls, cpd: CPD, class_index: int, n_classes: int) -> Factor:
        """That of a distribution; without the class it is the same in every class."""
        logs, variables = cpd.log_probabilities(), list(cpd.family)
        if class_index not in variables:
            shape = (n_classes, *logs.shape)
            return cls(cpd.child, cpd.family, np.broadcast_to(logs, shape))
        axis = variables.index(class_index)
        del variables[axis]
        return cls(cpd.child, tuple(variables), np.moveaxis(logs, axis, 0))

    def padded(self) -> Floats:
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
    values: Floats  # (n_values,), table after table, nats
    starts: NDArray[np.int64]  # (n_tables + 1,)
    n_classes: int

    __repr__ = brief_fields

    @classmethod
    def from_factors(
        cls, factors: Sequence[Factor], cards: Sequence[int]
    ) -> FusedTables:
        """Add neighbouring factors up while the tables stay small."""
        groups: list[tuple[tuple[int, ...], Floats]] = []
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
                    left = aligned(fused, variables, union, 1)
                    right = aligned(table, factor.variables, union, 1)
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
    def tables(self) -> tuple[Floats, ...]:
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

    def look_up(self, codes: Codes) -> Floats:
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


@dataclass(frozen=True)
class Component:
    """Missing features that are linked, and the factors that mention them.

    What a component adds to a row's score depends on nothing outside it, so rows that
    share a component are worked off together, whatever else they miss.
    """

    missing: tuple[int, ...]  # features in increasing order
    factors: tuple[int, ...]  # positions of factors


class Eliminator:
    """Sums missing features out of factors whose first axis is the class.

    No table, classes included, may exceed `max_table_cells`.
    """

    def __init__(
        self, factors: Sequence[Factor], domain: Domain, max_table_cells: int
    ) -> None:
        self._factors = list(factors)
        self._domain = domain
        self._max_table_cells = max_table_cells
        self._touching: list[list[int]] = [[] for _ in domain]
        self._own: dict[int, int] = {}
        for position, factor in enumerate(self._factors):
            self._own[factor.child] = position
            for variable in factor.variables:
                self._touching[variable].append(position)
        self.inner = tuple(
            v
            for v, touching in enumerate(self._touching)
            if any(position != self._own.get(v) for position in touching)
        )

    def rows_to_eliminate(self, codes: Codes) -> NDArray[np.intp]:
        """Rows in which a feature with children is missing."""
        flagged = np.zeros(codes.n_rows, dtype=bool)
        for variable in self.inner:
            flagged |= codes.missing(variable)
        return np.flatnonzero(flagged)

    def add_missing(self, codes: Codes, scores: Floats) -> None:
        """Add the factors with missing features to `scores` (n_classes, n_rows).

        ValueError names the row where a table would exceed `max_table_cells`.
        """
        rows = self.rows_to_eliminate(codes)
        if not len(rows):
            return
        n_features = codes.n_variables
        missing = np.array([codes.missing(v)[rows] for v in range(n_features)])
        packed = np.ascontiguousarray(np.packbits(missing, axis=0).T)
        _, first, inverse = np.unique(
            packed, axis=0, return_index=True, return_inverse=True
        )
        sharing: dict[Component, list[int]] = {}
        for pattern, example in enumerate(first):
            for component in self._components(np.flatnonzero(missing[:, example])):
                sharing.setdefault(component, []).append(pattern)
        inverse = inverse.ravel()
        for component, patterns in sharing.items():
            chosen = np.zeros(len(first), dtype=bool)
            chosen[patterns] = True
            affected = rows[chosen[inverse]]
            scores[:, affected] += self._sum_out(component, codes, affected)

    def _components(self, missing: NDArray[np.intp]) -> Iterator[Component]:
        """Linked groups of missing features, those without any effect left out."""
        absent = set(missing.tolist())
        effective = self._effective(absent)
        barren = absent - effective
        # The features that a missing one shares a factor with, and those factors.
        factors = {
            v: [p for p in self._touching[v] if self._factors[p].child not in barren]
            for v in effective
        }
        unseen = set(effective)
        while unseen:
            members: set[int] = set()
            stack = [min(unseen)]
            while stack:
                variable = stack.pop()
                members.add(variable)
                linked = {
                    u for p in factors[variable] for u in self._factors[p].variables
                }
                stack += sorted((linked & effective) - members)
            unseen -= members
            used = {position for variable in members for position in factors[variable]}
            yield Component(tuple(sorted(members)), tuple(sorted(used)))

    def _effective(self, absent: set[int]) -> set[int]:
        """Missing features with an observed descendant; the others sum to one."""
        effective: set[int] = set()
        informative = [
            position
            for variable in absent
            for position in self._touching[variable]
            if self._factors[position].child not in absent
        ]
        while informative:
            factor = self._factors[informative.pop()]
            parents = (absent & set(factor.variables)) - {factor.child} - effective
            effective |= parents
            informative += [self._own[parent] for parent in parents]
        return effective

    def _sum_out(
        self, component: Component, codes: Codes, rows: NDArray[np.intp]
    ) -> Floats:
        """Log sums of a component for some rows, shape (n_classes, n_rows)."""
        missing = set(component.missing)
        scopes = [
            frozenset(self._factors[p].variables) & missing for p in component.factors
        ]
        order, cells = elimination_order(scopes, missing, self._domain.cards)
        n_classes = self._factors[0].log_values.shape[0]
        if cells * n_classes > self._max_table_cells:
            names = [self._domain[v].name for v in component.missing]
            raise ValueError(
                f"row {rows[0]}: summing out its missing features {name_list(names)} "
                f"needs a table of {cells * n_classes:.3g} cells, more than "
                f"max_table_cells={self._max_table_cells}; raise it, fill some of "
                "them, or use fewer parents"
            )
        block = max(1, _BLOCK_CELLS // (cells * n_classes))
        parts = [
            self._sum_out_block(component, order, codes, rows[start : start + block])
            for start in range(0, len(rows), block)
        ]
        return np.concatenate(parts, axis=1)

    def _sum_out_block(
        self,
        component: Component,
        order: list[int],
        codes: Codes,
        rows: NDArray[np.intp],
    ) -> Floats:
        """Log sums of a component for one block of rows."""
        missing = set(component.missing)
        n_classes = self._factors[0].log_values.shape[0]
        log_scale = np.zeros((n_classes, len(rows)))
        tables: list[Table] = []
        for position in component.factors:
            factor = self._factors[position]
            open_axes = tuple(v for v in factor.variables if v in missing)
            tables.append((open_axes, _sliced(factor, missing, codes, rows)))
        sum_out = partial(log_sum_exp, axis=-1)
        for _, table in eliminated(tables, order, np.add, sum_out, 2):
            log_scale += table
        return log_scale


def _sliced(
    factor: Factor, missing: set[int], codes: Codes, rows: NDArray[np.intp]
) -> Floats:
    """A factor at the rows' observed codes, shape (n_classes, n_rows, *open cards)."""
    observed = [i for i, v in enumerate(factor.variables) if v not in missing]
    left_open = [i for i, v in enumerate(factor.variables) if v in missing]
    moved = np.transpose(
        factor.log_values, [0, *(1 + i for i in observed), *(1 + i for i in left_open)]
    )
    index = tuple(
        codes.column(factor.variables[i])[rows].astype(np.intp) for i in observed
    )
    if not index:
        shape = (moved.shape[0], len(rows), *moved.shape[1:])
        return np.broadcast_to(moved[:, None], shape)
    where: tuple[Any, ...] = (slice(None), *index)
    return np.asarray(moved[where])
