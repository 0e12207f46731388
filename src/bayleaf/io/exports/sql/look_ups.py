"""Tables of a model looked up by codes, as conditions or as tables that are joined.

Very many tables are one, in queries that are planned as fast as others: each row
becomes a row for every table, with the number of its joint state, and is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf.io.exports.sql.stages import Columns, Rows, kept
from bayleaf.io.exports.sql.words import (
    ZERO,
    both,
    case,
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
# Numbers that a query may contain, and where they are written as texts.
_MAX_NUMBERS, _MAX_IN_TEXTS = 2_000_000, 10_000_000
# Databases that make rows of arrays, and their functions that make arrays of texts.
_SPLIT = {"duckdb": "STRING_SPLIT", "postgres": "STRING_TO_ARRAY"}
# Keys of a value in SQLite, which reads the whole pair for each of them.
_MAX_PAIRED = 32
# Tables that one stage looks up where all are one: each is a condition on its number.
_MAX_TABLES = 250
# Columns of codes that one stage may make for them.
_MAX_CODED = 500
# Joint states that integers of eight bytes count.
_MAX_KEYS = 1 << 62

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Table:
    """Nats of each class by the states of some columns; zero for what is not listed.

    Radices are numbers of states, those of missing cells included; states have shape
    (n_entries, n_columns), values (n_entries, n_classes).
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
        return _joint(self.columns, self.radices)

    @property
    def keys(self) -> Whole:
        """The integer of each entry."""
        if prod(self.radices) >= 1 << 63:
            raise ValueError(
                "a table of this model has more joint states than databases can "
                "number; fit with fewer parents"
            )
        return np.asarray(np.ravel_multi_index(tuple(self.states.T), self.radices))

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


def _joint(columns: Sequence[str], radices: Sequence[int]) -> str:
    """One integer for the states of some columns, the last varying fastest."""
    key, *rest = columns
    for column, radix in zip(rest, radices[1:], strict=True):
        key = f"({key} * {radix} + {column})"
    return key


class Joined(NamedTuple):
    """A stage with columns v{class} of nats, joined by its keys if a row has them."""

    stage: str
    keys: Mapping[str, str]
    outputs: Collection[int]


# A slot, and what is added to it: by look-up, or an expression for each class.
Addend = tuple[str, Table | Joined | Sequence[str]]


def add_up(
    rows: Rows, terms: Sequence[Addend], n_classes: int, slots: Iterable[str] = ()
) -> None:
    """Add terms to the columns slot_class, which need not exist yet.

    Those of further slots are zero where nothing is added.
    """

    def is_joined(term: Table | Joined | Sequence[str]) -> bool:
        if isinstance(term, Table):
            return rows.is_joined(len(term.values))
        return isinstance(term, Joined)

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
    keys = [f"{slot}_{c}" for slot in slots for c in range(n_classes)]
    zeros = {key: ZERO for key in keys if key not in rows.columns}
    if zeros:
        rows.extend(zeros)


def _joined(rows: Rows, table: Table) -> Joined:
    """A table as a stage."""
    values = {f"v{c}": table.values[:, c] for c in table.outputs}
    # Elsewhere rows must be listed: databases plan joins by their number.
    write = _keyed if rows.dialect == "duckdb" else _listed
    return Joined(write(rows, table.keys, values), {"k": table.key}, table.outputs)


def _keyed(rows: Rows, keys: Whole, values: Mapping[str, Floats]) -> str:
    """A stage with the column k of keys, each once, and columns of their values.

    Most values of large tables occur many times: where databases split texts, a value
    is written once, with all its keys.
    """
    if rows.dialect not in (*_SPLIT, "sqlite"):
        return _listed(rows, keys, values)
    max_keys = _MAX_PAIRED if rows.dialect == "sqlite" else len(keys)
    lists, distinct = _by_value(keys, np.stack([*values.values()], axis=1), max_keys)
    cells = [[plain(nats(value)) for value in row] for row in distinct.tolist()]
    if rows.dialect == "sqlite":
        pairs = ",".join(
            f"[[{','.join(row)}],[{own}]]" for row, own in zip(cells, lists)
        )
        parts = [
            f"JSON_EXTRACT(d.value, '$[0][{n}]') AS {key}"
            for n, key in enumerate(values)
        ]
        source = f"JSON_EACH({text(f'[{pairs}]')}) AS d"
        return rows.add(
            f"SELECT e.value AS k, {', '.join(parts)} FROM {source} "
            "CROSS JOIN JSON_EACH(d.value, '$[1]') AS e"
        )

    def unnested(value: str, sign: str) -> str:
        return f"UNNEST({_SPLIT[rows.dialect]}({value}, '{sign}'))"

    inner = [f"{unnested(text(';'.join(lists)), ';')} AS k"]
    for name, numbers in zip(values, zip(*cells)):
        column = cast(unnested(text(",".join(numbers)), ","), "DOUBLE")
        inner.append(f"{column} AS {name}")
    outer = [f"{cast(unnested('d.k', ','), 'BIGINT')} AS k", *values]
    source = f"(SELECT {', '.join(inner)}) AS d"
    return rows.add(f"SELECT {', '.join(outer)} FROM {source}")


