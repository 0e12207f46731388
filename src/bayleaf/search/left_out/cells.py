"""The counts that training rows meet in a family's table once they are left out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.counts.source import Counts, Family
from bayleaf.cpds.smoothing import CellCounts, CellSmoothing, Smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.shuffled_rows import shuffled_distinct_rows
from bayleaf.wording import quoted

Floats = NDArray[np.float64]

# What fractional weights leave of an empty cell, as a share of what was taken out.
_RESIDUE = 1e-9


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Training rows, each of which is to be predicted without itself."""

    codes: Codes  # class last
    beside: Floats | None = None  # (n_classes, n_rows), other evidence, nats

    def stretch(self, rows: slice) -> LeftOutRows:
        """Some of the rows."""
        beside = None if self.beside is None else self.beside[:, rows]
        return LeftOutRows(self.codes.rows(rows), beside)

    @classmethod
    def drawn(cls, codes: Codes, most: int, rng: np.random.Generator) -> LeftOutRows:
        """Distinct training rows in random order, at most so many."""
        rows, weights = shuffled_distinct_rows(codes, rng)
        chosen = codes.rows(rows[:most])
        columns = [chosen.column(i) for i in range(chosen.n_variables)]
        return cls(Codes.from_columns(columns, codes.cards, weights[:most]))

    @cached_property
    def own(self) -> NDArray[np.intp]:
        """Class of each row, shape (n_rows,)."""
        return self.codes.column(self.codes.n_variables - 1).astype(np.intp)

    @cached_property
    def shares(self) -> Floats:
        """What leaving a row out takes from every count that it touches, (n_rows,).

        One of the equal rows that a weight above one stands for, or all of a
        fraction of a row.
        """
        return np.minimum(self.codes.weights, 1.0)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.codes.n_rows

    @property
    def class_index(self) -> int:
        """Index of the class variable."""
        return self.codes.n_variables - 1

    @cached_property
    def features(self) -> Codes:
        """The rows without their class."""
        columns = [self.codes.column(i) for i in range(self.class_index)]
        return Codes.from_columns(columns, self.codes.cards[:-1])

    def observed(self, family: Family) -> slice | NDArray[np.intp]:
        """Rows in which no member of a family is missing."""
        absent = np.zeros(self.n_rows, dtype=bool)
        for variable in family:
            absent |= self.codes.missing(variable)
        return np.flatnonzero(~absent) if absent.any() else slice(None)


@dataclass(frozen=True, eq=False)
class FamilyTables:
    """Counts of a family with all of its parents, with one less, and so on."""

    family: Family  # parents, a class first, then the child
    counts: Counts  # (*parents, child)
    has_class: bool  # whether the class is the first parent

    @cached_property
    def joint(self) -> list[Counts]:
        """One table a number of parents, each of shape (classes or 1, n_cells)."""
        tables = [self.counts if self.has_class else self.counts[None]]
        while tables[0].ndim > 2:
            tables.insert(0, tables[0].sum(axis=-2))
        return [table.reshape(len(table), -1) for table in tables]

    @cached_property
    def parents(self) -> list[Counts]:
        """The same tables without the child."""
        return [
            table.reshape(len(table), -1, self.n_states).sum(axis=-1)
            for table in self.joint
        ]

    @cached_property
    def marginal(self) -> Counts:
        """Weight of each state of the child, shape (n_states,)."""
        return np.asarray(self.counts.sum(axis=tuple(range(self.counts.ndim - 1))))

    @property
    def n_states(self) -> int:
        """Number of states of the child."""
        return int(self.counts.shape[-1])

    def left_out(
        self, rows: LeftOutRows, observed: slice | NDArray[np.intp]
    ) -> CellCounts:
        """Counts without the row itself, (n_classes or 1, n_observed).

        `observed` selects rows that have all members of the family, see
        `LeftOutRows.observed`.
        """
        shares = rows.shares[observed]
        own = rows.own[observed] if self.has_class else np.zeros(len(shares), np.intp)
        child = rows.codes.column(self.family[-1])[observed].astype(np.intp)
        key = np.zeros(len(shares), dtype=np.intp)
        joint, parents = [], []
        others = self.family[1 if self.has_class else 0 : -1]
        for depth, (cells, margins) in enumerate(
            zip(self.joint, self.parents, strict=True)
        ):
            if depth:
                parent = others[depth - 1]
                key *= rows.codes.cards[parent]
                key += rows.codes.column(parent)[observed]
            cell = key * self.n_states + child
            joint.append(_without(np.take(cells, cell, axis=1), own, shares))
            parents.append(_without(np.take(margins, key, axis=1), own, shares))
        marginal = less(self.marginal[child], shares)
        total = less(np.full(len(shares), self.marginal.sum()), shares)
        return CellCounts(joint, parents, marginal, total, self.n_states)


def less(counts: Counts, shares: Floats) -> Counts:
    """Counts less what is taken from them, without the residue of rounding."""
    rest = counts - shares
    return np.where(rest < _RESIDUE * shares, 0.0, rest)


def _without(counts: Counts, own: NDArray[np.intp], shares: Floats) -> Counts:
    """Counts of shape (n_classes, n_rows), each row's own class lowered."""
    place = own, np.arange(len(own))
    counts[place] = less(counts[place], shares)
    return counts


def left_out_class_counts(class_counts: Counts, rows: LeftOutRows) -> CellCounts:
    """Counts of each class without the row itself, shape (n_classes, n_rows)."""
    counts = np.repeat(class_counts[:, None], rows.n_rows, axis=1)
    counts = _without(counts, rows.own, rows.shares)
    total = less(np.full(rows.n_rows, class_counts.sum()), rows.shares)
    return CellCounts([counts], [total], counts, total, len(class_counts))


def cell_rule(rule: Smoothing | Any) -> CellSmoothing:
    """Return the rule itself; TypeError if it has no method `probabilities`."""
    if not isinstance(rule, CellSmoothing):
        raise TypeError(
            "leave-one-out needs a smoothing rule with a method probabilities(cells), "
            f"which {quoted(rule)} lacks; write one, or use a rule of the library"
        )
    return rule
