"""Tables of a model looked up by codes, as conditions or as tables that are joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.pipeline import MOST_JOINS, Columns, Join, Pipeline, kept
from bayleaf.io.exports.sql.words import (
    Expression,
    chosen,
    col,
    equal,
    nats,
    num,
    or_zero,
    plus,
    times,
)

Floats = NDArray[np.float64]

# Entries of a table beyond which it is joined, where the size decides.
_MOST_CASES = 200
# Tables written as conditions in one stage.
_CASES_IN_STAGE = 200
# Numbers that a query may hold at all.
MOST_NUMBERS = 2_000_000


@dataclass(frozen=True, eq=False)
class Look:
    """Nats of each class by the states of some columns; zero for what is not listed.

    Parameters
    ----------
    columns : tuple of str
        Columns that hold codes.
    radices : tuple of int
        How many codes each may hold, that of missing cells included.
    states : ndarray of shape (n_entries, n_columns)
        States of each entry.
    values : ndarray of shape (n_entries, n_classes)
        Nats.
    """

    columns: tuple[str, ...]
    radices: tuple[int, ...]
    states: NDArray[np.int64]
    values: Floats

    @classmethod
    def dense(
        cls, columns: Sequence[str], radices: Sequence[int], values: Floats
    ) -> Look:
        """Look up an array of shape (n_classes, *numbers of states)."""
        shape = values.shape[1:]
        states = np.indices(shape).reshape(len(shape), -1).T
        flat = values.reshape(len(values), -1).T
        used = (flat != 0).any(axis=1)
        return cls(tuple(columns), tuple(radices), states[used], flat[used])

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return len(self.values)

    @cached_property
    def telling(self) -> list[int]:
        """Classes whose nats are not all zero."""
        return [int(c) for c in np.flatnonzero((self.values != 0).any(axis=0))]

    @property
    def key(self) -> Expression:
        """One whole number for the states of a row."""
        found = col(self.columns[0])
        for column, radix in zip(self.columns[1:], self.radices[1:], strict=True):
            found = plus(times(found, num(radix)), col(column))
        return found

    @property
    def keys(self) -> list[int]:
        """The whole number of each entry."""
        if prod(self.radices) >= 1 << 63:
            raise ValueError(
                "a table of this model has more joint states than databases can "
                "number; fit with fewer parents"
            )
        found = np.zeros(self.n_entries, dtype=np.int64)
        for place, radix in enumerate(self.radices):
            found = found * radix + self.states[:, place]
        return [int(key) for key in found]

    def cases(self, label: int) -> Expression:
        """The nats of one class as nested conditions."""
        if label not in self.telling:
            return num(0.0)
        return self._nested(np.arange(self.n_entries), 0, label)

    def _nested(self, rows: NDArray[np.intp], depth: int, label: int) -> Expression:
        """Conditions on the columns from one on, for some entries."""
        if depth == len(self.columns):
            return nats(self.values[rows[0], label])
        own = self.states[rows, depth]
        branches = {
            int(state): self._nested(rows[own == state], depth + 1, label)
            for state in np.unique(own)
        }
        return chosen(col(self.columns[depth]), branches, num(0.0))


# A slot, and what is added to it: by look-up, or an expression a class.
Addend = tuple[str, Look | Sequence[Expression]]


@dataclass(eq=False)
class Rows:
    """Where a query has come to: its last stage, and the columns that are handed on.

    Parameters
    ----------
    pipeline : Pipeline
        The stages.
    stage : str
        The last of them.
    columns : list of str
        Its columns.
    form : {"auto", "case", "values"}
        Whether tables are conditions or joined.
    """

    pipeline: Pipeline
    stage: str
    columns: list[str]
    form: str = "auto"

    def extend(
        self,
        new: Columns,
        joins: Sequence[Join] = (),
        without: Sequence[str] = (),
    ) -> None:
        """Add a stage with further columns, and without some."""
        old = [key for key in self.columns if key not in new and key not in without]
        columns = {**kept(old), **new}
        self.stage = self.pipeline.stage(self.stage, columns, joins=joins)
        self.columns = list(columns)

    def branch(self) -> Rows:
        """Another way on from the same stage."""
        return Rows(self.pipeline, self.stage, list(self.columns), self.form)

    def is_joined(self, look: Look) -> bool:
        """Whether a table is joined."""
        return self.form == "values" or (
            self.form == "auto" and look.n_entries > _MOST_CASES
        )

    def add_up(self, terms: Sequence[Addend], n_classes: int) -> None:
        """Add terms, one value a class, to the columns called slot_class.

        Parameters
        ----------
        terms : sequence of (str, Look or sequence of expressions)
            The slot that each is added to, which need not exist yet.
        n_classes : int
            Number of classes.
        """
        for batch in _batches(terms, self.is_joined):
            added: dict[str, list[list[Expression]]] = {}
            joins: list[Join] = []
            for slot, term in batch:
                values: Sequence[Expression]
                if not isinstance(term, Look):
                    values = term
                elif not term.n_entries:
                    continue
                elif self.is_joined(term):
                    alias = f"j{len(joins)}"
                    fits = equal(col("k", alias), term.key)
                    joins.append((self._constants(term), alias, fits))
                    values = [
                        or_zero(col(f"v{c}", alias)) if c in term.telling else num(0.0)
                        for c in range(n_classes)
                    ]
                else:
                    values = [term.cases(c) for c in range(n_classes)]
                added.setdefault(slot, []).append(list(values))
            self._extend_sums(added, joins, n_classes)

    def _extend_sums(
        self,
        added: dict[str, list[list[Expression]]],
        joins: list[Join],
        n_classes: int,
    ) -> None:
        """A stage in which what was found is added to slots."""
        new: Columns = {}
        for slot, found in added.items():
            for c in range(n_classes):
                before = [col(f"{slot}_{c}")] if f"{slot}_{c}" in self.columns else []
                new[f"{slot}_{c}"] = plus(*before, *(own[c] for own in found))
        if new:
            self.extend(new, joins)

    def _constants(self, look: Look) -> str:
        """The stage that holds the numbers of a table."""
        return self.pipeline.constants(
            {
                "k": look.keys,
                **{f"v{c}": look.values[:, c].tolist() for c in look.telling},
            }
        )

    def zeros(self, slots: Sequence[str], n_classes: int) -> None:
        """Add slots of zero that do not exist yet."""
        new: Columns = {
            f"{slot}_{c}": num(0.0)
            for slot in slots
            for c in range(n_classes)
            if f"{slot}_{c}" not in self.columns
        }
        if new:
            self.extend(new)


def _batches(
    terms: Sequence[Addend], is_joined: Callable[[Look], bool]
) -> list[list[Addend]]:
    """Terms that one stage adds: not too many joins, nor conditions."""
    found: list[list[Addend]] = []
    joins, cases = 0, 0
    for slot, term in terms:
        joined = isinstance(term, Look) and is_joined(term)
        joins, cases = joins + joined, cases + (not joined)
        if not found or joins > MOST_JOINS or cases > _CASES_IN_STAGE:
            found.append([])
            joins, cases = int(joined), int(not joined)
        found[-1].append((slot, term))
    return found


def check_size(looks: Sequence[Look]) -> None:
    """Raise ValueError if a query would hold too many numbers."""
    total = sum(look.values.size for look in looks)
    if total > MOST_NUMBERS:
        raise ValueError(
            f"the query would hold {total:,} numbers, more than {MOST_NUMBERS:,}; fit "
            "with fewer networks or parents, or coarser intervals"
        )
