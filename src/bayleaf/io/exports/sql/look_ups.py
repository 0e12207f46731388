"""Tables of a model looked up by codes, as conditions or as tables that are joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.stages import Columns, Rows
from bayleaf.io.exports.sql.words import (
    ZERO,
    both,
    cast,
    chosen,
    nats,
    plain,
    plus,
    text,
)
from bayleaf.scoring.terms import Floats, Whole

# Tables that one stage may join; SQLite allows 64.
_MAX_JOINS = 40
# Tables written as conditions in one stage.
_CASES_PER_STAGE = 200
# Numbers that a query may contain.
MAX_NUMBERS = 2_000_000
# Databases that make rows of arrays, and their functions that make arrays of texts.
SPLIT = {"duckdb": "STRING_SPLIT", "postgres": "STRING_TO_ARRAY"}
# Keys of a value in SQLite, which reads the whole pair for each of them.
_MAX_PAIRED = 32

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Table:
    """Nats of each class by the states of some columns; zero for what is not listed.

    Parameters
    ----------
    columns : tuple of str
        Columns of states.
    radices : tuple of int
        Numbers of states of each, those of missing cells included.
    states : ndarray of shape (n_entries, n_columns)
        States of each entry.
    values : ndarray of shape (n_entries, n_classes)
        Nats.
    """

    columns: tuple[str, ...]
    radices: tuple[int, ...]
    states: Whole
    values: Floats

    @classmethod
    def dense(cls, columns: Sequence[str], values: Floats) -> Table:
        """Look up an array of shape (*numbers of states, n_classes)."""
        shape = values.shape[:-1]
        used = (values != 0).any(axis=-1)
        # One more for cells without a state in the array.
        radices = tuple(size + 1 for size in shape)
        return cls(tuple(columns), radices, np.argwhere(used), values[used])

    @cached_property
    def outputs(self) -> list[int]:
        """Classes whose nats are not all zero."""
        return np.flatnonzero((self.values != 0).any(axis=0)).tolist()

    @property
    def key(self) -> str:
        """One integer for the states of a row."""
        key, *rest = self.columns
        for column, radix in zip(rest, self.radices[1:], strict=True):
            key = f"({key} * {radix} + {column})"
        return key

    @property
    def keys(self) -> Whole:
        """The integer of each entry."""
        if prod(self.radices) >= 1 << 63:
            raise ValueError(
                "a table of this model has more joint states than databases can "
                "number; fit with fewer parents"
            )
        keys = np.zeros(len(self.states), np.int64)
        for states, radix in zip(self.states.T, self.radices, strict=True):
            keys = keys * radix + states
        return keys

    def cases(self, label: int) -> str:
        """The nats of one class as nested conditions."""
        if label not in self.outputs:
            return ZERO
        return self._nested(np.arange(len(self.values)), 0, label)

    def _nested(self, entries: NDArray[np.intp], depth: int, label: int) -> str:
        """Conditions on the columns from one on, for some entries."""
        if depth == len(self.columns):
            return nats(self.values[entries[0], label])
        states = self.states[entries, depth]
        branches = {
            state: self._nested(entries[states == state], depth + 1, label)
            for state in np.unique(states).tolist()
        }
        return chosen(self.columns[depth], branches, ZERO)


class Joined(NamedTuple):
    """A stage with columns v{class} of nats, joined by its keys if a row has them."""

    stage: str
    keys: Mapping[str, str]
    outputs: Collection[int]


# A slot, and what is added to it: by look-up, or an expression for each class.
Addend = tuple[str, Table | Joined | Sequence[str]]


def add_up(rows: Rows, terms: Sequence[Addend], n_classes: int) -> None:
    """Add terms to the columns slot_class, which need not exist yet."""

    def is_joined(term: Table | Joined | Sequence[str]) -> bool:
        return isinstance(term, Joined) or (
            isinstance(term, Table) and rows.is_joined(len(term.values))
        )

    def fits(batch: Sequence[Addend]) -> bool:
        n_joins = sum(is_joined(term) for _, term in batch)
        return n_joins <= _MAX_JOINS and len(batch) - n_joins <= _CASES_PER_STAGE

    filled = [
        own for own in terms if not isinstance(own[1], Table) or len(own[1].values)
    ]
    for batch in batches(filled, fits):
        parts: dict[str, list[str]] = {}
        joins: list[str] = []
        for slot, term in batch:
            if isinstance(term, Table):
                join, classes = is_joined(term), range(n_classes)
                term = _joined(rows, term) if join else list(map(term.cases, classes))
            if isinstance(term, Joined):
                alias = f"j{len(joins)}"
                on = both(*(f"{alias}.{key} = {v}" for key, v in term.keys.items()))
                joins.append(f" LEFT JOIN {term.stage} AS {alias} ON {on}")
                term = [
                    f"COALESCE({alias}.v{c}, {ZERO})" if c in term.outputs else ZERO
                    for c in range(n_classes)
                ]
            for c, value in enumerate(term):
                key = f"{slot}_{c}"
                old = [key] if key in rows.columns else []
                parts.setdefault(key, old).append(value)
        new = {key: plus(*own) for key, own in parts.items()}
        rows.extend(new, "".join(joins))


def _joined(rows: Rows, table: Table) -> Joined:
    """A table as a stage."""
    values = {f"v{c}": table.values[:, c] for c in table.outputs}
    # Elsewhere rows must be listed: databases plan joins by their number.
    write = keyed if rows.dialect == "duckdb" else listed
    return Joined(write(rows, table.keys, values), {"k": table.key}, table.outputs)


def keyed(rows: Rows, keys: Whole, values: Mapping[str, Floats]) -> str:
    """A stage with the column k of keys, each once, and columns of their values.

    Most values of large tables occur many times: where databases split texts, a value
    is written once, with all its keys.
    """
    if rows.dialect not in (*SPLIT, "sqlite"):
        return listed(rows, keys, values)
    max_keys = _MAX_PAIRED if rows.dialect == "sqlite" else len(keys)
    lists, distinct = _by_value(keys, np.stack([*values.values()], axis=1), max_keys)
    cells = [[plain(nats(value)) for value in row] for row in distinct.tolist()]
    if rows.dialect == "sqlite":
        pairs = ",".join(
            f"[[{','.join(row)}],[{own}]]" for row, own in zip(cells, lists)
        )
        parts = (
            f"JSON_EXTRACT(d.value, '$[0][{n}]') AS {key}"
            for n, key in enumerate(values)
        )
        source = f"JSON_EACH({text(f'[{pairs}]')}) AS d"
        return rows.add(
            f"SELECT e.value AS k, {', '.join(parts)} FROM {source} "
            "CROSS JOIN JSON_EACH(d.value, '$[1]') AS e"
        )

    def unnested(value: str, sign: str) -> str:
        return f"UNNEST({SPLIT[rows.dialect]}({value}, '{sign}'))"

    inner = [f"{unnested(text(';'.join(lists)), ';')} AS k"]
    for name, numbers in zip(values, zip(*cells)):
        cells_of = unnested(text(",".join(numbers)), ",")
        inner.append(f"{cast(cells_of, 'DOUBLE')} AS {name}")
    k, source = (
        cast(unnested("d.k", ","), "BIGINT"),
        f"(SELECT {', '.join(inner)}) AS d",
    )
    return rows.add(f"SELECT {k} AS k, {', '.join(values)} FROM {source}")


def listed(rows: Rows, keys: Whole, values: Mapping[str, Floats]) -> str:
    """A stage with the same columns, whose rows are listed one by one."""
    columns = {key: own.tolist() for key, own in values.items()}
    return rows.constants({"k": keys.tolist(), **columns})


def _by_value(keys: Whole, values: Floats, max_keys: int) -> tuple[list[str], Floats]:
    """Rows of values, each with some of the keys that have it, in order and as text."""
    distinct, indices = np.unique(values, axis=0, return_inverse=True)
    order = np.lexsort((keys, indices.ravel()))
    words = list(map(str, keys[order].tolist()))
    lists, rows, first = [], [], 0
    for row, n_keys in enumerate(np.bincount(indices.ravel()).tolist()):
        for start in range(first, first + n_keys, max_keys):
            lists.append(",".join(words[start : min(start + max_keys, first + n_keys)]))
            rows.append(row)
        first += n_keys
    return lists, distinct[rows]


def batches(
    items: Iterable[Item], fits: Callable[[list[Item]], bool]
) -> Iterator[list[Item]]:
    """Items in order, as many at a time as fit together."""
    batch: list[Item] = []
    for item in items:
        if batch and not fits([*batch, item]):
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def add_zeros(rows: Rows, slots: Iterable[str], n_classes: int) -> None:
    """Add the columns slot_class, of zeros, that do not exist yet."""
    keys = [f"{slot}_{c}" for slot in slots for c in range(n_classes)]
    new = {key: ZERO for key in keys if key not in rows.columns}
    if new:
        rows.extend(new)


def add_terms(
    rows: Rows,
    terms: Sequence[Addend],
    n_features: int,
    n_classes: int,
    base: Sequence[float] = (),
) -> None:
    """Score rows by a sum: s_class and, if reported, b_class and f{feature}_class.

    Without a base, terms are added to a score that rows have already.
    """
    if len(base):
        terms = [("b" if rows.is_reported else "s", list(map(nats, base))), *terms]
    add_up(rows, terms, n_classes)
    if rows.is_reported:
        slots = [f"f{feature}" for feature in range(n_features)]
        add_zeros(rows, slots, n_classes)
        sums: Columns = {
            f"s_{c}": plus(*(f"{slot}_{c}" for slot in ("b", *slots)))
            for c in range(n_classes)
        }
        rows.extend(sums)


def check_size(tables: Iterable[Table]) -> None:
    """Raise ValueError if a query would contain too many numbers."""
    total = sum(table.values.size for table in tables)
    if total > MAX_NUMBERS:
        raise ValueError(
            f"the query would hold {total:,} numbers, more than {MAX_NUMBERS:,}; fit "
            "with fewer networks or parents, or coarser intervals"
        )
