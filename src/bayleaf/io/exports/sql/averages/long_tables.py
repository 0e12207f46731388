"""Very many tables looked up at once.

Each row becomes a row for every table, with the number of its joint state; all tables
are one, which is joined and added up. So a query of thousands of tables is planned as
fast as one of a few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from bayleaf.io.exports.sql.averages.number_lists import keyed_numbers
from bayleaf.io.exports.sql.looking_up import MOST_NUMBERS, Look, Rows
from bayleaf.io.exports.sql.pipeline import MOST_JOINS, Columns, Join, kept
from bayleaf.io.exports.sql.words import (
    Expression,
    below,
    both,
    case,
    col,
    equal,
    num,
    or_zero,
    plus,
)

Floats = NDArray[np.float64]
# Tables that one stage looks up: each is a condition on the table's number.
_MOST_TABLES = 250
# Columns of codes that one stage may make for them.
_MOST_CODED = 500
# Joint states that whole numbers of eight bytes count.
_MOST_KEYS = 1 << 62
# Numbers that a query may hold where they are written as texts.
_MOST_IN_TEXTS = 10_000_000
# Databases that make rows of an array.
_WITH_ARRAYS = ("duckdb", "postgres")
_IN_TEXTS = ("duckdb", "postgres", "sqlite")

Slotted = tuple[str, Look]


class LongTables:
    """Stages that look up tables together.

    Parameters
    ----------
    cards : sequence of int
        Number of states of each feature.
    coded : mapping of str to expression
        Columns, made of codes, that tables are looked up by.
    n_classes : int
        Number of classes.
    """

    def __init__(self, cards: Sequence[int], coded: Columns, n_classes: int) -> None:
        self._cards = cards
        self._coded = coded
        self._n_classes = n_classes

    def add(self, rows: Rows, looks: Sequence[Slotted]) -> None:
        """Add what tables say to the columns slot_class.

        Raises
        ------
        ValueError
            If there are more numbers than databases take.
        """
        _check(looks, rows.pipeline.dialect)
        # Rows with the same codes are scored once, and found again by their codes.
        numbers = self._row_numbers()
        rows.extend(numbers)
        codes = [f"c{v}" for v in range(len(self._cards))]
        own = kept([*numbers, *codes])
        distinct = rows.pipeline.stage(rows.stage, own, group=list(own.values()))
        sums = [
            (batch[0][0], self._summed(rows, distinct, list(numbers), batch))
            for batch in _batches(looks)
        ]
        for first in range(0, len(sums), MOST_JOINS):
            self._join(rows, list(numbers), sums[first : first + MOST_JOINS])
        rows.extend({}, without=list(numbers))

    def _row_numbers(self) -> Columns:
        """Numbers that rows share if and only if they have the same codes."""
        parts: list[list[int]] = [[]]
        for v in range(len(self._cards)):
            if prod(self._cards[w] + 1 for w in [*parts[-1], v]) > _MOST_KEYS:
                parts.append([])
            parts[-1].append(v)
        return {f"r{n}": self._number(own) for n, own in enumerate(parts)}

    def _number(self, features: Sequence[int]) -> Expression:
        """The joint codes of some features as one number."""
        found: Expression = num(0)
        for v in features:
            wide = exp.cast(col(f"c{v}"), "bigint")
            scaled = exp.Mul(this=found, expression=num(self._cards[v] + 1))
            found = plus(exp.Paren(this=scaled), wide)
        return found

    def _summed(
        self, rows: Rows, source: str, numbers: list[str], batch: Sequence[Slotted]
    ) -> str:
        """A stage of what some tables say together of each row."""
        looks = [look for _, look in batch]
        used = sorted({key for look in looks for key in look.columns})
        wide = {
            key: exp.cast(
                self._coded[key] if key in self._coded else col(key), "bigint"
            )
            for key in used
        }
        pipeline = rows.pipeline
        coded = pipeline.stage(source, {**kept(numbers), **wide})
        starts = np.cumsum([0, *(prod(look.radices) for look in looks)]).tolist()
        keys = np.concatenate(
            [np.array(look.keys) + start for look, start in zip(looks, starts)]
        )
        values = np.concatenate([look.values for look in looks])
        table = keyed_numbers(pipeline, keys, values)
        wanted = [plus(look.key, num(start)) for look, start in zip(looks, starts)]
        asked = _each(rows, coded, numbers, wanted)
        totals: Columns = {
            f"v{c}": exp.Sum(this=col(f"v{c}", table))
            for c in np.flatnonzero((values != 0).any(axis=0)).tolist()
        }
        return pipeline.stage(
            asked,
            {**kept(numbers, asked), **totals},
            crossed=[(table, equal(col("k", table), col("k", asked)))],
            group=[col(r, asked) for r in numbers],
        )

    def _join(
        self, rows: Rows, numbers: list[str], sums: Sequence[tuple[str, str]]
    ) -> None:
        """Add some stages of sums to the slots of their rows."""
        added: dict[str, list[Expression]] = {}
        joins: list[Join] = []
        for n, (slot, stage) in enumerate(sums):
            alias = f"j{n}"
            fits = both(*(equal(col(r, alias), col(r, rows.stage)) for r in numbers))
            joins.append((stage, alias, fits))
            for c in range(self._n_classes):
                key = f"{slot}_{c}"
                known = rows.pipeline.has(stage, f"v{c}")
                value = or_zero(col(f"v{c}", alias)) if known else num(0.0)
                old = [col(key, rows.stage)] if key in rows.columns else []
                added.setdefault(key, old).append(value)
        new: Columns = {key: plus(*parts) for key, parts in added.items()}
        old_columns = [key for key in rows.columns if key not in new]
        columns = {**kept(old_columns, rows.stage), **new}
        rows.stage = rows.pipeline.stage(rows.stage, columns, joins=joins)
        rows.columns = list(columns)


def _each(rows: Rows, source: str, numbers: list[str], values: list[Expression]) -> str:
    """A stage with a row for each of some values of every row, called k."""
    pipeline = rows.pipeline
    if pipeline.dialect in _WITH_ARRAYS:
        array = exp.Array(expressions=values)
        every = exp.Anonymous(this="UNNEST", expressions=[array])
        return pipeline.stage(source, {**kept(numbers), "k": every})
    places = pipeline.constants({"t": list(range(len(values)))})
    value = _halved(values, 0, col("t", places))
    columns = {**kept(numbers, source), "k": value}
    return pipeline.stage(source, columns, crossed=[(places, None)])


def _halved(values: Sequence[Expression], first: int, place: Expression) -> Expression:
    """The value at a place, found by halves."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    lower = _halved(values[:half], first, place)
    upper = _halved(values[half:], first + half, place)
    return case([(below(place.copy(), num(first + half)), lower)], upper)


def _batches(looks: Sequence[Slotted]) -> Iterator[list[Slotted]]:
    """Tables that one stage looks up, all for one slot."""
    batch: list[Slotted] = []
    columns: set[str] = set()
    n_keys = 0
    for slot, look in looks:
        size, more = prod(look.radices), columns | {*look.columns}
        if batch and (
            slot != batch[0][0]
            or len(batch) == _MOST_TABLES
            or len(more) > _MOST_CODED
            or n_keys + size > _MOST_KEYS
        ):
            yield batch
            batch, more, n_keys = [], {*look.columns}, 0
        batch.append((slot, look))
        columns, n_keys = more, n_keys + size
    if batch:
        yield batch


def _check(looks: Sequence[Slotted], dialect: str) -> None:
    """Raise ValueError if databases would not take the numbers of all tables."""
    total = sum(look.n_entries * len(look.telling) for _, look in looks)
    most = _MOST_IN_TEXTS if dialect in _IN_TEXTS else MOST_NUMBERS
    if total > most:
        raise ValueError(
            f"the query would hold {total:,} numbers, more than {most:,}; fit with "
            "fewer networks (n_networks=) or parents (max_parents=), or write the "
            "model to .onnx"
        )