def _listed(rows: Rows, keys: Whole, values: Mapping[str, Floats]) -> str:
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
        group, first = words[first : first + n_keys], first + n_keys
        for start in range(0, n_keys, max_keys):
            lists.append(",".join(group[start : start + max_keys]))
            rows.append(row)
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
    if not rows.is_reported:
        add_up(rows, terms, n_classes)
        return
    slots = ["b", *(f"f{feature}" for feature in range(n_features))]
    add_up(rows, terms, n_classes, slots)
    classes = range(n_classes)
    rows.extend({f"s_{c}": plus(*(f"{slot}_{c}" for slot in slots)) for c in classes})


def check_size(tables: Iterable[Table], limit: int = _MAX_NUMBERS) -> None:
    """Raise ValueError if a query would contain too many numbers."""
    total = sum(len(table.values) * len(table.outputs) for table in tables)
    if total > limit:
        raise ValueError(
            f"the query would hold {total:,} numbers, more than {limit:,}; fit with "
            "fewer networks (n_networks=) or parents (max_parents=), or coarser "
            "intervals, or write the model to .onnx"
        )


# ---- very many tables


def add_long(
    rows: Rows,
    tables: Sequence[tuple[str, Table]],
    cards: Sequence[int],
    coded: Columns,
    n_classes: int,
) -> None:
    """Add tables to the columns slot_class; `coded` are columns made of codes.

    ValueError if there are more numbers than databases take.
    """
    has_texts = rows.dialect in (*_SPLIT, "sqlite")
    check_size(
        (table for _, table in tables), _MAX_IN_TEXTS if has_texts else _MAX_NUMBERS
    )
    # Rows with the same codes are scored once, and joined again by their codes.
    numbers: Columns = {}
    for part in batches(
        range(len(cards)), lambda own: prod(cards[v] + 1 for v in own) <= _MAX_KEYS
    ):
        codes = [cast(f"c{v}", "BIGINT") for v in part]
        numbers[f"r{len(numbers)}"] = _joint(codes, [cards[v] + 1 for v in part])
    rows.extend(numbers)
    distinct = rows.branch()
    distinct.group([*numbers, *(f"c{v}" for v in range(len(cards)))], {})
    sums: list[Addend] = []
    for batch in batches(tables, _fits):
        own = [table for _, table in batch]
        sums.append((batch[0][0], _sums(distinct.branch(), [*numbers], own, coded)))
    add_up(rows, sums, n_classes)
    rows.extend({}, without=numbers)


def _fits(batch: Sequence[tuple[str, Table]]) -> bool:
    """Whether one stage may look up some tables, all of them for one slot."""
    columns = {column for _, table in batch for column in table.columns}
    return (
        batch[-1][0] == batch[0][0]
        and len(batch) <= _MAX_TABLES
        and len(columns) <= _MAX_CODED
        and sum(prod(table.radices) for _, table in batch) <= _MAX_KEYS
    )


def _sums(
    rows: Rows, numbers: list[str], tables: Sequence[Table], coded: Columns
) -> Joined:
    """Sums of some tables for each row."""
    used = sorted({key for table in tables for key in table.columns})
    wide = {key: cast(coded.get(key, key), "BIGINT") for key in used}
    rows.select({**kept(numbers), **wide})
    starts = np.cumsum([0, *(prod(table.radices) for table in tables)]).tolist()
    keys = np.concatenate([t.keys + start for t, start in zip(tables, starts)])
    values = np.concatenate([table.values for table in tables])
    # A row for the key in each table.
    offset_keys = [f"({t.key} + {start})" for t, start in zip(tables, starts)]
    key, tail = f"UNNEST(ARRAY[{', '.join(offset_keys)}])", ""
    if rows.dialect not in _SPLIT:
        indices = rows.constants({"t": list(range(len(tables)))})
        key, tail = _by_index(offset_keys, 0), f" CROSS JOIN {indices}"
    rows.select({**kept(numbers), "k": key}, tail)
    outputs = np.flatnonzero((values != 0).any(axis=0)).tolist()
    stage = _keyed(rows, keys, {f"v{c}": values[:, c] for c in outputs})
    totals = {f"v{c}": f"SUM({stage}.v{c})" for c in outputs}
    keys_of = {f"k{r}": r for r in numbers}
    condition = f" JOIN {stage} ON {stage}.k = {rows.stage}.k"
    rows.select({**keys_of, **totals}, f"{condition} GROUP BY {', '.join(numbers)}")
    return Joined(rows.stage, keys_of, outputs)


def _by_index(values: Sequence[str], first: int) -> str:
    """The value of the index t, found by halves."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    upper = _by_index(values[half:], first + half)
    return case([(f"t < {first + half}", _by_index(values[:half], first))], upper)
